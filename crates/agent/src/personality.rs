//! Ways of speaking that a person can choose: built in, or from the settings.
//!
//! Only the name is ever stored. The text stands behind the user's own instructions, which stay as they are.

use hermes_config::{Config, Either, Personality};

/// Names that mean no personality at all.
pub const NONE: [&str; 3] = ["none", "default", "neutral"];

/// A personality that comes with the program.
struct BuiltIn {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const fn built_in(name: &'static str, about: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, about, text }
}

const BUILT_IN: [BuiltIn; 14] = [
    built_in(
        "helpful",
        "friendly and thorough",
        "Be warm and attentive. Answer what was asked, then add the one thing that will help most next.",
    ),
    built_in(
        "concise",
        "as few words as will do",
        "Say it in as few words as will do. No introductions, no summaries, no repetition of the question.",
    ),
    built_in(
        "technical",
        "precise, for people who know the subject",
        "Speak as one engineer to another: exact terms, versions, limits and trade-offs, and no hand-waving.",
    ),
    built_in(
        "creative",
        "looks for the unexpected",
        "Look for the angle nobody expects. Offer ideas, pictures and comparisons freely, and say which you would pick.",
    ),
    built_in(
        "teacher",
        "explains step by step",
        "Explain step by step from what the person already knows, with one small example for each new idea, and check \
         that it was understood before going further.",
    ),
    built_in(
        "kawaii",
        "sweet and cheerful",
        "Be sweet and cheerful, with soft words and a little sparkle (✿◠‿◠). The facts stay exact.",
    ),
    built_in(
        "catgirl",
        "a playful cat",
        "Speak as a playful cat who likes to help: a stretch, a purr, a nya now and then. The work itself stays careful.",
    ),
    built_in(
        "pirate",
        "from the seven seas",
        "Speak like a pirate captain with a good heart: hearties, the tide and the treasure. Commands and code stay as \
         they are.",
    ),
    built_in(
        "shakespeare",
        "in the manner of the stage",
        "Speak in the manner of the Elizabethan stage, with thee and thou and a turn of verse where it fits; what must \
         be typed stays plain.",
    ),
    built_in(
        "surfer",
        "relaxed, by the sea",
        "Be as relaxed as somebody who has just come out of the water: easy words, no hurry, good vibes and solid facts.",
    ),
    built_in(
        "noir",
        "a tired detective",
        "Tell it like a detective at three in the morning: short sentences, rain on the window, a dry remark. The clues \
         must be right.",
    ),
    built_in(
        "uwu",
        "very soft",
        "Be vewy soft and gentle, with an uwu here and there. Names, numbers and code are never changed.",
    ),
    built_in(
        "philosopher",
        "asks what is behind it",
        "Ask what lies behind the question, name the assumptions, weigh both sides, and still end with an answer.",
    ),
    built_in(
        "hype",
        "thrilled about everything",
        "Be thrilled. Every step forward is worth a cheer, and the energy never gets in the way of being right!",
    ),
];

/// Every personality there is with a line about it: those of the settings, then the built-in ones.
pub fn all(config: &Config) -> Vec<(String, String)> {
    let own = config.personalities.iter().map(|(name, entry)| {
        let about = match entry {
            Either::First(_) => String::new(),
            Either::Second(entry) => entry.description.clone(),
        };
        let about = match about.is_empty() {
            true => "yours".to_owned(),
            false => about,
        };
        (name.clone(), about)
    });
    let built_in = BUILT_IN
        .iter()
        .filter(|one| !config.personalities.contains_key(one.name))
        .map(|one| (one.name.to_owned(), one.about.to_owned()));
    own.chain(built_in).collect()
}

/// What a personality tells the model. The user's own come first.
pub fn text(config: &Config, name: &str) -> Option<String> {
    match config.personalities.get(name) {
        Some(Either::First(text)) => Some(text.clone()),
        Some(Either::Second(entry)) => Some(written(entry)),
        None => {
            let found = BUILT_IN.iter().find(|one| one.name == name);
            found.map(|one| one.text.to_owned())
        }
    }
}

fn written(entry: &Personality) -> String {
    let mut lines = vec![entry.system_prompt.trim().to_owned()];
    for (label, value) in [("Tone", &entry.tone), ("Style", &entry.style)] {
        if !value.trim().is_empty() {
            lines.push(format!("{label}: {}", value.trim()));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// The personality of a session: its own, or the configured one. Empty when there is none, or none of that name.
pub(crate) fn chosen<'a>(config: &'a Config, own: Option<&'a str>) -> &'a str {
    let name = own.unwrap_or(&config.display.personality).trim();
    match NONE.contains(&name) || text(config, name).is_none() {
        true => "",
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_come_first_and_no_name_means_none() {
        let mut config = Config::default();
        assert_eq!(all(&config).len(), 14);
        assert_eq!(chosen(&config, None), "");
        config.display.personality = "pirate".to_owned();
        assert_eq!(chosen(&config, None), "pirate");
        for none in ["", "none", "neutral", "nobody"] {
            assert_eq!(chosen(&config, Some(none)), "", "{none}");
        }
        let own = Personality {
            system_prompt: "Speak in rhymes.".to_owned(),
            tone: "dry".to_owned(),
            ..Personality::default()
        };
        let own = Either::Second(own);
        config.personalities.insert("pirate".to_owned(), own);
        let said = text(&config, "pirate").unwrap();
        assert_eq!(said, "Speak in rhymes.\nTone: dry");
        assert_eq!(all(&config).len(), 14);
    }
}
