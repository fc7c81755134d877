//! How an unfinished text will most likely go on.

use super::blocks::unmarked;
use super::fence::Fence;
use super::inline::completed_line;

/// The text with what is half written completed or left out, so that rendering it shows neither marks without
/// their twins nor blocks that will turn into others.
pub(super) fn completed(open: &str) -> String {
    let mut text = open;
    let last = text.rfind('\n').map_or(0, |end| end + 1);
    let (before, line) = text.split_at(last);
    if is_only_marks(line) {
        text = before;
    }
    let block = text.rfind("\n\n").map_or(0, |end| end + 2);
    let (done, rest) = text.split_at(block);
    if rest.trim_start().starts_with('|') {
        return table(done, rest);
    }
    if is_inside_code(text) {
        return text.to_owned();
    }
    let paragraph = last_paragraph(text);
    let (done, rest) = text.split_at(paragraph);
    format!("{done}{}", completed_line(rest))
}

/// A line of marks alone may become a rule, a heading, an entry, a fence or a table.
pub(super) fn is_only_marks(line: &str) -> bool {
    let body = unmarked(line).0.trim();
    matches!(body, "[ ]" | "[x" | "[x]" | "[X" | "[X]")
        || body.chars().all(|c| "-=*_#+>`~|:[]!".contains(c))
        || body
            .trim_end_matches(['.', ')'])
            .chars()
            .all(|c| c.is_ascii_digit())
}

/// A table is one once the line below its head is complete; a row is one once it is complete.
fn table(done: &str, rest: &str) -> String {
    let whole = rest.rfind('\n').map_or(0, |end| end + 1);
    let rows = rest.get(..whole).unwrap_or_default();
    if rows.lines().count() < 2 {
        done.to_owned()
    } else {
        format!("{done}{rows}")
    }
}

/// Whether a code block of a list or a quotation is open: what is in it has no marks.
fn is_inside_code(text: &str) -> bool {
    let mut open: Option<Fence> = None;
    for line in text.lines() {
        open = match open {
            Some(fence) if fence.closed_by(line) => None,
            Some(fence) => Some(fence),
            None => Fence::opens(unmarked(line).0),
        };
    }
    open.is_some()
}

/// Where the last paragraph begins: after an empty line, or with the mark of a list, a quotation or a heading.
fn last_paragraph(text: &str) -> usize {
    let mut from = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let (body, marked) = unmarked(line);
        if line.trim().is_empty()
            || marked
            || body.starts_with('#')
            || line.trim_start().starts_with('>')
        {
            from = start + line.len() - body.len();
        }
        start += line.len();
    }
    from.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_written_marks_are_completed_or_left_out() {
        for (open, expected) in [
            ("a **bo", "a **bo**"),
            ("a **bold*", "a **bold**"),
            ("a **", "a"),
            ("**bold **", "**bold **"),
            ("*a **b", "*a **b***"),
            ("use `cod", "use `cod`"),
            ("use `a` and `", "use `a` and"),
            ("see [the pag", "see"),
            ("see [the page](http://ex", "see"),
            ("see [the page]", "see"),
            ("a[0] = [", "a[0] ="),
            (
                "see [the page](http://x) now",
                "see [the page](http://x) now",
            ),
            ("see <http", "see"),
            ("5 < 6", "5 < 6"),
            ("a &am", "a"),
            ("a & b", "a & b"),
            ("~~gone", "~~gone~~"),
            ("snake_case_na", "snake_case_na"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("text\n-", "text"),
            ("text\n12.", "text"),
            ("text\n``", "text"),
            ("- a **b\n- c", "- a **b\n- c"),
            ("1. a\n   ```sh\n   **x", "1. a\n   ```sh\n   **x"),
            ("| a | b", ""),
            ("| a |\n|--", ""),
            ("| a |\n|---|\n| x", "| a |\n|---|\n"),
        ] {
            assert_eq!(completed(open), expected, "{open:?}");
        }
    }
}
