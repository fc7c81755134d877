//! When the curator ran last: `HOME/skills/.curator_state`.

use std::path::{Path, PathBuf};

use hermes_config::{FileError, create_directory, read_file, replace_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::report::Run;

/// What is remembered between runs. Fields of others are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub last_run_at: Option<Timestamp>,
    pub last_run_duration_seconds: Option<f64>,
    pub last_run_summary: Option<String>,
    pub last_report_path: Option<String>,
    pub paused: bool,
    pub run_count: u64,
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

impl State {
    pub(super) fn ran(&mut self, run: &Run, report: &Path) {
        self.last_run_at = Some(run.started_at);
        self.last_run_duration_seconds =
            Some(run.ended_at.duration_since(run.started_at).as_secs_f64());
        self.last_run_summary = Some(run.summary());
        self.last_report_path = Some(report.display().to_string());
        self.run_count += 1;
    }
}

pub(super) struct StateFile(PathBuf);

impl StateFile {
    pub(super) fn of(own: &Path) -> Self {
        Self(own.join(".curator_state"))
    }

    /// A file that nobody can read counts as none: the clock starts anew and nothing is tidied.
    pub(super) fn read(&self) -> Result<State, FileError> {
        let bytes = read_file(&self.0)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) -> Result<(), FileError> {
        let mut state = self.read()?;
        change(&mut state);
        if let Some(directory) = self.0.parent() {
            create_directory(directory)?;
        }
        let text = serde_json::to_string_pretty(&state).unwrap_or_default();
        replace_file(&self.0, text.as_bytes())
    }
}
