//! Word documents.

use super::xml::{Step, walk};
use super::{Parts, push};

/// The paragraphs and tables of a document, in order.
pub(super) fn render(parts: &mut Parts) -> Option<String> {
    let xml = parts.read("word/document.xml")?;
    let mut out = String::new();
    let mut in_text = false;
    let mut cells = 0_usize;
    walk(&xml, |step| match step {
        Step::Open("t", _) => {
            in_text = true;
            true
        }
        Step::Close("t") => {
            in_text = false;
            true
        }
        Step::Text(text) if in_text => push(&mut out, text),
        Step::Open("tab", _) => push(&mut out, "\t"),
        Step::Open("br" | "cr", _) => push(&mut out, "\n"),
        Step::Open("tr", _) => {
            cells = 0;
            true
        }
        Step::Open("tc", _) => {
            cells += 1;
            cells == 1 || push(&mut out, " | ")
        }
        // The paragraphs of a cell stay in its line.
        Step::Close("p") if cells > 0 => true,
        Step::Close("p" | "tbl") => push(&mut out, "\n"),
        Step::Close("tr") => {
            cells = 0;
            push(&mut out, "\n")
        }
        Step::Open(..) | Step::Close(_) | Step::Text(_) => true,
    });
    Some(out)
}
