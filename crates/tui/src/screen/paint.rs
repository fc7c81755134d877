//! Lines as the bytes a terminal understands.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

/// What switches each modifier on.
const MODIFIERS: [(Modifier, u8); 7] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// Appends a line. Begins and ends without any style.
pub(super) fn line(line: &Line<'_>, into: &mut String) {
    let mut before = Style::new();
    for span in &line.spans {
        let style = line.style.patch(span.style);
        if style != before {
            sgr(style, into);
            before = style;
        }
        content(&span.content, into);
    }
    if before != Style::new() {
        into.push_str("\x1b[0m");
    }
}

/// Appends text. It was made harmless where it came in; nothing here lets a mistake there steer the terminal.
fn content(text: &str, into: &mut String) {
    if text.contains(char::is_control) {
        into.extend(text.chars().map(|letter| match letter.is_control() {
            true => char::REPLACEMENT_CHARACTER,
            false => letter,
        }));
    } else {
        into.push_str(text);
    }
}

fn sgr(style: Style, into: &mut String) {
    into.push_str("\x1b[0");
    for (modifier, code) in MODIFIERS {
        if style.add_modifier.contains(modifier) {
            number(code, into);
        }
    }
    if let Some(color) = style.fg {
        colour(color, 30, into);
    }
    if let Some(color) = style.bg {
        colour(color, 40, into);
    }
    into.push('m');
}

fn number(code: u8, into: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(into, ";{code}");
}

/// Appends a colour; `base` is 30 for the foreground and 40 for the background.
fn colour(color: Color, base: u8, into: &mut String) {
    let named = match color {
        Color::Reset => return number(base + 9, into),
        Color::Rgb(red, green, blue) => {
            let _ = write!(into, ";{};2;{red};{green};{blue}", base + 8);
            return;
        }
        Color::Indexed(index) => {
            let _ = write!(into, ";{};5;{index}", base + 8);
            return;
        }
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 60,
        Color::LightRed => 61,
        Color::LightGreen => 62,
        Color::LightYellow => 63,
        Color::LightBlue => 64,
        Color::LightMagenta => 65,
        Color::LightCyan => 66,
        Color::White => 67,
    };
    number(base + named, into);
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize as _;
    use ratatui::text::Span;

    use super::*;

    fn painted(text: &Line<'_>) -> String {
        let mut out = String::new();
        line(text, &mut out);
        out
    }

    #[test]
    fn nothing_in_a_line_steers_the_terminal() {
        let shown = painted(&Line::from(vec![Span::raw("a\x1b[2Jb\u{9b}c\r\nd\x07")]));
        assert_eq!(shown, "a\u{fffd}[2Jb\u{fffd}c\u{fffd}\u{fffd}d\u{fffd}");
    }

    #[test]
    fn plain_text_has_no_codes_and_styles_end_with_the_line() {
        assert_eq!(painted(&Line::from("plain")), "plain");
        let styled = Line::from(vec![
            Span::raw("a "),
            "b".bold().red(),
            "c".bold().red(),
            Span::raw(" d"),
        ]);
        assert_eq!(painted(&styled), "a \x1b[0;1;31mbc\x1b[0m d");
        let last = Line::from(vec![Span::styled(
            "x",
            Style::new().fg(Color::Rgb(1, 2, 3)),
        )]);
        assert_eq!(painted(&last), "\x1b[0;38;2;1;2;3mx\x1b[0m");
    }
}
