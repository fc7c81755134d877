//! Commands and keys, to read.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use super::frame::Frame;
use super::scroll::Scroll;
use super::{PanelOutcome, Verdict, View};
use crate::composer::keys::{self, Action, action};
use crate::text::rows::{block, columns, fit};

/// Some entries under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Names and what is said about them.
    pub entries: Vec<(String, String)>,
}

/// What there is to know.
#[derive(Debug, Clone)]
pub struct Help {
    title: String,
    sections: Vec<Section>,
    scroll: Scroll,
}

impl Help {
    /// Shows sections; those about keys are added.
    pub fn new(title: impl Into<String>, mut sections: Vec<Section>) -> Self {
        let told = keys::help()
            .into_iter()
            .map(|(keys, about)| (keys, about.to_owned()));
        sections.push(Section {
            title: "Keys".to_owned(),
            entries: told.collect(),
        });
        let more = keys::FULL_SCREEN.iter();
        sections.push(Section {
            title: "Keys in full screen".to_owned(),
            entries: more
                .map(|(keys, about)| ((*keys).to_owned(), (*about).to_owned()))
                .collect(),
        });
        Self {
            title: title.into(),
            sections,
            scroll: Scroll::default(),
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let page_down = KeyEvent::new(KeyCode::PageDown, KeyModifiers::NONE);
        match action(event) {
            Some(Action::Insert(' ')) => _ = self.scroll.key(page_down),
            Some(
                Action::Escape
                | Action::Send
                | Action::Insert('q')
                | Action::Interrupt
                | Action::Cancel,
            ) => return PanelOutcome::Done(Verdict::Closed),
            _ if self.scroll.key(event) => {}
            _ => return PanelOutcome::Ignored,
        }
        PanelOutcome::Changed
    }

    pub(super) fn view(&self, frame: Frame) -> View {
        let rows = self.rows(frame);
        let room = frame.height.saturating_sub(2).max(1);
        let top = self.scroll.first(rows.len(), room);
        let total = rows.len();
        let mut lines = vec![frame.title(&self.title)];
        lines.extend(rows.into_iter().skip(top).take(room));
        let last = (top + room).min(total);
        lines.push(frame.hint(&format!(
            "{}-{last} of {total}; arrows and pages scroll, Esc closes",
            top + 1
        )));
        frame.view(lines, None)
    }

    fn rows(&self, frame: Frame) -> Vec<Line<'static>> {
        let names = self.sections.iter().flat_map(|section| &section.entries);
        let widest = names.map(|(name, _)| columns(name)).max().unwrap_or(0);
        let name_width = widest.min(frame.width / 2).min(36);
        let about_width = frame.width.saturating_sub(name_width + 2).max(1);
        let mut lines = Vec::new();
        for section in &self.sections {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.extend(frame.text(&section.title, 1, frame.theme.label));
            for (name, about) in &section.entries {
                let names = block(name, name_width.max(1), 4);
                let abouts = block(about, about_width, 4);
                for index in 0..names.len().max(abouts.len()) {
                    let name = names.get(index).map_or("", String::as_str);
                    let about = abouts.get(index).cloned().unwrap_or_default();
                    lines.push(Line::from(vec![
                        Span::styled(fit(name, name_width), frame.theme.accent),
                        Span::raw(" ".repeat(2.min(frame.width - name_width))),
                        Span::styled(
                            crate::text::rows::cut(
                                &about,
                                frame.width.saturating_sub(name_width + 2),
                            ),
                            frame.theme.text,
                        ),
                    ]));
                }
            }
        }
        lines
    }
}
