//! `read_file`: a part of a text file, with line numbers.

mod document;
mod kind;
mod page;
pub(crate) mod similar_names;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;

use self::kind::Kind;
use self::page::{Page, Window, cut};
use crate::arguments::{read, text};
use crate::files::{
    Again, Asked, FileFault, FileLimits, Shared, Stamp, State, failed, refused, refused_with, stamp,
};

/// Lines that are shown when nothing else is asked for.
const USUAL_LINES: usize = 500;
/// A file this large is better searched than read.
const LARGE: u64 = 512_000;
/// Lines of a large file that count as many.
const MANY_LINES: usize = 200;
/// A character may become six in the answer's notation.
const NOTATION: usize = 6;

/// Reads files.
pub(crate) struct ReadFile {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    #[serde(default)]
    offset: Option<i64>,
    #[serde(default)]
    limit: Option<i64>,
}

/// What became of a file.
enum Shown {
    Text {
        page: Page,
        /// The kind of document it was made from.
        document: Option<&'static str>,
    },
    Image,
    Binary,
}

impl ReadFile {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let most = shared.services.limits.lines;
        Self {
            spec: ToolSpec {
                name: "read_file".to_owned(),
                description: "Read a text file, notebook, .docx or .xlsx. Lines come as `number|text`. Read long files in \
                              parts with offset and limit."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "Absolute, from the working directory, or with ~."},
                        "offset": {"type": "integer", "description": "First line, from 1."},
                        "limit": {"type": "integer", "description": format!("Lines, {USUAL_LINES} by default, {most} at most.")},
                    },
                    "required": ["path"],
                }),
                effect: Effect::ReadOnly,
            },
            shared,
        }
    }

    async fn show(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let limits = self.shared.services.limits;
        let path = self.shared.readable(&asked.path, context)?;
        let usual = i64::try_from(USUAL_LINES).unwrap_or(i64::MAX);
        let window = Window {
            first: usize::try_from(asked.offset.unwrap_or(1))
                .unwrap_or(1)
                .max(1),
            lines: usize::try_from(asked.limit.unwrap_or(usual))
                .unwrap_or(1)
                .clamp(1, limits.lines),
        };
        let before = match stamp(&path) {
            Ok(before) => before,
            Err(FileFault::Missing(_)) => return Err(missing(&asked.path, &path)),
            Err(fault) => return Err(failed(fault)),
        };
        let key = Asked::Read {
            path: path.clone(),
            offset: window.first,
            limit: window.lines,
        };
        let again = self.shared.seen().read(key.clone(), before);
        let warning = match repeated(again, &asked.path) {
            ControlFlow::Continue(warning) => warning,
            ControlFlow::Break(answer) => return answer,
        };
        let cancel = context.cancel.clone();
        let work = {
            let path = path.clone();
            move || look(&path, window, limits, &cancel)
        };
        let shown = match tokio::task::spawn_blocking(work).await {
            Ok(shown) => shown.map_err(failed)?,
            Err(_) => return Err(refused("the file could not be read")),
        };
        let answer = self.answer(&path, shown, window, before, warning)?;
        self.shared.seen().sent(key, before);
        Ok(answer)
    }

    fn answer(
        &self,
        path: &Path,
        shown: Shown,
        window: Window,
        stamp: Stamp,
        warning: Option<String>,
    ) -> ToolOutcome {
        let size = stamp.size();
        let (page, document) = match shown {
            Shown::Text { page, document } => (page, document),
            Shown::Image => {
                return Ok(text(
                    json!({
                        "content": "", "total_lines": 0, "file_size": size, "truncated": false,
                        "is_binary": true, "is_image": true,
                        "hint": "This is a picture. Look at it with vision_analyze.",
                    })
                    .to_string(),
                ));
            }
            Shown::Binary => {
                return Err(refused_with(json!({
                    "error": format!("{} is a binary file of {size} bytes", path.display()),
                    "file_size": size, "is_binary": true, "is_image": false,
                })));
            }
        };
        if page.shown == 0 && page.total > 0 {
            let total = page.total;
            return Err(refused_with(json!({
                "error": format!("offset {} is after the end: the file has {total} lines", window.first),
                "total_lines": total,
            })));
        }
        let moment = self.shared.services.registry.moment();
        let partial = page.truncated() || window.first > 1;
        let state = State {
            stamp,
            moment,
            partial,
        };
        self.shared.seen().saw(path, state);
        Ok(text(
            self.fields(page, document, window, size, warning)
                .to_string(),
        ))
    }

    fn fields(
        &self,
        page: Page,
        document: Option<&'static str>,
        window: Window,
        size: u64,
        warning: Option<String>,
    ) -> Json {
        let services = &self.shared.services;
        let masked = services
            .redactor
            .snapshot()
            .redact_in(services.masking, &page.content)
            .into_owned();
        let mut out = Map::new();
        let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
        if masked != page.content {
            put("redacted", json!(true));
        }
        put("total_lines", json!(page.total));
        put("file_size", json!(size));
        put("truncated", json!(page.truncated()));
        put("is_binary", json!(false));
        put("is_image", json!(false));
        if page.truncated() {
            let next = window.first + page.shown;
            put("next_offset", json!(next));
            put(
                "hint",
                json!(format!(
                    "Lines {} to {} of {}; read on with offset {next}.",
                    window.first,
                    next - 1,
                    page.total
                )),
            );
            if page.full {
                put("truncated_by", json!("bytes"));
            }
            if size > LARGE && window.lines > MANY_LINES {
                put(
                    "_hint",
                    json!(
                        "The file is large. Find the place with search_files and read a few lines there."
                    ),
                );
            }
        }
        if page.foreign {
            put(
                "encoding",
                json!("not UTF-8; unknown bytes are shown as Latin-1"),
            );
        }
        if let Some(document) = document {
            put("extracted_document", json!(document));
        }
        if let Some(warning) = warning {
            put("_warning", json!(warning));
        }
        put("content", json!(masked));
        Json::Object(out)
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::OtherPaths,
            // Kept within its own budget: a saved result would only have to be read again.
            max_chars: self.shared.services.limits.characters * NOTATION + 2_000,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.show(read(arguments)?, context).await })
    }
}

fn look(
    path: &Path,
    window: Window,
    limits: FileLimits,
    cancel: &CancellationToken,
) -> Result<Shown, FileFault> {
    Ok(match Kind::of(path)? {
        Kind::Image => Shown::Image,
        Kind::Binary => Shown::Binary,
        Kind::Text => Shown::Text {
            page: page::of_file(path, window, limits, cancel)?,
            document: None,
        },
        Kind::Utf16 => Shown::Text {
            page: page::of_utf16(path, window, limits, cancel)?,
            document: None,
        },
        Kind::Document(format) => match document::render(path, format, cancel)? {
            Some(text) => Shown::Text {
                page: cut(text.as_bytes(), window, limits, cancel)
                    .map_err(|error| FileFault::new(path, error))?,
                document: Some(format.name()),
            },
            None => Shown::Binary,
        },
    })
}

/// What is said about a read that was made before, and whether it is made again.
fn repeated(again: Again, path: &str) -> ControlFlow<ToolOutcome, Option<String>> {
    let answer = match again {
        Again::Fine => return ControlFlow::Continue(None),
        Again::Warn(times) => {
            return ControlFlow::Continue(Some(format!(
                "this is the same read, {times} times in a row; use what you have"
            )));
        }
        Again::Refuse(times) => Err(refused_with(json!({
            "error": format!("the same read {times} times in a row; go on with what you have"),
            "already_read": times - 1,
        }))),
        Again::Unchanged => Ok(text(unchanged(path))),
        Again::StillUnchanged => Err(refused_with(json!({
            "error": format!("{path} has not changed and you have read these lines; they are above in the conversation"),
            "already_read": true,
        }))),
    };
    ControlFlow::Break(answer)
}

fn unchanged(path: &str) -> String {
    json!({
        "status": "unchanged", "dedup": true, "content_returned": false, "path": path,
        "message": "The file is as it was when you read these lines; they are above in the conversation.",
    })
    .to_string()
}

fn missing(asked: &str, path: &Path) -> ToolError {
    let mut answer = json!({ "error": format!("{asked} does not exist") });
    let similar = similar_names::of(path);
    if !similar.is_empty()
        && let Some(fields) = answer.as_object_mut()
    {
        fields.insert("similar_files".to_owned(), json!(similar));
    }
    refused_with(answer)
}
