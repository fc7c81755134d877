//! What a server says about a file, in words.

use std::fmt::Write as _;

use serde::Deserialize;

/// Most findings that are told.
const MOST: usize = 20;
/// Most characters of one of them.
const LONGEST: usize = 400;
/// The protocol's number for an error.
const ERROR: u8 = 1;

/// Something a server finds wrong.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Finding {
    range: Range,
    #[serde(default)]
    severity: Option<u8>,
    #[serde(default)]
    code: Option<serde_json::Value>,
    #[serde(default)]
    source: Option<String>,
    message: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Range {
    start: Place,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Place {
    line: u32,
    character: u32,
}

impl Finding {
    /// Whether it is an error; a server that does not say means one.
    fn is_error(&self) -> bool {
        self.severity.is_none_or(|severity| severity == ERROR)
    }

    /// Equal for the same mistake somewhere else in the file.
    fn likeness(&self) -> (String, String) {
        let code = self.code.as_ref().map(ToString::to_string);
        (code.unwrap_or_default(), self.message.clone())
    }
}

/// The errors that were not there before. The same mistake twice is new once.
pub(super) fn new_ones(before: &[Finding], after: Vec<Finding>) -> Vec<Finding> {
    let errors = before.iter().filter(|finding| finding.is_error());
    let mut known: Vec<(String, String)> = errors.map(Finding::likeness).collect();
    let mut new = Vec::new();
    for finding in after.into_iter().filter(Finding::is_error) {
        let likeness = finding.likeness();
        match known.iter().position(|one| *one == likeness) {
            Some(at) => {
                known.swap_remove(at);
            }
            None => new.push(finding),
        }
    }
    new
}

/// A line for each; nothing when there are none.
pub(super) fn words(findings: &[Finding]) -> Option<String> {
    let mut text = String::new();
    for finding in findings.iter().take(MOST) {
        let Place { line, character } = finding.range.start;
        let message = finding.message.replace('\n', " ");
        let message: String = message.chars().take(LONGEST).collect();
        let _ = write!(
            text,
            "line {}, column {}: {message}",
            line + 1,
            character + 1
        );
        let code = finding.code.as_ref().map(|code| match code.as_str() {
            Some(text) => text.to_owned(),
            None => code.to_string(),
        });
        let by: Vec<String> = finding.source.iter().cloned().chain(code).collect();
        if !by.is_empty() {
            let _ = write!(text, " ({})", by.join(" "));
        }
        text.push('\n');
    }
    let more = findings.len().saturating_sub(MOST);
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    let text = text.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finding(line: u32, severity: u8, message: &str) -> Finding {
        serde_json::from_value(json!({
            "range": {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 5}},
            "severity": severity, "code": "E1", "source": "lab", "message": message,
        }))
        .unwrap()
    }

    // EX-49
    #[test]
    fn only_errors_that_were_not_there_are_told() {
        let before = [finding(3, 1, "old"), finding(4, 2, "careful")];
        let after = vec![
            finding(7, 1, "old"),
            finding(8, 1, "old"),
            finding(9, 1, "new\nand bad"),
            finding(10, 2, "only a warning"),
        ];
        let new = new_ones(&before, after);
        assert_eq!(
            words(&new).unwrap(),
            "line 9, column 5: old (lab E1)\nline 10, column 5: new and bad (lab E1)"
        );
        assert_eq!(words(&new_ones(&before, vec![finding(1, 1, "old")])), None);
        let many = vec![finding(1, 1, "x"); 25];
        assert!(words(&many).unwrap().ends_with("\nand 5 more"));
    }
}
