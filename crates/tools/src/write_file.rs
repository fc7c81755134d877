//! `write_file`: a whole file, in one step.

mod pasted;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use hermes_exec::{Edit, FileState, FilesError, Loaded};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, text};
use crate::edit::{Text, unified};
use crate::files::{LARGEST, Notation, Shared, check, failed, refused};
use crate::lsp::Changed;

/// Writes files.
pub(crate) struct WriteFile {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    content: Option<Json>,
    #[serde(default)]
    cross_profile: bool,
}

/// A write that is worked out.
struct Written {
    edit: Edit,
    bytes: usize,
    before: Option<String>,
    diff: String,
    note: Option<&'static str>,
}

impl WriteFile {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            spec: ToolSpec {
                name: "write_file".to_owned(),
                description: "Write a whole file, replacing what was there; directories are made. To change a part of a \
                              file use patch."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "content": {"type": "string", "description": "All of the new content."},
                        "cross_profile": {"type": "boolean", "description": "Another profile's file is really meant."},
                    },
                    "required": ["path", "content"],
                }),
                effect: Effect::Idempotent,
            },
            shared,
        }
    }

    async fn write(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let (name, content) = complete(asked.path, asked.content)?;
        let shared = &self.shared;
        pasted::check(&content).map_err(refused)?;
        let place = shared
            .writable("write_file", &name, context, asked.cross_profile)
            .await?;
        let path = place.real.clone();
        let registry = &shared.services.registry;
        let held = registry.hold(vec![path.clone()], &context.cancel).await;
        let Some(_held) = held else {
            return Err(ToolError::Cancelled);
        };
        let warning = shared.warning(&place, &name, context).await;
        shared
            .before_change(std::slice::from_ref(&path), context)
            .await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let files = &shared.services.files;
        let before = match files.load(&path, LARGEST).await {
            Ok(loaded) => Some(loaded),
            Err(FilesError::Missing(_)) => None,
            Err(error) => return Err(failed(error)),
        };
        let work = {
            let (shared, path, content) = (shared.clone(), path.clone(), content.clone());
            move || replacement(&shared, path, &content, before)
        };
        let written = match tokio::task::spawn_blocking(work).await {
            Ok(written) => written?,
            Err(_) => return Err(refused("the file could not be written")),
        };
        let applied = files
            .apply(vec![written.edit.clone()])
            .await
            .map_err(failed)?;
        shared.wrote(&path, applied.stamps.first().copied().flatten(), context);
        // The model wrote all of it and knows; whoever looks on sees what became different.
        if !written.diff.is_empty() && !context.nested {
            context.host.changed(context, written.diff.clone()).await;
        }
        let lint = shared
            .lint()
            .report(&path, written.before.as_deref(), &content, &context.cancel)
            .await;
        let changed = Changed {
            path: &path,
            before: written.before.as_deref(),
            after: &content,
        };
        let diagnostics = shared.diagnostics(&[changed], context).await;
        let mut out = answer(&path, &written, applied.made_directories, lint, warning);
        if let (Some(diagnostics), Some(fields)) = (diagnostics, out.as_object_mut()) {
            fields.insert("lsp_diagnostics".to_owned(), json!(diagnostics));
        }
        Ok(text(out.to_string()))
    }
}

impl Tool for WriteFile {
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
        self.shared
            .touches([arguments.get("path")?.as_str()?], directory)
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.write(read(arguments)?, context).await })
    }
}

fn complete(path: Option<String>, content: Option<Json>) -> Result<(String, String), ToolError> {
    let path = path
        .filter(|path| !path.trim().is_empty())
        .ok_or_else(|| refused("path is missing"))?;
    if path.trim_end().ends_with('/') {
        return Err(refused(format!(
            "{path} ends with a slash, which names a directory; name the file to be written"
        )));
    }
    match content {
        Some(Json::String(content)) => Ok((path, content)),
        None | Some(Json::Null) => Err(refused(
            "content is missing; if it was long, write the file in parts with patch",
        )),
        Some(_) => Err(refused("content must be a string")),
    }
}

fn answer(
    path: &Path,
    written: &Written,
    made_directories: bool,
    lint: Json,
    warning: Option<String>,
) -> Json {
    let mut out = json!({
        "bytes_written": written.bytes,
        "dirs_created": made_directories,
        "lint": lint,
        "resolved_path": path,
        "files_modified": [path],
    });
    let told: Vec<String> = warning
        .into_iter()
        .chain(written.note.map(str::to_owned))
        .collect();
    if !told.is_empty()
        && let Some(fields) = out.as_object_mut()
    {
        fields.insert("_warning".to_owned(), json!(told.join("; ")));
    }
    out
}

/// What a change is measured against: nothing where there is no file, and no text where that is none.
fn before_text(old: &Option<Text>, state: Option<FileState>) -> Option<&str> {
    match (old, state) {
        (Some(old), _) => Some(&old.body),
        (None, None) => Some(""),
        (None, Some(_)) => None,
    }
}

/// What a file becomes, keeping its encoding, mark and line breaks.
fn replacement(
    shared: &Shared,
    path: PathBuf,
    content: &str,
    before: Option<Loaded>,
) -> Result<Written, ToolError> {
    let state: Option<FileState> = before.as_ref().map(|loaded| loaded.state);
    let old = before.and_then(|loaded| Text::decode(loaded.bytes).ok());
    shared.check_markers(content, old.as_ref().map(|old| old.body.as_str()))?;
    let plain = content.strip_prefix('\u{FEFF}').unwrap_or(content);
    if let Some(notation) = Notation::of(&path) {
        check(notation, plain).map_err(|cause| refused(format!("nothing was written: {cause}")))?;
    }
    let diff = match before_text(&old, state) {
        Some(before) => unified(
            path.to_string_lossy().trim_start_matches('/'),
            before,
            plain,
        ),
        None => String::new(),
    };
    let mut note = None;
    let bytes = match &old {
        None => content.as_bytes().to_vec(),
        Some(old) => {
            let body = old.with_own_breaks(plain);
            if old.is_known() {
                old.encode(&body).into_owned()
            } else {
                if !body.is_ascii() {
                    note = Some("the file was not UTF-8 before and is now");
                }
                body.into_owned().into_bytes()
            }
        }
    };
    let size = bytes.len();
    let edit = match state {
        Some(state) => Edit::Replace { path, bytes, state },
        None => Edit::Create {
            path,
            bytes,
            like: None,
        },
    };
    Ok(Written {
        edit,
        bytes: size,
        before: old.map(|old| old.body),
        diff,
        note,
    })
}
