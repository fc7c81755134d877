//! The line of facts below an answer.

use hermes_config::Variable;
use hermes_core::TurnEnd;

use super::conversation::Conversation;
use crate::context::Context;
use crate::output::one_line;

/// What stands below an answer, if that is wanted and there is one.
pub(super) fn below(
    why: &TurnEnd,
    conversation: &Conversation,
    context: &Context,
) -> Option<String> {
    let answered = matches!(why, TurnEnd::Done | TurnEnd::Budget);
    if !answered || !conversation.footer.get() || !conversation.front().has_answered() {
        return None;
    }
    let footer = &conversation
        .house
        .models
        .loaded
        .config
        .display
        .runtime_footer;
    let facts = footer.fields.iter();
    let facts: Vec<String> = facts
        .filter_map(|field| fact(field, conversation, context))
        .collect();
    (!facts.is_empty()).then(|| facts.join(" · "))
}

fn fact(field: &str, conversation: &Conversation, context: &Context) -> Option<String> {
    let front = conversation.front();
    match field {
        "model" => Some(one_line(&front.route().model)),
        "provider" => Some(one_line(&front.route().provider)),
        "context_pct" => {
            let window = front.route().window(&conversation.house.models)?;
            let used = front.used().saturating_mul(100) / window.max(1);
            Some(format!("{}%", used.min(100)))
        }
        "cwd" => {
            let path = front.directory.display().to_string();
            let home = context.environment.filled(&Variable::HOME);
            let below = home.and_then(|home| path.strip_prefix(home));
            Some(one_line(&match below {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
                Some(_) | None => path.clone(),
            }))
        }
        "session" => Some(front.id().to_string()),
        // A fact of another version is left out.
        _ => None,
    }
}
