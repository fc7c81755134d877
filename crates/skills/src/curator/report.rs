//! What a run did: `HOME/logs/curator/<time>/run.json` and `cron_rewrites.json` for programs, `REPORT.md` for people.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hermes_config::{FileError, create_directory, replace_file};
use jiff::Timestamp;
use serde::Serialize;

use super::plan::Move;
use crate::usage::UsageState;

/// A run, after it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub moves: Vec<Move>,
    /// Skills that could not be moved, and why.
    pub failed: Vec<(String, String)>,
    /// The copy that was made first.
    pub backup: Option<String>,
    /// How merging went; nothing when it was not tried.
    pub merging: Option<Merging>,
    /// Skills that were put away because another one says all of it.
    pub absorbed: Vec<Absorbed>,
    /// Skills that were written while merging.
    pub written: Vec<String>,
    /// Jobs that name another skill now.
    pub rewrites: Vec<Rewrite>,
}

/// How merging skills went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Merging {
    /// The model that did it.
    pub model: String,
    /// Its answers.
    pub calls: u32,
    /// Why it was not tried, or ended before the model was done.
    pub cut_short: Option<String>,
}

/// A skill that is part of another one now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Absorbed {
    pub name: String,
    pub into: String,
}

/// A job that named a skill that is part of another one now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewrite {
    pub job: String,
    pub from: String,
    pub to: String,
}

impl Run {
    /// In one line.
    pub fn summary(&self) -> String {
        let count = |state: UsageState| self.moves.iter().filter(|step| step.to == state).count();
        let (stale, away, back) = (
            count(UsageState::Stale),
            count(UsageState::Archived),
            count(UsageState::Active),
        );
        let mut text = format!("{stale} stale, {away} put away, {back} in use again");
        if self.merging.is_some() {
            let _ = write!(text, ", {} merged", self.absorbed.len());
        }
        if !self.failed.is_empty() {
            let _ = write!(text, ", {} failed", self.failed.len());
        }
        text
    }
}

/// Writes the files; answers with the directory they are in.
pub(super) fn write(home: &Path, run: &Run) -> Result<PathBuf, FileError> {
    let directory = home
        .join("logs/curator")
        .join(run.started_at.strftime("%Y%m%d-%H%M%S").to_string());
    create_directory(&directory)?;
    let json = serde_json::to_string_pretty(run).unwrap_or_default();
    replace_file(&directory.join("run.json"), json.as_bytes())?;
    replace_file(&directory.join("REPORT.md"), text(run).as_bytes())?;
    if !run.rewrites.is_empty() {
        let rewrites = serde_json::to_string_pretty(&run.rewrites).unwrap_or_default();
        replace_file(&directory.join("cron_rewrites.json"), rewrites.as_bytes())?;
    }
    Ok(directory)
}

fn text(run: &Run) -> String {
    let mut text = format!(
        "# Skills tidied up\n\n{}: {}.\n",
        run.started_at,
        run.summary()
    );
    for step in &run.moves {
        let what = match step.to {
            UsageState::Active => "in use again",
            UsageState::Stale => "stale",
            UsageState::Archived => "put away",
        };
        let _ = write!(
            text,
            "\n- {}: {what}, unused for {} days",
            step.name, step.idle_days
        );
    }
    for (name, why) in &run.failed {
        let _ = write!(text, "\n- {name}: left as it was, because {why}");
    }
    for name in &run.written {
        let _ = write!(text, "\n- {name}: written, to hold several");
    }
    for Absorbed { name, into } in &run.absorbed {
        let _ = write!(text, "\n- {name}: put away, {into} says all of it");
    }
    for Rewrite { job, from, to } in &run.rewrites {
        let _ = write!(text, "\n- job {job}: uses {to} in place of {from}");
    }
    if let Some(merging) = &run.merging {
        let _ = write!(text, "\n\nMerging: {} answers", merging.calls);
        if !merging.model.is_empty() {
            let _ = write!(text, " of {}", merging.model);
        }
        if let Some(why) = &merging.cut_short {
            let _ = write!(text, "; it ended early, because {why}");
        }
        text.push('.');
    }
    text.push_str("\n\n`hermes curator restore NAME` brings a skill back");
    if let Some(backup) = &run.backup {
        let _ = write!(
            text,
            ", `hermes curator rollback {backup}` all of them as they were"
        );
    }
    text.push_str(".\n");
    text
}
