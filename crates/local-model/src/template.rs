//! The chat template: turns messages into the text the model was trained on.

use minijinja::{Environment, Error, ErrorKind, context};
use serde_json::{Value, json};

use crate::gguf::Gguf;
use crate::vocabulary::Vocabulary;
use crate::{ChatMessage, LocalError};

/// For files without one: the form most small models know.
const CHAT_ML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n\
                       {{ message.content }}<|im_end|>\n{% endfor %}\
                       {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const NAME: &str = "chat";

/// A template that takes this much work is wrong.
const FUEL: u64 = 50_000_000;

/// The template of a model.
pub(crate) struct Template {
    environment: Environment<'static>,
}

impl Template {
    pub(crate) fn read(file: &Gguf) -> Result<Self, LocalError> {
        let text = file.text("tokenizer.chat_template").unwrap_or(CHAT_ML);
        Self::parse(text)
    }

    fn parse(text: &str) -> Result<Self, LocalError> {
        let mut environment = Environment::new();
        // As the tools do that these templates were written for.
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL));
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| {
            Err::<String, _>(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment
            .add_template_owned(NAME, text.to_owned())
            .map_err(failed)?;
        Ok(Self { environment })
    }

    /// The text of a conversation, ready for the model's answer.
    pub(crate) fn render<'a>(
        &self,
        messages: impl Iterator<Item = &'a ChatMessage>,
        tools: &[Value],
        vocabulary: &Vocabulary,
    ) -> Result<String, LocalError> {
        let messages: Vec<Value> = messages
            .map(|message| {
                let content = vocabulary.defused(&message.content);
                json!({"role": message.role.word(), "content": content})
            })
            .collect();
        let tools = (!tools.is_empty()).then_some(tools);
        let template = self.environment.get_template(NAME).map_err(failed)?;
        template
            .render(context! {
                messages,
                tools,
                add_generation_prompt => true,
                bos_token => vocabulary.begin_text(),
                eos_token => vocabulary.end_text(),
            })
            .map_err(failed)
    }
}

fn failed(error: Error) -> LocalError {
    LocalError::Template(error.to_string())
}
