//! The password for `sudo`: from the settings, or from the person, kept for the session.

use hermes_core::{Answer, Question, QuestionId, QuestionKind, ToolContext};
use hermes_exec::{sudo_count, sudo_rejected};
use hermes_secrets::Secret;

use crate::workplace::Workplace;

/// What is known for one command.
pub(super) enum Password {
    /// It needs none, or there is none.
    None,
    /// The user set it; only the user can change it.
    Set(Secret),
    /// A person typed it in this session.
    Typed(Secret),
}

impl Password {
    pub(super) fn secret(&self) -> Option<Secret> {
        match self {
            Self::None => None,
            Self::Set(secret) | Self::Typed(secret) => Some(secret.clone()),
        }
    }

    /// Whether `sudo` refused it; one that was typed is then forgotten.
    pub(super) fn was_rejected(&self, place: &Workplace, output: &str) -> bool {
        let rejected = !matches!(self, Self::None) && sudo_rejected(output);
        if rejected && matches!(self, Self::Typed(_)) {
            place.sudo.forget();
        }
        rejected
    }
}

/// The password a command's `sudo`s get.
pub(super) async fn password(place: &Workplace, command: &str, context: &ToolContext) -> Password {
    if sudo_count(command) == 0 {
        return Password::None;
    }
    if let Some(set) = &place.sudo.configured {
        return Password::Set(set.clone());
    }
    if let Some(typed) = place.sudo.typed() {
        return Password::Typed(typed);
    }
    if place.sudo_needs_none(&context.cancel).await {
        return Password::None;
    }
    let question = Question {
        id: QuestionId(0),
        session: context.session.clone(),
        kind: QuestionKind::Secret {
            prompt: "A command uses sudo. Your password, or nothing to run it without:".to_owned(),
        },
        deadline: place.sudo.patience,
    };
    let reply = context.asker.ask(question, context.cancel.clone()).await;
    match reply.answer {
        Answer::Text(typed) if !typed.is_empty() => match place.sudo.keep(typed, &place.redactor) {
            Some(secret) => Password::Typed(secret),
            None => Password::None,
        },
        _ => Password::None,
    }
}
