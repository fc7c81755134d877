//! Recognising our own answers in what is to be written.

/// Lines that tell numbered text from text with numbers.
const FEWEST: usize = 3;
/// Numbered lines in a row that make a text numbered, in percent.
const MOST_PERCENT: usize = 60;

/// Refuses what a tool answered and nobody would write into a file.
pub(super) fn check(content: &str) -> Result<(), &'static str> {
    let start = content.trim_start();
    if start.starts_with('{')
        && start.contains("\"dedup\":true")
        && start.contains("\"content_returned\":false")
    {
        return Err("this is the notice that a file has not changed, not the content of a file");
    }
    let mut lines = 0;
    let mut follows = 0;
    let mut last = None;
    for line in content.lines() {
        lines += 1;
        let number = number(line);
        if number.is_some_and(|number| last.is_none_or(|last: usize| number == last + 1)) {
            follows += 1;
        }
        last = number;
    }
    if lines >= FEWEST && follows * 100 >= lines * MOST_PERCENT {
        return Err(
            "the lines begin with numbers as read_file shows them; write the text without them",
        );
    }
    Ok(())
}

/// The number a line of `read_file` begins with.
fn number(line: &str) -> Option<usize> {
    let (number, _) = line.trim_start().split_once('|')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_tools_are_told_from_files() {
        assert!(check("1|a\n2|b\n3|c\n").is_err());
        assert!(check("  17|a\n  18|b\n  19|c\nmore").is_err());
        assert!(
            check("{\"status\":\"unchanged\",\"dedup\":true,\"content_returned\":false}").is_err()
        );
        assert!(check("1|a\n5|b\n9|c\n").is_ok());
        assert!(check("| 1 | a |\n| 2 | b |\n").is_ok());
        assert!(check("a\nb\n1|x\n").is_ok());
        assert!(check("").is_ok());
    }
}
