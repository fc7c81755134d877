//! What of a message a person typed: files, pages, pictures in words, skills and remarks about tools are added to
//! the same text behind it.

use hermes_skills::typed_and_added;

/// Goes in front of what a command of ours adds to what was typed behind it.
pub const EXPLAINED: &str = "\n\n--- How to go about it ---\n\n";
/// Goes in front of what a message refers to.
pub(crate) const ATTACHED: &str = "\n\n--- Attached context ---\n\n";
/// Goes in front of what it refers to and does not get.
pub(crate) const NOT_ATTACHED: &str = "\n\n--- Could not be attached as asked ---\n";
/// Begins what there is to know about the tools.
pub(crate) const ABOUT_TOOLS: &str = "\n\n[About your tools: ";
/// Begins a picture that another model put into words, or could not.
pub(crate) const PICTURE: &str = "[A picture (";

/// The words of the person.
pub(crate) fn typed(message: &str) -> &str {
    let (mut typed, _) = typed_and_added(message);
    // A message may consist of nothing else, and then begins with what stands between two paragraphs elsewhere.
    for mark in [EXPLAINED, ATTACHED, NOT_ATTACHED, ABOUT_TOOLS] {
        let bare = mark.trim_start();
        if typed.starts_with(bare) {
            return "";
        }
        typed = typed.split_once(mark).map_or(typed, |(before, _)| before);
    }
    if typed.starts_with(PICTURE) {
        return "";
    }
    let picture = format!("\n\n{PICTURE}");
    typed
        .split_once(&picture)
        .map_or(typed, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-36
    #[test]
    fn what_was_added_to_a_message_is_not_what_was_typed() {
        for added in [
            format!("{EXPLAINED}First look."),
            format!("{ATTACHED}file README.md"),
            format!("{NOT_ATTACHED}\n- no such file"),
            format!("{ABOUT_TOOLS}one is gone]"),
            format!("\n\n{PICTURE}a.png), described by another model: a cat]"),
            "\n\n<chosen_skills>\nAlways test.\n</chosen_skills>".to_owned(),
        ] {
            assert_eq!(typed(&format!("Go on.{added}")).trim(), "Go on.", "{added}");
            assert_eq!(typed(added.trim_start()), "", "{added}");
        }
        assert_eq!(
            typed("--- Attached context is fine"),
            "--- Attached context is fine"
        );
    }
}
