//! Calls of tools that go to a log in place of the screen.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use hermes_core::{CallId, Event, SessionId};

use crate::commands::chat::events::first_line;
use crate::logging::{CallLog, EndedCall};

/// Calls under way; more than these are not told.
const MOST_OPEN: usize = 256;

/// What is told of the calls of one session; nothing without a log.
pub(in crate::commands::chat) struct Calls {
    log: Option<Rc<CallLog>>,
    open: RefCell<Vec<Open>>,
}

struct Open {
    call: CallId,
    tool: String,
    arguments: String,
    since: Instant,
}

impl Calls {
    pub(in crate::commands::chat) fn new(log: Option<Rc<CallLog>>) -> Self {
        Self {
            log,
            open: RefCell::default(),
        }
    }

    pub(in crate::commands::chat) fn hear(&self, session: &SessionId, event: &Event) {
        let Some(log) = &self.log else {
            return;
        };
        let mut open = self.open.borrow_mut();
        match event {
            Event::ToolStarted {
                call,
                name,
                arguments,
            } if open.len() < MOST_OPEN => open.push(Open {
                call: call.clone(),
                tool: name.clone(),
                arguments: arguments.to_string(),
                since: Instant::now(),
            }),
            Event::ToolFinished {
                call,
                failed,
                summary,
            } => {
                let Some(at) = open.iter().position(|one| one.call == *call) else {
                    return;
                };
                let ended = open.remove(at);
                let why = failed.then(|| first_line(summary));
                log.write(&EndedCall {
                    session: session.as_str(),
                    tool: &ended.tool,
                    arguments: &ended.arguments,
                    took: ended.since.elapsed(),
                    failed: why.as_deref(),
                });
            }
            Event::TurnFinished { .. } => open.clear(),
            _ => {}
        }
    }
}
