//! What is remembered about MCP servers between runs.

use rusqlite::OptionalExtension;

use crate::store::Store;
use crate::worker::Pending;

/// Most tools of one server that are pinned.
const MOST_PINS: usize = 5_000;
/// Most packages whose verdicts are kept.
const MOST_VERDICTS: i64 = 1_000;

impl Store {
    /// The tools of a server as last listed under the same settings: JSON, as it was kept.
    pub fn mcp_catalog(&self, server: &str, settings: &str) -> Pending<Option<String>> {
        let (server, settings) = (server.to_owned(), settings.to_owned());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT body FROM mcp_catalogs WHERE server = ?1 AND settings = ?2",
            )?;
            Ok(statement
                .query_row((server, settings), |row| row.get(0))
                .optional()?)
        })
    }

    /// Keeps the tools of a server; what was kept for other settings goes.
    pub fn keep_mcp_catalog(&self, server: &str, settings: &str, body: String) -> Pending<()> {
        let (server, settings, now) = (server.to_owned(), settings.to_owned(), self.now());
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO mcp_catalogs (server, settings, body, listed_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (server) DO UPDATE SET settings = ?2, body = ?3, listed_at = ?4",
                (server, settings, body, now),
            )?;
            Ok(())
        })
    }

    /// Remembers what the tools of a server say about themselves, each as name and fingerprint. Answers
    /// with the names of those that said something else before, once for each change.
    pub fn pin_mcp_tools(
        &self,
        server: &str,
        tools: Vec<(String, String)>,
    ) -> Pending<Vec<String>> {
        let (server, now) = (server.to_owned(), self.now());
        self.write(move |connection| {
            let mut known = connection.prepare_cached(
                "SELECT fingerprint FROM mcp_pins WHERE server = ?1 AND tool = ?2",
            )?;
            let mut pin = connection.prepare_cached(
                "INSERT INTO mcp_pins (server, tool, fingerprint, seen_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (server, tool) DO UPDATE SET fingerprint = ?3, seen_at = ?4",
            )?;
            let mut changed = Vec::new();
            for (tool, fingerprint) in tools.into_iter().take(MOST_PINS) {
                let before: Option<String> = known
                    .query_row((&server, &tool), |row| row.get(0))
                    .optional()?;
                match before {
                    Some(before) if before == fingerprint => continue,
                    Some(_) => changed.push(tool.clone()),
                    None => {}
                }
                pin.execute((&server, &tool, &fingerprint, now))?;
            }
            Ok(changed)
        })
    }

    /// Forgets a server that was removed.
    pub fn forget_mcp_server(&self, server: &str) -> Pending<()> {
        let server = server.to_owned();
        self.write(move |connection| {
            connection.execute("DELETE FROM mcp_catalogs WHERE server = ?", [&server])?;
            connection.execute("DELETE FROM mcp_pins WHERE server = ?", [&server])?;
            Ok(())
        })
    }

    /// What was found out about a package since a time, in seconds since 1970.
    pub fn mcp_verdict(&self, package: &str, since: f64) -> Pending<Option<String>> {
        let package = package.to_owned();
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT verdict FROM mcp_verdicts WHERE package = ?1 AND found_at >= ?2",
            )?;
            Ok(statement
                .query_row((package, since), |row| row.get(0))
                .optional()?)
        })
    }

    /// Keeps what was found out about a package; the oldest go when there are too many.
    pub fn keep_mcp_verdict(&self, package: &str, verdict: String) -> Pending<()> {
        let (package, now) = (package.to_owned(), self.now());
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO mcp_verdicts (package, verdict, found_at) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (package) DO UPDATE SET verdict = ?2, found_at = ?3",
                (package, verdict, now),
            )?;
            connection.execute(
                "DELETE FROM mcp_verdicts WHERE package NOT IN \
                 (SELECT package FROM mcp_verdicts ORDER BY found_at DESC LIMIT ?)",
                [MOST_VERDICTS],
            )?;
            Ok(())
        })
    }
}
