//! Standard output: buffered, coloured only on a terminal, quiet when the reader goes away.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use hermes_tui::{Cleaner, width};
use serde::Serialize;

/// Where commands print.
pub(crate) struct Output {
    out: Sink,
    colour: bool,
    /// Whether somebody reads it, at a terminal that does what it is told.
    terminal: bool,
    /// Columns of where it will be shown, when that is no terminal of its own.
    width: Option<usize>,
}

enum Sink {
    Standard(BufWriter<Stdout>),
    /// For whoever shows it in another way.
    Kept(Vec<u8>),
}

impl Sink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::Kept(bytes) => bytes,
        }
    }
}

/// A way to set words apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Strong,
    Faint,
    Good,
    Bad,
    Warning,
}

impl Output {
    pub(crate) fn new() -> Self {
        let out = io::stdout();
        let terminal = out.is_terminal();
        Self {
            out: Sink::Standard(BufWriter::new(out)),
            colour: terminal,
            terminal,
            width: None,
        }
    }

    /// An output that is kept, without colours.
    pub(crate) fn kept() -> Self {
        Self {
            out: Sink::Kept(Vec::new()),
            colour: false,
            terminal: false,
            width: None,
        }
    }

    /// The same, for a place of so many columns.
    pub(crate) fn kept_in(width: Option<usize>) -> Self {
        Self {
            width,
            ..Self::kept()
        }
    }

    /// Columns of the place it is kept for.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// What was kept.
    pub(crate) fn text(self) -> String {
        match self.out {
            Sink::Standard(_) => String::new(),
            Sink::Kept(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// `NO_COLOR` and dumb terminals get plain text.
    pub(crate) fn without_colour(&mut self) {
        self.colour = false;
    }

    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        let out = self.out.writer();
        out.write_all(text.as_ref().as_bytes())?;
        out.write_all(b"\n")
    }

    /// A line that breaks between words where a terminal is too narrow for it. Its further rows begin below its text.
    pub(crate) fn item(&mut self, lead: &str, text: &str) -> io::Result<()> {
        self.line(self.folded(lead, text))
    }

    /// The same, for whoever prints it.
    pub(crate) fn folded(&self, lead: &str, text: &str) -> String {
        match self.columns() {
            Some(columns) => folded(lead, text, columns),
            None => format!("{lead}{text}"),
        }
    }

    /// Columns of where it is shown; a file or a pipe has none.
    pub(crate) fn columns(&self) -> Option<usize> {
        let seen = || crossterm::terminal::size().ok().filter(|_| self.terminal);
        let seen = || seen().map(|(columns, _)| usize::from(columns));
        self.width.or_else(seen).filter(|columns| *columns > 0)
    }

    /// Whether a terminal shows what is printed.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// What a model said, on lines of its own: byte for byte where a program reads it, and harmless where a terminal
    /// would carry out what is hidden in it.
    pub(crate) fn answer(&mut self, text: &str) -> io::Result<()> {
        match self.terminal {
            true => self.line(cleaned(text)),
            false => self.line(text),
        }
    }

    /// A remark that is no part of what was asked for: beside it, so that programs read only that.
    pub(crate) fn remark(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        match &mut self.out {
            Sink::Standard(_) => writeln!(io::stderr(), "{}", text.as_ref()),
            Sink::Kept(_) => self.line(text),
        }
    }

    /// A value as JSON, for programs.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let out = self.out.writer();
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    }

    /// The text in a style, when styles can be seen.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match style {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Warning => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.writer().flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.writer().flush()
    }
}

fn folded(lead: &str, text: &str, columns: usize) -> String {
    let indent = width(lead);
    let mut out = lead.to_owned();
    let mut used = indent;
    for word in text.split_inclusive(' ') {
        if used > indent && used + width(word.trim_end()) > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        }
        out.push_str(word);
        used += width(word);
    }
    out
}

/// Stored text on one line. It is untrusted: it must not move the cursor or break a table.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| !is_deceptive(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Text of a model or a file for a terminal: whole escape sequences are left out, not only their first byte.
pub(crate) fn cleaned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Cleaner::prose().push(text, &mut out);
    out
}

/// Stored text as it is, without what could steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !is_deceptive(*c) && (!c.is_control() || matches!(c, '\n' | '\t')))
        .collect()
}

/// Characters nobody sees that turn the text around them or hide in it. The joiners U+200C and U+200D
/// stay: Persian and emoji need them.
fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn lines_break_between_words_and_go_on_below_their_text() {
        let rows = folded("  1  ", "on this machine, in a sandbox", 16);
        assert_eq!(rows, "  1  on this\n     machine, in\n     a sandbox");
        assert_eq!(
            folded("", "http://127.0.0.1:8000/v1 ", 8),
            "http://127.0.0.1:8000/v1 "
        );
        assert_eq!(
            folded("", "Which one? (Enter for 1) ", 24),
            "Which one? (Enter for 1) "
        );
    }
}
