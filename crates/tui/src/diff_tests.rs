use super::*;
use crate::theme::Theme;

fn plain(diff: &Diff, columns: usize) -> String {
    let lines: Vec<String> = diff
        .lines(columns, &Theme::default())
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.join("\n")
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn files_of_a_directory_are_named_by_what_stands_behind_it() {
    let text = "--- a/srv/work/src/a.txt\n+++ b/srv/work/src/a.txt\n@@ -1 +1 @@\n-x\n+y\n\
                --- a/srv/workshop/b.txt\n+++ b/srv/workshop/b.txt\n@@ -1 +1 @@\n-x\n+y\n";
    let named = |directory: &str| {
        let lines = Diff::parse(text)
            .below(directory)
            .lines(60, &Theme::plain());
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        lines.join("\n")
    };
    let shown = named("/srv/work");
    assert!(shown.starts_with("src/a.txt +1 -1"), "{shown}");
    assert!(shown.contains("srv/workshop/b.txt +1 -1"), "{shown}");
    assert!(named("").starts_with("srv/work/src/a.txt"));
    assert!(named("/").starts_with("srv/work/src/a.txt"));
}

#[test]
fn changes_have_numbers_and_a_little_around_them() {
    let old = numbered(20);
    let new = old.replace("line 10\n", "line ten\nand more\n");
    let expected = "src/a.rs +2 -1\n 7   line 7\n 8   line 8\n 9   line 9\n10 - line 10\n10 + line ten\n11 + and more\n12   line 11\n13   line 12\n14   line 13";
    assert_eq!(plain(&Diff::of_texts("src/a.rs", &old, &new), 40), expected);
}

#[test]
fn equal_texts_show_nothing() {
    let diff = Diff::of_texts("a", "x\n", "x\n");
    assert!(diff.is_empty());
    assert_eq!(plain(&diff, 40), "");
}

#[test]
fn long_changes_are_counted() {
    let text = plain(&Diff::of_texts("a", "", &numbered(100)), 40);
    assert_eq!(text.lines().count(), 1 + 80 + 1);
    assert!(text.ends_with("… 20 more lines not shown"), "{text}");
    let mut many = Diff::default();
    for n in 0..8 {
        many.append(Diff::of_texts(&format!("f{n}"), "", "x\n"));
    }
    assert!(plain(&many, 40).ends_with("f5 +1 -0\n1 + x\n… 2 more files not shown"));
}

#[test]
fn a_unified_diff_is_read_back() {
    let unified = "diff --git a/x.sql b/x.sql\nindex 1..2 100644\n--- a/x.sql\n+++ b/x.sql\n@@ -3,2 +3,2 @@ head\n--- old comment\n+-- new comment\n select 1\n@@ -40 +40,2 @@\n a\n+b\n\\ No newline at end of file\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n";
    let expected = "x.sql +2 -1\n 3 - -- old comment\n 3 + -- new comment\n 4   select 1\n   ⋯\n40   a\n41 + b\nnew.txt +1 -0\n1 + hello";
    assert_eq!(plain(&Diff::parse(unified), 40), expected);
    assert!(Diff::parse("no diff at all").is_empty());
}

#[test]
fn long_lines_wrap_under_their_text_and_are_safe() {
    let diff = Diff::of_texts("a", "", "one two three \u{1b}[31mfour\tx\n");
    assert_eq!(
        plain(&diff, 14),
        "a +1 -0\n1 + one two\n    three four\n    x"
    );
}

#[test]
fn texts_that_take_too_long_are_only_counted() {
    let (old, new) = (numbered(5_000), numbered(5_000).replace("line", "row"));
    assert_eq!(
        plain(&Diff::of_texts("big", &old, &new), 40),
        "big +5000 -5000\n… 10000 more lines not shown"
    );
}
