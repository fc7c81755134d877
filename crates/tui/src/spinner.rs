//! The line that moves while the agent works.

use std::str::FromStr;
use std::time::Duration;

use ratatui::text::{Line, Span};

use crate::amount::clock;
use crate::text::{clean_line, cut};
use crate::theme::Theme;

/// Ticks that one verb lasts, so that it can be read.
const VERB_TICKS: usize = 24;
/// Ticks that one face lasts.
const FACE_TICKS: usize = 4;

/// What moves while the agent works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Indicator {
    /// The faces of the skin.
    #[default]
    Kaomoji,
    /// Emoji.
    Emoji,
    /// Dots that go round.
    Unicode,
    /// The same with plain characters.
    Ascii,
}

impl Indicator {
    /// All of them by their names.
    pub const ALL: [(&str, Self); 4] = [
        ("kaomoji", Self::Kaomoji),
        ("emoji", Self::Emoji),
        ("unicode", Self::Unicode),
        ("ascii", Self::Ascii),
    ];

    /// What is shown in turn; nothing when the skin has it.
    fn frames(self) -> &'static [&'static str] {
        match self {
            Self::Kaomoji => &[],
            Self::Emoji => &["🌑", "🌒", "🌓", "🌔", "🌕", "🌖", "🌗", "🌘"],
            Self::Unicode => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
            Self::Ascii => &["|", "/", "-", "\\"],
        }
    }
}

impl FromStr for Indicator {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, indicator)| *indicator).ok_or(())
    }
}

/// What the agent is busy with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// It waits for the model or for something else.
    Waiting,
    /// The model thinks.
    Thinking,
    /// Calls run that are to be seen elsewhere.
    Working,
    /// A tool runs.
    Tool {
        /// The name of the tool, which chooses the emoji.
        name: String,
        /// What it does.
        label: String,
    },
}

impl Activity {
    /// The line at a tick. Who draws counts the ticks, a few in a second.
    pub fn line(
        &self,
        tick: usize,
        elapsed: Duration,
        columns: usize,
        theme: &Theme,
    ) -> Line<'static> {
        let (face, text) = self.face(tick, theme);
        worded(&face, &text, elapsed, columns, theme)
    }

    /// The line at a tick, with something else than the faces of the skin in front.
    pub(crate) fn line_with(
        &self,
        indicator: Indicator,
        tick: usize,
        elapsed: Duration,
        columns: usize,
        theme: &Theme,
    ) -> Line<'static> {
        let (face, text) = self.face(tick, theme);
        let frames = indicator.frames();
        let frame = frames.get(tick % frames.len().max(1)).copied();
        worded(frame.unwrap_or(&face), &text, elapsed, columns, theme)
    }

    /// The face and the words at a tick.
    fn face(&self, tick: usize, theme: &Theme) -> (String, String) {
        let pick = |list: &[String], every: usize| {
            list.get(tick / every % list.len().max(1))
                .cloned()
                .unwrap_or_default()
        };
        let spinner = &theme.spinner;
        let verb = pick(&spinner.thinking_verbs, VERB_TICKS);
        let (face, text) = match self {
            Self::Waiting => (pick(&spinner.waiting_faces, FACE_TICKS), verb),
            Self::Thinking => (pick(&spinner.thinking_faces, FACE_TICKS), verb),
            Self::Working => (
                pick(&spinner.waiting_faces, FACE_TICKS),
                "working".to_owned(),
            ),
            Self::Tool { name, label } => (
                theme
                    .tool_emojis
                    .get(name)
                    .cloned()
                    .unwrap_or_else(|| "🔧".to_owned()),
                clean_line(label),
            ),
        };
        let face = match (
            self,
            spinner
                .wings
                .get(tick / VERB_TICKS % spinner.wings.len().max(1)),
        ) {
            (Self::Waiting | Self::Thinking | Self::Working, Some((left, right))) => {
                format!("{left}{face}{right}")
            }
            (_, _) => face,
        };
        (face, text)
    }
}

fn worded(
    face: &str,
    text: &str,
    elapsed: Duration,
    columns: usize,
    theme: &Theme,
) -> Line<'static> {
    let time = format!(" {}", clock(elapsed));
    let room = columns.saturating_sub(time.len());
    let work = cut(format!("{face} {text}…").trim_start(), room);
    Line::from(vec![
        Span::styled(work, theme.accent),
        Span::styled(cut(&time, columns), theme.faint),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::{Background, Depth, Skin};
    use crate::text::width;

    #[test]
    fn faces_and_verbs_change_and_the_time_stays() {
        let theme = Theme::default();
        let at = |tick| {
            Activity::Thinking
                .line(tick, Duration::from_secs(7), 60, &theme)
                .to_string()
        };
        assert_eq!(at(0), "(¬‿¬) thinking… 7s");
        assert_eq!(at(FACE_TICKS), "(⊙_⊙) thinking… 7s");
        assert_eq!(at(VERB_TICKS), "(◑_◑) weighing… 7s");
        let tool = Activity::Tool {
            name: "terminal".to_owned(),
            label: "cargo\ntest".to_owned(),
        };
        assert_eq!(
            tool.line(5, Duration::from_secs(61), 60, &theme)
                .to_string(),
            "💻 cargo test… 1m"
        );
    }

    #[test]
    fn something_else_than_a_face_can_move() {
        let theme = Theme::default();
        let at = |indicator, tick| {
            Activity::Waiting
                .line_with(indicator, tick, Duration::from_secs(7), 60, &theme)
                .to_string()
        };
        assert!(at(Indicator::Ascii, 0).starts_with("| "));
        assert!(at(Indicator::Ascii, 1).starts_with("/ "));
        assert!(at(Indicator::Ascii, 4).starts_with("| "));
        assert!(at(Indicator::Unicode, 3).starts_with("⠸ "));
        assert!(at(Indicator::Emoji, 0).starts_with("🌑 "));
        let line = Activity::Waiting.line(0, Duration::from_secs(7), 60, &theme);
        assert_eq!(at(Indicator::Kaomoji, 0), line.to_string());
        for (name, indicator) in Indicator::ALL {
            assert_eq!(name.parse(), Ok(indicator));
        }
        assert_eq!("spinner".parse::<Indicator>(), Err(()));
    }

    #[test]
    fn every_skin_fits_any_width() {
        for name in Skin::builtin_names() {
            let theme = Skin::builtin(name)
                .unwrap_or_default()
                .theme(Depth::True, Background::Dark);
            for columns in 0..40 {
                let line = Activity::Waiting
                    .line(columns, Duration::from_secs(9), columns, &theme)
                    .to_string();
                assert!(width(&line) <= columns, "{name} {columns}: {line}");
            }
        }
        assert_eq!(
            Activity::Waiting
                .line(3, Duration::ZERO, 20, &Theme::plain())
                .to_string(),
            "… 0s"
        );
    }
}
