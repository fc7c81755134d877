//! Chooses what is planted in each language and how it will be asked for.

use super::dice::Dice;
use super::language::Language;
use super::lexicon::{Lexicon, Piece, Slot, Template};
use super::needle::Kind;
use super::technical::{PRODUCTS, hex};
use super::writer::Writer;

/// A needle before its message is written.
pub(super) struct Specification {
    pub(super) language: Language,
    pub(super) kind: Kind,
    pub(super) query: String,
    /// A message that holds all of these is an answer; only the needle may be.
    pub(super) pieces: Vec<String>,
    /// What the message must hold, and where in a sentence it goes.
    pub(super) fixed: Vec<(Slot, String)>,
    /// A word of the query the message must not hold.
    pub(super) absent: Option<String>,
    /// Sets of words for messages that come close.
    pub(super) lookalikes: Vec<Vec<(Slot, String)>>,
}

/// LN-17: one, two and three characters and mixed script are among the kinds of the dense languages.
pub(super) fn specify(writer: &Writer, dice: &Dice, language: Language) -> Vec<Specification> {
    let lexicon = writer.lexicon(language);
    let mut chooser = Chooser::new(writer, dice, lexicon);
    let dense = language.is_dense();
    (0..if dense { 8 } else { 12 }).for_each(|turn| chooser.pair(turn));
    (0..if dense { 6 } else { 10 }).for_each(|_| chooser.triple());
    (0..if dense { 8 } else { 10 }).for_each(|turn| chooser.phrase(turn));
    (0..6).for_each(|_| chooser.name());
    (0..4).for_each(|_| chooser.loose());
    (0..8).for_each(|turn| chooser.identifier(turn));
    (0..4).for_each(|turn| chooser.mixed(turn));
    (0..8).for_each(|_| chooser.partial());
    chooser.prefixes();
    chooser.variants();
    chooser.short_words();
    if dense {
        (0..6).for_each(|turn| chooser.glued(turn));
    }
    chooser.chosen
}

struct Chooser<'a> {
    writer: &'a Writer,
    dice: &'a Dice,
    lexicon: &'a Lexicon,
    /// Words that are common but not the most common, each used for one needle.
    nouns: Vec<&'static str>,
    verbs: Vec<&'static str>,
    adjectives: Vec<&'static str>,
    chosen: Vec<Specification>,
}

impl<'a> Chooser<'a> {
    fn new(writer: &'a Writer, dice: &'a Dice, lexicon: &'a Lexicon) -> Self {
        let shortest = if lexicon.language.is_dense() { 2 } else { 4 };
        let pool = |words: &[&'static str], from: usize, most: usize| {
            let mut pool: Vec<_> = words
                .iter()
                .skip(from)
                .take(most)
                .copied()
                .filter(|word| word.chars().count() >= shortest)
                .collect();
            dice.shuffle(&mut pool);
            pool
        };
        Self {
            writer,
            dice,
            lexicon,
            nouns: pool(&lexicon.nouns.words, 12, 180),
            verbs: pool(&lexicon.verbs.words, 5, 90),
            adjectives: pool(&lexicon.adjectives.words, 4, 70),
            chosen: Vec::new(),
        }
    }

    fn take(&mut self, slot: Slot) -> (Slot, String) {
        let pool = match slot {
            Slot::Verb => &mut self.verbs,
            Slot::Adjective => &mut self.adjectives,
            _ => &mut self.nouns,
        };
        (slot, pool.pop().unwrap_or_default().to_owned())
    }

    fn add(
        &mut self,
        kind: Kind,
        query: String,
        pieces: Vec<String>,
        fixed: Vec<(Slot, String)>,
    ) -> &mut Specification {
        let at = self.chosen.len();
        self.chosen.push(Specification {
            language: self.lexicon.language,
            kind,
            query,
            pieces,
            fixed,
            absent: None,
            lookalikes: Vec::new(),
        });
        &mut self.chosen[at]
    }

    fn together(&mut self, kind: Kind, fixed: Vec<(Slot, String)>) -> &mut Specification {
        let words: Vec<String> = fixed.iter().map(|(_, word)| word.clone()).collect();
        // Every set with one word left out comes close.
        let lookalikes = (0..fixed.len())
            .map(|left_out| {
                let kept = fixed.iter().enumerate().filter(|(at, _)| *at != left_out);
                kept.map(|(_, word)| word.clone()).collect()
            })
            .collect();
        let added = self.add(kind, words.join(" ").to_lowercase(), words, fixed);
        added.lookalikes = lookalikes;
        added
    }

    fn pair(&mut self, turn: usize) {
        let second = [Slot::Noun, Slot::Verb, Slot::Adjective][turn % 3];
        let fixed = vec![self.take(Slot::Noun), self.take(second)];
        self.together(Kind::Pair, fixed);
    }

    fn triple(&mut self) {
        let fixed = vec![
            self.take(Slot::Noun),
            self.take(Slot::Noun),
            self.take(Slot::Verb),
        ];
        self.together(Kind::Triple, fixed);
    }

    fn mixed(&mut self, turn: usize) {
        let product = PRODUCTS.get(8 + turn * 3).copied().unwrap_or_default();
        let fixed = vec![(Slot::Product, product.to_owned()), self.take(Slot::Noun)];
        self.together(Kind::Mixed, fixed);
    }

    fn partial(&mut self) {
        let fixed = vec![self.take(Slot::Noun), self.take(Slot::Noun)];
        let absent = self.frequent_noun(12, &fixed);
        let added = self.together(Kind::Partial, fixed);
        added.query = format!("{} {}", added.query, absent.to_lowercase());
        added.absent = Some(absent.to_owned());
    }

    /// One of the first nouns that is no part of what must be there.
    fn frequent_noun(&self, most: usize, fixed: &[(Slot, String)]) -> &'static str {
        let others = |noun: &&str| fixed.iter().all(|(_, word)| !word.contains(noun));
        let nouns: Vec<_> = self
            .lexicon
            .nouns
            .words
            .iter()
            .take(most)
            .copied()
            .filter(others)
            .collect();
        self.dice.pick(&nouns)
    }

    /// The first two of a language are made of its most frequent words.
    fn phrase(&mut self, turn: usize) {
        let shape = self
            .lexicon
            .phrases
            .get(turn % self.lexicon.phrases.len().max(1))
            .copied()
            .unwrap_or_default();
        let template = Template::parse(shape);
        let mut words: Vec<(Slot, String)> = Vec::new();
        for piece in &template.0 {
            let Piece::Gap(slot) = piece else { continue };
            let list = match slot {
                Slot::Verb => &self.lexicon.verbs,
                Slot::Adjective => &self.lexicon.adjectives,
                _ => &self.lexicon.nouns,
            };
            let frequent = list
                .words
                .get(turn * 2 + words.len())
                .copied()
                .unwrap_or_default();
            words.push(if turn < 2 {
                (*slot, frequent.to_owned())
            } else {
                self.take(*slot)
            });
        }
        let turned: Vec<_> = words.iter().rev().cloned().collect();
        let (phrase, other) = (spell(&template, &words), spell(&template, &turned));
        let quoted = !self.lexicon.language.is_dense() || turn.is_multiple_of(2);
        let query = if quoted {
            format!("\"{phrase}\"")
        } else {
            phrase.clone()
        };
        let added = self.add(
            Kind::Phrase,
            query,
            vec![phrase.clone()],
            vec![(Slot::Noun, phrase)],
        );
        added.lookalikes = vec![vec![(Slot::Noun, other)], words];
    }

    fn new_name(&self) -> (String, String) {
        let language = self.lexicon.language;
        let (name, last) = (
            self.writer.name(self.dice, language, 3),
            self.dice.pick(&self.lexicon.syllables),
        );
        // Shares its beginning, and is not the name itself with something behind it.
        let similar: String = name
            .chars()
            .take(name.chars().count() - 1)
            .chain(last.chars())
            .collect();
        (name, similar)
    }

    fn name(&mut self) {
        let (name, similar) = self.new_name();
        let added = self.add(
            Kind::Name,
            name.to_lowercase(),
            vec![name.clone()],
            vec![(Slot::Name, name)],
        );
        added.lookalikes = vec![vec![(Slot::Name, similar)]];
    }

    fn loose(&mut self) {
        let (name, similar) = self.new_name();
        let fixed = vec![(Slot::Name, name.clone())];
        let absent = self.frequent_noun(30, &fixed);
        let query = format!("{name} {absent}").to_lowercase();
        let added = self.add(Kind::Loose, query, vec![name], fixed);
        added.absent = Some(absent.to_owned());
        added.lookalikes = vec![vec![(Slot::Name, similar), (Slot::Noun, absent.to_owned())]];
    }

    fn identifier(&mut self, turn: usize) {
        let dice = self.dice;
        let technical = self.writer.technical();
        let word = || technical.nouns.draw(dice);
        let (first, second, third) = (word(), word(), word());
        let (identifier, similar) = match turn {
            0 => (
                format!("{first}_{second}_{third}_id"),
                format!("{second}_{first}_{third}_id"),
            ),
            1 => (
                format!("{first}-{second}-{third}"),
                format!("{third}-{second}-{first}"),
            ),
            2 => (
                format!(
                    "v{}.{}.{}-rc{}",
                    dice.below(9),
                    dice.below(40),
                    dice.below(60),
                    dice.between(1, 9)
                ),
                "v4.11.2-rc0".to_owned(),
            ),
            3 => (
                format!("crates/{first}/{second}/{third}_main.rs"),
                format!("crates/{second}/{first}/{third}_main.rs"),
            ),
            4 => (
                format!("ERR_{}_{:04}", first.to_uppercase(), dice.below(10_000)),
                format!("ERR_{}_{:05}", first.to_uppercase(), dice.below(100_000)),
            ),
            5 => (hex(dice, 12), hex(dice, 12)),
            6 => (
                format!("--{first}-{second}={}", dice.between(10_000, 99_999)),
                format!("--{first}-{second}={}", dice.between(100, 999)),
            ),
            _ => (
                format!("{first}.{second}.{third}()"),
                format!("{third}.{second}.{first}()"),
            ),
        };
        let added = self.add(
            Kind::Identifier,
            identifier.clone(),
            vec![identifier.clone()],
            vec![(Slot::Identifier, identifier)],
        );
        added.lookalikes = vec![vec![(Slot::Identifier, similar)]];
    }

    fn prefixes(&mut self) {
        for &(stem, text) in &self.lexicon.stems {
            let fixed = vec![(Slot::Noun, text.to_owned())];
            self.add(
                Kind::Prefix,
                format!("{stem}*"),
                vec![stem.to_owned()],
                fixed,
            );
        }
    }

    fn variants(&mut self) {
        for &(written, typed) in &self.lexicon.variants {
            let fixed = vec![(Slot::Noun, written.to_owned())];
            self.add(
                Kind::Variant,
                typed.to_owned(),
                vec![written.to_owned()],
                fixed,
            );
        }
    }

    fn short_words(&mut self) {
        for &word in self.lexicon.short.iter().flatten() {
            let letters: Vec<char> = word.chars().collect();
            let reversed: String = letters.iter().rev().collect();
            let fixed = vec![(Slot::Noun, word.to_owned())];
            let added = self.add(Kind::Short, word.to_owned(), vec![word.to_owned()], fixed);
            if let [first, second, rest @ ..] = letters.as_slice() {
                let head = format!("{first}{second}");
                let tail = rest
                    .first()
                    .map_or_else(|| first.to_string(), |last| format!("{second}{last}"));
                added.lookalikes = vec![vec![(Slot::Noun, reversed)]];
                if !rest.is_empty() {
                    // All its pairs, and still not the word.
                    added
                        .lookalikes
                        .push(vec![(Slot::Noun, head), (Slot::Noun, tail)]);
                }
            }
        }
    }

    fn glued(&mut self, turn: usize) {
        let product = PRODUCTS
            .get(2 + turn * 4)
            .copied()
            .unwrap_or_default()
            .to_owned();
        let template = Template::parse(self.lexicon.glue.first().copied().unwrap_or_default());
        let slot = if template.gaps(Slot::Verb) > 0 {
            Slot::Verb
        } else {
            Slot::Noun
        };
        let word = self.take(slot);
        let glued = spell(&template, &[(Slot::Product, product.clone()), word.clone()]);
        let added = self.add(
            Kind::Glued,
            glued.clone(),
            vec![glued.clone()],
            vec![(Slot::Noun, glued)],
        );
        added.lookalikes = vec![vec![(Slot::Product, product), word]];
    }
}

/// The template with its gaps filled in order.
fn spell(template: &Template, words: &[(Slot, String)]) -> String {
    let mut words = words.iter();
    let mut out = String::new();
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Gap(_) => out.push_str(words.next().map_or("", |(_, word)| word)),
        }
    }
    out
}
