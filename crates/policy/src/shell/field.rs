//! A word after expansion, and what of it can be known before it runs.

use std::rc::Rc;

use super::tree::Span;

/// Stands in a field for what is only known when the command runs. Not a character anybody types; a
/// command that contains it is merely judged with more care.
pub(crate) const HOLE: char = '\u{10fffd}';

/// One argument as the program would get it.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) span: Span,
    /// What a substitution in it runs.
    pub(crate) carried: Option<Rc<Carried>>,
}

/// What a substitution runs and, if it can be worked out, what it prints.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    pub(crate) programs: Vec<String>,
    pub(crate) text: Option<String>,
    /// Whether that is in a file, whose name the field is.
    pub(crate) in_file: bool,
}

impl Field {
    /// A field that stands for itself.
    pub(crate) fn literal(text: impl Into<String>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            carried: None,
        }
    }

    /// Whether every character is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(HOLE)
    }

    /// Whether nothing is known.
    pub(crate) fn is_hidden(&self) -> bool {
        !self.is_known() && self.text.chars().all(|c| c == HOLE)
    }

    /// What a substitution runs that hands its output over as a file, such as `<(…)`.
    pub(crate) fn channel(&self) -> Option<&Carried> {
        self.carried.as_deref().filter(|carried| carried.in_file)
    }

    /// Whether one of these programs runs in a substitution of it.
    pub(crate) fn comes_from(&self, programs: &[&str]) -> bool {
        self.carried.as_ref().is_some_and(|carried| {
            let mut all = carried.programs.iter();
            all.any(|name| programs.contains(&name.as_str()))
        })
    }
}
