//! The markup of banners: `[bold #RRGGBB]…[/]`.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::colour::{Background, Depth, Rgb};
use crate::text::clean;

/// Turns markup into lines. What is no tag stays as it is written; `\[` is a bracket in any case.
pub fn markup(text: &str, depth: Depth, background: Background) -> Vec<Line<'static>> {
    let text = clean(text);
    let mut open: Vec<Style> = Vec::new();
    text.trim_matches('\n')
        .lines()
        .map(|line| one(line.trim_end(), &mut open, depth, background))
        .collect()
}

/// A style may run over line ends, so what is open is handed from line to line.
fn one(line: &str, open: &mut Vec<Style>, depth: Depth, background: Background) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    while let Some(place) = rest.find('[') {
        let (before, from) = rest.split_at(place);
        if let Some(before) = before.strip_suffix('\\') {
            plain.push_str(before);
            plain.push('[');
            rest = from.split_at(1).1;
            continue;
        }
        plain.push_str(before);
        let tag = from
            .find(']')
            .and_then(|end| Some((from.get(1..end)?, from.get(end + 1..)?)));
        match tag.and_then(|(tag, after)| Some((read(tag, depth, background)?, after))) {
            Some((meaning, after)) => {
                flush(&mut plain, open, &mut spans);
                match meaning {
                    Tag::Close => {
                        open.pop();
                    }
                    Tag::Open(style) => {
                        open.push(open.last().copied().unwrap_or_default().patch(style))
                    }
                }
                rest = after;
            }
            None => {
                plain.push('[');
                rest = from.split_at(1).1;
            }
        }
    }
    plain.push_str(rest);
    flush(&mut plain, open, &mut spans);
    Line::from(spans)
}

fn flush(plain: &mut String, open: &[Style], spans: &mut Vec<Span<'static>>) {
    if !plain.is_empty() {
        spans.push(Span::styled(
            std::mem::take(plain),
            open.last().copied().unwrap_or_default(),
        ));
    }
}

enum Tag {
    Open(Style),
    Close,
}

/// Every word of a tag must be known, or it is no tag.
fn read(tag: &str, depth: Depth, background: Background) -> Option<Tag> {
    if tag.starts_with('/') {
        return Some(Tag::Close);
    }
    let mut style = Style::new();
    for word in tag.split_whitespace() {
        style = match word {
            "bold" | "b" => style.add_modifier(Modifier::BOLD),
            "dim" => style.add_modifier(Modifier::DIM),
            "italic" | "i" => style.add_modifier(Modifier::ITALIC),
            "underline" | "u" => style.add_modifier(Modifier::UNDERLINED),
            "strike" | "s" => style.add_modifier(Modifier::CROSSED_OUT),
            "reverse" => style.add_modifier(Modifier::REVERSED),
            word => match colour(word, depth, background)? {
                Some(colour) => style.fg(colour),
                None => style,
            },
        };
    }
    (!tag.trim().is_empty()).then_some(Tag::Open(style))
}

/// The outer answer says whether the word is a colour, the inner one what the terminal shows for it.
fn colour(word: &str, depth: Depth, background: Background) -> Option<Option<Color>> {
    if let Some(rgb) = Rgb::parse(word) {
        return Some(rgb.legible_on(background.ground()).shown(depth));
    }
    let named = match word.trim_start_matches("bright_") {
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        _ => return None,
    };
    Some((depth != Depth::None).then_some(named))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize;

    use super::*;

    fn dark(text: &str) -> Vec<Line<'static>> {
        markup(text, Depth::True, Background::Dark)
    }

    #[test]
    fn tags_nest_and_run_over_lines() {
        let gold = Color::Rgb(0xff, 0xd7, 0);
        assert_eq!(
            dark("[bold #FFD700]a\nb[/] c [italic]d[/italic]"),
            vec![
                Line::from(vec!["a".fg(gold).bold()]),
                Line::from(vec!["b".fg(gold).bold(), " c ".into(), "d".italic()]),
            ]
        );
    }

    #[test]
    fn what_is_no_tag_is_text() {
        for text in ["[x] done", "a[0]", "open [", "[]", "[bold nonsense]x"] {
            assert_eq!(
                dark(text),
                vec![Line::raw(text.to_owned())]
                    .into_iter()
                    .map(|line| Line::from(vec![Span::raw(line.to_string())]))
                    .collect::<Vec<_>>()
            );
        }
        assert_eq!(
            dark(r"\[bold]x"),
            vec![Line::from(vec![Span::raw("[bold]x")])]
        );
        assert_eq!(
            dark("[red]\u{1b}[31mx[/]"),
            vec![Line::from(vec!["x".red()])]
        );
    }

    #[test]
    fn without_colours_there_are_none() {
        assert_eq!(
            markup("[bold #FFD700]a[/]", Depth::None, Background::Dark),
            vec![Line::from(vec!["a".bold()])]
        );
    }
}
