//! Making a long history shorter.
//!
//! | module | holds |
//! |---|---|
//! | `lease` | one process at a time |
//! | `ahead` | a summary made before there is need for it |
//! | `plan` | which rows are replaced, and whether that is worth it |
//! | `transcript` | those rows as the summarising model reads them |
//! | `digest` | a tool's answer in one line |
//! | `summarise` | asking a model for it, and what a failure means |
//! | `summary` | the row that takes their place |
//! | `local` | the same, made without a model |
//! | `steps` | the list of steps, kept beside it |
//! | `past` | what was tried before, and when to try again |
//!
//! All but `lease`, `ahead` and `summarise` are pure. The step of a turn that uses them is `turn::compact`.

pub(crate) mod ahead;
mod digest;
pub(crate) mod lease;
mod local;
pub(crate) mod past;
pub(crate) mod plan;
pub(crate) mod steps;
pub(crate) mod summarise;
pub(crate) mod summary;
pub(crate) mod transcript;

use hermes_config::Compression;

pub(crate) use local::local;

/// Windows from here on may be left half empty.
const LARGE_WINDOW: u32 = 512_000;
/// The share of a smaller window that is used before anything is thrown away.
const LEAST_SHARE: f64 = 0.75;
/// No history shorter than this is touched, where the window allows it.
const FLOOR: f64 = 64_000.0;
/// The share of a window that is never exceeded on purpose.
const MOST_SHARE: f64 = 0.85;

/// Tokens from which a request is too large to be sent without a compaction first.
pub(crate) fn limit(window: u32, max_output: Option<u32>, config: &Compression) -> u32 {
    // An answer that claims most of the window is a mistake in the settings, not a reason to compact all the time.
    let answer = max_output.unwrap_or_default().min(window / 2);
    let room = f64::from(window - answer);
    let share = if window < LARGE_WINDOW {
        config.threshold.max(LEAST_SHARE)
    } else {
        config.threshold
    };
    // In a small window the floor gives way: it must not take the room of the answer.
    let wanted = (share * room).max(FLOOR.min(MOST_SHARE * room));
    if wanted >= room {
        (MOST_SHARE * room) as u32
    } else {
        wanted as u32
    }
}

/// The longest beginning of a text with at most this many characters.
pub(crate) fn start_of(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// The longest end of a text with at most this many characters.
fn end_of(text: &str, most: usize) -> &str {
    let Some(last) = most.checked_sub(1) else {
        return "";
    };
    text.char_indices()
        .rev()
        .nth(last)
        .map_or(text, |(at, _)| text.get(at..).unwrap_or(text))
}

/// A text in one line of at most this many characters.
fn one_line(text: &str, most: usize) -> String {
    // Looking at a few times as much is enough, however long the text is.
    let start = start_of(text, most.saturating_mul(4));
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = start_of(&line, most);
    if shown.len() < line.len() || start.len() < text.len() {
        format!("{shown}…")
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_window() {
        let config = Compression::default();
        let wide = Compression {
            threshold: 1.0,
            ..Compression::default()
        };
        for (window, output, config, expected) in [
            (1_000_000, None, &config, 500_000),
            (200_000, None, &config, 150_000),
            (200_000, Some(40_000), &config, 120_000),
            (128_000, None, &config, 96_000),
            (80_000, None, &config, 64_000),
            (64_000, None, &config, 54_400),
            (32_000, Some(2_000), &config, 25_500),
            (8_000, None, &config, 6_800),
            (8_000, Some(100_000), &config, 3_400),
            (200_000, None, &wide, 170_000),
            (0, None, &config, 0),
        ] {
            assert_eq!(
                limit(window, output, config),
                expected,
                "{window} {output:?}"
            );
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(start_of("äöü", 2), "äö");
        assert_eq!(start_of("äöü", 3), "äöü");
        assert_eq!(end_of("äöü", 2), "öü");
        assert_eq!(end_of("äöü", 9), "äöü");
        assert_eq!(end_of("äöü", 0), "");
        assert_eq!(one_line("a\n  b", 10), "a b");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
