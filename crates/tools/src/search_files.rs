//! `search_files`: finds text in files, or files by their name.

mod answer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Beside, Effect, Handling, Notice, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_exec::{Search, SearchFor};
use hermes_policy::Names;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, text};
use crate::files::{Again, Readable, Shared, failed, refused, refused_with};
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

/// What an answer is made from beside what was found.
struct Query {
    asked: Arguments,
    /// What shown paths are relative to.
    directory: PathBuf,
    shared: Arc<Shared>,
    /// Who reads the answer.
    reader: Reader,
}

/// Who reads an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A model, to which words say best how to go on.
    Model,
    /// A script, which gets an object and nothing else.
    Script,
}

impl Query {
    fn limit(&self) -> usize {
        self.asked.limit.unwrap_or(USUAL).clamp(1, MOST)
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
        let Readable { place, files, .. } = self.shared.readable(&name, context).await?;
        let root = place.real.clone();
        if place.stat.is_none() {
            return Err(refused_with(json!({
                "error": format!("{name} does not exist"),
                "similar_files": similar_names::of(&*files, &root).await,
            })));
        }
        let key = json!([asked, root]).to_string();
        let again = match context.nested {
            true => Again::Fine,
            false => self.shared.seen().search(key),
        };
        let warning = repeated(again)?;
        let here = self.shared.directory(context);
        let directory = match name.as_str() {
            "." => root.clone(),
            _ => match files.locate(&here, ".").await {
                Ok(place) => place.real,
                Err(_) => here,
            },
        };
        let query = Query {
            asked,
            directory,
            shared: self.shared.clone(),
            reader: match context.nested {
                true => Reader::Script,
                false => Reader::Model,
            },
        };
        let (shared, rules) = (self.shared.clone(), self.shared.rules(&place));
        let search = Search {
            root,
            pattern: query.asked.pattern.clone(),
            what: wanted(&query.asked),
            file_glob: query.asked.file_glob.clone(),
            offset: query.asked.offset,
            limit: query.limit(),
            context: query.asked.context.min(MOST_CONTEXT),
            time: DEADLINE.min(context.deadline),
            may_see: Arc::new(move |path| {
                let names = Names {
                    real: path,
                    hops: &[],
                };
                shared.may_see(names, &rules).is_ok()
            }),
            cancel: context.cancel.clone(),
        };
        let found = files.search(search).await.map_err(failed)?;
        Ok(text(answer::of(&query, found, warning)))
    }
}

/// What is said about a search that was made before.
fn repeated(again: Again) -> Result<Option<String>, ToolError> {
    match again {
        Again::Warn(times) => Ok(Some(format!(
            "this is the same search, {times} times in a row"
        ))),
        Again::Refuse(times) => Err(refused_with(json!({
            "error": format!("the same search {times} times in a row; go on with what you have"),
            "already_searched": times - 1,
        }))),
        Again::Fine | Again::Unchanged | Again::StillUnchanged => Ok(None),
    }
}

fn wanted(asked: &Arguments) -> SearchFor {
    match (asked.target, asked.output_mode) {
        (Target::Files, _) => SearchFor::Names,
        (Target::Content, Output::Content) => SearchFor::Lines,
        (Target::Content, Output::FilesOnly) => SearchFor::Files,
        (Target::Content, Output::Count) => SearchFor::Counts,
    }
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

    fn noticed(&self, notice: Notice<'_>) {
        self.shared.noticed(notice);
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.search(read(arguments)?, context).await })
    }
}
