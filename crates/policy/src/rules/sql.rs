//! What clients of databases are told to run.

use std::sync::LazyLock;

use regex::Regex;

use crate::shell::Invocation;

pub(super) fn is_sql_client(one: &Invocation) -> bool {
    one.is(&[
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "sqlite",
        "duckdb",
        "clickhouse-client",
        "clickhouse",
        "sqlcmd",
        "cockroach",
        "pgcli",
        "mycli",
        "usql",
        "isql",
        "sqlplus",
        "bq",
        "snowsql",
    ])
}

/// Options of these clients whose value is what they run.
const STATEMENTS: [&str; 9] = [
    "-c",
    "--command",
    "-e",
    "--execute",
    "-q",
    "-Q",
    "--query",
    "--cmd",
    "--eval",
];

/// Arguments, statements taken out of the options they are attached to, and input.
pub(super) fn texts(one: &Invocation) -> Vec<String> {
    let attached = one.values(&STATEMENTS);
    let arguments = one.arguments().iter().chain(&attached);
    let texts = arguments.map(|field| field.text.as_str());
    // Two dashes would begin a comment.
    let texts = texts.filter(|text| !text.starts_with("--") || text.contains('\n'));
    texts.chain(one.input.known()).map(str::to_owned).collect()
}

static DROPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(drop\s+((materialized|temporary|foreign|unique)\s+)?(table|database|schema|view|index|user|role|collection|tablespace|sequence|owned)|truncate\s+(table\s+)?[\w.`\x22]+)").ok()
});

static DELETES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(delete\s+([\w.,`*]+\s+){0,6}from\s+\S+|update\s+\S+\s+set\b)").ok()
});

static WHERE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\bwhere\b").ok());

pub(super) fn destroys_rows(one: &Invocation) -> bool {
    let found = |regex: &Option<Regex>, text: &str| {
        let regex = regex.as_ref();
        regex.is_some_and(|regex| regex.is_match(text))
    };
    let mysql = one.is(&["mysql", "mariadb", "mycli"]);
    texts(one).iter().any(|text| {
        let bare = statements(text, mysql);
        let mut each = bare.split(';');
        found(&DROPS, &bare) || each.any(|text| found(&DELETES, text) && !found(&WHERE, text))
    })
}

/// A text of SQL without its comments and without what stands in quotes, which is a value.
fn statements(text: &str, mysql: bool) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let dashes = rest.strip_prefix("--").is_some_and(|behind| {
            // To some, two dashes are a comment only with a space behind them.
            !mysql || behind.is_empty() || behind.starts_with(char::is_whitespace)
        });
        // These are for programs, not for people, and may be run.
        let hint = rest.starts_with("/*!") || rest.starts_with("/*+");
        let skipped = if c == '\'' {
            Some(behind_quote(behind, mysql))
        } else if dashes || mysql && c == '#' {
            Some(behind.split_once('\n').map_or("", |(_, behind)| behind))
        } else if rest.starts_with("/*") && !hint {
            Some(rest.split_once("*/").map_or("", |(_, behind)| behind))
        } else {
            None
        };
        bare.push(if skipped.is_some() { ' ' } else { c });
        rest = skipped.unwrap_or(behind);
    }
    bare
}

/// What follows the end of a value in quotes.
fn behind_quote(text: &str, escapes: bool) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if escapes => escaped = true,
            '\'' => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}
