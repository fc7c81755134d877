//! `read_file`: a part of a text file, with line numbers.

mod document;
mod kind;
mod page;
pub(crate) mod similar_names;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{
    Beside, Effect, Handling, Notice, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_exec::{FileKind, FileStamp, Files, FilesError};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use self::kind::{Format, Kind, is_text};
use self::page::{Page, Window};
use crate::arguments::{read, text};
use crate::edit::Text;
use crate::files::{Again, Asked, LARGEST, Readable, Shared, State, failed, refused_with};

/// Lines that are shown when nothing else is asked for.
const USUAL_LINES: usize = 500;
/// A file this large is better searched than read.
const LARGE: u64 = 512_000;
/// Lines of a large file that count as many.
const MANY_LINES: usize = 200;
/// A kept result above this is read like any file.
const LARGEST_KEPT: u64 = 32 << 20;
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
        let Readable {
            place,
            files,
            is_kept_result,
        } = self.shared.readable(&asked.path, context).await?;
        let path = place.real.as_path();
        let usual = i64::try_from(USUAL_LINES).unwrap_or(i64::MAX);
        let window = Window {
            first: usize::try_from(asked.offset.unwrap_or(1))
                .unwrap_or(1)
                .max(1),
            lines: usize::try_from(asked.limit.unwrap_or(usual))
                .unwrap_or(1)
                .clamp(1, limits.lines),
        };
        let before = match place.stat {
            None => return Err(missing(&*files, &asked.path, path).await),
            Some(stat) => match stat.kind {
                FileKind::Directory => return Err(failed(FilesError::Directory(path.to_owned()))),
                FileKind::Link | FileKind::Other => {
                    return Err(failed(FilesError::NotPlain(path.to_owned())));
                }
                FileKind::File => stat.stamp,
            },
        };
        let key = Asked::Read {
            path: path.to_owned(),
            offset: window.first,
            limit: window.lines,
        };
        // What a script reads is not in the conversation, and loops are what scripts are for.
        let again = match context.nested {
            true => Again::Fine,
            false => self.shared.seen().read(key.clone(), before),
        };
        let warning = match repeated(again, &asked.path) {
            ControlFlow::Continue(warning) => warning,
            ControlFlow::Break(answer) => return answer,
        };
        let looking = async {
            match is_kept_result && before.size <= LARGEST_KEPT {
                true => self.kept(&*files, path, window).await,
                false => self.look(&*files, path, window, context).await,
            }
        };
        let shown = match context.cancel.run_until_cancelled(looking).await {
            Some(shown) => shown.map_err(failed)?,
            None => return Err(ToolError::Cancelled),
        };
        let answer = self.answer(path, shown, window, before, warning)?;
        if !context.nested {
            self.shared.seen().sent(key, before);
        }
        Ok(answer)
    }

    /// A result that was too long for the conversation. Its long lines come in pieces, because where commands run
    /// elsewhere nothing else can show the rest of them.
    async fn kept(
        &self,
        files: &dyn Files,
        path: &Path,
        window: Window,
    ) -> Result<Shown, FilesError> {
        let limits = self.shared.services.limits;
        let bytes = files.load(path, LARGEST).await?.bytes;
        let text = page::in_pieces(&String::from_utf8_lossy(&bytes), limits.line_length);
        let page = page::of_text(&text, window, limits);
        Ok(Shown::Text {
            page,
            document: None,
        })
    }

    async fn look(
        &self,
        files: &dyn Files,
        path: &Path,
        window: Window,
        context: &ToolContext,
    ) -> Result<Shown, FilesError> {
        let limits = self.shared.services.limits;
        match Kind::by_name(path) {
            Some(Kind::Document(format)) => {
                return self.document(files, path, format, window, context).await;
            }
            Some(Kind::Image) => return Ok(Shown::Image),
            Some(Kind::Binary) => return Ok(Shown::Binary),
            Some(Kind::Text | Kind::Utf16) | None => {}
        }
        let wanted = window.raw(limits, is_text);
        let found = files.lines(path, wanted, &context.cancel).await?;
        match Kind::by_head(&found.head) {
            Kind::Text => Ok(Shown::Text {
                page: page::of_lines(found, window, limits),
                document: None,
            }),
            Kind::Utf16 => {
                let loaded = files.load(path, LARGEST).await?;
                match Text::decode(loaded.bytes) {
                    Ok(text) => Ok(Shown::Text {
                        page: page::of_text(&text.body, window, limits),
                        document: None,
                    }),
                    Err(error) => Err(FilesError::Pattern(format!("{}: {error}", path.display()))),
                }
            }
            Kind::Image | Kind::Binary | Kind::Document(_) => Ok(Shown::Binary),
        }
    }

    /// A document as text; taking it apart is work for a thread of its own.
    async fn document(
        &self,
        files: &dyn Files,
        path: &Path,
        format: Format,
        window: Window,
        context: &ToolContext,
    ) -> Result<Shown, FilesError> {
        let limits = self.shared.services.limits;
        let bytes = files.load(path, document::LARGEST).await?.bytes;
        let cancel = context.cancel.clone();
        let work = move || document::render(bytes, format, &cancel);
        let rendered = tokio::task::spawn_blocking(work).await;
        match rendered.unwrap_or(Err(FilesError::Stopped))? {
            Some(text) => Ok(Shown::Text {
                page: page::of_text(&text, window, limits),
                document: Some(format.name()),
            }),
            None => Ok(Shown::Binary),
        }
    }

    fn answer(
        &self,
        path: &Path,
        shown: Shown,
        window: Window,
        stamp: FileStamp,
        warning: Option<String>,
    ) -> ToolOutcome {
        let size = stamp.size;
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
        let masked = self.shared.masked(&page.content);
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

    fn noticed(&self, notice: Notice<'_>) {
        self.shared.noticed(notice);
    }

    fn touches(&self, arguments: &Json, directory: &Path) -> Option<Vec<PathBuf>> {
        self.shared
            .touches([arguments.get("path")?.as_str()?], directory)
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.show(read(arguments)?, context).await })
    }
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

async fn missing(files: &dyn Files, asked: &str, path: &Path) -> ToolError {
    let mut answer = json!({ "error": format!("{asked} does not exist") });
    let similar = similar_names::of(files, path).await;
    if !similar.is_empty()
        && let Some(fields) = answer.as_object_mut()
    {
        fields.insert("similar_files".to_owned(), json!(similar));
    }
    refused_with(answer)
}
