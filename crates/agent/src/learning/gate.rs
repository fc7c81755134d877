//! A look at a conversation without a model: most of them have nothing in them that is worth a model's time.

use hermes_core::{Message, Part, Role};

use super::due::{called, is_from_user};
use crate::typed::typed;

/// So much said by the user is worth reading whatever the words are.
const MUCH: usize = 300;
/// So many tools for one message are a way of doing something.
const LONG_WORK: usize = 5;
/// So many failures are something to learn from.
const STUMBLES: usize = 2;

/// Words with which people correct, wish and tell about themselves, in the languages of most users. They count where
/// they stand as words: a `schema` is not the French `ma`.
const WORDS: &[&str] = &[
    // English
    "no,",
    "don't",
    "do not",
    "instead",
    "wrong",
    "always",
    "never",
    "remember",
    "prefer",
    "actually",
    "i am",
    "i'm",
    "i like",
    "i use",
    "my",
    "please stop",
    "not what",
    "from now on",
    "next time",
    // German
    "nein",
    "nicht",
    "stattdessen",
    "falsch",
    "immer",
    "nie",
    "merk dir",
    "merke dir",
    "merken",
    "lieber",
    "ich bin",
    "ich mag",
    "mein",
    "meine",
    "meinem",
    "meinen",
    "meiner",
    // French
    "non,",
    "plutôt",
    "toujours",
    "jamais",
    "retiens",
    "préfère",
    "je suis",
    "j'aime",
    "mon",
    "ma",
    // Spanish and Portuguese
    "siempre",
    "nunca",
    "recuerda",
    "prefiero",
    "en vez",
    "soy",
    "mi",
    "sempre",
    "lembre",
    "prefiro",
    // Russian and Ukrainian
    "нет,",
    "всегда",
    "никогда",
    "запомни",
    "запомните",
    "вместо",
    "предпочитаю",
    "меня зовут",
    "завжди",
    "ніколи",
];

/// The same in scripts that write words together, or hang endings on them.
const PIECES: &[&str] = &[
    // Chinese, Japanese, Korean
    "不要",
    "不对",
    "总是",
    "从不",
    "记住",
    "我喜欢",
    "我是",
    "我的",
    "いつも",
    "覚えて",
    "ではなく",
    "私は",
    "항상",
    "기억",
    "나는",
];

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Signs {
    /// The user corrected something, wished for something or told of themselves.
    cue: bool,
    /// The user said much.
    much: bool,
    /// Tools failed several times.
    stumbled: bool,
    /// One message took many tools.
    long_work: bool,
}

impl Signs {
    /// Whether there may be something about the user in it.
    pub(super) fn are_for_memory(self) -> bool {
        self.cue || self.much
    }

    /// Whether there may be a way of doing something in it.
    pub(super) fn are_for_skills(self) -> bool {
        self.long_work || self.stumbled || self.cue
    }
}

/// Looks through what was not looked at yet.
pub(super) fn signs<'m>(messages: impl Iterator<Item = &'m Message>) -> Signs {
    let (mut signs, mut said, mut failures, mut tools) = (Signs::default(), 0, 0, 0);
    for message in messages {
        match message.role {
            Role::User if is_from_user(message) => {
                let text = message.plain_text();
                // Files, pages and skills that it brings are not the user's words.
                let typed = typed(&text);
                said += typed.chars().count();
                tools = 0;
                signs.cue |= has_cue(typed);
            }
            Role::Assistant => tools += called(message).count(),
            _ => {}
        }
        failures += message.parts.iter().filter(|part| is_failure(part)).count();
        signs.long_work |= tools >= LONG_WORK;
    }
    signs.much = said >= MUCH;
    signs.stumbled = failures >= STUMBLES;
    signs
}

fn is_failure(part: &Part) -> bool {
    matches!(part, Part::ToolResult { failed: true, .. })
}

/// Whether a text corrects, wishes or tells something about who wrote it.
fn has_cue(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    WORDS.iter().any(|word| stands_in(word, &text))
        || PIECES.iter().any(|piece| text.contains(piece))
}

/// Whether a word stands in a text as a word of its own.
fn stands_in(word: &str, text: &str) -> bool {
    text.match_indices(word).any(|(at, found)| {
        let (before, rest) = text.split_at(at);
        let after = rest.strip_prefix(found).unwrap_or_default();
        // A comma at the end of a word is its boundary.
        let ends = !found.ends_with(is_of_word) || !after.starts_with(is_of_word);
        !before.ends_with(is_of_word) && ends
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use hermes_core::CallId;

    use super::*;
    use crate::typed::ATTACHED;

    fn said(text: &str) -> Message {
        Message::text(Role::User, text)
    }

    #[test]
    fn small_talk_is_not_worth_a_models_time() {
        let talk = [said("What is 2+2?"), said("And 3+3?"), said("Thanks")];
        assert_eq!(signs(talk.iter()), Signs::default());
    }

    // LN-36
    #[test]
    fn ordinary_requests_are_not_worth_a_models_time() {
        for text in [
            "Add a column to the schema of the orders table",
            "List the common errors in the log",
            "How many companies are there?",
            "Is access denied or granted?",
            "Rename dummy to sample in swimmer.rs",
            "Give the tsunami service a timeout",
            "Rank the soyuz launches by year",
            "Print the salon, then the casino, then the piano, in order",
            "What does my_table hold?",
            "Explain the preference order of the resolver",
        ] {
            assert_eq!(signs([said(text)].iter()), Signs::default(), "{text}");
        }
    }

    #[test]
    fn corrections_and_wishes_are_seen_in_many_languages() {
        for text in [
            "No, use tabs",
            "Please remember that I work in Oslo",
            "I don’t want that",
            "Use tabs (never spaces)",
            "Nimm lieber pnpm",
            "Das ist falsch",
            "Je préfère le thé",
            "Voici ma fille",
            "prefiero español",
            "Запомни это",
            "不要用npm",
            "いつもpnpmを使って",
            "기억해줘",
        ] {
            let signs = signs([said(text)].iter());
            assert!(signs.are_for_memory() && signs.are_for_skills(), "{text}");
        }
    }

    // LN-36
    #[test]
    fn what_a_message_brings_is_not_what_the_user_said() {
        let long = "Always test my way. ".repeat(40);
        for text in [
            format!("Go.\n\n<chosen_skills>\n{long}\n</chosen_skills>"),
            format!("What is in it?{ATTACHED}file README.md\n```\n{long}\n```"),
        ] {
            assert_eq!(signs([said(&text)].iter()), Signs::default(), "{text}");
        }
    }

    #[test]
    fn stumbling_is_for_skills_and_long_words_are_for_memory() {
        let failed = Message {
            role: Role::Tool,
            parts: vec![
                Part::ToolResult {
                    call: CallId("1".to_owned()),
                    name: "terminal".to_owned(),
                    content: "[TOOL_ERROR]".to_owned(),
                    failed: true,
                };
                2
            ],
            raw: None,
        };
        let stumbled = signs([failed].iter());
        assert!(stumbled.are_for_skills() && !stumbled.are_for_memory());
        let long = signs([said(&"word ".repeat(80))].iter());
        assert!(long.are_for_memory() && !long.are_for_skills());
    }
}
