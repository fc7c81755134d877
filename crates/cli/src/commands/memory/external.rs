//! How the external memory stands, without asking it.

use hermes_store::MemoryBacklog;
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::Desk;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::external::Ground;
use crate::output::{one_line, printable};
use crate::when::{iso, show as at};

/// What is known of it here.
pub(super) struct External {
    name: String,
    /// Why it cannot be used.
    fault: Option<String>,
    tools: Vec<String>,
    backlog: MemoryBacklog,
}

impl External {
    /// Looks at the settings and at what waits; nothing when there is none.
    pub(super) fn look(desk: &Desk, context: &Context) -> Outcome<Option<Self>> {
        let name = desk.loaded.config.memory.provider.trim().to_owned();
        if name.is_empty() {
            return Ok(None);
        }
        let made = Ground::new(context, &desk.loaded, &desk.store)?.provider(&name);
        let (fault, tools) = match made {
            Ok(provider) => {
                let tools = provider.tools().into_iter();
                let tools = tools.map(|spec| spec.name).collect();
                (None, tools)
            }
            Err(error) => {
                let fault = format!("{error}; {}", error.hint());
                (Some(fault), Vec::new())
            }
        };
        Ok(Some(Self {
            fault,
            tools,
            backlog: desk.store.memory_backlog(&name).wait()?,
            name,
        }))
    }

    pub(super) fn document(&self) -> Json {
        json!({
            "name": self.name,
            "ready": self.fault.is_none(),
            "fault": self.fault,
            "tools": self.tools,
            "waiting": self.backlog.waiting,
            "waiting_since": self.backlog.oldest.map(iso),
        })
    }

    pub(super) fn words(&self, zone: &TimeZone) -> String {
        let state = match &self.fault {
            Some(fault) => format!("cannot be used: {}", one_line(fault)),
            None => match self.backlog {
                MemoryBacklog { waiting: 0, .. } => "nothing waits to be sent".to_owned(),
                MemoryBacklog { waiting, oldest } => {
                    let since = oldest.map(|oldest| format!(" since {}", at(oldest, zone)));
                    format!("{waiting} wait to be sent{}", since.unwrap_or_default())
                }
            },
        };
        format!("External memory: {} ({state})", printable(&self.name))
    }
}
