//! What this program itself is asked to do on a command line.
//!
//! Changing its settings would lift the rules, so what is listed here only looks; everything else is asked about,
//! including commands that are not known yet.

use crate::shell::{HOLE, Invocation};

/// Options that stand anywhere before the verb and take the next word, unless it is an option.
const WITH_VALUE: &[&str] = &[
    "-p",
    "--profile",
    "-m",
    "--model",
    "--provider",
    "-t",
    "--toolsets",
    "-r",
    "--resume",
    "-c",
    "--continue",
    "-z",
    "--oneshot",
    "--max-turns",
    "--usage-file",
];

/// Options that lift what the user has set up.
const LIFTING: &[&str] = &["--yolo", "--ignore-user-config"];

/// Variables that do the same when they are on.
const LIFTING_ON: &[&str] = &[
    "HERMES_ACCEPT_HOOKS",
    "HERMES_ALLOW_PRIVATE_URLS",
    "HERMES_IGNORE_USER_CONFIG",
    "HERMES_SAFE_MODE",
    "HERMES_YOLO_MODE",
    "TIRITH_FAIL_OPEN",
];

/// Variables that do it when they are off.
const LIFTING_OFF: &[&str] = &["HERMES_REDACT_SECRETS", "TIRITH_ENABLED"];

/// Commands that never change anything, whatever follows.
const HARMLESS: &[&str] = &[
    "chat",
    "completion",
    "doctor",
    "dump",
    "help",
    "insights",
    "logs",
    "policy",
    "prompt-size",
    "status",
    "version",
];

/// Commands that do nothing but look when no verb follows.
const HARMLESS_ALONE: &[&str] = &[
    "auth",
    "checkpoints",
    "config",
    "fallback",
    "profile",
    "sessions",
];

/// Commands that look with these options instead of a verb.
const LOOKING: &[(&str, &str)] = &[("model", "--why"), ("tools", "--summary")];

/// The verbs of each command that only look.
const READING: &[(&str, &[&str])] = &[
    ("auth", &["list", "status"]),
    // What follows is a file or a part, never a verb.
    ("backup", &[]),
    ("import", &[]),
    ("setup", &[]),
    ("update", &[]),
    ("checkpoints", &["status", "list", "diff"]),
    ("config", &["show", "get", "path", "env-path", "check"]),
    ("curator", &["status", "usage", "list-archived"]),
    ("fallback", &["list", "ls", "test"]),
    ("gateway", &["run", "start", "status", "list"]),
    ("learning", &["log"]),
    // A client of `serve` can say yes in the place of the person, and `call` asks nobody about a server without trust.
    ("mcp", &["list", "ls", "test", "catalog", "status"]),
    ("model", &["list"]),
    ("profile", &["list", "show", "info"]),
    ("sandbox", &["ls", "list"]),
    (
        "sessions",
        &["list", "browse", "show", "search", "stats", "export"],
    ),
    ("tools", &["list"]),
];

/// Verbs that only look, of commands that are not listed above.
const READING_ELSEWHERE: &[&str] = &[
    "list", "ls", "show", "status", "info", "search", "path", "help",
];

/// A command of ours with its verb; empty words where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    pub(super) command: &'a str,
    pub(super) verb: &'a str,
}

/// Everything a command line may ask of us. A word behind an option that is not known can be its value or the
/// command, so both are looked at. Empty when only help is asked for.
pub(super) fn asked(one: &Invocation) -> Vec<Asked<'_>> {
    if one.name != "hermes" {
        return Vec::new();
    }
    let words: Vec<&str> = one
        .arguments()
        .iter()
        .map(|field| field.text.as_str())
        .collect();
    let mut asked = Vec::new();
    for at in candidates(&words) {
        let (Some(command), rest) = (words.get(at), words.get(at + 1..).unwrap_or_default()) else {
            continue;
        };
        let verbs = candidates(rest);
        let helped = |verb: usize| is_help(rest.get(verb + 1));
        let plain: Vec<Asked<'_>> = verbs
            .iter()
            .filter(|verb| !helped(**verb))
            .filter_map(|verb| rest.get(*verb))
            .map(|verb| Asked { command, verb })
            .collect();
        match verbs.is_empty() {
            true if rest.iter().any(|word| is_help(Some(word))) => {}
            true => asked.push(Asked { command, verb: "" }),
            false => asked.extend(plain),
        }
    }
    asked
}

/// Whether a variable with this value lifts what the user has set up.
pub(crate) fn lifts(variable: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let is_off = matches!(value.as_str(), "" | "0" | "false" | "no" | "off");
    let is_open = value.contains(HOLE);
    LIFTING_ON.contains(&variable) && !is_off
        || LIFTING_OFF.contains(&variable) && (is_off || is_open)
}

/// Whether a command line of ours changes settings, secrets or state, or lifts what they say.
pub(super) fn changes_us(one: &Invocation) -> bool {
    let lifts = one.name == "hermes" && LIFTING.iter().any(|option| one.long(option));
    lifts || asked(one).iter().any(|asked| !only_looks(one, *asked))
}

fn only_looks(one: &Invocation, Asked { command, verb }: Asked<'_>) -> bool {
    let looks = |(of, option): &(&str, &str)| *of == command && one.has(option);
    if HARMLESS.contains(&command) {
        return true;
    }
    if verb.is_empty() {
        return HARMLESS_ALONE.contains(&command) || LOOKING.iter().any(looks);
    }
    let known = READING.iter().find(|(of, _)| *of == command);
    let reading = known.map_or(READING_ELSEWHERE, |(_, verbs)| verbs);
    reading.contains(&verb)
}

/// Where a command or verb may stand: the first word that belongs to no option, and before it those that may.
fn candidates(words: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = Before::Nothing;
    for (at, word) in words.iter().enumerate() {
        before = match (word.starts_with('-'), before) {
            (true, _) if WITH_VALUE.contains(word) => Before::Taking,
            (true, _) if word.contains('=') => Before::Nothing,
            (true, _) => Before::Unknown,
            (false, Before::Taking) => Before::Nothing,
            (false, Before::Unknown) => {
                found.push(at);
                Before::Nothing
            }
            (false, Before::Nothing) => {
                found.push(at);
                break;
            }
        };
    }
    found
}

/// What stands in front of a word.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// An option that takes the word.
    Taking,
    /// An option that may.
    Unknown,
}

fn is_help(word: Option<&&str>) -> bool {
    word.is_some_and(|word| matches!(*word, "--help" | "-h"))
}
