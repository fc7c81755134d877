//! Entries that were planted: written by hand, by another program, or before a pattern was known.

use std::borrow::Cow;

use hermes_policy::threats::{self, Scope};

use crate::target::Target;

/// The ids of what makes a text look planted; none for a good one.
pub fn planted(text: &str) -> Vec<String> {
    threats::ids(&threats::threats(text, Scope::Strict))
}

/// An entry as a model may see it. One that looks planted is not shown.
pub fn shown(target: Target, text: &str) -> Cow<'_, str> {
    let ids = planted(text);
    if ids.is_empty() {
        return Cow::Borrowed(text);
    }
    let (file, ids) = (target.file_name(), ids.join(", "));
    let instead = format!(
        "[BLOCKED: an entry of {file} looks planted ({ids}); the user can look at it and remove it]"
    );
    Cow::Owned(instead)
}
