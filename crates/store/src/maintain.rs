//! Keeping the file small and the search fast.

use crate::repair::reindex;
use crate::store::Store;
use crate::worker::Pending;

/// What an optimization changed, in bytes of the database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optimized {
    pub bytes_before: u64,
    pub bytes_after: u64,
    pub blobs_removed: u64,
}

impl Store {
    /// Builds the search index anew from the messages. Answers how many were indexed.
    pub fn reindex(&self) -> Pending<u64> {
        self.write(reindex)
    }

    /// Merges the index, removes media and prompts nothing refers to, gives free pages back.
    pub fn optimize(&self) -> Pending<Optimized> {
        let blobs = self.blobs().clone();
        let path = self.path().to_owned();
        self.write_alone(move |connection| {
            let size = || std::fs::metadata(&path).map_or(0, |data| data.len());
            let bytes_before = size();
            connection.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
            connection.execute(
                "DELETE FROM texts WHERE hash NOT IN \
                   (SELECT system_prompt_hash FROM sessions WHERE system_prompt_hash IS NOT NULL)",
                [],
            )?;
            let mut blobs_removed = 0;
            let mut needed = connection.prepare(
                "SELECT EXISTS (SELECT 1 FROM message_blobs WHERE hash = ?1) \
                   OR EXISTS (SELECT 1 FROM inbox WHERE instr(body, ?1))",
            )?;
            for hash in blobs.all() {
                if !needed.query_row([&hash], |row| row.get::<_, bool>(0))? {
                    blobs.remove(&hash)?;
                    blobs_removed += 1;
                }
            }
            drop(needed);
            connection
                .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize;")?;
            Ok(Optimized {
                bytes_before,
                bytes_after: size(),
                blobs_removed,
            })
        })
    }
}
