//! Work that only one process does at a time. A holder that dies loses its lease when the time is up.

use std::time::Duration;

use crate::store::Store;
use crate::worker::Pending;

impl Store {
    /// Takes or renews a lease. Answers `false` while somebody else holds it.
    pub fn take_lease(&self, name: &str, holder: &str, life: Duration) -> Pending<bool> {
        let (name, holder, now) = (name.to_owned(), holder.to_owned(), self.now());
        let until = now + life.as_secs_f64();
        self.write(move |connection| {
            // Leases that ran out are nobody's; this is also what keeps the table small.
            connection.execute("DELETE FROM leases WHERE expires_at <= ?", [now])?;
            let taken = connection.execute(
                "INSERT INTO leases (name, holder, expires_at) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at \
                 WHERE holder = excluded.holder",
                (name, holder, until),
            )?;
            Ok(taken == 1)
        })
    }

    /// Gives a lease back; one that somebody else holds by now stays theirs.
    pub fn release_lease(&self, name: &str, holder: &str) -> Pending<()> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |connection| {
            connection.execute(
                "DELETE FROM leases WHERE name = ?1 AND holder = ?2",
                (name, holder),
            )?;
            Ok(())
        })
    }
}
