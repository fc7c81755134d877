//! Answers in the shapes vendors send them, read to the same events however their bytes are cut.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_core::{ModelEvent, WireProtocol};
use hermes_llm::wire::sse::SseParser;
use hermes_llm::wire::{self, Frame};

use crate::suite::lab::model_of;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

fn protocol_of(name: &str) -> WireProtocol {
    match name.split('-').next().unwrap_or_default() {
        "chat" => WireProtocol::ChatCompletions,
        "responses" => WireProtocol::Responses,
        "anthropic" => WireProtocol::Anthropic,
        "gemini" => WireProtocol::Gemini,
        "converse" => WireProtocol::Converse,
        other => panic!("no protocol is called {other}"),
    }
}

/// The frames of a transcript whose bytes arrive in pieces of this size.
fn frames(path: &Path, piece: usize) -> Vec<Frame> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_some_and(|kind| kind == "frames") {
        // How binary frames are cut is tested where they are read.
        let text = String::from_utf8(bytes).unwrap();
        let frame = |line: &str| {
            let (event, data) = line.split_once(' ').unwrap();
            Frame {
                event: Some(event.to_owned()),
                data: data.to_owned(),
            }
        };
        return text.lines().map(frame).collect();
    }
    let mut parser = SseParser::new();
    let mut out = Vec::new();
    for piece in bytes.chunks(piece) {
        out.extend(parser.push(piece).unwrap());
    }
    out.extend(parser.finish());
    out
}

/// One line for each event, and how it ended.
fn read(name: &str, frames: &[Frame]) -> String {
    let protocol = protocol_of(name);
    let mut decoder = wire::decoder(protocol, "lab", model_of(protocol));
    let mut events = Vec::new();
    let end = frames
        .iter()
        .try_for_each(|frame| decoder.frame(frame, &mut events))
        .and_then(|()| decoder.end(&mut events));
    let mut out = String::new();
    for event in events {
        let line = match event {
            ModelEvent::Text(text) => format!("text      {text:?}"),
            ModelEvent::Reasoning(text) => format!("reasoning {text:?}"),
            ModelEvent::CallStarted { id, name } => format!("call      {} {name}", id.0),
            ModelEvent::CallArguments { id, fragment } => format!("arguments {} {fragment}", id.0),
            ModelEvent::Usage { usage, cost_usd } => format!("usage     {usage:?} {cost_usd:?}"),
            ModelEvent::Finished { reason, raw } => {
                let body = raw.map(|raw| raw.body).unwrap_or_default();
                format!("finished  {reason:?}\n{body:#}")
            }
        };
        writeln!(out, "{line}").unwrap();
    }
    if let Err(error) = end {
        writeln!(out, "failed    {error:?}").unwrap();
    }
    out
}

// PV-6
// PV-7
// PV-8
// PV-9
// PV-10
// PV-29
#[test]
fn recorded_answers_are_read_as_before() {
    let mut names: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    assert!(names.len() >= 12);
    for path in names {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let events = read(name, &frames(&path, usize::MAX));
        for piece in [1, 7, 64] {
            assert_eq!(
                read(name, &frames(&path, piece)),
                events,
                "{name} in pieces of {piece}"
            );
        }
        insta::assert_snapshot!(name, events);
    }
}
