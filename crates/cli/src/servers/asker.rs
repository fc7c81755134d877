//! Answers to the questions of servers where nobody is asked: they are given beforehand.

use std::collections::HashMap;

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Form, Question, QuestionKind, Reply};
use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

/// How questions are answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Elicit {
    /// With what the server proposes.
    Defaults,
    /// With no.
    Decline,
    /// With these values, by the names of the fields; what is not named gets its default.
    Values(Map<String, Json>),
}

impl std::str::FromStr for Elicit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "defaults" => Ok(Self::Defaults),
            "decline" => Ok(Self::Decline),
            _ => serde_json::from_str(text)
                .map(Self::Values)
                .map_err(|error| format!("neither defaults, decline nor a JSON object: {error}")),
        }
    }
}

/// Answers as it was told to.
pub(crate) struct ScriptedAsker(pub(crate) Elicit);

impl Asker for ScriptedAsker {
    fn ask(&self, question: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        let answer = match (&self.0, &question.kind) {
            (Elicit::Decline, _) => Answer::no(),
            (_, QuestionKind::Approval { .. }) => Answer::AllowOnce,
            (Elicit::Values(values), QuestionKind::Form(form)) => filled(values, form),
            (Elicit::Defaults, QuestionKind::Form(form)) => {
                form.proposal().map_or_else(Answer::no, Answer::Filled)
            }
            (_, QuestionKind::Clarify { .. }) => Answer::no(),
            // A secret is typed by a person or not at all.
            (_, QuestionKind::Secret { .. }) => Answer::no(),
        };
        let by = AnsweredBy::Rule("--elicit".to_owned());
        Box::pin(async { Reply { answer, by } })
    }
}

/// What is given for the fields of a form. What does not fit is a no.
fn filled(values: &Map<String, Json>, form: &Form) -> Answer {
    let given: HashMap<&str, String> = values
        .iter()
        .map(|(name, value)| (name.as_str(), typed(value)))
        .collect();
    // A field may be known by what people read as well.
    let filled = form.filled(|field| {
        let found = given.get(field.name.as_str());
        found
            .or_else(|| given.get(field.label.as_str()))
            .map(String::as_str)
    });
    filled.map_or_else(Answer::no, Answer::Filled)
}

/// A value as somebody would type it.
fn typed(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(typed).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_core::{FieldKind, FormField};
    use serde_json::json;

    #[test]
    fn values_are_found_by_the_name_of_the_field() {
        let Ok(Elicit::Values(values)) = r#"{"age":36}"#.parse() else {
            panic!("no values");
        };
        let (least, most) = (None, Some(40));
        let field = |name: &str| FormField {
            name: name.to_owned(),
            label: format!("Your {name}"),
            about: String::new(),
            required: true,
            kind: FieldKind::Integer { least, most },
            proposed: Some(json!(1)),
        };
        let form = Form {
            from: String::new(),
            text: String::new(),
            fields: vec![field("age"), field("other")],
        };
        let Answer::Filled(filled) = filled(&values, &form) else {
            panic!("nothing was filled in");
        };
        assert_eq!(Json::Object(filled), json!({ "age": 36, "other": 1 }));
        let labelled = json!({ "Your other": 7 });
        let labelled = labelled.as_object().cloned().unwrap_or_default();
        let expected = json!({ "age": 1, "other": 7 });
        let expected = expected.as_object().cloned().unwrap_or_default();
        assert_eq!(super::filled(&labelled, &form), Answer::Filled(expected));
        let wrong = json!({ "age": 41 });
        let wrong = wrong.as_object().cloned().unwrap_or_default();
        assert_eq!(super::filled(&wrong, &form), Answer::no());
        assert_eq!("decline".parse(), Ok(Elicit::Decline));
        assert!("perhaps".parse::<Elicit>().is_err());
    }
}
