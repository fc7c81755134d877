//! Writes a `state.db` as the reference leaves it, through the `sqlite3` program.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use hermes_core::Role;

use crate::corpus::Plan;

/// A database of schema 22; its tables are taken from here, its rows are not.
const SAMPLE: &str = include_str!("../../../../tests/fixtures/reference/state/v22.sql");

pub(super) fn write(path: &Path, plan: &Plan) -> anyhow::Result<()> {
    let mut program = Command::new("sqlite3")
        .arg("-batch")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .context("the sqlite3 program is needed to write a state.db")?;
    let input = program.stdin.take().context("sqlite3 has no input")?;
    let mut sql = BufWriter::new(input);
    sql.write_all(b"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;\nBEGIN;\n")?;
    for statement in statements() {
        writeln!(sql, "{statement}")?;
    }
    writeln!(sql, "INSERT INTO schema_version (version) VALUES (22);")?;
    for index in 0..plan.sessions() {
        write_session(&mut sql, plan, index)?;
    }
    writeln!(sql, "COMMIT;")?;
    // Closing the pipe is how sqlite3 learns that this is all.
    drop(sql.into_inner().map_err(|error| error.into_error())?);
    let status = program.wait()?;
    ensure!(status.success(), "sqlite3 ended with {status}");
    Ok(())
}

fn write_session(sql: &mut impl Write, plan: &Plan, index: usize) -> anyhow::Result<()> {
    let said = plan.session(index);
    let started_at = plan.starts_at(index);
    writeln!(
        sql,
        "INSERT INTO sessions (id, source, model, system_prompt, started_at, message_count, title) \
         VALUES ('bench_{index:06}', 'cli', 'some/model', 'You are a helpful assistant.', {started_at}, {}, 'Session {index}');",
        said.len()
    )?;
    for (position, said) in said.iter().enumerate() {
        let content = said.text.replace('\'', "''");
        let (call, tool) = match said.role {
            Role::Tool => (format!("'call_{position}'"), "'terminal'"),
            Role::System | Role::User | Role::Assistant => ("NULL".to_owned(), "NULL"),
        };
        writeln!(
            sql,
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp) \
             VALUES ('bench_{index:06}', '{}', '{content}', {call}, {tool}, {});",
            said.role.word(),
            said.at
        )?;
    }
    Ok(())
}

/// The tables and indexes of the sample. Its search tables are left out: nothing reads them.
fn statements() -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for line in SAMPLE
        .lines()
        .take_while(|line| !line.starts_with("CREATE VIRTUAL"))
    {
        let begins = ["CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX"]
            .iter()
            .any(|start| line.starts_with(start));
        if begins || !current.is_empty() {
            current.push_str(line);
            current.push('\n');
            if line.ends_with(';') {
                found.push(std::mem::take(&mut current));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_tables_and_no_rows() {
        let statements = statements();
        assert!(
            statements
                .iter()
                .any(|sql| sql.starts_with("CREATE TABLE messages"))
        );
        assert!(statements.iter().all(|sql| !sql.contains("INSERT")));
    }
}
