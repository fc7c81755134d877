//! Limits and habits of the agent.

use super::draft::Draft;
use super::question::Question;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

/// The settings, in the order they are asked for.
pub(super) const QUESTIONS: [Question; 4] = [
    Question {
        key: "agent.max_turns",
        text: "Model calls one message may lead to?",
    },
    Question {
        key: "display.tool_progress",
        text: "What is shown of tools: all, new, verbose, log or off?",
    },
    Question {
        key: "compression.threshold",
        text: "Share of the window at which a conversation is shortened, 0.5 to 0.95?",
    },
    Question {
        key: "session_reset.mode",
        text: "When a chat begins anew: none, idle, daily or both?",
    },
];

pub(super) fn ask(draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    output.line("")?;
    for question in QUESTIONS {
        question.ask(draft, context, output)?;
    }
    Ok(())
}
