//! Jupyter notebooks.

use serde::Deserialize;
use serde_json::Value as Json;

use super::push;

/// Most characters of a cell's output.
const LONGEST_OUTPUT: usize = 2_000;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: String,
    #[serde(default)]
    source: Json,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    text: Json,
    #[serde(default)]
    data: Json,
    #[serde(default)]
    ename: Option<String>,
    #[serde(default)]
    evalue: Option<String>,
}

/// The cells and what they printed.
pub(super) fn render(bytes: &[u8]) -> Option<String> {
    let notebook: Notebook = serde_json::from_slice(bytes).ok()?;
    let mut out = String::new();
    for (index, cell) in notebook.cells.iter().enumerate() {
        let heading = format!("[cell {}: {}]\n", index + 1, cell.cell_type);
        if !push(&mut out, &heading) || !block(&mut out, &joined(&cell.source)) {
            break;
        }
        for output in &cell.outputs {
            let text = printed(output);
            let short: String = text.chars().take(LONGEST_OUTPUT).collect();
            if short.is_empty() {
                continue;
            }
            let mark = if short.len() < text.len() {
                " (cut)"
            } else {
                ""
            };
            if !push(&mut out, &format!("[output{mark}]\n")) || !block(&mut out, &short) {
                return Some(out);
            }
        }
    }
    Some(out)
}

fn block(out: &mut String, text: &str) -> bool {
    push(out, text.trim_end_matches('\n')) && push(out, "\n")
}

/// Text is one string or a list of lines.
fn joined(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(lines) => lines.iter().filter_map(Json::as_str).collect(),
        _ => String::new(),
    }
}

fn printed(output: &Output) -> String {
    if let Some(name) = &output.ename {
        return format!("{name}: {}", output.evalue.as_deref().unwrap_or_default());
    }
    let text = joined(&output.text);
    if text.is_empty() {
        output
            .data
            .get("text/plain")
            .map(joined)
            .unwrap_or_default()
    } else {
        text
    }
}
