//! Families of models, told by their names.

/// What the models of a family have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    /// Part of the names of its models; of several that fit the longest counts.
    name: &'static str,
    pub(super) window: u32,
    pub(super) output: Option<u32>,
    pub(super) sees: Option<bool>,
}

const fn text(name: &'static str, window: u32) -> Family {
    Family {
        name,
        window,
        output: None,
        sees: Some(false),
    }
}

const fn open(name: &'static str, window: u32) -> Family {
    Family {
        sees: None,
        ..text(name, window)
    }
}

const fn seeing(name: &'static str, window: u32) -> Family {
    Family {
        sees: Some(true),
        ..text(name, window)
    }
}

const fn claude(name: &'static str, window: u32, output: u32) -> Family {
    Family {
        output: Some(output),
        ..seeing(name, window)
    }
}

/// Names have dashes for dots here, and so have the models that are looked up.
const FAMILIES: &[Family] = &[
    claude("claude", 1_000_000, 128_000),
    claude("claude-3", 200_000, 4_096),
    claude("claude-3-5", 200_000, 8_192),
    claude("claude-3-7", 200_000, 128_000),
    claude("claude-opus-4", 200_000, 32_000),
    claude("claude-opus-4-5", 200_000, 64_000),
    claude("claude-opus-4-6", 1_000_000, 128_000),
    claude("claude-opus-4-7", 1_000_000, 128_000),
    claude("claude-opus-4-8", 1_000_000, 128_000),
    claude("claude-opus-4-9", 1_000_000, 128_000),
    claude("claude-sonnet-4", 200_000, 64_000),
    claude("claude-sonnet-4-6", 1_000_000, 64_000),
    claude("claude-haiku-4-5", 200_000, 64_000),
    seeing("gpt-5", 400_000),
    seeing("gpt-5-4", 1_050_000),
    seeing("gpt-5-5", 1_050_000),
    seeing("gpt-5-6", 1_050_000),
    seeing("gpt-4-1", 1_047_576),
    seeing("gpt-4o", 128_000),
    text("gpt-oss", 131_072),
    seeing("o3", 200_000),
    text("o3-mini", 200_000),
    seeing("o4-mini", 200_000),
    seeing("gemini", 1_048_576),
    seeing("gemma-3", 131_072),
    open("gemma", 131_072),
    text("deepseek", 131_072),
    text("deepseek-v4", 1_000_000),
    text("qwen", 131_072),
    text("qwen3", 131_072),
    text("qwen3-coder", 262_144),
    text("qwen3-max", 262_144),
    seeing("qwen3-vl", 262_144),
    seeing("qwen2-5-vl", 131_072),
    seeing("qwen-vl", 131_072),
    open("kimi", 262_144),
    seeing("kimi-k2-5", 262_144),
    text("kimi-k2-turbo", 262_144),
    text("glm", 202_752),
    text("glm-5-2", 1_048_576),
    text("glm-5p2", 1_048_576),
    seeing("glm-5v", 202_752),
    seeing("glm-4-5v", 65_536),
    open("grok", 131_072),
    seeing("grok-4", 256_000),
    text("minimax", 204_800),
    open("llama", 131_072),
    seeing("llama-4", 1_000_000),
    open("mistral", 131_072),
    text("codestral", 262_144),
    open("mimo", 262_144),
    text("step-3-5", 262_144),
    open("solar", 65_536),
    text("trinity", 131_072),
    text("nemotron", 131_072),
    text("hermes-4", 131_072),
    text("hy3", 262_144),
    open("nova-lite", 300_000),
    open("nova-pro", 300_000),
    text("smollm2", 8_192),
    text("phi-4", 16_384),
];

/// The family of a model.
pub(super) fn of(model: &str) -> Option<&'static Family> {
    longest_name(model, FAMILIES, |family| family.name)
}

/// The entry of a table whose name stands in a model's name; of several the longest counts. The table has dashes
/// for dots.
pub(crate) fn longest_name<'t, T>(
    model: &str,
    table: &'t [T],
    name: impl Fn(&T) -> &str,
) -> Option<&'t T> {
    let model = model.to_lowercase().replace(['.', '_'], "-");
    table
        .iter()
        .filter(|entry| contains_name(&model, name(entry)))
        .max_by_key(|entry| name(entry).len())
}

/// Whether a name stands in the model's name, not in the middle of a word.
fn contains_name(model: &str, name: &str) -> bool {
    let mut from = 0;
    while let Some(found) = model.get(from..).and_then(|rest| rest.find(name)) {
        let at = from + found;
        let before = model.get(..at).and_then(|before| before.chars().last());
        if !before.is_some_and(char::is_alphanumeric) {
            return true;
        }
        from = at + name.len();
    }
    false
}
