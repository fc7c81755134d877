//! `write_file`: a whole file, in one step.

mod pasted;

use std::path::Path;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, text};
use crate::edit::Text;
use crate::files::{
    Batch, FileFault, Loaded, Notation, Shared, Target, check, failed, load, refused,
};

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

/// What a write did.
struct Written {
    bytes: usize,
    directories: bool,
    before: Option<String>,
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
        shared.seen().other_call();
        pasted::check(&content).map_err(refused)?;
        let path = shared.writable(&name, context, asked.cross_profile)?;
        let held = shared
            .services
            .registry
            .hold(vec![path.clone()], &context.cancel)
            .await;
        let Some(_held) = held else {
            return Err(ToolError::Cancelled);
        };
        let warning = shared.warning(&path, &name, context);
        shared
            .before_change(std::slice::from_ref(&path), context)
            .await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let work = {
            let (shared, path, content) = (shared.clone(), path.clone(), content.clone());
            move || replace(&shared, &path, &content)
        };
        let written = match tokio::task::spawn_blocking(work).await {
            Ok(written) => written?,
            Err(_) => return Err(refused("the file could not be written")),
        };
        shared.wrote(&path, context);
        let lint = shared
            .lint()
            .report(&path, written.before.as_deref(), &content, &context.cancel)
            .await;
        Ok(text(answer(&path, &written, lint, warning)))
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

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.write(read(arguments)?, context).await })
    }
}

fn complete(path: Option<String>, content: Option<Json>) -> Result<(String, String), ToolError> {
    let path = path
        .filter(|path| !path.trim().is_empty())
        .ok_or_else(|| refused("path is missing"))?;
    match content {
        Some(Json::String(content)) => Ok((path, content)),
        None | Some(Json::Null) => Err(refused(
            "content is missing; if it was long, write the file in parts with patch",
        )),
        Some(_) => Err(refused("content must be a string")),
    }
}

fn answer(path: &Path, written: &Written, lint: Json, warning: Option<String>) -> String {
    let mut out = json!({
        "bytes_written": written.bytes,
        "dirs_created": written.directories,
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
    out.to_string()
}

/// Replaces a file, keeping its encoding, mark and line breaks.
fn replace(shared: &Shared, path: &Path, content: &str) -> Result<Written, ToolError> {
    let before = match load(path) {
        Ok(loaded) => Some(loaded),
        Err(FileFault::Missing(_)) => None,
        Err(fault) => return Err(failed(fault)),
    };
    let stamp = before.as_ref().map(|loaded| loaded.stamp);
    let old = before.and_then(|loaded: Loaded| Text::decode(loaded.bytes).ok());
    shared.check_markers(content, old.as_ref().map(|old| old.body.as_str()))?;
    if let Some(notation) = Notation::of(path) {
        let plain = content.strip_prefix('\u{FEFF}').unwrap_or(content);
        check(notation, plain).map_err(|cause| refused(format!("nothing was written: {cause}")))?;
    }
    let mut note = None;
    let bytes = match &old {
        None => content.as_bytes().to_vec(),
        Some(old) => {
            let plain = content.strip_prefix('\u{FEFF}').unwrap_or(content);
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
    let mut batch = Batch::default();
    let target = match stamp {
        Some(stamp) => Target::Existing(stamp),
        None => Target::New { like: None },
    };
    batch.write(path, &bytes, target).map_err(failed)?;
    let directories = batch.made_directories();
    batch.commit().map_err(failed)?;
    Ok(Written {
        bytes: bytes.len(),
        directories,
        before: old.map(|old| old.body),
        note,
    })
}
