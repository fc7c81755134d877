//! Who says what in which session, decided before anything is written.

use std::collections::HashMap;

use hermes_core::Role;

use super::dice::Dice;
use super::guard::Guard;
use super::language::Language;
use super::needle::{self, Kind, Needle};
use super::specification::specify;
use super::writer::{Speaker, Writer};

/// Sessions are spread over two years that end here (2026-07-01).
pub(super) const END: i64 = 1_782_864_000;
pub(super) const SPAN: i64 = 2 * 365 * 86_400;

/// A whole corpus; its sessions are written one by one.
pub(crate) struct Plan {
    seed: u64,
    writer: Writer,
    guard: Guard,
    needles: Vec<Needle>,
    shapes: Vec<Shape>,
    planted: HashMap<usize, Vec<Planted>>,
}

struct Shape {
    language: Language,
    size: usize,
}

struct Planted {
    position: usize,
    text: String,
    needle: Option<usize>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) role: Role,
    pub(crate) text: String,
    /// Seconds since 1970.
    pub(crate) at: f64,
    /// Which needle it is.
    pub(crate) needle: Option<usize>,
}

impl Plan {
    pub(crate) fn new(seed: u64, messages: usize) -> anyhow::Result<Self> {
        let writer = Writer::new();
        let dice = Dice::new(seed, 0);
        let specifications: Vec<_> = Language::ALL
            .into_iter()
            .flat_map(|language| specify(&writer, &dice, language))
            .collect();
        let guard = Guard::new(
            specifications
                .iter()
                .map(|wanted| wanted.pieces.clone())
                .collect(),
        )?;
        let most_lookalikes = (messages / 20_000).clamp(1, 6);
        let needles = needle::write(&writer, &dice, &guard, specifications, most_lookalikes)?;
        let shapes = shapes(&dice, messages);
        let planted = place(&dice, &needles, &shapes)?;
        Ok(Self {
            seed,
            writer,
            guard,
            needles,
            shapes,
            planted,
        })
    }

    pub(crate) fn sessions(&self) -> usize {
        self.shapes.len()
    }

    pub(crate) fn messages(&self) -> usize {
        self.shapes.iter().map(|shape| shape.size).sum()
    }

    /// What somebody types to find a needle, and of which kind it is.
    pub(crate) fn question(&self, needle: usize) -> Option<(Language, Kind, &str)> {
        let needle = self.needles.get(needle)?;
        Some((needle.language, needle.kind, &needle.query))
    }

    /// The messages of a session; the same whenever it is asked for.
    pub(crate) fn session(&self, index: usize) -> Vec<Said> {
        let Some(shape) = self.shapes.get(index) else {
            return Vec::new();
        };
        let dice = Dice::new(self.seed, 1 + index as u64);
        let mut at = self.starts_at(index);
        let planted = self
            .planted
            .get(&index)
            .map(Vec::as_slice)
            .unwrap_or_default();
        (0..shape.size)
            .map(|position| {
                at += dice.between(5, 240) as f64;
                match planted.iter().find(|planted| planted.position == position) {
                    Some(planted) => Said {
                        role: if dice.chance(50) {
                            Role::User
                        } else {
                            Role::Assistant
                        },
                        text: planted.text.clone(),
                        at,
                        needle: planted.needle,
                    },
                    None => self.background(&dice, shape.language, at),
                }
            })
            .collect()
    }

    pub(crate) fn starts_at(&self, index: usize) -> f64 {
        let share = index as f64 / self.shapes.len().max(1) as f64;
        (END - SPAN) as f64 + share * SPAN as f64
    }

    /// What people type on an ordinary day: one to three words, some quoted, some unfinished.
    pub(crate) fn everyday_queries(&self, count: usize) -> Vec<String> {
        let dice = Dice::new(self.seed, u64::MAX);
        (0..count)
            .map(|index| {
                let language = Language::ALL[index % Language::ALL.len()];
                let lexicon = self.writer.lexicon(language);
                let noun = || lexicon.nouns.draw(&dice);
                match dice.below(6) {
                    0 => noun().to_owned(),
                    1 => format!("{} {}", noun(), lexicon.verbs.draw(&dice)),
                    2 => format!("{} {} {}", noun(), noun(), lexicon.adjectives.draw(&dice)),
                    3 => format!("{}*", noun().chars().take(4).collect::<String>()),
                    4 => format!("\"{} {}\"", lexicon.adjectives.draw(&dice), noun()),
                    _ => format!("{} {}", self.writer.name(&dice, language, 2), noun()),
                }
            })
            .collect()
    }

    fn background(&self, dice: &Dice, language: Language, at: f64) -> Said {
        let (role, speaker) = match dice.below(100) {
            0..30 => (Role::User, Speaker::User),
            30..78 => (Role::Assistant, Speaker::Assistant),
            _ => (Role::Tool, Speaker::Tool),
        };
        Said {
            role,
            text: self.writer.message(dice, language, speaker, &self.guard),
            at,
            needle: None,
        }
    }
}

fn shapes(dice: &Dice, messages: usize) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut left = messages;
    while left > 0 {
        let size = dice.between(20, 60).min(left);
        let language = Language::ALL[shapes.len() % Language::ALL.len()];
        shapes.push(Shape { language, size });
        left -= size;
    }
    shapes
}

/// Needles go into the first four fifths of their language's sessions, lookalikes behind them.
fn place(
    dice: &Dice,
    needles: &[Needle],
    shapes: &[Shape],
) -> anyhow::Result<HashMap<usize, Vec<Planted>>> {
    let mut planted: HashMap<usize, Vec<Planted>> = HashMap::new();
    for (index, needle) in needles.iter().enumerate() {
        let own: Vec<usize> = (0..shapes.len())
            .filter(|&at| shapes[at].language == needle.language)
            .collect();
        let early = own.len() * 4 / 5;
        anyhow::ensure!(
            early > 0,
            "too few messages to plant anything in {}",
            needle.language.name()
        );
        let place = put(
            dice,
            &mut planted,
            shapes,
            &own[..early],
            &needle.text,
            Some(index),
        );
        let Some(place) = place else {
            anyhow::bail!(
                "too few messages to plant {} in {}",
                needle.query,
                needle.language.name()
            );
        };
        let later: Vec<usize> = own.iter().copied().filter(|&at| at > place).collect();
        for text in &needle.lookalikes {
            put(dice, &mut planted, shapes, &later, text, None);
        }
    }
    Ok(planted)
}

/// Takes a free place in one of some sessions, leaving most of each to ordinary messages.
fn put(
    dice: &Dice,
    planted: &mut HashMap<usize, Vec<Planted>>,
    shapes: &[Shape],
    sessions: &[usize],
    text: &str,
    needle: Option<usize>,
) -> Option<usize> {
    for _ in 0..200 {
        let session = *sessions.get(dice.below(sessions.len()))?;
        let position = dice.below(shapes[session].size);
        let taken = planted.entry(session).or_default();
        if taken.len() * 2 < shapes[session].size
            && taken.iter().all(|other| other.position != position)
        {
            taken.push(Planted {
                position,
                text: text.to_owned(),
                needle,
            });
            return Some(session);
        }
    }
    None
}
