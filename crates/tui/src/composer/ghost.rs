//! The rest of something sent before, shown behind what is being written.

use super::history::History;

/// What the newest entry that begins with a text has behind it, up to the end of that line.
pub(crate) fn suggestion<'h>(history: &'h History, text: &str) -> Option<&'h str> {
    if text.trim().is_empty() || text.contains('\n') {
        return None;
    }
    let newest_first = history.entries().iter().rev();
    let rests = newest_first.filter_map(|entry| entry.strip_prefix(text));
    rests
        .filter_map(|rest| rest.lines().next())
        .find(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-17
    #[test]
    fn the_newest_entry_with_more_to_say_is_suggested() {
        let entries = ["run the tests", "run the linter\nand more", "run", "other"];
        let history = History::new(entries.map(str::to_owned).to_vec());
        assert_eq!(suggestion(&history, "run"), Some(" the linter"));
        assert_eq!(suggestion(&history, "run the t"), Some("ests"));
        assert_eq!(suggestion(&history, "run the tests"), None);
        assert_eq!(suggestion(&history, ""), None);
        assert_eq!(suggestion(&history, " "), None);
        assert_eq!(suggestion(&history, "Run"), None);
    }
}
