//! Lines as text that shows their styles.

use std::fmt::Write as _;

use hermes_tui::{Background, Depth, Skin, Theme, width};
use ratatui::style::{Color, Style};
use ratatui::text::Line;

/// What is drawn at three widths: each line, below it a letter for the style of each column, and at the end what
/// the letters stand for on dark and on light terminals.
pub(crate) fn look(draw: impl Fn(usize, &Theme) -> Vec<Line<'static>>) -> String {
    let skin = Skin::builtin("default").unwrap_or_default();
    let (dark, light) = (
        skin.theme(Depth::True, Background::Dark),
        skin.theme(Depth::True, Background::Light),
    );
    let mut letters: Vec<(Style, Style)> = Vec::new();
    let mut out = String::new();
    for columns in [50, 80, 140] {
        writeln!(out, "== {columns} columns").ok();
        let (on_dark, on_light) = (draw(columns, &dark), draw(columns, &light));
        assert_eq!(
            texts(&on_dark),
            texts(&on_light),
            "the ground changes colours only"
        );
        for (a, b) in on_dark.iter().zip(&on_light) {
            writeln!(out, "{}", a.to_string().trim_end()).ok();
            writeln!(out, "{}", marks(a, b, &mut letters)).ok();
        }
    }
    for (index, (dark, light)) in letters.iter().enumerate() {
        writeln!(
            out,
            "{} = {} | {}",
            letter(index),
            name(*dark),
            name(*light)
        )
        .ok();
    }
    out
}

fn texts(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

fn marks(dark: &Line<'_>, light: &Line<'_>, letters: &mut Vec<(Style, Style)>) -> String {
    let mut out = String::new();
    for (a, b) in dark.spans.iter().zip(&light.spans) {
        // As it is drawn: what the line says, and what its part says about that.
        let pair = (dark.style.patch(a.style), light.style.patch(b.style));
        let index = letters
            .iter()
            .position(|known| *known == pair)
            .unwrap_or_else(|| {
                letters.push(pair);
                letters.len() - 1
            });
        out.extend(std::iter::repeat_n(letter(index), width(&a.content)));
    }
    out
}

fn letter(index: usize) -> char {
    ('a'..='z').chain('A'..='Z').nth(index).unwrap_or('?')
}

pub(crate) fn name(style: Style) -> String {
    let colour = |colour: Option<Color>| match colour {
        Some(Color::Rgb(red, green, blue)) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Some(other) => other.to_string(),
        None => "-".to_owned(),
    };
    let mut out = format!("{} on {}", colour(style.fg), colour(style.bg));
    if !style.add_modifier.is_empty() {
        write!(out, " {:?}", style.add_modifier).ok();
    }
    out
}
