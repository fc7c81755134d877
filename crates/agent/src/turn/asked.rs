//! The calls of an answer: which tool each of them means, and which can run.

use hermes_core::{CallId, Message, Part, Role, ToolCall};
use hermes_llm::AskedCall;

use super::Turn;
use crate::batch::Ready;
use crate::repair::{self, Arguments};
use crate::toolbox::Toolbox;

impl Turn<'_> {
    /// A call with its name and its arguments repaired as far as they can be.
    pub(super) fn asked<'a>(&self, call: &'a AskedCall) -> Asked<'a> {
        let tool = self.named(&call.name);
        let schema = match &tool {
            Named::Tool(name) => self.toolbox.get(name).map(|tool| &tool.spec().parameters),
            Named::Absent(_) | Named::Unknown => None,
        };
        let arguments = repair::arguments(&call.arguments, schema);
        Asked {
            call,
            tool,
            arguments,
        }
    }

    /// What a name stands for. One that is away is not taken for another that is there.
    fn named(&self, name: &str) -> Named {
        if self.toolbox.get(name).is_none()
            && let Some(why) = self.absent(name)
        {
            return Named::Absent(why);
        }
        repair::tool_name(name, self.toolbox.names()).map_or(Named::Unknown, Named::Tool)
    }

    /// Why a tool of this name is not there, if that is known.
    fn absent(&self, name: &str) -> Option<String> {
        let audience = self.around.spec.audience();
        self.around.services.tools.absent(name, audience)
    }

    /// What can run, and what cannot and why. The same call is not made twice.
    pub(super) fn sorted(&self, asked: Vec<Asked<'_>>, broken: bool) -> Sorted {
        let mut sorted = Sorted::default();
        for Asked {
            call,
            tool,
            arguments,
        } in asked
        {
            let shown = match &tool {
                Named::Tool(name) => name.clone(),
                Named::Absent(_) | Named::Unknown => call.name.clone(),
            };
            let (value, fault) = match arguments {
                Arguments::Good(value) => (value, None),
                Arguments::Truncated | Arguments::Broken => (
                    serde_json::json!({}),
                    Some("the arguments are not valid JSON".to_owned()),
                ),
            };
            let wanted = ToolCall {
                id: call.id.clone(),
                name: shown.clone(),
                arguments: value,
            };
            let doubled = sorted
                .calls
                .iter()
                .any(|known| known.name == wanted.name && known.arguments == wanted.arguments);
            if doubled && fault.is_none() {
                continue;
            }
            let fault = fault.or_else(|| match self.meant(&tool, &wanted) {
                Err(fault) => Some(fault),
                Ok(_) if broken => Some(
                    "not run, because another call of the same answer was malformed".to_owned(),
                ),
                Ok(meant) => {
                    sorted.ready.push(meant);
                    None
                }
            });
            if let Some(fault) = fault {
                sorted.refused.push(Refused {
                    call: call.id.clone(),
                    name: shown,
                    fault,
                });
            }
            sorted.calls.push(wanted);
        }
        sorted
    }

    /// What runs for a call of a tool. Otherwise what the model is told.
    fn meant(&self, tool: &Named, wanted: &ToolCall) -> Result<Ready, String> {
        match tool {
            Named::Tool(_) => self.toolbox.meant(wanted).map_err(|fault| {
                let handed_on = Toolbox::handed_on(wanted);
                handed_on
                    .and_then(|name| self.absent(name))
                    .unwrap_or(fault)
            }),
            Named::Absent(why) => Err(why.clone()),
            Named::Unknown => Err(format!(
                "there is no tool named {}; the tools are: {}",
                wanted.name,
                self.toolbox.shown().collect::<Vec<_>>().join(", ")
            )),
        }
    }
}

/// A call as the model wrote it, and what can be made of it.
pub(super) struct Asked<'a> {
    call: &'a AskedCall,
    pub(super) tool: Named,
    pub(super) arguments: Arguments,
}

/// What the name in a call stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The tool of this name.
    Tool(String),
    /// One that is not there now, and why.
    Absent(String),
    Unknown,
}

/// The calls of an answer.
#[derive(Default)]
pub(super) struct Sorted {
    /// All of them, as they are kept.
    pub(super) calls: Vec<ToolCall>,
    /// Those that can run.
    pub(super) ready: Vec<Ready>,
    pub(super) refused: Vec<Refused>,
}

/// A call that is not run.
pub(super) struct Refused {
    call: CallId,
    name: String,
    fault: String,
}

impl Refused {
    /// What the model gets to read instead of a result.
    pub(super) fn into_message(self) -> Message {
        Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult {
                call: self.call,
                name: self.name,
                content: format!("[TOOL_ERROR] {}", self.fault),
                failed: true,
            }],
            raw: None,
        }
    }
}
