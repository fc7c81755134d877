//! Small changes to a command before it runs.

use std::ops::Range;

use super::commands::{Groups, commands};
use super::lexer::{Kind, tokens};

/// What every `sudo` of a command becomes: it reads its password from standard input and asks nothing. An
/// earlier password does not count, so that a line which is not read cannot reach the command itself.
const SUDO: &str = "sudo -k -S -p ''";

/// Makes `A && B &` put only `B` into the background.
///
/// The shell would put the whole list there, in a subshell that waits for `B` and holds our output open.
pub(crate) fn detach_lists(text: &str) -> String {
    let mut groups = Groups::default();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    // Where the last part of the and-or list begins, once there is one.
    let mut last_part: Option<usize> = None;
    let mut pending_part = false;
    let mut at_start = true;
    let tokens = tokens(text);
    for (index, token) in tokens.iter().enumerate() {
        let top = groups.depth() == 0;
        if pending_part {
            last_part = Some(token.span.start);
            pending_part = false;
        }
        match token.kind {
            Kind::Word => {
                let word = text.get(token.span.clone()).unwrap_or_default();
                if !(at_start && groups.reserved(word)) {
                    at_start = false;
                }
                continue;
            }
            Kind::Redirect => {
                at_start = false;
                continue;
            }
            Kind::AndOr if top => pending_part = true,
            Kind::Background if top => {
                if let Some(start) = last_part.take() {
                    let more_follows = tokens
                        .get(index + 1)
                        .is_some_and(|next| text.get(next.span.clone()) != Some("\n"));
                    let end = if more_follows { "& };" } else { "& }" };
                    edits.push((start..start, "{ "));
                    edits.push((token.span.clone(), end));
                }
            }
            Kind::End if top => last_part = None,
            Kind::AndOr | Kind::Background | Kind::End | Kind::Pipe | Kind::Open | Kind::Close => {}
        }
        at_start = true;
        groups.operator(token.kind);
    }
    apply(text, edits)
}

/// Makes every `sudo` that is run read its password from standard input. Answers how many there are.
pub(crate) fn feed_sudo(text: &str) -> (String, usize) {
    let edits: Vec<_> = sudo_places(text).map(|place| (place, SUDO)).collect();
    let count = edits.len();
    (apply(text, edits), count)
}

/// How many times a command runs `sudo`.
pub fn sudo_count(text: &str) -> usize {
    sudo_places(text).count()
}

/// Whether `sudo` said that it was given the wrong password.
pub fn sudo_rejected(output: &str) -> bool {
    let output = output.to_lowercase();
    [
        "incorrect password attempt",
        "sorry, try again",
        "incorrect authentication attempt",
    ]
    .iter()
    .any(|sign| output.contains(sign))
}

fn sudo_places(text: &str) -> impl Iterator<Item = Range<usize>> {
    commands(text)
        .into_iter()
        .filter(|simple| simple.argv().first() == Some(&"sudo"))
        .filter_map(|simple| simple.program_place())
}

/// Replaces ranges that stand in order and do not overlap.
fn apply(text: &str, edits: Vec<(Range<usize>, &str)>) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in edits {
        changed.push_str(text.get(from..range.start).unwrap_or_default());
        changed.push_str(new);
        from = range.end;
    }
    changed.push_str(text.get(from..).unwrap_or_default());
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_a_list_goes_into_the_background() {
        let cases = [
            ("A && B &", "A && { B & }"),
            ("A || B && C | D &", "A || B && { C | D & }"),
            ("A && B & C", "A && { B & }; C"),
            ("A && B &\nC", "A && { B & }\nC"),
            ("A; B &", "A; B &"),
            ("A && B; C &", "A && B; C &"),
            ("A && B &> f", "A && B &> f"),
            ("A && B 2>&1 &", "A && { B 2>&1 & }"),
            ("(A && B &)", "(A && B &)"),
            ("{ A && B & }", "{ A && B & }"),
            (
                "for x in 1; do A && B & done",
                "for x in 1; do A && B & done",
            ),
            ("A && (B; C) &", "A && { (B; C) & }"),
            ("echo 'A && B &'", "echo 'A && B &'"),
            ("A && B", "A && B"),
            ("A & B && C &", "A & B && { C & }"),
        ];
        for (text, expected) in cases {
            assert_eq!(detach_lists(text), expected, "{text}");
        }
    }

    // EX-11
    #[test]
    fn only_a_sudo_that_runs_is_fed() {
        let fed = |text| feed_sudo(text);
        assert_eq!(
            fed("A=1 sudo ls && echo 'sudo x'; sudo -u me id"),
            (
                "A=1 sudo -k -S -p '' ls && echo 'sudo x'; sudo -k -S -p '' -u me id".to_owned(),
                2
            )
        );
        assert_eq!(fed("echo sudo").1, 0);
        assert_eq!(sudo_count("man sudo; \"sudo\" ls"), 0);
    }
}
