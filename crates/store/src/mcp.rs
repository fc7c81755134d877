//! What is remembered about MCP servers between runs.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;

use crate::store::Store;
use crate::worker::Pending;

/// Most tools of one server that are pinned.
const MOST_PINS: usize = 5_000;
/// Most packages whose verdicts are kept.
const MOST_VERDICTS: i64 = 1_000;

/// Writes a pin.
const PIN: &str = "INSERT INTO mcp_pins (server, tool, fingerprint, seen_at) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (server, tool) DO UPDATE SET fingerprint = ?3, seen_at = ?4";

/// Tools that are not as they were.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct McpPins {
    /// Never seen before.
    pub new: Vec<String>,
    /// They said something else.
    pub changed: Vec<String>,
}

/// How a fingerprint was made: what stands before its colon. Only those of one kind can be compared.
fn kind(fingerprint: &str) -> Option<&str> {
    fingerprint.split_once(':').map(|(kind, _)| kind)
}

impl Store {
    /// The tools of servers as last listed under the same settings, by the names of the servers: JSON, as it was kept.
    /// One request for all of them, because they are asked for before the first prompt.
    pub fn mcp_catalogs(
        &self,
        servers: Vec<(String, String)>,
    ) -> Pending<BTreeMap<String, String>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT body FROM mcp_catalogs WHERE server = ?1 AND settings = ?2",
            )?;
            let mut found = BTreeMap::new();
            for (server, settings) in servers {
                let body: Option<String> = statement
                    .query_row((&server, settings), |row| row.get(0))
                    .optional()?;
                found.extend(body.map(|body| (server, body)));
            }
            Ok(found)
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

    /// Compares what the tools of a server say about themselves, each as name and fingerprint, with what they said
    /// when somebody last heard of it. Those never seen before are remembered; changed ones are named each time until
    /// `accept_mcp_tools`, so that a run in which nobody could be told loses nothing.
    pub fn pin_mcp_tools(&self, server: &str, tools: Vec<(String, String)>) -> Pending<McpPins> {
        let (server, now) = (server.to_owned(), self.now());
        self.write(move |connection| {
            let mut known = connection.prepare_cached(
                "SELECT fingerprint FROM mcp_pins WHERE server = ?1 AND tool = ?2",
            )?;
            let mut pin = connection.prepare_cached(PIN)?;
            let mut pins = McpPins::default();
            for (tool, fingerprint) in tools.into_iter().take(MOST_PINS) {
                let before: Option<String> = known
                    .query_row((&server, &tool), |row| row.get(0))
                    .optional()?;
                match before {
                    Some(before) if before == fingerprint => {}
                    Some(before) if kind(&before) == kind(&fingerprint) => pins.changed.push(tool),
                    // One of another kind says nothing about a change.
                    Some(_) | None => {
                        pin.execute((&server, &tool, &fingerprint, now))?;
                        pins.new.push(tool);
                    }
                }
            }
            Ok(pins)
        })
    }

    /// Remembers what tools say about themselves, whatever they said before.
    pub fn accept_mcp_tools(&self, server: &str, tools: Vec<(String, String)>) -> Pending<()> {
        let (server, now) = (server.to_owned(), self.now());
        self.write(move |connection| {
            let mut pin = connection.prepare_cached(PIN)?;
            for (tool, fingerprint) in tools.into_iter().take(MOST_PINS) {
                pin.execute((&server, &tool, &fingerprint, now))?;
            }
            Ok(())
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
