//! What each session was told about servers: who is away, who came back, and what a reload changed.

use std::collections::{BTreeMap, HashMap, VecDeque};

use hermes_core::SessionId;

/// Sessions whose state is kept; one that was forgotten is told again who is away.
const MOST_SESSIONS: usize = 256;
/// Changes that are kept for sessions that did not hear of them yet.
const MOST_NEWS: usize = 64;

/// What is missing of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Away {
    /// It is there, but lacks some of its tools.
    pub(super) partly: bool,
    pub(super) why: String,
    /// When it is tried again, as the end of a sentence.
    pub(super) again: String,
}

/// How a server is that a session does not miss now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Calls are answered.
    There,
    /// It may be there soon.
    OnItsWay,
    /// It is not meant to be there: switched off, removed, or not chosen for this session.
    NotWanted,
}

/// The sessions of this program, and what is new for each of them.
#[derive(Default)]
pub(super) struct Told {
    sessions: HashMap<SessionId, Heard>,
    /// The ids in the order they came.
    order: VecDeque<SessionId>,
    news: VecDeque<String>,
    /// How many news there were before the first that is kept.
    gone: u64,
}

/// What one session knows.
struct Heard {
    away: BTreeMap<String, Away>,
    /// How many of the news it knows.
    news: u64,
}

impl Told {
    /// A change that every session hears of with its next message. One that begins later finds things as
    /// they are and has nothing to hear.
    pub(super) fn add(&mut self, news: String) {
        self.news.push_back(news);
        if self.news.len() > MOST_NEWS {
            self.news.pop_front();
            self.gone += 1;
        }
    }

    /// Notes that there is such a session, before it hears of anything.
    pub(super) fn meet(&mut self, session: &SessionId) {
        if self.sessions.contains_key(session) {
            return;
        }
        let heard = Heard {
            away: BTreeMap::new(),
            news: self.gone + self.news.len() as u64,
        };
        self.sessions.insert(session.clone(), heard);
        self.order.push_back(session.clone());
        if self.order.len() > MOST_SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
        }
    }

    /// What a session has not heard yet, and from now on has.
    pub(super) fn tell(
        &mut self,
        session: &SessionId,
        away: BTreeMap<String, Away>,
        standing: impl Fn(&str) -> Standing,
    ) -> Vec<String> {
        self.meet(session);
        let Some(heard) = self.sessions.get_mut(session) else {
            return Vec::new();
        };
        let skipped = usize::try_from(heard.news.saturating_sub(self.gone)).unwrap_or(usize::MAX);
        let mut lines: Vec<String> = self.news.iter().skip(skipped).cloned().collect();
        heard.news = self.gone + self.news.len() as u64;
        for (server, now) in &away {
            let before = heard.away.get(server);
            // When it is tried next is no news.
            if before.is_none_or(|before| (before.partly, &before.why) != (now.partly, &now.why)) {
                let word = match now.partly {
                    true => "lacks some of its tools",
                    false => "is unavailable",
                };
                let Away { why, again, .. } = now;
                lines.push(format!("MCP server {server} {word}: {why}{again}"));
            }
        }
        let mut still = BTreeMap::new();
        for (server, before) in std::mem::take(&mut heard.away) {
            if away.contains_key(&server) {
                continue;
            }
            match standing(&server) {
                Standing::There => lines.push(format!(
                    "MCP server {server} {}",
                    match before.partly {
                        true => "has all of its tools again",
                        false => "is available again",
                    }
                )),
                // It was told to be away, and it is not back yet.
                Standing::OnItsWay => {
                    still.insert(server, before);
                }
                Standing::NotWanted => {}
            }
        }
        heard.away = away;
        heard.away.extend(still);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> SessionId {
        SessionId::try_from(name.to_owned()).unwrap()
    }

    fn away(servers: &[&str]) -> BTreeMap<String, Away> {
        let away = |name: &&str| {
            let away = Away {
                partly: false,
                why: "it cannot be reached".to_owned(),
                again: String::new(),
            };
            ((*name).to_owned(), away)
        };
        servers.iter().map(away).collect()
    }

    // MCP-92
    #[test]
    fn every_session_hears_once_who_is_away_and_once_who_is_back() {
        let mut told = Told::default();
        let gone = ["MCP server lab is unavailable: it cannot be reached"];
        for name in ["one", "two"] {
            let session = session(name);
            let mut tell =
                |servers: &[&str], standing| told.tell(&session, away(servers), |_| standing);
            assert_eq!(tell(&["lab"], Standing::There), gone);
            assert_eq!(tell(&["lab"], Standing::There), [""; 0]);
            assert_eq!(tell(&[], Standing::OnItsWay), [""; 0], "not back yet");
            assert_eq!(
                tell(&[], Standing::There),
                ["MCP server lab is available again"]
            );
            assert_eq!(tell(&["lab"], Standing::There), gone);
            assert_eq!(tell(&[], Standing::NotWanted), [""; 0], "switched off");
            assert_eq!(tell(&[], Standing::There), [""; 0], "and on again");
        }
    }

    // MCP-77, MCP-92
    #[test]
    fn a_change_is_told_to_every_session_that_was_there_before_it() {
        let mut told = Told::default();
        let tell = |told: &mut Told, name: &str| {
            told.tell(&session(name), BTreeMap::new(), |_| Standing::There)
        };
        told.meet(&session("one"));
        assert_eq!(tell(&mut told, "two"), [""; 0]);
        told.add("MCP servers added: far".to_owned());
        for name in ["one", "two"] {
            assert_eq!(tell(&mut told, name), ["MCP servers added: far"], "{name}");
            assert_eq!(tell(&mut told, name), [""; 0]);
        }
        assert_eq!(tell(&mut told, "three"), [""; 0], "it came later");
        for number in 0..MOST_NEWS + 3 {
            told.add(number.to_string());
        }
        let last = tell(&mut told, "one");
        assert_eq!((last.len(), last[0].as_str()), (MOST_NEWS, "3"));
    }

    #[test]
    fn only_so_many_sessions_are_remembered() {
        let mut told = Told::default();
        for number in 0..MOST_SESSIONS + 10 {
            told.meet(&session(&format!("s{number}")));
        }
        assert_eq!(told.sessions.len(), MOST_SESSIONS);
        assert_eq!(told.order.len(), MOST_SESSIONS);
    }
}
