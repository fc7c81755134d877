//! Finds where one block ends and the next begins, by looking at complete lines only.
//!
//! What is decided here never depends on how the text was cut into chunks, and what was decided stays so.

use super::fence::Fence;

/// An open text longer than this is cut at the next line end, so that no frame has to render more.
const MOST_OPEN: usize = 32 * 1024;

/// What a line means for the text before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// It goes on.
    None,
    /// It is finished, and the line begins something new.
    Before,
    /// It is finished with this line.
    After,
    /// It is finished, and the line opens a code block.
    Code(Fence),
}

/// What is known about the open text.
#[derive(Debug, Clone, Default)]
pub(super) struct Scanner {
    /// The line before was empty.
    blank: bool,
    /// Some line was an entry of a list.
    list: bool,
    /// A code block inside a list or a quotation.
    inner: Option<Fence>,
}

impl Scanner {
    /// Takes a complete line; `open` is how much text is open before it.
    pub(super) fn line(&mut self, line: &str, open: usize) -> Boundary {
        if line.trim().is_empty() {
            self.blank = true;
            return Boundary::None;
        }
        let flush = !line.starts_with(' ');
        if let Some(fence) = &self.inner {
            if fence.closed_by(line) {
                self.inner = None;
                self.blank = false;
                // Its end is often not indented as its beginning is. Then the list ends as well.
                return if flush {
                    self.begin(Boundary::After)
                } else {
                    Boundary::None
                };
            }
            if !flush {
                self.blank = false;
                return Boundary::None;
            }
            self.inner = None;
        }
        if let Some(fence) = Fence::opens(line)
            && (flush || !self.list)
        {
            return self.begin(Boundary::Code(fence));
        }
        let (body, marked) = unmarked(line);
        let boundary = if (std::mem::take(&mut self.blank) && flush) || open > MOST_OPEN {
            self.begin(Boundary::Before)
        } else {
            Boundary::None
        };
        self.list |= marked;
        self.inner = Fence::opens(body);
        boundary
    }

    /// Whether the text is finished although the line after it has only begun: whatever it becomes, it is no part of
    /// what stands before the empty line.
    pub(super) fn ends_before(&mut self, beginning: &str) -> bool {
        let ends = self.blank
            && self.inner.is_none()
            && beginning
                .chars()
                .next()
                .is_some_and(|first| !first.is_whitespace() && !matches!(first, '`' | '~'));
        if ends {
            *self = Self::default();
        }
        ends
    }

    fn begin(&mut self, boundary: Boundary) -> Boundary {
        *self = Self::default();
        boundary
    }
}

/// A line without the marks of lists and quotations in front of it, and whether there was one of a list.
pub(super) fn unmarked(line: &str) -> (&str, bool) {
    let mut body = line.trim_start_matches(' ');
    let mut list = false;
    loop {
        if let Some(rest) = body.strip_prefix('>') {
            body = rest.trim_start_matches(' ');
        } else if let Some(rest) = after_list_mark(body) {
            body = rest.trim_start_matches(' ');
            list = true;
        } else {
            return (body, list);
        }
    }
}

fn after_list_mark(body: &str) -> Option<&str> {
    let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = if (1..=9).contains(&digits) {
        body.get(digits..)?.strip_prefix(['.', ')'])?
    } else {
        body.strip_prefix(['-', '*', '+'])?
    };
    (rest.trim().is_empty() || rest.starts_with(' ')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundaries(text: &str) -> String {
        let mut scanner = Scanner::default();
        let name = |boundary| match boundary {
            Boundary::None => '.',
            Boundary::Before => 'B',
            Boundary::After => 'A',
            Boundary::Code(_) => 'C',
        };
        text.lines()
            .map(|line| name(scanner.line(line, 0)))
            .collect()
    }

    #[test]
    fn blocks_end_at_empty_lines_unless_the_next_is_indented() {
        assert_eq!(boundaries("a\nb\n\nc"), "...B");
        assert_eq!(boundaries("- a\n\n  more\n\n- b"), "....B");
        assert_eq!(boundaries("a\n```rust"), ".C");
        assert_eq!(boundaries("a\n  ```rust"), ".C");
    }

    #[test]
    fn code_inside_of_lists_stays_in_them() {
        assert_eq!(
            boundaries("1. a\n   ```sh\n   x\n\n   y\n   ```\n2. b"),
            "......."
        );
        assert_eq!(boundaries("- ```\n  x\n  ```\n\nend"), "....B");
        assert_eq!(boundaries("1. a\n   ```sh\n   x\n```\ntext"), "...A.");
        assert_eq!(boundaries("- ```\n  x\n\nend"), "...B");
    }

    #[test]
    fn marks_are_told_from_text() {
        assert_eq!(unmarked("  - > 1. x"), ("x", true));
        assert_eq!(unmarked("-x"), ("-x", false));
        assert_eq!(unmarked("1.5 kg"), ("1.5 kg", false));
        assert_eq!(unmarked("> a"), ("a", false));
    }
}
