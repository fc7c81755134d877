//! `patch`: changes parts of files.

mod answer;
mod plan;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use hermes_exec::{FilesError, Loaded, Located};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use self::answer::{Found, Sight};
use self::plan::Plan;
use crate::arguments::{read, text};
use crate::edit::{Operation, Refusal, Replacement, Text, parse, replace};
use crate::files::{LARGEST, Shared, failed, refused};

/// Changes files.
pub(crate) struct Patch {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    old_string: Option<String>,
    #[serde(default)]
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    near_line: Option<usize>,
    #[serde(default)]
    expected_hash: Option<String>,
    #[serde(default)]
    patch: Option<String>,
    #[serde(default)]
    cross_profile: bool,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Replace,
    Patch,
}

/// One text that becomes another, with everything owned.
struct Single {
    path: PathBuf,
    old: String,
    new: String,
    all: bool,
    near_line: Option<usize>,
    expected_hash: Option<String>,
    sight: Sight,
}

impl Patch {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            spec: ToolSpec {
                name: "patch".to_owned(),
                description: "Change files. mode=replace: old_string in path becomes new_string; old_string must be in the \
                              file once, or set replace_all. mode=patch: a patch over several files, all or nothing: `*** \
                              Begin Patch`, then `*** Update File: p` with `@@ hint` and lines marked ` `, `-`, `+`, or `*** \
                              Add File: p`, `*** Delete File: p`, `*** Move File: a -> b`, then `*** End Patch`."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "mode": {"type": "string", "enum": ["replace", "patch"]},
                        "path": {"type": "string"},
                        "old_string": {"type": "string"},
                        "new_string": {"type": "string"},
                        "replace_all": {"type": "boolean"},
                        "near_line": {"type": "integer", "description": "Of several places, the one nearest to this line."},
                        "expected_hash": {"type": "string", "description": "SHA-256 the file must have."},
                        "patch": {"type": "string"},
                        "cross_profile": {"type": "boolean", "description": "Another profile's file is really meant."},
                    },
                }),
                effect: Effect::Mutating,
            },
            shared,
        }
    }

    async fn run(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let mode = asked.mode.unwrap_or(match asked.patch {
            Some(_) => Mode::Patch,
            None => Mode::Replace,
        });
        match mode {
            Mode::Replace => self.replace(asked, context).await,
            Mode::Patch => self.patch(asked, context).await,
        }
    }

    async fn replace(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let missing = |name: &str| refused(format!("{name} is missing"));
        let name = asked.path.ok_or_else(|| missing("path"))?;
        let place = self
            .shared
            .writable("patch", &name, context, asked.cross_profile)
            .await?;
        let sight = self.sight(std::slice::from_ref(&place));
        let single = Single {
            path: place.real.clone(),
            sight: sight.clone(),
            old: asked.old_string.ok_or_else(|| missing("old_string"))?,
            new: asked.new_string.ok_or_else(|| missing("new_string"))?,
            all: asked.replace_all,
            near_line: asked.near_line,
            expected_hash: asked.expected_hash,
        };
        let work = move |loaded| change_one(&single, loaded);
        self.change(vec![place], &[name], &sight, context, work)
            .await
    }

    async fn patch(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let patch = asked.patch.ok_or_else(|| refused("patch is missing"))?;
        let operations = parse(&patch).map_err(|fault| refused(fault.to_string()))?;
        let mut names = Vec::new();
        for operation in &operations {
            names.extend(plan::names(operation).map(str::to_owned));
        }
        let mut places = Vec::new();
        for name in &names {
            places.push(
                self.shared
                    .writable("patch", name, context, asked.cross_profile)
                    .await?,
            );
        }
        let sight = self.sight(&places);
        let work = {
            let paths: Vec<PathBuf> = places.iter().map(|place| place.real.clone()).collect();
            let (sight, names) = (sight.clone(), names.clone());
            move |loaded| change_many(&sight, &operations, &names, &paths, loaded)
        };
        self.change(places, &names, &sight, context, work).await
    }

    /// What of these files may be told.
    fn sight(&self, places: &[Located]) -> Sight {
        let closed = places.iter().filter(|place| !self.shared.may_show(place));
        Sight {
            shared: self.shared.clone(),
            closed: closed.map(|place| place.real.clone()).collect(),
        }
    }

    /// Holds the files, takes a snapshot, reads them, makes the change and says what it did.
    async fn change(
        &self,
        places: Vec<Located>,
        names: &[String],
        sight: &Sight,
        context: &ToolContext,
        work: impl FnOnce(Contents) -> Result<Plan, ToolError> + Send + 'static,
    ) -> ToolOutcome {
        let shared = &self.shared;
        let paths: Vec<PathBuf> = places.iter().map(|place| place.real.clone()).collect();
        let held = shared
            .services
            .registry
            .hold(paths.clone(), &context.cancel)
            .await;
        let Some(_held) = held else {
            return Err(ToolError::Cancelled);
        };
        let mut warnings: Vec<String> = Vec::new();
        for (place, name) in places.iter().zip(names) {
            warnings.extend(shared.warning(place, name, context).await);
        }
        shared.before_change(&paths, context).await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let loaded = self.load(paths).await?;
        let planned = aside(move || work(loaded).map(|plan| (plan.edits(), plan)));
        let (edits, plan) = planned.await??;
        // What is told of the change is worked out while it is written.
        let (applied, changes) = tokio::join!(
            shared.services.files.apply(edits),
            aside(move || plan.into_changes()),
        );
        let (applied, changes) = (applied.map_err(failed)?, changes?);
        let real = changes.iter().filter(|change| change.is_real());
        for (change, stamp) in real.zip(applied.stamps) {
            shared.wrote(&change.path, stamp, context);
        }
        let lint = answer::lint(sight, &changes, &context.cancel).await;
        let diagnostics = answer::diagnostics(sight, &changes, context).await;
        let found = Found { lint, diagnostics };
        Ok(text(answer::done(sight, &changes, found, warnings)))
    }

    /// Every file once; none where there is nothing.
    async fn load(&self, paths: Vec<PathBuf>) -> Result<Contents, ToolError> {
        let mut contents: Contents = Vec::new();
        for path in paths {
            if contents.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let loaded = match self.shared.services.files.load(&path, LARGEST).await {
                Ok(loaded) => Some(loaded),
                Err(FilesError::Missing(_)) => None,
                Err(error) => return Err(failed(error)),
            };
            contents.push((path, loaded));
        }
        Ok(contents)
    }
}

/// Work on long texts, where nothing else has to wait for it.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| refused("working the change out failed"))
}

/// Files as they are before a change.
type Contents = Vec<(PathBuf, Option<Loaded>)>;

impl Tool for Patch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::OtherPaths,
            ..Handling::default()
        }
    }

    fn touches(&self, arguments: &Json, directory: &Path) -> Option<Vec<PathBuf>> {
        let text = |name: &str| arguments.get(name).and_then(Json::as_str);
        // A patch names its files itself, whatever else a call says. One that cannot be read changes none.
        let operations = text("patch").and_then(|patch| parse(patch).ok());
        let of_patch = operations.iter().flatten().flat_map(Operation::paths);
        let named = text("path").into_iter().chain(of_patch);
        self.shared.touches(named, directory)
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.run(read(arguments)?, context).await })
    }
}

fn change_one(single: &Single, contents: Contents) -> Result<Plan, ToolError> {
    let (path, shared) = (&single.path, &single.sight.shared);
    let loaded = contents.into_iter().find_map(|(_, loaded)| loaded);
    let loaded = loaded.ok_or_else(|| failed(FilesError::Missing(path.clone())))?;
    if let Some(wanted) = &single.expected_hash {
        check_hash(&loaded.bytes, wanted, path)?;
    }
    let text = Text::decode(loaded.bytes)
        .map_err(|fault| refused(format!("{}: {fault}", path.display())))?;
    shared.check_markers(&single.new, Some(&text.body))?;
    let request = Replacement {
        old: &single.old,
        new: &single.new,
        all: single.all,
        near_line: single.near_line,
    };
    let edited = match replace(&text, &request) {
        Ok(edited) => edited,
        Err(Refusal::Already { line }) => return Ok(Plan::already(path, line)),
        Err(refusal) => {
            let misses = match refusal {
                Refusal::Absent { .. } => shared.seen().missed(path),
                _ => 0,
            };
            let shown = single.sight.of(path, &text);
            return Err(answer::refusal(&refusal, shown, &single.old, misses));
        }
    };
    let mut plan = Plan::default();
    plan.edited(path, text, loaded.state, edited);
    Ok(plan)
}

fn change_many(
    sight: &Sight,
    operations: &[Operation],
    names: &[String],
    paths: &[PathBuf],
    contents: Contents,
) -> Result<Plan, ToolError> {
    let mut plan = Plan::of(contents);
    let path_of = |name: &str| -> Result<&Path, ToolError> {
        let index = names.iter().position(|known| known == name);
        let path = index.and_then(|index| paths.get(index));
        path.map(PathBuf::as_path)
            .ok_or_else(|| failed(FilesError::Missing(name.into())))
    };
    for operation in operations {
        plan.take(sight, operation, &path_of)?;
    }
    Ok(plan)
}

/// Compares with the start of a hash, so that a few digits are enough.
fn check_hash(bytes: &[u8], wanted: &str, path: &Path) -> Result<(), ToolError> {
    const FEWEST_DIGITS: usize = 8;
    let found: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let wanted = wanted.trim().to_ascii_lowercase();
    if wanted.len() >= FEWEST_DIGITS && found.starts_with(&wanted) {
        return Ok(());
    }
    Err(refused(format!(
        "{} has the SHA-256 {found}, not the expected one; read it again",
        path.display()
    )))
}
