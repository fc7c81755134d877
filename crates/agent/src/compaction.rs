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
use hermes_llm::Route;

pub(crate) use local::local;

/// Windows from here on may be left half empty.
const LARGE_WINDOW: u32 = 512_000;
/// The share of a smaller window that is used before anything is thrown away.
const LEAST_SHARE: f64 = 0.75;
/// No history shorter than this is touched, where the window allows it.
const FLOOR: f64 = 64_000.0;
/// The share of a window that is never exceeded on purpose.
const MOST_SHARE: f64 = 0.85;

/// The login whose windows are counted differently, and the shares that fit them by a part of the name.
const CODEX_LOGIN: &str = "openai-codex";
const CODEX_SHARES: [(&str, f64); 4] = [
    ("spark", 0.70),
    ("gpt-5.4", 0.85),
    ("gpt-5.5", 0.85),
    ("gpt-5.6", 0.85),
];
/// Models that think at length in little room.
const TRINITY: f64 = 0.75;

/// Tokens a conversation may have on this route before its older part is summarised.
pub fn room(route: &Route, config: &Compression) -> u32 {
    limit(route.limits.window, route, config)
}

/// Tokens from which a request is too large to be sent without a compaction first.
pub(crate) fn limit(window: u32, route: &Route, config: &Compression) -> u32 {
    // An answer that claims most of the window is a mistake in the settings, not a reason to compact all the time.
    let answer = route.limits.output.unwrap_or_default().min(window / 2);
    let room = f64::from(window - answer);
    let share = match own_share(route, config) {
        Some((share, _)) => share,
        None if window < LARGE_WINDOW => config.threshold.max(LEAST_SHARE),
        None => config.threshold,
    };
    // In a small window the floor gives way: it must not take the room of the answer.
    let wanted = (share * room).max(FLOOR.min(MOST_SHARE * room));
    if wanted >= room {
        (MOST_SHARE * room) as u32
    } else {
        wanted as u32
    }
}

/// The share of the window for models that want one of their own, and who asks for it.
fn own_share(route: &Route, config: &Compression) -> Option<(f64, Asks)> {
    let name = route.model.rsplit('/').next().unwrap_or(&route.model);
    if route.provider == CODEX_LOGIN {
        let (_, share) = CODEX_SHARES.iter().find(|(part, _)| name.contains(part))?;
        return config
            .codex_gpt55_autoraise
            .then_some((*share, Asks::CodexLogin));
    }
    (name.contains("trinity") && name.contains("thinking")).then_some((TRINITY, Asks::Model))
}

/// Who asks for a share of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    Model,
    CodexLogin,
}

/// What the user should know about the share, where it is said to them.
pub(crate) fn raised(route: &Route, config: &Compression) -> Option<String> {
    let (share, asks) = own_share(route, config)?;
    let told = asks == Asks::CodexLogin && config.codex_gpt55_autoraise_notice;
    told.then(|| {
        format!(
            "{} is shortened at {:.0} % of its window with this login; `hermes config set \
             compression.codex_gpt55_autoraise false` brings the usual share back",
            route.model,
            share * 100.0
        )
    })
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
pub(crate) fn one_line(text: &str, most: usize) -> String {
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
    use hermes_llm::{Endpoint, Limits, WindowSource};

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
            let route = route("lab", "m", output);
            assert_eq!(
                limit(window, &route, config),
                expected,
                "{window} {output:?}"
            );
        }
    }

    fn route(provider: &str, model: &str, output: Option<u32>) -> Route {
        Route {
            provider: provider.to_owned(),
            provider_name: provider.to_owned(),
            model: model.to_owned(),
            endpoint: Endpoint::Embedded {
                file: "none".into(),
            },
            limits: Limits {
                window: 1_000_000,
                window_from: WindowSource::Configured,
                output,
            },
            price: None,
            quirks: Default::default(),
            patience: Default::default(),
            why: Vec::new(),
        }
    }

    #[test]
    fn some_models_have_a_share_of_their_own() {
        let config = Compression::default();
        let off = Compression {
            codex_gpt55_autoraise: false,
            ..Compression::default()
        };
        let silent = Compression {
            codex_gpt55_autoraise_notice: false,
            ..Compression::default()
        };
        for (provider, model, settings, expected, told) in [
            ("openai-codex", "gpt-5.5", &config, 850_000, true),
            (
                "openai-codex",
                "gpt-5.3-codex-spark",
                &config,
                700_000,
                true,
            ),
            ("openai-codex", "gpt-5.5", &silent, 850_000, false),
            ("openai-codex", "gpt-5.5", &off, 500_000, false),
            ("openai-codex", "gpt-5.2", &config, 500_000, false),
            ("openai-api", "gpt-5.5", &config, 500_000, false),
            ("arcee", "trinity-large-thinking", &off, 750_000, false),
        ] {
            let route = route(provider, model, None);
            assert_eq!(
                limit(1_000_000, &route, settings),
                expected,
                "{provider}/{model}"
            );
            assert_eq!(
                raised(&route, settings).is_some(),
                told,
                "{provider}/{model}"
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
