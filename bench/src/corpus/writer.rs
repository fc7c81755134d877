//! Writes messages that look like chats.

use super::dice::Dice;
use super::guard::Guard;
use super::language::Language;
use super::lexicon::{Lexicon, Piece, Slot, Template};
use super::technical::{PRODUCTS, Technical, capitalized};

/// Longer messages are cut short by leaving sentences out.
const LONGEST: usize = 600;

/// All languages, and the technical words they share.
pub(super) struct Writer {
    lexicons: Vec<Lexicon>,
}

/// Who speaks decides what a message looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    Tool,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            lexicons: Language::ALL.into_iter().map(Lexicon::read).collect(),
        }
    }

    pub(super) fn lexicon(&self, language: Language) -> &Lexicon {
        // `lexicons` has one entry for each of `Language::ALL`, in its order.
        &self.lexicons[language as usize]
    }

    pub(super) fn technical(&self) -> Technical<'_> {
        let english = self.lexicon(Language::English);
        Technical {
            nouns: &english.nouns,
            verbs: &english.verbs,
        }
    }

    /// A message that answers nobody's question.
    pub(super) fn message(
        &self,
        dice: &Dice,
        language: Language,
        speaker: Speaker,
        guard: &Guard,
    ) -> String {
        loop {
            let text = match speaker {
                Speaker::Tool => self.technical().output(dice),
                Speaker::User => {
                    let sentences = dice.between(1, 3);
                    self.paragraph(dice, language, sentences)
                }
                Speaker::Assistant => self.answer(dice, language),
            };
            if !guard.gives_away(&text, None) {
                return text;
            }
        }
    }

    /// A message with certain words in it, among others.
    pub(super) fn with(&self, dice: &Dice, language: Language, fixed: &[(Slot, String)]) -> String {
        let lexicon = self.lexicon(language);
        let mut text = self.sentence_with(dice, lexicon, fixed);
        if dice.chance(60) {
            pause(&mut text, language);
            let sentences = dice.between(1, 3);
            text.push_str(&self.paragraph(dice, language, sentences));
        }
        text
    }

    pub(super) fn name(&self, dice: &Dice, language: Language, syllables: usize) -> String {
        let lexicon = self.lexicon(language);
        let name: String = (0..syllables)
            .map(|_| dice.pick(&lexicon.syllables))
            .collect();
        capitalized(&name)
    }

    fn answer(&self, dice: &Dice, language: Language) -> String {
        let sentences = dice.between(1, 9);
        let mut text = self.paragraph(dice, language, sentences);
        if dice.chance(25) {
            text.push('\n');
            text.push_str(&self.technical().code(dice));
        }
        text
    }

    fn paragraph(&self, dice: &Dice, language: Language, sentences: usize) -> String {
        let lexicon = self.lexicon(language);
        let mut text = String::new();
        if dice.chance(30) {
            text.push_str(dice.pick(&lexicon.openers));
            if !matches!(language, Language::Chinese | Language::Japanese) {
                text.push(' ');
            }
        }
        for index in 0..sentences {
            let sentence = self.sentence(
                dice,
                lexicon,
                lexicon.templates.get(dice.below(lexicon.templates.len())),
                &[],
            );
            if text.chars().count() + sentence.chars().count() > LONGEST {
                break;
            }
            if index > 0 {
                pause(&mut text, language);
            }
            text.push_str(&sentence);
        }
        text
    }

    /// Words that fit no sentence together are spread over several.
    fn sentence_with(&self, dice: &Dice, lexicon: &Lexicon, fixed: &[(Slot, String)]) -> String {
        let fits = |template: &&Template| {
            [
                Slot::Noun,
                Slot::Verb,
                Slot::Adjective,
                Slot::Name,
                Slot::Product,
                Slot::Identifier,
            ]
            .into_iter()
            .all(|slot| {
                template.gaps(slot) >= fixed.iter().filter(|(wanted, _)| *wanted == slot).count()
            })
        };
        let fitting: Vec<&Template> = lexicon.templates.iter().filter(fits).collect();
        if let Some(template) = fitting.get(dice.below(fitting.len())) {
            return self.sentence(dice, lexicon, Some(template), fixed);
        }
        let (first, rest) = fixed.split_at(fixed.len() / 2);
        if first.is_empty() {
            return fixed.iter().map(|(_, word)| word.as_str()).collect();
        }
        let mut text = self.sentence_with(dice, lexicon, first);
        pause(&mut text, lexicon.language);
        text.push_str(&self.sentence_with(dice, lexicon, rest));
        text
    }

    fn sentence(
        &self,
        dice: &Dice,
        lexicon: &Lexicon,
        template: Option<&Template>,
        fixed: &[(Slot, String)],
    ) -> String {
        let mut fixed: Vec<_> = fixed.iter().collect();
        let mut out = String::new();
        for piece in template
            .map(|template| template.0.as_slice())
            .unwrap_or_default()
        {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Gap(slot) => match fixed.iter().position(|(wanted, _)| wanted == slot) {
                    Some(at) => out.push_str(&fixed.remove(at).1),
                    None => self.fill(dice, lexicon, *slot, &mut out),
                },
            }
        }
        out
    }

    fn fill(&self, dice: &Dice, lexicon: &Lexicon, slot: Slot, out: &mut String) {
        match slot {
            Slot::Noun => out.push_str(lexicon.nouns.draw(dice)),
            Slot::Verb => out.push_str(lexicon.verbs.draw(dice)),
            Slot::Adjective => out.push_str(lexicon.adjectives.draw(dice)),
            Slot::Name => {
                let syllables = dice.between(2, 3);
                out.push_str(&self.name(dice, lexicon.language, syllables));
            }
            Slot::Product => {
                // Squared, so that the first of the list are the most frequent.
                let place = dice.unit() * dice.unit() * PRODUCTS.len() as f64;
                out.push_str(PRODUCTS.get(place as usize).copied().unwrap_or_default());
            }
            Slot::Identifier => out.push_str(&self.technical().identifier(dice)),
            Slot::Path => out.push_str(&self.technical().path(dice)),
            Slot::Number => out.push_str(&dice.between(1, 999).to_string()),
        }
    }
}

/// Parts two sentences; a question has its own mark already.
fn pause(text: &mut String, language: Language) {
    if text.ends_with(['?', '؟']) {
        text.push(' ');
    } else if !text.ends_with('？') {
        text.push_str(language.pause());
    }
}
