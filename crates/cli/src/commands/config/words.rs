//! A command line as `EDITOR` holds it, in words.

use crate::complaint::{Complaint, Outcome};

/// Splits at spaces as a shell does: quotes keep words together, a backslash takes the next character as
/// it is. Nothing is expanded.
pub(super) fn split(line: &str) -> Outcome<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (mark, Some(open)) if mark == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                // Two quotes with nothing between them are a word too.
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(characters.next()),
            (space, None) if space.is_whitespace() => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(open) => Err(
            Complaint::bad_request(format!("EDITOR has an open quote: {line}"))
                .hint(format!("close the {open}, or leave it out")),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (line, words) in [
            ("vi", &["vi"][..]),
            ("  code  --wait ", &["code", "--wait"]),
            ("'/My Apps/ed' -n", &["/My Apps/ed", "-n"]),
            (
                r#""/My Apps/ed" --name="a b""#,
                &["/My Apps/ed", "--name=a b"],
            ),
            (r"/My\ Apps/ed", &["/My Apps/ed"]),
            ("ed ''", &["ed", ""]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        assert!(split("'open").is_err());
    }
}
