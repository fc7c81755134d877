//! What the model is told about a search.

use std::path::Path;

use hermes_exec::{FoundLine, SearchFound};
use serde_json::{Map, Value as Json, json};

use super::{Output, Query, Reader, Target};

/// From this many matches on, one text takes less room than a list.
const GROUPED_FROM: usize = 5;

/// What of the matches is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Files,
    Counts,
    Lines,
}

impl Listing {
    fn of(query: &Query) -> Self {
        match (query.asked.target == Target::Files, query.asked.output_mode) {
            (true, _) | (false, Output::FilesOnly) => Self::Files,
            (false, Output::Count) => Self::Counts,
            (false, Output::Content) => Self::Lines,
        }
    }

    /// Puts a page of them into the answer; how many it has, and how many there are.
    fn put(
        self,
        query: &Query,
        found: &SearchFound,
        out: &mut Map<String, Json>,
    ) -> (usize, usize) {
        let window = found.files.iter().skip(query.asked.offset);
        let window = window.take(query.limit());
        let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
        match self {
            Self::Counts => {
                let counted: Map<String, Json> = window
                    .clone()
                    .map(|file| (name(query, &file.path), json!(file.count)))
                    .collect();
                put("counts", Json::Object(counted));
            }
            Self::Files => {
                let files = window.clone().map(|file| name(query, &file.path));
                put("files", json!(files.collect::<Vec<String>>()));
            }
            Self::Lines => {
                let matches = &found.lines;
                if matches.len() < GROUPED_FROM {
                    put("matches", listed(query, matches));
                } else {
                    put(
                        "matches_format",
                        json!("path, then line:text for matches and line-text around them"),
                    );
                    put(
                        "matches_text",
                        json!(masked(query, &grouped(query, matches))),
                    );
                }
                return (matches.len(), found.total);
            }
        }
        (window.count(), found.files.len())
    }
}

/// The answer to a search.
pub(super) fn of(query: &Query, found: SearchFound, warning: Option<String>) -> String {
    let listing = Listing::of(query);
    let total = match listing {
        Listing::Files => found.files.len(),
        Listing::Counts | Listing::Lines => found.total,
    };
    let mut out = Map::new();
    out.insert("total_count".to_owned(), json!(total));
    let (shown, all) = listing.put(query, &found, &mut out);
    let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
    let next = query.asked.offset + shown;
    let more = next < all && shown > 0;
    if more || found.incomplete {
        put("truncated", json!(true));
    }
    if more {
        put("next_offset", json!(next));
    }
    if found.incomplete {
        put("limit_reason", json!("search_timeout"));
    }
    if found.omitted > 0 {
        put("_omitted", json!(found.omitted));
    }
    if let (0, Some(doubt)) = (total, found.doubt) {
        put("warning", json!(doubt));
    }
    if let Some(note) = found.by.note() {
        put("search_note", json!(note));
    }
    if let Some(warning) = warning {
        put("_warning", json!(warning));
    }
    let mut text = Json::Object(out).to_string();
    if more && query.reader == Reader::Model {
        let first = query.asked.offset + 1;
        text.push_str(&format!(
            "\n[{first} to {next} of {all}; go on with offset {next}.]"
        ));
    }
    text
}

fn listed(query: &Query, matches: &[FoundLine]) -> Json {
    let mut list = Vec::with_capacity(matches.len());
    for found in matches {
        let mut entry = json!({
            "path": name(query, &found.path),
            "line": found.line,
            "content": masked(query, &found.content),
        });
        for (field, lines) in [("before", &found.before), ("after", &found.after)] {
            if !lines.is_empty()
                && let Some(entry) = entry.as_object_mut()
            {
                entry.insert(field.to_owned(), json!(masked(query, &lines.join("\n"))));
            }
        }
        list.push(entry);
    }
    Json::Array(list)
}

fn grouped(query: &Query, matches: &[FoundLine]) -> String {
    let mut out = String::new();
    let mut last: Option<&Path> = None;
    for found in matches {
        if last != Some(found.path.as_path()) {
            out.push_str(&name(query, &found.path));
            out.push('\n');
            last = Some(&found.path);
        }
        let first = found.line.saturating_sub(found.before.len() as u64);
        for (line, number) in found.before.iter().zip(first..) {
            out.push_str(&format!("  {number}-{line}\n"));
        }
        out.push_str(&format!("  {}:{}\n", found.line, found.content));
        for (line, number) in found.after.iter().zip(found.line + 1..) {
            out.push_str(&format!("  {number}-{line}\n"));
        }
    }
    out
}

/// A path from the working directory on, when it is inside.
fn name(query: &Query, path: &Path) -> String {
    path.strip_prefix(&query.directory)
        .ok()
        .filter(|rest| !rest.as_os_str().is_empty())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Secrets are masked as when the file is read.
fn masked(query: &Query, text: &str) -> String {
    query.shared.masked(text)
}
