//! What the model calls the tools of servers, and which tool a name stands for.
//!
//! A name is made once and kept with what it stands for; it is never taken apart again, because two
//! servers and tools may give the same text.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::Utility;

/// Longest name that every provider takes.
const LONGEST: usize = 64;
/// Hex digits of the hash that tells names apart.
const HASH_DIGITS: usize = 8;
/// What is left of a name that a hash stands behind.
const HEAD: usize = LONGEST - HASH_DIGITS - 1;

/// Something that can be called at a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remote {
    /// A tool, by the server's own name for it.
    Tool(String),
    /// One of our own tools for its resources and prompts.
    Utility(Utility),
}

impl Remote {
    fn word(&self) -> &str {
        match self {
            Self::Tool(name) => name,
            Self::Utility(utility) => utility.word(),
        }
    }

    /// What makes it different from everything else that can be called.
    fn identity(&self, server: &str) -> String {
        match self {
            Self::Tool(name) => format!("{server}\0{name}"),
            // No tool can be called this: its name would have to begin with a NUL.
            Self::Utility(utility) => format!("{server}\0\0{}", utility.word()),
        }
    }
}

/// Whether a name reads like that of something that can be called at a server, in whatever case and with whatever
/// signs it is written. Only for what is told: names may read like those of two servers.
pub fn reads_like(wire: &str, server: &str) -> bool {
    let begins = format!("mcp__{}__", clean(server));
    // Names that are too long lose their end, with what it says of the server.
    let begins = begins.get(..HEAD).unwrap_or(&begins);
    let wire = clean(wire);
    wire.get(..begins.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(begins))
}

/// The name of the toolset that holds the tools of a server; the server's own name is its alias.
pub fn toolset(server: &str) -> String {
    format!("mcp-{server}")
}

/// Gives names to the tools of all configured servers. The names of one server depend on its own tools
/// and on the names of the configured servers, never on who connected first.
#[derive(Debug, Clone, Default)]
pub struct Namespace {
    contested: BTreeSet<String>,
    reserved: BTreeSet<String>,
}

impl Namespace {
    /// Names for these servers, beside tools whose names are taken.
    pub fn new<'a>(
        servers: impl IntoIterator<Item = &'a str>,
        reserved: impl IntoIterator<Item = String>,
    ) -> Self {
        let servers: BTreeSet<&str> = servers.into_iter().collect();
        let contested = servers
            .iter()
            .filter(|server| servers.iter().any(|other| contests(other, server)))
            .map(|server| (*server).to_owned())
            .collect();
        Self {
            contested,
            reserved: reserved.into_iter().collect(),
        }
    }

    /// Names what can be called at a server.
    pub fn name(&self, server: &str, remotes: impl IntoIterator<Item = Remote>) -> Names {
        let remotes: BTreeSet<Remote> = remotes.into_iter().collect();
        let mut claims: BTreeMap<String, usize> = BTreeMap::new();
        for remote in &remotes {
            *claims.entry(clean(remote.word())).or_default() += 1;
        }
        let mut names = Names::default();
        for remote in remotes {
            let word = clean(remote.word());
            let crowded = claims.get(&word).is_some_and(|count| *count > 1);
            let plain = match &remote {
                Remote::Utility(_) => true,
                // The names of our own tools stay theirs whether they are offered or not.
                Remote::Tool(name) => {
                    Utility::of_word(&word).is_none() && (!crowded || *name == word)
                }
            };
            let whole = format!("mcp__{}__{word}", clean(server));
            let wire = if plain && whole.len() <= LONGEST && !self.contested.contains(server) {
                whole
            } else {
                hashed(&whole, &remote.identity(server))
            };
            if self.reserved.contains(&wire) {
                tracing::warn!(
                    server,
                    tool = remote.word(),
                    "left out: a built-in tool is called {wire}"
                );
            } else {
                names.0.insert(wire, remote);
            }
        }
        names
    }
}

/// The tools of one server by the names the model knows them by, in the order they are offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(BTreeMap<String, Remote>);

impl Names {
    /// What a name stands for.
    pub fn get(&self, wire: &str) -> Option<&Remote> {
        self.0.get(wire)
    }

    /// The name of something.
    pub fn wire(&self, remote: &Remote) -> Option<&str> {
        self.iter()
            .find(|(_, known)| *known == remote)
            .map(|(wire, _)| wire)
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Remote)> {
        self.0.iter().map(|(wire, remote)| (wire.as_str(), remote))
    }
}

/// Whether tools of `other` could get the names of tools of `server`, and have the better claim.
fn contests(other: &str, server: &str) -> bool {
    if other == server {
        return false;
    }
    let (theirs, ours) = (clean(other), clean(server));
    if theirs == ours {
        // Whoever is written exactly like the names keeps them.
        return server != ours;
    }
    // `a` with `b__c` reads like `a__b` with `c`.
    ours.starts_with(&format!("{theirs}__"))
}

fn clean(part: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    part.chars().map(legal).collect()
}

fn hashed(whole: &str, identity: &str) -> String {
    let digest = Sha256::digest(identity.as_bytes());
    let hash: String = digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        .chars()
        .take(HASH_DIGITS)
        .collect();
    // Cleaned names are ASCII, so bytes are characters.
    let head = whole.get(..HEAD).unwrap_or(whole);
    format!("{head}_{hash}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tools(names: &[&str]) -> Vec<Remote> {
        names
            .iter()
            .map(|name| Remote::Tool((*name).to_owned()))
            .collect()
    }

    fn wires(names: &Names) -> Vec<&str> {
        names.iter().map(|(wire, _)| wire).collect()
    }

    // MCP-55
    #[test]
    fn names_say_server_and_tool() {
        let names = Namespace::new(["my-server"], []).name("my-server", tools(&["read.file", "x"]));
        assert_eq!(
            wires(&names),
            ["mcp__my_server__read_file", "mcp__my_server__x"]
        );
        let tool = Remote::Tool("read.file".to_owned());
        assert_eq!(names.get("mcp__my_server__read_file"), Some(&tool));
        assert_eq!(names.wire(&tool), Some("mcp__my_server__read_file"));
        assert_eq!(toolset("my-server"), "mcp-my-server");
    }

    // MCP-11
    #[test]
    fn a_name_tells_whose_it_may_be() {
        let long = "n".repeat(60);
        for (wire, server, reads) in [
            ("mcp__my_server__x", "my-server", true),
            ("mcp__My-Server__x", "my-server", true),
            ("mcp__my_server", "my-server", false),
            ("mcp__my_server2__x", "my-server", false),
            ("mcp__your_server__x", "my-server", false),
            ("my_server__x", "my-server", false),
        ] {
            assert_eq!(reads_like(wire, server), reads, "{wire}");
        }
        let names = Namespace::new([long.as_str()], []).name(&long, tools(&["x"]));
        assert!(reads_like(wires(&names)[0], &long));
    }

    // MCP-55
    #[test]
    fn tools_that_read_alike_are_told_apart_and_long_names_are_cut() {
        let long = "n".repeat(100);
        let raw = ["x-y", "x_y", "x.y", long.as_str()];
        let names = Namespace::new(["s"], []).name("s", tools(&raw));
        assert_eq!(names.iter().count(), 4);
        assert_eq!(
            names.get("mcp__s__x_y"),
            Some(&Remote::Tool("x_y".to_owned()))
        );
        for name in raw {
            let wire = names.wire(&Remote::Tool(name.to_owned())).unwrap();
            assert!(wire.len() <= 64, "{wire}");
            let hash = wire.rsplit('_').next().unwrap();
            assert!(name == "x_y" || hash.len() == 8, "{wire}");
        }
        let again = Namespace::new(["s"], []).name("s", tools(&["x.y", "x-y", "x_y"]));
        assert_eq!(
            again.wire(&Remote::Tool("x-y".to_owned())),
            names.wire(&Remote::Tool("x-y".to_owned()))
        );
    }

    #[test]
    fn servers_that_read_alike_do_not_meet() {
        let space = Namespace::new(["a-b", "a_b", "a", "a__b"], []);
        let plain = space.name("a_b", tools(&["x"]));
        assert_eq!(wires(&plain), ["mcp__a_b__x"]);
        assert_ne!(wires(&space.name("a-b", tools(&["x"]))), wires(&plain));
        assert_ne!(
            wires(&space.name("a", tools(&["b__c"]))),
            wires(&space.name("a__b", tools(&["c"])))
        );
    }

    #[test]
    fn our_own_tools_keep_their_names() {
        let both = [
            Remote::Tool("list_resources".to_owned()),
            Remote::Utility(Utility::ListResources),
        ];
        let space = Namespace::new(["s"], []);
        let names = space.name("s", both.clone());
        assert_eq!(
            names.get("mcp__s__list_resources"),
            Some(&Remote::Utility(Utility::ListResources))
        );
        assert_eq!(names.iter().count(), 2);
        // Whether or not ours is offered.
        let [tool, _] = both;
        let alone = space.name("s", [tool.clone()]);
        assert_eq!(alone.wire(&tool), names.wire(&tool));
    }

    #[test]
    fn built_in_tools_are_not_replaced() {
        let space = Namespace::new(["s"], ["mcp__s__x".to_owned()]);
        assert_eq!(wires(&space.name("s", tools(&["x", "y"]))), ["mcp__s__y"]);
    }

    proptest! {
        #[test]
        fn every_tool_gets_one_legal_name(
            server in "[a-z._ -]{0,70}",
            raw in proptest::collection::btree_set("[a-zA-Z0-9_. é-]{0,80}", 0..12),
        ) {
            let remotes: Vec<Remote> = raw.iter().cloned().map(Remote::Tool).collect();
            let names = Namespace::new([server.as_str()], []).name(&server, remotes);
            prop_assert_eq!(names.iter().count(), raw.len());
            for (wire, _) in names.iter() {
                prop_assert!(wire.len() <= 64);
                let legal = wire.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                prop_assert!(legal, "{}", wire);
            }
        }
    }
}
