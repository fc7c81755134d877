//! Colours, and what a terminal can show of them.

use ratatui::style::Color;

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// None, or the user wants none.
    None,
    /// The sixteen named ones.
    Ansi16,
    /// A palette of 256.
    Ansi256,
    /// All of them.
    #[default]
    True,
}

/// What the terminal's text stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Light text on a dark ground.
    #[default]
    Dark,
    /// Dark text on a light ground.
    Light,
}

impl Background {
    /// The ground that text is measured against. Dark terminals are seldom quite black.
    pub(crate) fn ground(self) -> Rgb {
        match self {
            Self::Dark => Rgb(0x1e, 0x1e, 0x1e),
            Self::Light => Rgb(0xff, 0xff, 0xff),
        }
    }
}

/// Contrast of small text that most people can read (WCAG AA).
const LEGIBLE: f64 = 4.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    pub(crate) const BLACK: Self = Self(0, 0, 0);
    pub(crate) const WHITE: Self = Self(0xff, 0xff, 0xff);

    /// Reads `#RRGGBB` or `#RGB`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix('#')?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        let [_, red, green, blue] = value.to_be_bytes();
        match digits.len() {
            6 => Some(Self(red, green, blue)),
            3 => {
                let nibble =
                    |shift: u32| u8::try_from(value >> shift & 0xf).map_or(0, |n| n * 0x11);
                Some(Self(nibble(8), nibble(4), nibble(0)))
            }
            _ => None,
        }
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// A colour between this one and another, `share` of the way, of 100.
    pub(crate) fn mix(self, other: Self, share: u16) -> Self {
        let between = |from: u8, to: u8| {
            let sum = u16::from(from) * (100 - share.min(100)) + u16::from(to) * share.min(100);
            u8::try_from((sum + 50) / 100).unwrap_or(u8::MAX)
        };
        Self(
            between(self.0, other.0),
            between(self.1, other.1),
            between(self.2, other.2),
        )
    }

    /// This colour when it can be read on `ground`, else the nearest of its hue that can.
    pub(crate) fn legible_on(self, ground: Self) -> Self {
        let away = if ground.luminance() > 0.18 {
            Self::BLACK
        } else {
            Self::WHITE
        };
        (0..=100)
            .map(|share| self.mix(away, share))
            .find(|colour| colour.contrast(ground) >= LEGIBLE)
            .unwrap_or(away)
    }

    /// A ground of the same hue for the other kind of terminal; as it is when it suits this one.
    pub(crate) fn ground_for(self, background: Background) -> Self {
        match background {
            Background::Light if self.luminance() < 0.4 => self.mix(Self::WHITE, 86),
            Background::Dark if self.luminance() > 0.4 => self.mix(Self::BLACK, 82),
            Background::Light | Background::Dark => self,
        }
    }

    /// What the terminal shows for it; nothing when it has no colours.
    pub(crate) fn shown(self, depth: Depth) -> Option<Color> {
        match depth {
            Depth::None => None,
            Depth::Ansi16 => Some(self.named()),
            Depth::Ansi256 => Some(Color::Indexed(self.indexed())),
            Depth::True => Some(Color::Rgb(self.0, self.1, self.2)),
        }
    }

    /// One of the sixteen. What matters of a colour is its hue: green must not become grey because a grey is
    /// nearer. What can be read on a light ground becomes a dark one, everything else a bright one.
    fn named(self) -> Color {
        let bright = self.luminance() > 0.2;
        let Some(hue) = self.hue() else {
            return match (self.luminance(), bright) {
                (light, _) if light > 0.6 => Color::White,
                (_, true) => Color::Gray,
                (light, false) if light > 0.02 => Color::DarkGray,
                (_, false) => Color::Black,
            };
        };
        match (hue, bright) {
            (20..70, true) => Color::LightYellow,
            (20..70, false) => Color::Yellow,
            (70..160, true) => Color::LightGreen,
            (70..160, false) => Color::Green,
            (160..200, true) => Color::LightCyan,
            (160..200, false) => Color::Cyan,
            (200..260, true) => Color::LightBlue,
            (200..260, false) => Color::Blue,
            (260..330, true) => Color::LightMagenta,
            (260..330, false) => Color::Magenta,
            (_, true) => Color::LightRed,
            (_, false) => Color::Red,
        }
    }

    /// The angle on the colour wheel; none for greys and what is nearly grey.
    fn hue(self) -> Option<i32> {
        let [red, green, blue] = [self.0, self.1, self.2].map(i32::from);
        let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
        let spread = most - least;
        if spread * 5 < most || spread == 0 {
            return None;
        }
        let angle = if most == red {
            60 * (green - blue) / spread
        } else if most == green {
            120 + 60 * (blue - red) / spread
        } else {
            240 + 60 * (red - green) / spread
        };
        Some(angle.rem_euclid(360))
    }

    fn indexed(self) -> u8 {
        const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        let step = |channel: u8| {
            STEPS
                .iter()
                .zip(0_u8..)
                .min_by_key(|(step, _)| step.abs_diff(channel))
                .unwrap_or((&0, 0))
        };
        let ((red, r), (green, g), (blue, b)) = (step(self.0), step(self.1), step(self.2));
        let cube = Self(*red, *green, *blue);
        let average = (u16::from(self.0) + u16::from(self.1) + u16::from(self.2)) / 3;
        let shade = u8::try_from((average.saturating_sub(3) / 10).min(23)).unwrap_or(23);
        let level = 8 + 10 * shade;
        if self.distance(Self(level, level, level)) < self.distance(cube) {
            232 + shade
        } else {
            16 + 36 * r + 6 * g + b
        }
    }

    fn distance(self, other: Self) -> u32 {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        // The eye sees green best and blue worst.
        2 * square(self.0, other.0) + 4 * square(self.1, other.1) + square(self.2, other.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_in_both_lengths() {
        assert_eq!(Rgb::parse("#FFbf00"), Some(Rgb(0xff, 0xbf, 0)));
        assert_eq!(Rgb::parse("#f0a"), Some(Rgb(0xff, 0, 0xaa)));
        for wrong in ["", "#", "FFBF00", "#12345", "#gg0000", "red"] {
            assert_eq!(Rgb::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((Rgb::WHITE.contrast(Rgb::BLACK) - 21.0).abs() < 0.01);
        assert!((Rgb(0x77, 0x77, 0x77).contrast(Rgb::WHITE) - 4.48).abs() < 0.01);
    }

    #[test]
    fn every_colour_can_be_read_after_the_remap() {
        for value in (0..=0xff_ffff_u32).step_by(4_099) {
            let [_, red, green, blue] = value.to_be_bytes();
            for ground in [Rgb::WHITE, Background::Dark.ground(), Rgb(0x66, 0x77, 0x88)] {
                assert!(
                    Rgb(red, green, blue).legible_on(ground).contrast(ground) >= 4.4,
                    "{value:06x} on {ground:?}"
                );
            }
        }
    }

    #[test]
    fn fewer_colours_give_the_nearest_ones() {
        let gold = Rgb(0xff, 0xbf, 0);
        assert_eq!(gold.shown(Depth::True), Some(Color::Rgb(0xff, 0xbf, 0)));
        assert_eq!(gold.shown(Depth::Ansi256), Some(Color::Indexed(214)));
        assert_eq!(gold.shown(Depth::Ansi16), Some(Color::LightYellow));
        assert_eq!(gold.shown(Depth::None), None);
        for (hex, named) in [
            ("#4caf50", Color::LightGreen),
            ("#3a853d", Color::Green),
            ("#ce4745", Color::Red),
            ("#7a7672", Color::DarkGray),
            ("#8fb8de", Color::LightBlue),
            ("#000000", Color::Black),
            ("#ffffff", Color::White),
        ] {
            assert_eq!(Rgb::parse(hex).map(Rgb::named), Some(named), "{hex}");
        }
        assert_eq!(
            Rgb(0x80, 0x80, 0x80).shown(Depth::Ansi256),
            Some(Color::Indexed(244))
        );
    }
}
