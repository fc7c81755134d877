//! A few numbers that cost next to nothing.

use crate::store::Store;
use crate::worker::Pending;

/// How much there is, without reading any of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Glance {
    pub sessions: u64,
    pub last_active_at: Option<f64>,
    pub database_bytes: u64,
}

impl Store {
    /// Counts sessions through an index; fit for a start path, unlike [`Store::stats`].
    pub fn glance(&self) -> Pending<Glance> {
        self.read(|connection| {
            let glance = connection.query_row(
                "SELECT (SELECT count(*) FROM sessions), (SELECT max(last_active_at) FROM sessions), \
                   page_count * page_size FROM pragma_page_count, pragma_page_size",
                [],
                |row| {
                    Ok(Glance {
                        sessions: row.get(0)?,
                        last_active_at: row.get(1)?,
                        database_bytes: row.get(2)?,
                    })
                },
            )?;
            Ok(glance)
        })
    }
}
