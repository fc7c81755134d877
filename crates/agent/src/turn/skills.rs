//! Skills in a turn: what the prompt says about them, and messages that call for some.

use std::sync::Arc;

use hermes_core::{CallId, Event, Media, Message, Role, SessionId, TurnEnd};
use hermes_skills::{
    Circumstances, Library, Rendered, SessionShell, index, message, preloaded, said,
    typed_and_added, with_commands_run,
};
use hermes_store::StoreError;
use hermes_tools::Person;

use super::{Step, Surroundings, Turn};
use crate::extent::Extent;
use crate::toolbox::Toolbox;
use crate::toolsets;

/// A message that calls for skills.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) skills: Vec<String>,
    /// What is to be done with all of them; may be empty.
    pub(crate) instruction: String,
    /// What was typed behind them; may be empty.
    pub(crate) text: String,
    pub(crate) media: Vec<Media>,
}

impl Wish {
    /// What is kept as said before anything is read.
    pub(super) fn said(&self) -> String {
        let names: Vec<&str> = self.skills.iter().map(String::as_str).collect();
        said(&self.text, &names)
    }
}

/// What a prompt says about skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Which there are.
    pub(crate) index: String,
    /// Those that stand in front of the conversation.
    pub(crate) preloaded: String,
    pub(crate) warnings: Vec<String>,
}

/// The skills that stand in front of the conversation.
fn in_front<'a>(around: &'a Surroundings<'_>) -> &'a [String] {
    match around.spec.ignore_rules || around.spec.extent() == Extent::Tiny {
        true => &[],
        false => &around.spec.skills,
    }
}

/// Asks for what the skills lack that stand in front of the conversation; answers with what could not be kept.
pub(super) async fn equip_those_in_front(around: &Surroundings<'_>) -> Vec<String> {
    equip(around, in_front(around)).await
}

async fn equip(around: &Surroundings<'_>, skills: &[String]) -> Vec<String> {
    let person = Person {
        session: &around.spec.id,
        asker: &*around.asker,
        attended: around.spec.attended,
        cancel: &around.cancel,
    };
    let tools = &around.services.tools;
    tools.equip(skills, around.spec.audience(), person).await
}

/// Makes it. A tiny model is told nothing about skills, and where there is little room only those that were named are
/// there. The disk is looked at on a thread that may wait.
pub(super) async fn part(around: &Surroundings<'_>, toolbox: &Toolbox, first: &str) -> Part {
    let extent = around.spec.extent();
    if extent == Extent::Tiny {
        return Part::default();
    }
    let library = around.services.skills.clone();
    let tools: Vec<String> = toolbox.names().map(str::to_owned).collect();
    let surface = around.spec.surface.clone();
    let session = around.spec.id.clone();
    let first = first.to_owned();
    let named = in_front(around).to_vec();
    let work = move || {
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let (rendered, warnings) = read(&library, &named, &surface, &session);
        let chosen: Vec<_> = rendered.iter().map(Rendered::chosen).collect();
        Part {
            index: match extent.is_full() {
                true => listed(&library, &tools, &surface, &first),
                false => String::new(),
            },
            preloaded: match chosen.is_empty() {
                true => String::new(),
                false => preloaded(&chosen),
            },
            warnings,
        }
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

/// The list of skills for a session with these tools. Blocks, and does nothing where no skill could be read.
pub(crate) fn listed(library: &Library, tools: &[&str], surface: &str, first: &str) -> String {
    if !tools.contains(&"skill_view") {
        return String::new();
    }
    let around = Circumstances {
        locality: library.locality(),
        settings: library.settings(),
        surface,
        tools,
        toolsets: &toolsets::present(tools),
    };
    index(&library.catalog(), &around, first)
}

/// What the user said first, without what was added to it.
pub(super) fn first_said<'m>(
    mut messages: impl Iterator<Item = &'m Arc<Message>>,
) -> Option<String> {
    let first = messages.find(|message| message.role == Role::User)?;
    Some(typed_and_added(&first.plain_text()).0.to_owned())
}

/// Reads skills by name; those that cannot be read are told.
fn read(
    library: &Library,
    names: &[String],
    surface: &str,
    session: &SessionId,
) -> (Vec<Rendered>, Vec<String>) {
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for name in names {
        match library.render(name, surface, session) {
            Ok(rendered) => read.push(rendered),
            Err(error) => problems.push(format!("{error}; {}", error.hint())),
        }
    }
    (read, problems)
}

/// A message that calls for skills, with everything it needs.
struct Prepared {
    /// What was typed, with what it refers to.
    text: String,
    media: Vec<Media>,
    skills: Vec<Rendered>,
    /// What is wrong with some.
    problems: Vec<String>,
}

impl Turn<'_> {
    /// Takes the message that was written down in with the skills it calls for. `said` is what it says without them.
    pub(super) async fn take_skills(
        &mut self,
        wish: &Wish,
        said: String,
    ) -> Result<Step, StoreError> {
        for text in equip(&self.around, &wish.skills).await {
            self.say(Event::Notice { text }).await;
        }
        let prepared = tokio::select! {
            biased;
            () = self.around.cancel.cancelled() => None,
            prepared = self.prepared(wish, &said) => Some(prepared),
        };
        let Some(Prepared {
            text,
            media,
            skills,
            problems,
        }) = prepared
        else {
            self.complete(said, wish.media.clone()).await?;
            return Ok(Step::Finish(TurnEnd::Interrupted));
        };
        if skills.is_empty() {
            self.complete(said, wish.media.clone()).await?;
            return Ok(Step::Finish(TurnEnd::Failed {
                message: problems.join("; "),
                hint: Some("/skills lists them".to_owned()),
            }));
        }
        for text in problems {
            self.say(Event::Notice { text }).await;
        }
        let chosen: Vec<_> = skills.iter().map(Rendered::chosen).collect();
        let whole = message(&text, &wish.instruction, &chosen);
        self.complete(whole, media).await?;
        Ok(Step::CallModel)
    }

    async fn prepared(&self, wish: &Wish, said: &str) -> Prepared {
        let (text, media) = self.with_references(said, &wish.media).await;
        let library = self.around.services.skills.clone();
        let names = wish.skills.clone();
        let surface = self.around.spec.surface.clone();
        let session = self.around.spec.id.clone();
        let work = move || read(&library, &names, &surface, &session);
        let (mut skills, problems) = tokio::task::spawn_blocking(work).await.unwrap_or_default();
        for skill in &mut skills {
            self.run_commands_of(skill).await;
        }
        Prepared {
            text,
            media,
            skills,
            problems,
        }
    }

    /// Puts what a skill's commands say in their place, where that is switched on.
    async fn run_commands_of(&self, skill: &mut Rendered) {
        let settings = self.around.services.skills.settings();
        if !settings.inline_shell {
            return;
        }
        let limit = settings.inline_shell_timeout;
        let call = CallId(format!("skill-{}", self.id.0));
        let context = self.tool_context(&Arc::new(self.host()), call, limit * 2);
        let shell = SessionShell { context: &context };
        let directory = &skill.viewed.entry.directory;
        skill.text = with_commands_run(&skill.text, directory, &shell, limit).await;
    }
}
