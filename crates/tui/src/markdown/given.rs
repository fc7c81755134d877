//! Lines of a block that is still open, handed out before it is complete.

use ratatui::text::{Line, Span};

use super::blocks::unmarked;
use super::open;

/// The part of an open block whose lines stay as they are, whatever follows: nothing where a mark may still change
/// what was written before it.
pub(super) fn steady(open: &str) -> Option<String> {
    let doubtful = |line: &str| {
        let body = line.trim_start_matches(' ');
        body.is_empty()
            || body.starts_with(['>', '#'])
            || unmarked(line).0.starts_with(['`', '~', '#', '>'])
            || line.starts_with("    ")
            || open::is_only_marks(line)
    };
    let done = open.rsplit_once('\n').map(|(done, _)| done);
    if open.contains(['|', '$', '<', '\t'])
        || open.lines().next().is_none_or(doubtful)
        || done.is_some_and(|done| done.split('\n').any(doubtful))
    {
        return None;
    }
    let text = open::completed(open);
    open.starts_with(text.trim_end()).then_some(text)
}

/// How many letters are in lines. Spaces do not count: they come and go with the width.
pub(super) fn letters(lines: &[Line<'_>]) -> usize {
    lines.iter().map(in_line).sum()
}

fn in_line(line: &Line<'_>) -> usize {
    let spans = line.spans.iter();
    spans
        .map(|span| span.content.chars().filter(|c| !c.is_whitespace()).count())
        .sum()
}

/// Lines without their first letters, which were handed out already, maybe in another width.
pub(super) fn without(lines: Vec<Line<'static>>, mut given: usize) -> Vec<Line<'static>> {
    let mut lines = lines.into_iter();
    let mut rest = Vec::new();
    while given > 0 {
        let Some(line) = lines.next() else {
            break;
        };
        let here = in_line(&line);
        if here > given {
            rest.push(end_of(line, given));
            break;
        }
        given -= here;
    }
    rest.extend(lines);
    rest
}

/// A line without its first letters.
fn end_of(line: Line<'static>, mut given: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for span in line.spans {
        let mut end = 0;
        for letter in span.content.chars() {
            let spare = given == 0 && !(spans.is_empty() && letter.is_whitespace());
            if spare {
                break;
            }
            given -= usize::from(!letter.is_whitespace() && given > 0);
            end += letter.len_utf8();
        }
        let left = span.content.get(end..).unwrap_or_default();
        if !left.is_empty() {
            spans.push(Span::styled(left.to_owned(), span.style));
        }
    }
    Line::from(spans).style(line.style)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line<'static>> {
        texts
            .iter()
            .map(|text| Line::from(vec![Span::raw((*text).to_owned())]))
            .collect()
    }

    fn texts(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_given_is_left_out_in_any_width() {
        let wide = lines(&["one two three four", "five six"]);
        for (given, left) in [
            (0, vec!["one two three four", "five six"]),
            (6, vec!["three four", "five six"]),
            (15, vec!["five six"]),
            (22, vec![]),
            (90, vec![]),
        ] {
            assert_eq!(texts(&without(wide.clone(), given)), left, "{given}");
        }
        let narrow = lines(&["one", "two", "", "three", "four"]);
        assert_eq!(texts(&without(narrow.clone(), 6)), ["", "three", "four"]);
        assert_eq!(letters(&narrow), 15);
    }

    #[test]
    fn only_what_stays_is_steady() {
        for text in [
            "plain words",
            "- one\n- two",
            "a *b* c\nd",
            "see [the pag",
            "1. one",
        ] {
            assert!(steady(text).is_some(), "{text:?}");
        }
        for text in [
            "",
            "a **b",
            "| a",
            "a | b",
            "> said",
            "# head",
            "    code",
            "```sh",
            "- ```",
            "it costs $5",
            "title\n===\nmore",
            "a\n\nb",
            "<br>",
        ] {
            assert_eq!(steady(text), None, "{text:?}");
        }
    }
}
