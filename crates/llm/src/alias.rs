//! What people type to name a model: `provider:model`, `custom:lab:model`, short names, any dash.

use crate::profile::{Profile, ProfileError, Profiles};

/// A model as it was typed, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The provider in front, as it was typed but in lower case.
    pub provider: Option<String>,
    /// The rest; absent when only a provider was named.
    pub model: Option<String>,
}

/// What stands in front of the names of the user's own endpoints, and alone for the only one.
const CUSTOM: &str = "custom";

/// Characters that look like the dash on the keyboard.
const DASHES: [char; 10] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}', '\u{fe58}',
    '\u{fe63}', '\u{ff0d}',
];

/// Short names and the part of a model's name they stand for.
const SHORT: &[(&str, &str)] = &[
    ("sonnet", "claude-sonnet"),
    ("opus", "claude-opus"),
    ("haiku", "claude-haiku"),
    ("claude", "claude"),
    ("gpt5", "gpt-5"),
    ("gpt", "gpt-"),
    ("gemini", "gemini"),
    ("flash", "flash"),
    ("deepseek", "deepseek"),
    ("kimi", "kimi"),
    ("glm", "glm"),
    ("grok", "grok"),
    ("qwen", "qwen"),
    ("minimax", "minimax"),
    ("mimo", "mimo"),
];

/// Names of the reference's providers that this program does not offer, and what to tell those who ask.
const LEFT_OUT: &[(&[&str], &str)] = &[
    (
        &["openai-codex", "codex"],
        "a ChatGPT subscription answers OpenAI's own programs only; use `openai-api` with a key",
    ),
    (
        &[
            "copilot",
            "github",
            "github-copilot",
            "github-models",
            "copilot-acp",
            "github-copilot-acp",
        ],
        "Copilot answers editors that GitHub has registered only",
    ),
    (
        &["qwen-oauth", "qwen-portal", "qwen-cli"],
        "it borrows the sign-in of the Qwen program; use `alibaba` with a key",
    ),
    (
        &["xai-oauth", "grok-oauth", "x-ai-oauth", "xai-grok-oauth"],
        "it borrows the sign-in of the Grok program; use `xai` with a key",
    ),
    (
        &["minimax-oauth", "minimax-portal", "minimax-global"],
        "it borrows the sign-in of another program; use `minimax` with a key",
    ),
];

/// Text with every dash as the keyboard has it and no space around.
pub fn plain(text: &str) -> String {
    text.trim().replace(DASHES, "-")
}

/// How names of providers are compared: lower case, dashes for spaces.
pub fn normal(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().collect();
    plain(&words.join("-")).to_lowercase()
}

/// Takes a typed model apart. The part before a colon counts only when it is a provider, and a tag such
/// as `7b` or `latest` behind it is one of a model.
pub fn parse(
    text: &str,
    is_provider: impl Fn(&str) -> Result<bool, ProfileError>,
) -> Result<Spoken, ProfileError> {
    let text = plain(text);
    let whole = || Spoken {
        provider: None,
        model: Some(text.clone()).filter(|text| !text.is_empty()),
    };
    let Some((left, rest)) = text.split_once(':') else {
        // Nobody calls a model so: it is the endpoint, with whichever model it has.
        let endpoint = normal(&text) == CUSTOM;
        return Ok(match endpoint {
            true => Spoken {
                provider: Some(CUSTOM.to_owned()),
                model: None,
            },
            false => whole(),
        });
    };
    let left = normal(left);
    if left == CUSTOM {
        let (name, model) = match rest.split_once(':') {
            Some((name, model)) => (name, Some(model)),
            None => (rest, None),
        };
        let named = format!("{CUSTOM}:{}", normal(name));
        if is_provider(&named)? {
            return Ok(Spoken {
                provider: Some(named),
                model: filled(model.unwrap_or_default()),
            });
        }
    }
    if is_tag(rest) || !is_provider(&left)? {
        return Ok(whole());
    }
    Ok(Spoken {
        provider: Some(left),
        model: filled(rest),
    })
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `7b`, `0.5b-instruct`, `latest`: what local servers put behind a model's name.
fn is_tag(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let sized = unit.len() < text.len() && unit.to_lowercase().starts_with(['b', 'm', 'k', 'x']);
    sized || text.eq_ignore_ascii_case("latest")
}

/// The model a short name stands for at a provider.
pub fn expand<'p>(name: &str, profile: &'p Profile) -> Option<&'p str> {
    let name = name.to_lowercase();
    let (_, part) = SHORT.iter().find(|(short, _)| *short == name)?;
    profile
        .models
        .iter()
        .find(|model| model.to_lowercase().contains(part))
        .map(String::as_str)
}

/// What to say about a provider of the reference that is not offered here.
pub fn left_out(name: &str) -> Option<&'static str> {
    LEFT_OUT
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, why)| *why)
}

/// The known name nearest to one that is not known.
pub(crate) fn nearest(
    name: &str,
    profiles: &Profiles,
    endpoints: &[String],
) -> Result<Option<String>, ProfileError> {
    let all = profiles.all()?;
    let names = all
        .iter()
        .flat_map(|profile| std::iter::once(&profile.id).chain(&profile.aliases))
        .chain(endpoints)
        .map(String::as_str);
    Ok(hermes_config::nearest(name, names).map(ToOwned::to_owned))
}
