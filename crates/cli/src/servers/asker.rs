//! Answers to the questions of servers where nobody is asked: they are given beforehand.

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Question, QuestionKind, Reply};
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
            (Elicit::Values(values), QuestionKind::Clarify { question, .. }) => {
                Answer::Text(value(values, question))
            }
            (Elicit::Defaults, QuestionKind::Clarify { .. }) => Answer::Text(String::new()),
            // A secret is typed by a person or not at all.
            (_, QuestionKind::Secret { .. }) => Answer::no(),
        };
        let by = AnsweredBy::Rule("--elicit".to_owned());
        Box::pin(async { Reply { answer, by } })
    }
}

/// The value for a field, whose name begins the last line of the question.
fn value(values: &Map<String, Json>, question: &str) -> String {
    let line = question.lines().last().unwrap_or_default();
    let named = values
        .iter()
        .find(|(name, _)| line.starts_with(&format!("{name} (")));
    match named {
        Some((_, Json::String(text))) => text.clone(),
        Some((_, Json::Array(items))) => {
            let items = items.iter().map(|item| match item {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            });
            items.collect::<Vec<_>>().join(",")
        }
        Some((_, value)) => value.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_the_name_of_the_field() {
        let Ok(Elicit::Values(values)) = r#"{"name":"Ada","age":36}"#.parse() else {
            panic!("no values");
        };
        assert_eq!(value(&values, "Who?\nname (string)"), "Ada");
        assert_eq!(value(&values, "Who?\nage (integer): years"), "36");
        assert_eq!(value(&values, "Who?\nother (string)"), "");
        assert_eq!("decline".parse(), Ok(Elicit::Decline));
        assert!("perhaps".parse::<Elicit>().is_err());
    }
}
