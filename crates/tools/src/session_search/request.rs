//! What a call asks for.

use hermes_core::{MessageId, ToolError};
use hermes_store::SearchOrder;
use serde::Deserialize;

use crate::arguments::refuse;

/// Conversations of an answer.
const USUAL_LIMIT: i64 = 3;
const MOST_LIMIT: i64 = 10;
/// Conversations that are summarised at once.
const MOST_SUMMARIES: usize = 5;
/// Messages on each side of one.
const USUAL_WINDOW: i64 = 5;
const MOST_WINDOW: i64 = 20;
/// Whose messages are looked at.
const USUAL_ROLES: [&str; 2] = ["user", "assistant"];

/// The arguments as a model writes them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    sort: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    around_message_id: Option<i64>,
    #[serde(default)]
    window: Option<i64>,
    #[serde(default)]
    role_filter: Option<String>,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    summarize: Option<bool>,
}

/// A call that was understood.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// The profile that was named.
    pub(super) profile: Option<String>,
    pub(super) mode: Mode,
}

/// What is wanted, the most specific first.
#[derive(Debug, PartialEq)]
pub(super) enum Mode {
    Scroll(Scroll),
    /// Reads a conversation by its id, the start of one, or its title.
    Read(String),
    Discover(Discover),
    Browse {
        limit: usize,
    },
}

#[derive(Debug, PartialEq)]
pub(super) struct Scroll {
    pub(super) session: String,
    pub(super) message: MessageId,
    pub(super) window: usize,
    /// All roles when empty.
    pub(super) roles: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Discover {
    pub(super) query: String,
    pub(super) limit: usize,
    pub(super) order: SearchOrder,
    pub(super) roles: Vec<String>,
    pub(super) summarize: bool,
}

impl Asked {
    pub(super) fn understood(self) -> Result<Request, ToolError> {
        let filled = |text: Option<String>| {
            let text = text.unwrap_or_default().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let mut profile = filled(self.profile);
        let mut session = filled(self.session_id);
        // No id has a slash in it, so what stands before one is a profile.
        if let Some((named, id)) = session.as_deref().and_then(|text| text.split_once('/')) {
            let named = named.to_owned();
            if profile.as_ref().is_some_and(|profile| *profile != named) {
                return Err(refuse(format!(
                    "session_id names the profile {named} and profile another one; name one"
                )));
            }
            (profile, session) = (Some(named), Some(id.to_owned()));
        }
        let roles = roles(self.role_filter.as_deref());
        let limit = between(self.limit, USUAL_LIMIT, MOST_LIMIT);
        let mode = match (session, self.around_message_id, filled(self.query)) {
            (Some(session), Some(message), _) => Mode::Scroll(Scroll {
                session,
                message: MessageId(message),
                window: between(self.window, USUAL_WINDOW, MOST_WINDOW),
                roles: roles.unwrap_or_default(),
            }),
            (Some(session), None, _) => Mode::Read(session),
            (None, _, Some(query)) => {
                let summarize = self.summarize.unwrap_or_default();
                Mode::Discover(Discover {
                    query,
                    limit: match summarize {
                        true => limit.min(MOST_SUMMARIES),
                        false => limit,
                    },
                    order: order(self.sort.as_deref()),
                    roles: roles.unwrap_or_else(|| USUAL_ROLES.map(str::to_owned).to_vec()),
                    summarize,
                })
            }
            (None, _, None) => Mode::Browse { limit },
        };
        Ok(Request { profile, mode })
    }
}

fn between(given: Option<i64>, usual: i64, most: i64) -> usize {
    usize::try_from(given.unwrap_or(usual).clamp(1, most)).unwrap_or(1)
}

fn order(given: Option<&str>) -> SearchOrder {
    match given {
        Some("newest") => SearchOrder::Newest,
        Some("oldest") => SearchOrder::Oldest,
        _ => SearchOrder::Relevance,
    }
}

fn roles(given: Option<&str>) -> Option<Vec<String>> {
    let words = given?.split(',').map(str::trim);
    let roles: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    (!roles.is_empty()).then_some(roles)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn understood(arguments: Json) -> Request {
        let asked: Asked = serde_json::from_value(arguments).unwrap();
        asked.understood().unwrap()
    }

    // LN-23
    #[test]
    fn the_most_specific_mode_wins() {
        let all = json!({"query": "x", "session_id": "s", "around_message_id": 7, "window": 99});
        let Mode::Scroll(scroll) = understood(all).mode else {
            panic!("not a scroll");
        };
        assert_eq!((scroll.window, scroll.message), (20, MessageId(7)));
        let read = understood(json!({"query": "x", "session_id": " s "}));
        assert_eq!(read.mode, Mode::Read("s".to_owned()));
        let lone = understood(json!({"query": "x", "around_message_id": 7}));
        assert!(matches!(lone.mode, Mode::Discover(_)));
        let blank = understood(json!({"query": "  ", "session_id": "", "limit": 0}));
        assert_eq!(blank.mode, Mode::Browse { limit: 1 });
    }

    // LN-23
    #[test]
    fn numbers_are_brought_within_their_limits() {
        let discover = |arguments: Json| match understood(arguments).mode {
            Mode::Discover(discover) => discover,
            other => panic!("{other:?}"),
        };
        let usual = discover(json!({"query": "x"}));
        assert_eq!((usual.limit, usual.roles.len()), (3, 2));
        assert_eq!(discover(json!({"query": "x", "limit": 99})).limit, 10);
        assert_eq!(discover(json!({"query": "x", "limit": -4})).limit, 1);
        let summarized = json!({"query": "x", "limit": 99, "summarize": true});
        assert_eq!(discover(summarized).limit, 5);
        let newest =
            discover(json!({"query": "x", "sort": "newest", "role_filter": " Tool,, user"}));
        assert_eq!(newest.order, SearchOrder::Newest);
        assert_eq!(newest.roles, ["tool", "user"]);
    }

    // LN-40
    #[test]
    fn a_profile_is_named_beside_the_id_or_in_front_of_it() {
        let request = understood(json!({"session_id": "work/20260101_000000_abcdef"}));
        assert_eq!(request.profile.as_deref(), Some("work"));
        assert_eq!(
            request.mode,
            Mode::Read("20260101_000000_abcdef".to_owned())
        );
        let both = json!({"session_id": "work/x", "profile": "home"});
        let asked: Asked = serde_json::from_value(both).unwrap();
        assert!(asked.understood().is_err());
    }
}
