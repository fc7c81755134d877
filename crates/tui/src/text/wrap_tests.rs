use proptest::prelude::*;
use ratatui::style::Stylize;

use super::*;
use crate::text::width;

fn plain(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(text: &str, columns: usize, expected: &[&str]) {
    assert_eq!(plain(&wrap(&Line::raw(text), columns)), expected);
}

#[test]
fn breaks_at_words_and_inside_long_ones() {
    check("the quick brown fox", 10, &["the quick", "brown fox"]);
    check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
    check("to abcdefghij", 6, &["to", "abcdef", "ghij"]);
    check("", 5, &[""]);
    check("a  b", 5, &["a  b"]);
    check("abc def", 3, &["abc", "def"]);
}

#[test]
fn wide_characters_count_two_and_break_anywhere() {
    check("日本語日本語", 5, &["日本", "語日", "本語"]);
    check("ab 日本語", 6, &["ab 日", "本語"]);
}

#[test]
fn continuation_lines_keep_the_indentation() {
    check("  one two three", 9, &["  one two", "  three"]);
    check("        deep words", 9, &["        d", "eep words"]);
}

#[test]
fn no_width_is_too_small() {
    check("日a", 0, &["…", "a"]);
    check("ab", 1, &["a", "b"]);
}

#[test]
fn styles_survive_and_prefixes_count() {
    let line = Line::from(vec!["one ".into(), "two three".bold()]);
    let prefix = Prefix {
        first: vec!["- ".into()],
        rest: vec!["  ".into()],
    };
    let lines = wrap_with(&line, 9, &prefix);
    assert_eq!(plain(&lines), ["- one two", "  three"]);
    assert_eq!(lines[1].spans, vec![Span::raw("  "), "three".bold()]);
}

#[test]
fn a_prefix_never_takes_all_the_room() {
    let prefix = Prefix {
        first: vec!["日本".into(), "- ".into()],
        rest: vec!["      ".into()],
    };
    assert_eq!(
        plain(&wrap_with(&Line::raw("abc"), 4, &prefix)),
        ["日-a", "   b", "   c"]
    );
    assert_eq!(plain(&wrap_with(&Line::raw("ab"), 0, &prefix)), ["a", "b"]);
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked_and_no_text_is_lost(text in "[a-c 日é👩\u{200d}💻]{0,40}", columns in 0_usize..12) {
        let lines = plain(&wrap(&Line::raw(text.clone()), columns));
        for line in &lines {
            prop_assert!(width(line) <= columns.max(1), "{line:?}");
        }
        if columns > 2 {
            let visible = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(visible(&lines.concat()), visible(&text));
        }
    }
}
