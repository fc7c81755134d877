//! What differs between the models behind this protocol, by name.

use hermes_core::Effort;

use crate::quirks::Beta;

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// It cannot.
    None,
    /// With a number of tokens.
    Budget,
    /// It decides how long, guided by an effort.
    Adaptive,
}

/// One family of models.
#[derive(Debug)]
pub(super) struct Family {
    /// Part of the names of its models; of several that fit the longest counts.
    name: &'static str,
    /// Most tokens of an answer.
    pub(super) output: u32,
    pub(super) thinking: ThinkingStyle,
    /// The words of `output_config.effort`, lowest first.
    pub(super) efforts: &'static [&'static str],
    /// Newer models reject a temperature.
    pub(super) takes_temperature: bool,
}

const THREE: &[&str] = &["low", "medium", "high"];
const FOUR: &[&str] = &["low", "medium", "high", "max"];
const FIVE: &[&str] = &["low", "medium", "high", "xhigh", "max"];

/// Everybody else.
const OTHER: Family = budget("", 128_000);

const FAMILIES: &[Family] = &[
    no_thinking("claude-3", 4_096),
    no_thinking("claude-3-5", 8_192),
    budget("claude-3-7", 128_000),
    budget("claude-haiku-4-5", 64_000),
    budget("claude-sonnet-4", 64_000),
    adaptive("claude-sonnet-4-6", 64_000, FOUR),
    budget("claude-opus-4", 32_000),
    budget("claude-opus-4-5", 64_000),
    adaptive("claude-opus-4-6", 128_000, FOUR),
    newest("claude-opus-4-7"),
    newest("claude-opus-4-8"),
    newest("claude-opus-4-9"),
    // A Claude that is not listed is newer than this table.
    newest("claude"),
    adaptive("kimi", 128_000, THREE),
    budget("minimax", 131_072),
    budget("qwen3", 65_536),
];

const fn no_thinking(name: &'static str, output: u32) -> Family {
    Family {
        name,
        output,
        thinking: ThinkingStyle::None,
        efforts: THREE,
        takes_temperature: true,
    }
}

const fn budget(name: &'static str, output: u32) -> Family {
    Family {
        thinking: ThinkingStyle::Budget,
        ..no_thinking(name, output)
    }
}

const fn adaptive(name: &'static str, output: u32, efforts: &'static [&'static str]) -> Family {
    Family {
        thinking: ThinkingStyle::Adaptive,
        efforts,
        ..no_thinking(name, output)
    }
}

const fn newest(name: &'static str) -> Family {
    Family {
        takes_temperature: false,
        ..adaptive(name, 128_000, FIVE)
    }
}

/// The limit of an answer when nobody set one.
pub(crate) fn usual_output(model: &str) -> u32 {
    Family::of(model).output
}

impl Family {
    pub(super) fn of(model: &str) -> &'static Self {
        let model = wire_model(model).to_lowercase();
        FAMILIES
            .iter()
            .filter(|family| model.contains(family.name))
            .max_by_key(|family| family.name.len())
            .unwrap_or(&OTHER)
    }

    /// Whether the models are those of the protocol's maker.
    pub(super) fn is_makers_own(&self) -> bool {
        self.name.starts_with("claude")
    }

    /// The word for an effort; where there is none, that of the next lower one.
    pub(super) fn effort_word(&self, effort: Effort) -> &'static str {
        let ladder: &[&'static str] = match effort {
            Effort::Off | Effort::Minimal | Effort::Low => &[],
            Effort::Medium => &["medium"],
            Effort::High => &["high"],
            Effort::ExtraHigh => &["xhigh", "high"],
            Effort::Max | Effort::Ultra => &["max", "high"],
        };
        let mut words = ladder.iter().copied();
        words
            .find(|word| self.efforts.contains(word))
            .unwrap_or("low")
    }

    /// The limit of an answer, when it is known and not only assumed.
    pub(super) fn known_output(&self) -> Option<u32> {
        (!self.name.is_empty()).then_some(self.output)
    }
}

/// How `model` is asked to think.
pub fn thinking_style(model: &str) -> ThinkingStyle {
    Family::of(model).thinking
}

/// How hard a model that decides itself is to think, in its own word.
pub(crate) fn effort_word(model: &str, effort: Effort) -> &'static str {
    Family::of(model).effort_word(effort)
}

/// The name of a model as this protocol spells it: without the vendor, and for Claude with dashes in
/// the version. Dots elsewhere belong to the name, as in `us.anthropic.claude-…`.
pub fn wire_model(model: &str) -> String {
    let model = model.strip_prefix("anthropic/").unwrap_or(model);
    if !model.to_lowercase().contains("claude") {
        return model.to_owned();
    }
    let characters: Vec<char> = model.chars().collect();
    let digit = |index: Option<usize>| {
        index
            .and_then(|index| characters.get(index))
            .is_some_and(char::is_ascii_digit)
    };
    let spell = |(index, character): (usize, &char)| {
        let version = *character == '.' && digit(index.checked_sub(1)) && digit(Some(index + 1));
        if version { '-' } else { *character }
    };
    characters.iter().enumerate().map(spell).collect()
}

/// What decides about the preview features a request asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Betas<'a> {
    /// The host offers the long window only when asked.
    pub long_context: bool,
    /// The body asks for `speed: fast`.
    pub fast: bool,
    /// Features the host turned down.
    pub refused: &'a [&'a str],
}

/// The values of the header `anthropic-beta`, in order.
pub fn betas(model: &str, wanted: &Betas<'_>) -> Vec<&'static str> {
    let fast = wanted.fast && wire_model(model).contains("opus-4-6");
    [
        (true, Beta::InterleavedThinking.name()),
        (true, Beta::ToolStreaming.name()),
        (wanted.long_context, Beta::LongContext.name()),
        (fast, "fast-mode-2026-02-01"),
    ]
    .into_iter()
    .filter(|(asked, name)| *asked && !wanted.refused.contains(name))
    .map(|(_, name)| name)
    .collect()
}
