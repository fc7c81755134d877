//! The schema, as numbered steps that are never edited after release.

use rusqlite::{Connection, TransactionBehavior};

/// Step `n` brings a database from version `n` to `n + 1`.
const STEPS: &[&str] = &[
    include_str!("../migrations/0001_sessions.sql"),
    include_str!("../migrations/0002_processes.sql"),
    include_str!("../migrations/0003_decisions.sql"),
    include_str!("../migrations/0004_mcp.sql"),
    include_str!("../migrations/0005_journal.sql"),
    include_str!("../migrations/0006_embeddings.sql"),
    include_str!("../migrations/0007_facts.sql"),
    include_str!("../migrations/0008_learning.sql"),
    include_str!("../migrations/0009_inbox.sql"),
    include_str!("../migrations/0010_journal_exact.sql"),
    include_str!("../migrations/0011_permissions.sql"),
];

/// The version this program writes.
pub(crate) const NEWEST: u32 = STEPS.len() as u32;

pub(crate) fn version(connection: &Connection) -> Result<u32, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Brings the file up to date in one transaction; several processes may try at once.
pub(crate) fn upgrade(
    connection: &mut Connection,
    application_id: i64,
) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = usize::try_from(version(&transaction)?).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(from) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", application_id)?;
    transaction.pragma_update(None, "user_version", NEWEST)?;
    transaction.commit()
}
