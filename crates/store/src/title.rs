//! Titles: clean, unique, and numbered when a conversation goes on.

use hermes_core::SessionId;
use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::lineage;
use crate::store::Store;
use crate::worker::Pending;

pub(crate) const LONGEST: usize = 100;

/// A title without control and invisible characters, runs of white space as one space.
///
/// `None` when nothing is left.
pub(crate) fn clean_title(text: &str) -> Result<Option<String>, StoreError> {
    let visible: String = text.chars().filter(|&c| !is_invisible(c)).collect();
    let title = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.chars().count() {
        0 => Ok(None),
        length if length > LONGEST => Err(StoreError::BadTitle { length }),
        _ => Ok(Some(title)),
    }
}

fn is_invisible(character: char) -> bool {
    matches!(character as u32,
        0x00..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x2069 | 0xfeff | 0xfff9..=0xfffc)
}

impl Store {
    /// Gives a session a title; a hidden earlier part of the same conversation gives it up.
    pub fn rename(&self, session: &SessionId, title: &str) -> Pending<String> {
        let (session, title) = (session.clone(), self.clean(title.to_owned()));
        self.write(move |connection| {
            let title = clean_title(&title)?.ok_or(StoreError::BadTitle { length: 0 })?;
            set_title(connection, &session, &title)?;
            Ok(title)
        })
    }

    /// Gives a session a title unless it has one, numbered when another conversation has that title; `false` when it
    /// had one.
    pub fn title_once(&self, session: &SessionId, title: &str) -> Pending<bool> {
        let (session, title) = (session.clone(), self.clean(title.to_owned()));
        self.write(move |connection| {
            let Ok(Some(title)) = clean_title(&title) else {
                return Ok(false);
            };
            let free = match is_taken(connection, &title)? {
                true => next_title(connection, &title)?,
                false => title,
            };
            let changed = connection.execute(
                "UPDATE sessions SET title = ?2 WHERE id = ?1 AND title IS NULL",
                (session.as_str(), free),
            )?;
            Ok(changed > 0)
        })
    }

    /// The title a continuation of `title` gets: `base #2`, `base #3`, …
    pub fn next_title(&self, title: &str) -> Pending<String> {
        let title = title.to_owned();
        self.read(move |connection| next_title(connection, &title))
    }
}

fn set_title(connection: &Connection, session: &SessionId, title: &str) -> Result<(), StoreError> {
    let owner: Option<String> = connection
        .query_row("SELECT id FROM sessions WHERE title = ?", [title], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(owner) = owner.filter(|owner| owner != session.as_str()) {
        if !lineage::ancestors(connection, session)?
            .iter()
            .any(|id| id.as_str() == owner)
        {
            return Err(StoreError::TitleTaken {
                title: title.to_owned(),
                owner,
            });
        }
        connection.execute("UPDATE sessions SET title = NULL WHERE id = ?", [owner])?;
    }
    let changed = connection.execute(
        "UPDATE sessions SET title = ?2 WHERE id = ?1",
        (session.as_str(), title),
    )?;
    if changed == 0 {
        return Err(StoreError::NoSuchSession {
            wanted: session.to_string(),
        });
    }
    Ok(())
}

fn is_taken(connection: &Connection, title: &str) -> Result<bool, StoreError> {
    let known = "SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ?)";
    Ok(connection.query_row(known, [title], |row| row.get(0))?)
}

pub(crate) fn next_title(connection: &Connection, title: &str) -> Result<String, StoreError> {
    let base = base_of(title);
    let taken = numbered(connection, base)?;
    if taken.is_empty() && !is_taken(connection, base)? {
        return Ok(base.to_owned());
    }
    let next = taken
        .iter()
        .map(|(number, _)| *number)
        .max()
        .unwrap_or(1)
        .max(1)
        + 1;
    Ok(format!("{base} #{next}"))
}

/// The newest continuation of a title, if there is one: `(number, session)` pairs.
pub(crate) fn numbered(
    connection: &Connection,
    base: &str,
) -> Result<Vec<(u64, String)>, StoreError> {
    let pattern = format!(
        "{} #%",
        base.replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_")
    );
    let mut statement = connection
        .prepare_cached("SELECT title, id FROM sessions WHERE title LIKE ? ESCAPE '\\'")?;
    let rows = statement.query_map([pattern], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (title, id) = row?;
        if let Some(number) = number_of(&title) {
            found.push((number, id));
        }
    }
    Ok(found)
}

fn number_of(title: &str) -> Option<u64> {
    title.rsplit_once(" #")?.1.parse().ok()
}

fn base_of(title: &str) -> &str {
    match title.rsplit_once(" #") {
        Some((base, number)) if number.parse::<u64>().is_ok() => base,
        _ => title,
    }
}
