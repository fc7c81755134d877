//! Excel workbooks.

use std::collections::HashMap;

use super::xml::{Step, walk};
use super::{Parts, push};

/// Rows shown of a sheet.
const MOST_ROWS: usize = 5_000;
/// Columns shown of a row.
const MOST_COLUMNS: usize = 256;
/// Sheets shown of a workbook.
const MOST_SHEETS: usize = 100;

/// The visible sheets of a workbook, cells separated by tabs.
pub(super) fn render(parts: &mut Parts) -> Option<String> {
    let sheets = sheets(&parts.read("xl/workbook.xml")?);
    let targets = targets(&parts.read("xl/_rels/workbook.xml.rels").unwrap_or_default());
    let strings = parts
        .read("xl/sharedStrings.xml")
        .map(|xml| strings(&xml))
        .unwrap_or_default();
    let mut out = String::new();
    for (name, id) in sheets.into_iter().take(MOST_SHEETS) {
        let Some(target) = targets.get(&id) else {
            continue;
        };
        let part = match target.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("xl/{target}"),
        };
        let Some(xml) = parts.read(&part) else {
            continue;
        };
        if !push(&mut out, &format!("## {name}\n")) || !rows(&xml, &strings, &mut out) {
            break;
        }
    }
    Some(out)
}

/// The names of the sheets that are not hidden, with the ids of their parts.
fn sheets(xml: &[u8]) -> Vec<(String, String)> {
    let mut sheets = Vec::new();
    walk(xml, |step| {
        if let Step::Open("sheet", attributes) = step {
            let hidden = attributes
                .get("state")
                .is_some_and(|state| state != "visible");
            if let (false, Some(name), Some(id)) =
                (hidden, attributes.get("name"), attributes.get("id"))
            {
                sheets.push((name, id));
            }
        }
        true
    });
    sheets
}

fn targets(xml: &[u8]) -> HashMap<String, String> {
    let mut targets = HashMap::new();
    walk(xml, |step| {
        if let Step::Open("Relationship", attributes) = step
            && let (Some(id), Some(target)) = (attributes.get("Id"), attributes.get("Target"))
        {
            targets.insert(id, target);
        }
        true
    });
    targets
}

/// The texts that cells refer to by number.
fn strings(xml: &[u8]) -> Vec<String> {
    let mut strings: Vec<String> = Vec::new();
    let (mut in_text, mut phonetic) = (false, false);
    walk(xml, |step| {
        match step {
            Step::Open("si", _) => strings.push(String::new()),
            Step::Open("t", _) => in_text = !phonetic,
            Step::Close("t") => in_text = false,
            // How to pronounce the text is not part of it.
            Step::Open("rPh", _) => phonetic = true,
            Step::Close("rPh") => phonetic = false,
            Step::Text(text) if in_text => {
                if let Some(last) = strings.last_mut() {
                    last.push_str(text);
                }
            }
            Step::Open(..) | Step::Close(_) | Step::Text(_) => {}
        }
        true
    });
    strings
}

#[derive(Default)]
struct Cell {
    column: usize,
    shared: bool,
    boolean: bool,
    value: String,
}

/// Adds the rows of a sheet. Says whether there was room.
fn rows(xml: &[u8], strings: &[String], out: &mut String) -> bool {
    let mut row: Vec<String> = Vec::new();
    let mut cell = Cell::default();
    let (mut in_value, mut shown, mut room) = (false, 0, true);
    walk(xml, |step| {
        match step {
            Step::Open("row", _) => row.clear(),
            Step::Open("c", attributes) => {
                let kind = attributes.get("t").unwrap_or_default();
                cell = Cell {
                    column: attributes
                        .get("r")
                        .and_then(|reference| column(&reference))
                        .unwrap_or(row.len()),
                    shared: kind == "s",
                    boolean: kind == "b",
                    value: String::new(),
                };
            }
            Step::Open("v" | "t", _) => in_value = true,
            Step::Close("v" | "t") => in_value = false,
            Step::Text(text) if in_value => cell.value.push_str(text),
            Step::Close("c") if cell.column < MOST_COLUMNS => {
                row.resize(row.len().max(cell.column + 1), String::new());
                if let Some(slot) = row.get_mut(cell.column) {
                    *slot = shown_value(&cell, strings);
                }
            }
            Step::Close("row") => {
                shown += 1;
                room = push(out, &row.join("\t")) && push(out, "\n");
                if room && shown == MOST_ROWS {
                    room = push(
                        out,
                        &format!("[only the first {MOST_ROWS} rows are shown]\n"),
                    );
                    return false;
                }
            }
            Step::Open(..) | Step::Close(_) | Step::Text(_) => {}
        }
        room
    });
    room
}

fn shown_value(cell: &Cell, strings: &[String]) -> String {
    let text = if cell.shared {
        let number = cell.value.trim().parse::<usize>().ok();
        number
            .and_then(|number| strings.get(number))
            .map_or("", String::as_str)
    } else if cell.boolean {
        if cell.value.trim() == "1" {
            "TRUE"
        } else {
            "FALSE"
        }
    } else {
        &cell.value
    };
    text.replace(['\n', '\t', '\r'], " ")
}

/// The number of the column in a reference such as `AB12`, counted from 0.
fn column(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0_usize, |number, letter| {
        number
            .saturating_mul(26)
            .saturating_add(usize::from(letter.to_ascii_uppercase() - b'A') + 1)
    });
    number.checked_sub(1)
}
