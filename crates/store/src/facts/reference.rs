//! Facts that the reference kept: its `memory_store.db`, which is read and never written.

use std::collections::HashMap;
use std::path::Path;

use super::{Fact, keep};
use crate::error::StoreError;
use crate::import::connect;
use crate::store::Store;

/// Most facts that are brought over.
const MOST: u32 = 20_000;

impl Store {
    /// Brings over the facts of a file of the reference, with their trust and counts. One whose words are here already
    /// stays as it is. Answers how many are new; nothing when there is no such file. Blocks.
    pub fn import_facts(&self, path: &Path) -> Result<Option<u64>, StoreError> {
        if !path.is_file() {
            return Ok(None);
        }
        let found = read(path, self.now());
        let mut found = found.map_err(|error| StoreError::BadImport {
            path: path.to_owned(),
            detail: error.to_string(),
        })?;
        for fact in &mut found {
            fact.content = self.clean(std::mem::take(&mut fact.content));
            fact.tags = self.clean(std::mem::take(&mut fact.tags));
        }
        let written = self.write(move |connection| {
            let mut new = 0;
            for fact in &found {
                let (_, is_new) = keep(connection, fact)?;
                new += u64::from(is_new);
            }
            Ok(new)
        });
        written.wait().map(Some)
    }
}

/// What stands there; `now` is the time of what has none.
fn read(path: &Path, now: f64) -> rusqlite::Result<Vec<Fact>> {
    let connection = connect(path)?;
    let mut names: HashMap<i64, Vec<String>> = HashMap::new();
    let mut query = connection.prepare(
        "SELECT f.fact_id, e.name FROM fact_entities f JOIN entities e ON e.entity_id = f.entity_id",
    )?;
    for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (fact, name): (i64, String) = row?;
        names.entry(fact).or_default().push(name);
    }
    let mut query = connection.prepare(
        "SELECT fact_id, content, coalesce(category, 'general'), coalesce(tags, ''), \
           min(max(coalesce(trust_score, 0.5), 0.0), 1.0), coalesce(retrieval_count, 0), coalesce(helpful_count, 0), \
           coalesce(CAST(strftime('%s', created_at) AS REAL), ?1), \
           coalesce(CAST(strftime('%s', updated_at) AS REAL), ?1) FROM facts ORDER BY fact_id LIMIT ?2",
    )?;
    let rows = query.query_map((now, MOST), |row| {
        let id = row.get(0)?;
        Ok(Fact {
            id,
            content: row.get(1)?,
            category: row.get(2)?,
            tags: row.get(3)?,
            trust: row.get(4)?,
            recalled: row.get(5)?,
            helpful: row.get(6)?,
            created_at: row.get(7)?,
            updated_at: row.get(8)?,
            entities: names.remove(&id).unwrap_or_default(),
        })
    })?;
    rows.collect()
}
