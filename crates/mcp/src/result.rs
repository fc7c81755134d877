//! What servers answer, in the form the model gets it: always one JSON object as text.
//!
//! Answers are read as plain JSON and block by block, so that a block nobody knows costs only itself.

mod blocks;
mod file_name;
mod shelf;
mod trouble;

use std::sync::Arc;

use hermes_core::Media;
use hermes_secrets::RedactorHandle;
use serde_json::{Map, Value as Json, json};

use crate::clean::clean;
use crate::operation::TRUNCATED;
use blocks::Reading;
pub use shelf::{Shelf, ShelfFolders};
pub use trouble::Trouble;

/// Most entries of a list that are passed on.
const MOST_LISTED: usize = 2_000;
/// Bytes of text up to which it is not worth it to wait for another thread.
const SHORT: usize = 64 << 10;

/// An answer, ready for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// One JSON object.
    pub content: String,
    /// Pictures for models that can see.
    pub media: Vec<Media>,
    /// Whether the tool itself said that it failed.
    pub failed: bool,
}

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `tools/call`.
    Tool,
    /// `resources/list`.
    Resources,
    /// `resources/read`.
    Resource,
    /// `prompts/list`.
    Prompts,
    /// `prompts/get`.
    Prompt,
}

/// Renders the answers of one server.
#[derive(Clone)]
pub struct Answers {
    server: String,
    /// What the model calls the tool that reads resources, when it is offered.
    read_resource: Option<String>,
    shelf: Arc<Shelf>,
    redactor: RedactorHandle,
}

impl Answers {
    /// For a server; files go to `shelf`, and errors are masked by `redactor`.
    pub fn new(
        server: String,
        read_resource: Option<String>,
        shelf: Arc<Shelf>,
        redactor: RedactorHandle,
    ) -> Self {
        Self {
            server,
            read_resource,
            shelf,
            redactor,
        }
    }

    /// An answer for the model. `answer` is the result of the request as the server sent it. What writes files runs
    /// where blocking is allowed.
    pub async fn render(&self, asked: Asked, answer: Json) -> Rendered {
        if asked == Asked::Tool && is_short_text(&answer) {
            return self.render_now(asked, &answer);
        }
        let own = self.clone();
        let work = tokio::task::spawn_blocking(move || own.render_now(asked, &answer));
        match work.await {
            Ok(rendered) => rendered,
            Err(error) => Rendered {
                content: self.trouble(&Trouble::Failed {
                    kind: "Answer".to_owned(),
                    text: error.to_string(),
                }),
                media: Vec::new(),
                failed: true,
            },
        }
    }

    /// As `render`, on this thread.
    pub fn render_now(&self, asked: Asked, answer: &Json) -> Rendered {
        let mut reading = Reading::new(&self.server, self.read_resource.as_deref(), &self.shelf);
        let mut failed = false;
        let content = match asked {
            Asked::Tool => {
                let text = reading.blocks(answer.get("content"));
                failed = answer.get("isError").and_then(Json::as_bool) == Some(true);
                if failed {
                    self.tool_error(&text)
                } else {
                    tool_result(text, answer.get("structuredContent"))
                }
            }
            Asked::Resources => listed(answer, "resources", resource),
            Asked::Resource => json!({ "result": reading.contents(answer.get("contents")) }),
            Asked::Prompts => listed(answer, "prompts", prompt),
            Asked::Prompt => filled_prompt(&mut reading, answer),
        };
        Rendered {
            content: content.to_string(),
            media: reading.into_media(),
            failed,
        }
    }

    /// What the model is told when there is no answer.
    pub fn trouble(&self, trouble: &Trouble) -> String {
        trouble
            .render(&self.server, &self.redactor.snapshot())
            .to_string()
    }

    fn tool_error(&self, text: &str) -> Json {
        let text = clean(&self.redactor.snapshot(), text);
        if text.trim().is_empty() {
            json!({ "error": "the MCP tool failed and gave no reason" })
        } else {
            json!({ "error": text })
        }
    }
}

/// Whether the answer of a tool is nothing but a little text, which is no work and needs no files.
fn is_short_text(answer: &Json) -> bool {
    if answer.get("structuredContent").is_some() {
        return false;
    }
    let blocks = answer.get("content").and_then(Json::as_array);
    let mut length = 0;
    blocks.is_some_and(|blocks| {
        blocks.iter().all(|block| {
            let text = block.get("text").and_then(Json::as_str);
            length += text.map_or(0, str::len);
            block.get("type").and_then(Json::as_str) == Some("text") && length <= SHORT
        })
    })
}

fn tool_result(text: String, structured: Option<&Json>) -> Json {
    match structured.filter(|structured| !structured.is_null()) {
        None => json!({ "result": text }),
        Some(structured) if text.is_empty() => json!({ "result": structured }),
        Some(structured) => json!({ "result": text, "structuredContent": structured }),
    }
}

fn listed(answer: &Json, key: &str, entry: fn(&Json) -> Json) -> Json {
    let all = answer.get(key).and_then(Json::as_array);
    let all = all.map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<Json> = all.iter().take(MOST_LISTED).map(entry).collect();
    let mut list = picked(answer, &[TRUNCATED]);
    if all.len() > MOST_LISTED {
        let words = format!("only the first {MOST_LISTED} of {} are shown", all.len());
        list.insert(TRUNCATED.to_owned(), words.into());
    }
    list.insert(key.to_owned(), shown.into());
    list.into()
}

/// The named fields that are there.
fn picked(from: &Json, fields: &[&str]) -> Map<String, Json> {
    fields
        .iter()
        .filter_map(|field| {
            let value = from.get(*field).filter(|value| !value.is_null())?;
            Some(((*field).to_owned(), value.clone()))
        })
        .collect()
}

fn resource(entry: &Json) -> Json {
    picked(entry, &["uri", "name", "description", "mimeType"]).into()
}

fn prompt(entry: &Json) -> Json {
    let mut shown = picked(entry, &["name", "description"]);
    let arguments: Vec<Json> = entry
        .get("arguments")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .map(|argument| picked(argument, &["name", "description", "required"]).into())
        .collect();
    if !arguments.is_empty() {
        shown.insert("arguments".to_owned(), arguments.into());
    }
    shown.into()
}

fn filled_prompt(reading: &mut Reading<'_>, answer: &Json) -> Json {
    let messages: Vec<Json> = answer
        .get("messages")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .take(MOST_LISTED)
        .map(|message| {
            let content = match message.get("content") {
                Some(Json::String(text)) => text.clone(),
                content => reading.blocks(content),
            };
            let role = message.get("role").and_then(Json::as_str).unwrap_or("user");
            json!({ "role": role, "content": content })
        })
        .collect();
    let mut shown = Map::from_iter([("messages".to_owned(), messages.into())]);
    shown.extend(picked(answer, &["description"]));
    shown.into()
}
