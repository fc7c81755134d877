//! Replaces what is never the same twice, letter for letter, so that rows keep their length.

use std::path::Path;

/// What stands for the directory the scene was played in.
const PLACE: &str = "~/garden";
/// What stands for the id of a session.
const SESSION: &str = "20260101_090000_c0ffee";

pub(super) struct Tidy {
    directory: String,
}

impl Tidy {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.display().to_string(),
        }
    }

    /// A row as it would be anywhere, at any time.
    pub(super) fn row(&self, row: &str) -> String {
        let length = row.chars().count();
        // Which tip there is at the start is chance.
        if row.starts_with("Tip: ") {
            return " ".repeat(length);
        }
        let row = self.placed(row);
        let row = sessions(&row);
        let mut row = durations(&row);
        let missing = length.saturating_sub(row.chars().count());
        row.extend(std::iter::repeat_n(' ', missing));
        row
    }

    fn placed(&self, row: &str) -> String {
        let inside = format!("{}/", self.directory.trim_start_matches('/'));
        // In a column, what stands to the right of it stays where it is.
        let length = self.directory.chars().count();
        let padded = format!("{PLACE:<length$}");
        row.replace(&format!("{}  ", self.directory), &format!("{padded}  "))
            .replace(&self.directory, PLACE)
            .replace(&inside, "")
    }
}

/// Ids such as `20260101_090000_c0ffee`.
fn sessions(row: &str) -> String {
    let letters: Vec<char> = row.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < letters.len() {
        let end = at + SESSION.len();
        let window = letters.get(at..end);
        if window.is_some_and(is_session) {
            out.push_str(SESSION);
            at = end;
        } else {
            out.extend(letters.get(at));
            at += 1;
        }
    }
    out
}

fn is_session(window: &[char]) -> bool {
    window
        .iter()
        .zip(SESSION.chars())
        .enumerate()
        .all(|(index, (letter, sample))| match sample {
            '_' => *letter == '_',
            _ if index < 15 => letter.is_ascii_digit(),
            _ => letter.is_ascii_hexdigit(),
        })
}

/// Words such as `0.3s`, `120ms` and `12s`.
fn durations(row: &str) -> String {
    let mut out = String::new();
    for word in row.split_inclusive(|c: char| c.is_whitespace()) {
        let bare = word.trim_end();
        let space = word.get(bare.len()..).unwrap_or_default();
        let number = bare
            .trim_start_matches(['(', '·'])
            .trim_end_matches([')', ','])
            .trim_end_matches('s')
            .trim_end_matches('m');
        let unit = bare.contains('s') && !number.is_empty();
        let is_duration = unit && number.chars().all(|c| c.is_ascii_digit() || c == '.');
        match is_duration {
            true => {
                let digit = |c: char| if c.is_ascii_digit() { '1' } else { c };
                out.extend(bare.chars().map(digit));
                out.push_str(space);
            }
            false => out.push_str(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_replaced_and_the_row_stays_as_long() {
        let tidy = Tidy::new(Path::new("/tmp/somewhere/work"));
        let row = "in /tmp/somewhere/work  20261116_190500_1a2b3c  took 12s";
        let tidied = tidy.row(row);
        let place = format!("{:<19}", "~/garden");
        let expected = format!("in {place}  20260101_090000_c0ffee  took 11s");
        assert_eq!(tidied, expected);
        assert_eq!(tidied.chars().count(), row.chars().count());
        assert_eq!(tidy.row("nothing of this"), "nothing of this");
        let column = "│ /tmp/somewhere/work  Tools │";
        assert_eq!(tidy.row(column), format!("│ {place}  Tools │"));
        assert_eq!(tidy.row("in /tmp/somewhere/work"), format!("in {place}"));
        assert_eq!(tidy.row("Tip: anything"), "             ");
    }
}
