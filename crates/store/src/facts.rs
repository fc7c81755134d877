//! Facts: sentences with a category, whom they are about, and how far they are to be believed.

mod reference;

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::StoreError;
use crate::search::terms;
use crate::store::Store;
use crate::worker::Pending;

/// Most facts one question gives.
const MOST_LISTED: u32 = 500;
/// Words of a question that are looked for.
const MOST_WORDS: usize = 32;
/// Facts whose words match that are ranked.
const MOST_RANKED: u32 = 200;

/// A fact to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    pub content: String,
    pub category: String,
    /// Words, separated by spaces.
    pub tags: String,
    /// Whom or what it is about.
    pub entities: Vec<String>,
    pub trust: f64,
}

/// A fact that is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Fact {
    pub id: i64,
    pub content: String,
    pub category: String,
    pub tags: String,
    pub trust: f64,
    pub recalled: u32,
    pub helpful: u32,
    /// Seconds since 1970.
    pub created_at: f64,
    pub updated_at: f64,
    pub entities: Vec<String>,
}

/// Which facts are meant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactFilter {
    pub category: Option<String>,
    /// Facts believed less than this are left out.
    pub floor: f64,
    pub most: u32,
}

/// What is to be different about a fact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactChange {
    /// New words, and whom they are about.
    pub content: Option<(String, Vec<String>)>,
    pub category: Option<String>,
    pub tags: Option<String>,
    /// Added to the trust, which stays between 0 and 1.
    pub trust: f64,
    /// Whether it was said to have helped.
    pub helped: bool,
}

impl Store {
    /// Keeps a fact. One with the same words is not kept twice; answers its id and whether it is new.
    pub fn add_fact(&self, fact: NewFact) -> Pending<(i64, bool)> {
        let now = self.now();
        let fact = Fact {
            id: 0,
            content: self.clean(fact.content),
            category: fact.category,
            tags: self.clean(fact.tags),
            trust: fact.trust,
            recalled: 0,
            helpful: 0,
            created_at: now,
            updated_at: now,
            entities: fact.entities,
        };
        self.write(move |connection| keep(connection, &fact))
    }

    /// The facts that best match some words: how well they match, times how far they are believed.
    pub fn search_facts(&self, words: &str, filter: FactFilter) -> Pending<Vec<Fact>> {
        let wanted: BTreeSet<String> = terms(words).into_iter().take(MOST_WORDS).collect();
        let question: Vec<String> = wanted.iter().map(|word| format!("\"{word}\"")).collect();
        let question = question.join(" OR ");
        self.read(move |connection| {
            if question.is_empty() {
                return Ok(Vec::new());
            }
            let mut query = connection.prepare_cached(&format!(
                "SELECT {COLUMNS}, s.rank FROM (SELECT rowid, rank FROM facts_search WHERE facts_search MATCH ?1 \
                   ORDER BY rank LIMIT {MOST_RANKED}) s JOIN facts f ON f.id = s.rowid \
                 WHERE f.trust >= ?2 AND (?3 IS NULL OR f.category = ?3) \
                 ORDER BY s.rank * (0.2 + f.trust), f.id DESC LIMIT ?4"
            ))?;
            let asked = (question, filter.floor, filter.category, filter.most.min(MOST_LISTED));
            let rows = query.query_map(asked, read)?.collect::<Result<_, _>>()?;
            with_entities(connection, rows)
        })
    }

    /// The facts about one thing, most believed first.
    pub fn facts_about(&self, entity: &str, filter: FactFilter) -> Pending<Vec<Fact>> {
        let entity = entity_key(entity);
        self.read(move |connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM fact_entities e JOIN facts f ON f.id = e.fact_id \
                 WHERE e.entity = ?1 AND f.trust >= ?2 AND (?3 IS NULL OR f.category = ?3) \
                 ORDER BY f.trust DESC, f.id DESC LIMIT ?4"
            ))?;
            let asked = (
                entity,
                filter.floor,
                filter.category,
                filter.most.min(MOST_LISTED),
            );
            let rows = query.query_map(asked, read)?.collect::<Result<_, _>>()?;
            with_entities(connection, rows)
        })
    }

    /// All facts, newest first.
    pub fn facts(&self, filter: FactFilter) -> Pending<Vec<Fact>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM facts f WHERE f.trust >= ?1 AND (?2 IS NULL OR f.category = ?2) \
                 ORDER BY f.id DESC LIMIT ?3"
            ))?;
            let asked = (filter.floor, filter.category, filter.most.min(MOST_LISTED));
            let rows = query.query_map(asked, read)?.collect::<Result<_, _>>()?;
            with_entities(connection, rows)
        })
    }

    /// How many facts there are.
    pub fn count_facts(&self) -> Pending<u64> {
        self.read(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM facts", [], |row| row.get(0))?)
        })
    }

    /// Changes a fact. Answers with the trust before and after; nothing when it is not there.
    pub fn change_fact(&self, id: i64, change: FactChange) -> Pending<Option<(f64, f64)>> {
        let now = self.now();
        let content = change
            .content
            .map(|(content, entities)| (self.clean(content), entities));
        let tags = change.tags.map(|tags| self.clean(tags));
        self.write(move |connection| {
            let Some(fact) = one(connection, id)? else {
                return Ok(None);
            };
            let trust = (fact.trust + change.trust).clamp(0.0, 1.0);
            let words = content.as_ref().map_or(&fact.content, |(words, _)| words);
            let tags = tags.unwrap_or(fact.tags);
            connection
                .prepare_cached(
                    "UPDATE facts SET content = ?2, category = ?3, tags = ?4, trust = ?5, \
                       helpful = helpful + ?6, updated_at = ?7 WHERE id = ?1",
                )?
                .execute((
                    id,
                    words,
                    change.category.as_ref().unwrap_or(&fact.category),
                    &tags,
                    trust,
                    change.helped,
                    now,
                ))?;
            forget_words(connection, id)?;
            index(connection, id, words, &tags)?;
            if let Some((_, entities)) = &content {
                connection
                    .prepare_cached("DELETE FROM fact_entities WHERE fact_id = ?")?
                    .execute([id])?;
                name(connection, id, entities)?;
            }
            Ok(Some((fact.trust, trust)))
        })
    }

    /// Forgets a fact. Answers `false` when it is not there.
    pub fn remove_fact(&self, id: i64) -> Pending<bool> {
        self.write(move |connection| {
            forget_words(connection, id)?;
            let gone = connection
                .prepare_cached("DELETE FROM facts WHERE id = ?")?
                .execute([id])?;
            Ok(gone == 1)
        })
    }

    /// Counts that facts were recalled.
    pub fn recalled_facts(&self, ids: Vec<i64>) -> Pending<()> {
        self.write(move |connection| {
            let mut update = connection
                .prepare_cached("UPDATE facts SET recalled = recalled + 1 WHERE id = ?")?;
            for id in ids {
                update.execute([id])?;
            }
            Ok(())
        })
    }
}

const COLUMNS: &str = "f.id, f.content, f.category, f.tags, f.trust, f.recalled, f.helpful, f.created_at, f.updated_at";

/// How the name of a thing is compared: by its words, without case and accents.
pub fn entity_key(name: &str) -> String {
    terms(name).join(" ")
}

/// Keeps a fact under an id of its own, unless one with the same words is there; answers that id and whether it is new.
fn keep(connection: &Connection, fact: &Fact) -> Result<(i64, bool), StoreError> {
    let known = connection
        .prepare_cached("SELECT id FROM facts WHERE content = ?")?
        .query_row([&fact.content], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok((id, false));
    }
    connection
        .prepare_cached(
            "INSERT INTO facts (content, category, tags, trust, recalled, helpful, created_at, updated_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            &fact.content,
            &fact.category,
            &fact.tags,
            fact.trust,
            fact.recalled,
            fact.helpful,
            fact.created_at,
            fact.updated_at,
        ))?;
    let id = connection.last_insert_rowid();
    index(connection, id, &fact.content, &fact.tags)?;
    name(connection, id, &fact.entities)?;
    Ok((id, true))
}

fn one(connection: &Connection, id: i64) -> Result<Option<Fact>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM facts f WHERE f.id = ?"))?;
    Ok(query.query_row([id], read).optional()?)
}

fn index(connection: &Connection, id: i64, content: &str, tags: &str) -> Result<(), StoreError> {
    let words = terms(&format!("{content} {tags}")).join(" ");
    connection
        .prepare_cached("INSERT INTO facts_search (rowid, terms) VALUES (?, ?)")?
        .execute((id, words))?;
    Ok(())
}

/// Builds the words of all facts anew.
pub(crate) fn reindex(connection: &Connection) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO facts_search (facts_search) VALUES ('delete-all')",
        [],
    )?;
    let mut read = connection.prepare("SELECT id, content, tags FROM facts")?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let (content, tags): (String, String) = (row.get(1)?, row.get(2)?);
        index(connection, row.get(0)?, &content, &tags)?;
    }
    Ok(())
}

fn forget_words(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM facts_search WHERE rowid = ?")?
        .execute([id])?;
    Ok(())
}

fn name(connection: &Connection, id: i64, entities: &[String]) -> Result<(), StoreError> {
    let mut insert = connection
        .prepare_cached("INSERT OR IGNORE INTO fact_entities (entity, fact_id) VALUES (?, ?)")?;
    for entity in entities.iter().map(|name| entity_key(name)) {
        if !entity.is_empty() {
            insert.execute((entity, id))?;
        }
    }
    Ok(())
}

fn with_entities(connection: &Connection, mut facts: Vec<Fact>) -> Result<Vec<Fact>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT entity FROM fact_entities WHERE fact_id = ? ORDER BY entity")?;
    for fact in &mut facts {
        let names = query.query_map([fact.id], |row| row.get(0))?;
        fact.entities = names.collect::<Result<_, _>>()?;
    }
    Ok(facts)
}

fn read(row: &Row<'_>) -> Result<Fact, rusqlite::Error> {
    Ok(Fact {
        id: row.get(0)?,
        content: row.get(1)?,
        category: row.get(2)?,
        tags: row.get(3)?,
        trust: row.get(4)?,
        recalled: row.get(5)?,
        helpful: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        entities: Vec::new(),
    })
}
