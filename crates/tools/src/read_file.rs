//! `read_file`: a part of a text file, with line numbers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, refuse, text};

/// Lines that are shown when nothing else is asked for.
const USUAL_LINES: usize = 500;
/// Most lines of one call.
const MOST_LINES: usize = 2_000;
/// Most characters of one line.
const LONGEST_LINE: usize = 2_000;
/// Most characters of one call.
const MOST_CHARACTERS: usize = 100_000;
/// How much of a file is looked at to tell text from other things.
const SAMPLE: u64 = 8_192;

/// Reads files.
pub struct ReadFile {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct Asked {
    path: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

impl ReadFile {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "read_file".to_owned(),
                description: "Read a text file. Lines come with their numbers. Long files are read in parts: say \
                              where to start and how many lines."
                    .to_owned(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The file, absolute or from the working directory."},
                        "offset": {"type": "integer", "description": "The first line, counted from 1."},
                        "limit": {"type": "integer", "description": "How many lines, 500 by default and 2000 at most."},
                    },
                    "required": ["path"],
                }),
                effect: Effect::ReadOnly,
            },
        }
    }
}

impl Default for ReadFile {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::OtherPaths,
            max_chars: MOST_CHARACTERS + 1_000,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            let path = context.directory.join(asked.path.trim());
            let work = move || show(&path, asked.offset.unwrap_or(1).max(1), asked.limit);
            match tokio::task::spawn_blocking(work).await {
                Ok(outcome) => outcome,
                Err(_) => Err(refuse("the file could not be read")),
            }
        })
    }
}

fn show(path: &Path, first: usize, limit: Option<usize>) -> ToolOutcome {
    let failed = |error: std::io::Error| refuse(format!("{}: {error}", path.display()));
    let facts = std::fs::metadata(path).map_err(failed)?;
    if facts.is_dir() {
        return Err(refuse(format!("{} is a directory", path.display())));
    }
    // Devices and pipes may never end, or wait for ever.
    if !facts.is_file() {
        return Err(refuse(format!("{} is not a plain file", path.display())));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut sample = Vec::new();
    file.by_ref()
        .take(SAMPLE)
        .read_to_end(&mut sample)
        .map_err(failed)?;
    if sample.contains(&0) {
        let size = facts.len();
        return Err(refuse(format!(
            "{} is not text ({size} bytes)",
            path.display()
        )));
    }
    let lines = BufReader::new(std::io::Cursor::new(sample).chain(file));
    numbered(
        lines,
        first,
        limit.unwrap_or(USUAL_LINES).clamp(1, MOST_LINES),
    )
    .map_err(|error| refuse(format!("{}: {error}", path.display())))
    .and_then(|shown| shown.ok_or_else(|| past_end(path, first)))
    .map(text)
}

fn past_end(path: &Path, first: usize) -> ToolError {
    refuse(format!("{} has fewer than {first} lines", path.display()))
}

/// The lines asked for, or `None` when the file ends before them.
fn numbered(
    mut source: impl BufRead,
    first: usize,
    limit: usize,
) -> std::io::Result<Option<String>> {
    let mut out = String::new();
    let mut line = Vec::new();
    let (mut number, mut shown) = (0, 0);
    loop {
        line.clear();
        if source.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if number < first {
            continue;
        }
        if shown == limit || out.len() > MOST_CHARACTERS {
            let next = first + shown;
            out.push_str(&format!(
                "[The file goes on; read on with offset {next}.]\n"
            ));
            return Ok(Some(out));
        }
        let content = String::from_utf8_lossy(&line);
        let content = content.trim_end_matches(['\n', '\r']);
        let cut: String = content.chars().take(LONGEST_LINE).collect();
        let mark = if cut.len() < content.len() {
            " [cut]"
        } else {
            ""
        };
        out.push_str(&format!("{number:>6}|{cut}{mark}\n"));
        shown += 1;
    }
    Ok(match (shown, number) {
        (0, 0) if first == 1 => Some("[The file is empty.]".to_owned()),
        (0, _) => None,
        _ => Some(out),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(outcome: ToolOutcome) -> String {
        match outcome {
            Ok(result) => result.content,
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn parts_of_files_are_shown_with_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one\r\ntwo\nthree\nfour").unwrap();
        assert_eq!(
            content(show(&path, 1, Some(2))),
            "     1|one\n     2|two\n[The file goes on; read on with offset 3.]\n"
        );
        assert_eq!(content(show(&path, 3, None)), "     3|three\n     4|four\n");
        assert!(content(show(&path, 9, None)).contains("fewer than 9 lines"));
        std::fs::write(&path, "").unwrap();
        assert_eq!(content(show(&path, 1, None)), "[The file is empty.]");
        std::fs::write(&path, "x".repeat(5_000)).unwrap();
        assert!(content(show(&path, 1, None)).ends_with(" [cut]\n"));
    }

    #[test]
    fn what_is_not_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        std::fs::write(&path, b"ab\0cd").unwrap();
        assert!(content(show(&path, 1, None)).contains("is not text (5 bytes)"));
        assert!(content(show(folder.path(), 1, None)).contains("is a directory"));
        assert!(content(show(&folder.path().join("none"), 1, None)).starts_with("error: "));
        assert!(content(show(Path::new("/dev/zero"), 1, None)).contains("not a plain file"));
    }
}
