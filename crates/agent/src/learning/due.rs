//! When a look back is due: after so many of the user's turns for memory, after so many model calls for skills.

use hermes_core::{CallId, Message, Part, Role, ToolCall};
use hermes_store::{LearningKind, LearningMark, Unread, UnreadRow};

use super::gate;
use crate::compaction::summary::is_summary;
use crate::turn::{is_news, is_remark};

/// What is to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Memory,
    Skills,
    Both,
}

impl Due {
    pub(super) fn of(memory: bool, skills: bool) -> Self {
        match (memory, skills) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Memory,
            (false, true) => Self::Skills,
            (true, true) => Self::Both,
        }
    }

    pub(super) fn memory(self) -> bool {
        matches!(self, Self::Memory | Self::Both)
    }

    pub(super) fn skills(self) -> bool {
        matches!(self, Self::Skills | Self::Both)
    }

    pub(super) fn kinds(self) -> Vec<LearningKind> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Memory => vec![LearningKind::Memory],
            Self::Skills => vec![LearningKind::Skills],
            Self::Both => vec![LearningKind::Memory, LearningKind::Skills],
        }
    }
}

/// How often to look back; `None` or zero is never.
pub(super) struct Intervals {
    pub(super) turns: Option<u32>,
    pub(super) calls: Option<u32>,
}

impl Intervals {
    pub(super) fn are_never(&self) -> bool {
        let never = |interval: Option<u32>| interval.is_none_or(|interval| interval == 0);
        never(self.turns) && never(self.calls)
    }
}

/// A row of any conversation, as a message with as much of it as is needed here.
pub(super) struct Said {
    pub(super) row: UnreadRow,
    pub(super) message: Message,
}

/// What was said since the last looks back, over all conversations.
pub(super) struct Since {
    memory: LearningMark,
    skills: LearningMark,
    /// In the order in which they were said.
    said: Vec<Said>,
}

impl Since {
    pub(super) fn of(unread: Unread) -> Self {
        let said = unread.rows.into_iter().map(|row| Said {
            message: message(&row),
            row,
        });
        Self {
            memory: unread.memory,
            skills: unread.skills,
            said: said.collect(),
        }
    }

    /// What is due now.
    pub(super) fn due(&self, intervals: &Intervals) -> Due {
        let due = |count: u32, interval: Option<u32>| {
            interval.is_some_and(|interval| interval > 0 && count >= interval)
        };
        Due::of(
            due(turns(self.for_memory()), intervals.turns),
            due(calls(self.for_skills()), intervals.calls),
        )
    }

    /// What of the things that are due has a chance to find something in the rows it has not read. The rest goes on
    /// counting, so that the next sign is enough.
    pub(super) fn worth_it(&self, due: Due) -> Due {
        Due::of(
            due.memory() && self.signs(self.memory).are_for_memory(),
            due.skills() && self.signs(self.skills).are_for_skills(),
        )
    }

    fn signs(&self, mark: LearningMark) -> gate::Signs {
        let mut said: Vec<&Said> = self.behind(mark).collect();
        // Work that goes on side by side is told apart.
        said.sort_by(|one, other| one.row.session.as_str().cmp(other.row.session.as_str()));
        gate::signs(said.into_iter().map(|said| &said.message))
    }

    /// The rows a look back has not read yet, of all conversations.
    pub(super) fn unread_for(&self, due: Due) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(move |said| {
            (due.memory() && said.row.is_behind(self.memory))
                || (due.skills() && said.row.is_behind(self.skills))
        })
    }

    /// Whether somebody else has read some of it since.
    pub(super) fn is_outdated(&self, due: Due, now: &Unread) -> bool {
        (due.memory() && now.memory != self.memory) || (due.skills() && now.skills != self.skills)
    }

    /// Where everything that is known here is read.
    pub(super) fn end(&self) -> LearningMark {
        let rows = self.said.iter().map(|said| &said.row);
        LearningMark {
            row: rows.clone().map(|row| row.id.0).max().unwrap_or_default(),
            at: rows.map(|row| row.timestamp).fold(0.0, f64::max),
        }
    }

    fn for_memory(&self) -> impl Iterator<Item = &Message> {
        self.behind(self.memory).map(|said| &said.message)
    }

    fn for_skills(&self) -> impl Iterator<Item = &Message> {
        self.behind(self.skills).map(|said| &said.message)
    }

    fn behind(&self, mark: LearningMark) -> impl Iterator<Item = &Said> {
        let said = self.said.iter();
        said.filter(move |said| said.row.is_behind(mark))
    }
}

/// The user's turns since the agent took care of memory by itself.
fn turns<'m>(messages: impl Iterator<Item = &'m Message>) -> u32 {
    messages.fold(0, |turns, message| match message.role {
        Role::User if is_from_user(message) => turns + 1,
        _ if called(message).any(|name| name == "memory") => 0,
        _ => turns,
    })
}

/// Calls of the model since the agent took care of skills by itself.
fn calls<'m>(messages: impl Iterator<Item = &'m Message>) -> u32 {
    messages.fold(0, |calls, message| match message.role {
        Role::Assistant if called(message).any(|name| name == "skill_manage") => 0,
        Role::Assistant => calls + 1,
        _ => calls,
    })
}

fn message(row: &UnreadRow) -> Message {
    let call = CallId(String::new());
    let mut parts = Vec::new();
    if !row.text.is_empty() {
        let text = row.text.clone();
        parts.push(Part::Text { text });
    }
    parts.extend(row.calls.iter().map(|name| {
        Part::ToolCall(ToolCall {
            id: call.clone(),
            name: name.clone(),
            arguments: serde_json::Value::Null,
        })
    }));
    if row.role == Role::Tool {
        parts.push(Part::ToolResult {
            call,
            name: String::new(),
            content: String::new(),
            failed: row.failed,
        });
    }
    Message {
        role: row.role,
        parts,
        raw: None,
    }
}

/// Whether the user wrote it as a message of its own.
pub(super) fn is_from_user(message: &Message) -> bool {
    message.role == Role::User && !is_summary(message) && !is_remark(message) && !is_news(message)
}

/// The tools a message calls.
pub(super) fn called(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.name.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use hermes_core::{MessageId, SessionId};

    use super::*;

    const TEN: Intervals = Intervals {
        turns: Some(10),
        calls: Some(10),
    };

    /// Turns of which each is one message, one answer and perhaps a call, with marks before all of them.
    fn since(tools: &[Option<&str>]) -> Since {
        let turn = |(at, tool): (usize, &Option<&str>)| {
            let row = |role: Role, offset: usize| UnreadRow {
                id: MessageId((2 * at + offset) as i64),
                session: SessionId::try_from("s".to_owned()).unwrap(),
                role,
                text: "I always do it".to_owned(),
                calls: Vec::new(),
                failed: false,
                timestamp: (2 * at + offset) as f64,
            };
            let mut answer = row(Role::Assistant, 2);
            answer.calls.extend(tool.map(str::to_owned));
            [row(Role::User, 1), answer]
        };
        let rows = tools.iter().enumerate().flat_map(turn).collect();
        Since::of(Unread {
            rows,
            ..Unread::default()
        })
    }

    // AG-26
    #[test]
    fn both_are_due_at_their_intervals_and_not_before() {
        assert_eq!(since(&[None; 9]).due(&TEN), Due::Nothing);
        let mut since = since(&[None; 10]);
        assert_eq!(since.due(&TEN), Due::Both);
        since.skills = LearningMark { row: 2, at: 2.0 };
        assert_eq!(since.due(&TEN), Due::Memory, "the other one goes on");
        since.memory = since.end();
        assert_eq!(since.due(&TEN), Due::Nothing);
    }

    // AG-26
    #[test]
    fn using_a_tool_begins_its_count_anew() {
        let mut tools = vec![None; 9];
        tools.push(Some("memory"));
        assert_eq!(since(&tools).due(&TEN), Due::Skills);
        tools.extend([None; 9]);
        tools.push(Some("skill_manage"));
        assert_eq!(since(&tools).due(&TEN), Due::Memory);
    }

    #[test]
    fn what_is_off_or_missing_is_never_due() {
        for turns in [None, Some(0)] {
            let intervals = Intervals { turns, calls: None };
            assert!(intervals.are_never());
            assert_eq!(since(&[None; 50]).due(&intervals), Due::Nothing);
        }
        assert!(!TEN.are_never());
    }

    // AG-26
    #[test]
    fn a_sign_that_was_read_is_none() {
        let mut since = since(&[None; 10]);
        assert_eq!(since.worth_it(Due::Both), Due::Both);
        since.memory = since.end();
        assert_eq!(since.worth_it(Due::Both), Due::Skills);
        assert_eq!(since.unread_for(Due::Memory).count(), 0);
        assert_eq!(since.unread_for(Due::Both).count(), 20);
    }

    // AG-26
    #[test]
    fn news_and_remarks_are_not_turns_of_the_user() {
        let mut since = since(&[None; 9]);
        for text in [
            crate::turn::news_of_nothing(),
            crate::turn::steered("and quickly"),
        ] {
            let last = since.end();
            let row = UnreadRow {
                id: MessageId(last.row + 1),
                text,
                timestamp: last.at + 1.0,
                ..since.said[0].row.clone()
            };
            let message = message(&row);
            since.said.push(Said { row, message });
        }
        assert_eq!(since.due(&TEN), Due::Nothing);
    }
}
