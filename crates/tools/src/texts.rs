//! The edits of `patch` without files, for programs that try them on texts of their own.

use crate::edit::{self, Operation, Replacement, Text};

/// Replaces the one place `old` stands in, found as `patch` finds it. The error says why nothing was changed.
pub fn replaced(text: &str, old: &str, new: &str) -> Result<String, String> {
    let request = Replacement {
        old,
        new,
        all: false,
        near_line: None,
    };
    match edit::replace(&Text::new(text.to_owned()), &request) {
        Ok(edited) => Ok(edited.body),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// What the changes of a patch make of a text, each on its own. The error says why one does not fit.
pub fn patched(text: &str, patch: &str) -> Result<Vec<String>, String> {
    let text = Text::new(text.to_owned());
    let operations = edit::parse(patch).map_err(|fault| fault.to_string())?;
    let hunks = operations.iter().filter_map(|operation| match operation {
        Operation::Update { hunks, .. } => Some(hunks),
        Operation::Add { .. } | Operation::Delete { .. } | Operation::Move { .. } => None,
    });
    hunks
        .map(|hunks| {
            edit::apply(&text, hunks)
                .map(|applied| applied.body)
                .map_err(|fault| fault.to_string())
        })
        .collect()
}
