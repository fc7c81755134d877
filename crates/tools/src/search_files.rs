//! `search_files`: finds text in files, or files by their name. ripgrep's libraries do the work.

mod answer;
mod lines;
mod walk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use self::walk::{Found, Scan};
use crate::arguments::{read, text};
use crate::files::{Again, Shared, refused, refused_with};
use crate::read_file::similar_names;

/// How long a search may take.
const DEADLINE: Duration = Duration::from_secs(60);
/// Matches or files of one answer when nothing else is asked for.
const USUAL: usize = 50;
/// Most matches or files of one answer.
const MOST: usize = 1_000;
/// Most lines around a match.
const MOST_CONTEXT: usize = 20;

/// Searches.
pub(crate) struct SearchFiles {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Debug, Clone, Deserialize, serde::Serialize)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    file_glob: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    output_mode: Output,
    #[serde(default)]
    context: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    #[serde(alias = "grep")]
    Content,
    #[serde(alias = "find")]
    Files,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Output {
    #[default]
    Content,
    FilesOnly,
    Count,
}

/// A search with everything decided.
struct Query {
    asked: Arguments,
    root: PathBuf,
    /// What shown paths are relative to.
    directory: PathBuf,
    shared: Arc<Shared>,
    stop: Stop,
}

/// When a search ends before it is done.
#[derive(Clone)]
struct Stop {
    deadline: Instant,
    cancel: CancellationToken,
}

impl Stop {
    fn now(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.deadline
    }
}

impl Query {
    fn limit(&self) -> usize {
        self.asked.limit.unwrap_or(USUAL).clamp(1, MOST)
    }

    fn context(&self) -> usize {
        self.asked.context.min(MOST_CONTEXT)
    }
}

impl SearchFiles {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            spec: ToolSpec {
                name: "search_files".to_owned(),
                description: "Search file contents by regular expression, or with target=files find files by name pattern, \
                              newest first. Hidden and git-ignored files are left out."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "description": "Regular expression, or a glob such as *.py for files."},
                        "target": {"type": "string", "enum": ["content", "files"]},
                        "path": {"type": "string", "description": "Where to search."},
                        "file_glob": {"type": "string", "description": "Only files like this, such as *.rs."},
                        "limit": {"type": "integer", "description": format!("{USUAL} by default.")},
                        "offset": {"type": "integer", "description": "Results to skip."},
                        "output_mode": {"type": "string", "enum": ["content", "files_only", "count"]},
                        "context": {"type": "integer", "description": "Lines around each match."},
                    },
                    "required": ["pattern"],
                }),
                effect: Effect::ReadOnly,
            },
            shared,
        }
    }

    async fn search(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        if asked.pattern.is_empty() {
            return Err(refused("pattern is empty"));
        }
        let name = asked.path.clone().unwrap_or_else(|| ".".to_owned());
        let root = self.shared.readable(&name, context)?;
        if !root.exists() {
            return Err(refused_with(json!({
                "error": format!("{name} does not exist"),
                "similar_files": similar_names::of(&root),
            })));
        }
        let key = json!([asked, root]).to_string();
        let again = self.shared.seen().search(key);
        let warning = match again {
            Again::Warn(times) => Some(format!("this is the same search, {times} times in a row")),
            Again::Refuse(times) => {
                return Err(refused_with(json!({
                    "error": format!("the same search {times} times in a row; go on with what you have"),
                    "already_searched": times - 1,
                })));
            }
            Again::Fine | Again::Unchanged | Again::StillUnchanged => None,
        };
        let query = Query {
            asked,
            root,
            directory: context
                .directory
                .canonicalize()
                .unwrap_or_else(|_| context.directory.clone()),
            shared: self.shared.clone(),
            stop: Stop {
                deadline: Instant::now() + DEADLINE.min(context.deadline),
                cancel: context.cancel.clone(),
            },
        };
        let work = move || run(&query, warning);
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(_) => Err(refused("the search failed")),
        }
    }
}

fn run(query: &Query, warning: Option<String>) -> ToolOutcome {
    let scan = match query.asked.target {
        Target::Content => Scan::content(query),
        Target::Files => Scan::names(query),
    };
    let found: Found = scan.map_err(refused)?.run(query);
    if query.stop.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    answer::of(query, found, warning).map(text)
}

impl Tool for SearchFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::Anything,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.search(read(arguments)?, context).await })
    }
}
