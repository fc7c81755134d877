//! Answers in the shapes vendors send them, read to the same events however their bytes are cut.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_core::{ModelEvent, WireProtocol};
use hermes_llm::wire::converse::frames::EventStream;
use hermes_llm::wire::sse::SseParser;
use hermes_llm::wire::{self, Frame, WireError};
use proptest::prelude::*;

use crate::suite::converse_wire::frames::{event, exception};
use crate::suite::lab::{PROTOCOLS, model_of};

/// A body, and how it is cut into frames.
pub(super) enum Transcript {
    Events(Vec<u8>),
    Binary(Vec<u8>),
    Document(serde_json::Value),
}

impl Transcript {
    fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        match path.extension().and_then(|kind| kind.to_str()).unwrap() {
            "sse" => Self::Events(bytes),
            "json" => Self::Document(serde_json::from_slice(&bytes).unwrap()),
            "frames" => Self::Binary(
                String::from_utf8(bytes)
                    .unwrap()
                    .lines()
                    .map(|line| line.split_once(' ').unwrap())
                    .flat_map(|(name, payload)| {
                        if name.ends_with("Exception") {
                            exception(name, payload)
                        } else {
                            event(name, payload)
                        }
                    })
                    .collect(),
            ),
            other => panic!("nobody knows how to read .{other}"),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Events(bytes) | Self::Binary(bytes) => bytes,
            Self::Document(_) => &[],
        }
    }

    /// What is read when the bytes arrive in these pieces, in words.
    fn read<'b>(&self, name: &str, pieces: impl Iterator<Item = &'b [u8]>) -> String {
        let (events, end) = self.events(protocol_of(name), pieces);
        told(events, end)
    }

    /// What is read when the bytes arrive in these pieces, and how it ended.
    pub(super) fn events<'b>(
        &self,
        protocol: WireProtocol,
        pieces: impl Iterator<Item = &'b [u8]>,
    ) -> (Vec<ModelEvent>, Result<(), WireError>) {
        let mut decoder = wire::decoder(protocol, "lab", model_of(protocol));
        let mut events = Vec::new();
        let frames = match self {
            Self::Document(body) => {
                let end = decoder.document(body, &mut events);
                return (events, end);
            }
            Self::Events(_) => {
                let mut parser = SseParser::new();
                let mut frames: Vec<Frame> = pieces
                    .flat_map(|piece| parser.push(piece).unwrap())
                    .collect();
                frames.extend(parser.finish());
                frames
            }
            Self::Binary(_) => {
                let mut parser = EventStream::new();
                pieces
                    .flat_map(|piece| parser.push(piece).unwrap())
                    .collect()
            }
        };
        let end = frames
            .iter()
            .try_for_each(|frame| decoder.frame(frame, &mut events))
            .and_then(|()| decoder.end(&mut events));
        (events, end)
    }
}

pub(super) fn protocol_of(name: &str) -> WireProtocol {
    match name.split('-').next().unwrap_or_default() {
        "chat" => WireProtocol::ChatCompletions,
        "responses" => WireProtocol::Responses,
        "anthropic" => WireProtocol::Anthropic,
        "gemini" => WireProtocol::Gemini,
        "converse" => WireProtocol::Converse,
        other => panic!("no protocol is called {other}"),
    }
}

/// One line for each event, and how it ended.
fn told(events: Vec<ModelEvent>, end: Result<(), WireError>) -> String {
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

/// All transcripts of a folder with their names, in order.
fn transcripts(folder: &str) -> Vec<(String, Transcript)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/transcripts")
        .join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, Transcript::load(&path))
        })
        .collect()
}

// PV-6
// PV-7
// PV-8
// PV-9
// PV-10
// PV-29
#[test]
fn documented_answers_are_read_as_they_should_be() {
    let documented = transcripts("documented");
    for protocol in PROTOCOLS {
        let streams = documented.iter().filter(|(name, transcript)| {
            protocol_of(name) == protocol && !transcript.bytes().is_empty()
        });
        assert!(streams.count() >= 4, "{protocol:?} has too few streams");
    }
    for (name, transcript) in documented.into_iter().chain(transcripts("described")) {
        let bytes = transcript.bytes();
        let events = transcript.read(&name, std::iter::once(bytes));
        let by_bytes = transcript.read(&name, bytes.chunks(1));
        assert_eq!(by_bytes, events, "{name}, byte by byte");
        insta::assert_snapshot!(name, events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    // PV-6
    // PV-7
    // PV-8
    // PV-9
    // PV-10
    #[test]
    fn documented_answers_are_read_the_same_wherever_they_are_cut(
        sizes in prop::collection::vec(1_usize..400, 1..12),
    ) {
        for (name, transcript) in transcripts("documented") {
            let bytes = transcript.bytes();
            let whole = transcript.read(&name, std::iter::once(bytes));
            let mut rest = bytes;
            let pieces = sizes.iter().cycle().map_while(|size| {
                let (piece, behind) = rest.split_at((*size).min(rest.len()));
                rest = behind;
                (!piece.is_empty()).then_some(piece)
            });
            prop_assert_eq!(transcript.read(&name, pieces), whole, "{}", name);
        }
    }
}
