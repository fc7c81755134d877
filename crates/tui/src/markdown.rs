//! Markdown as lines for a width, whole or as it comes.

mod blocks;
mod fence;
mod given;
mod inline;
mod math;
mod open;
mod page;
mod render;
mod stream;
mod table;

use ratatui::text::Line;

use crate::theme::Theme;

pub use stream::Stream;

/// Renders a whole text. It is the same as streaming it: there is one way from text to lines.
pub fn markdown(text: &str, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut stream = Stream::new(columns, theme);
    stream.push(text);
    stream.finish();
    stream.take_finished()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
