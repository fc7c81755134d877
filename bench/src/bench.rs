//! What an entry is, and what it is handed.

use std::io::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use crate::figure::Figure;

/// One thing that is measured.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Context) -> anyhow::Result<Vec<Figure>>,
}

/// What every entry may use.
pub(crate) struct Context {
    /// The binary under test.
    pub(crate) hermes: PathBuf,
    /// Whether a rough answer soon is wanted.
    pub(crate) quick: bool,
    /// Whether cached data must be made anew.
    pub(crate) rebuild: bool,
    /// A folder that lasts from run to run.
    pub(crate) data: PathBuf,
    pub(crate) peers: Vec<Peer>,
}

impl Context {
    /// A line on standard error, so that a person sees that something goes on.
    pub(crate) fn tell(&self, line: &str) {
        // Nobody may be listening; the figures do not depend on it.
        drop(writeln!(std::io::stderr().lock(), "{line}"));
    }

    /// The usual number, or the one for a quick run.
    pub(crate) fn count(&self, usual: usize, quick: usize) -> usize {
        if self.quick { quick } else { usual }
    }
}

/// Another program, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

impl FromStr for Peer {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let Some((name, command)) = text.split_once('=') else {
            anyhow::bail!("a peer is NAME=CMD");
        };
        let command: Vec<String> = command.split_whitespace().map(ToOwned::to_owned).collect();
        anyhow::ensure!(!command.is_empty(), "the peer {name} has no command");
        Ok(Self {
            name: name.to_owned(),
            command,
        })
    }
}
