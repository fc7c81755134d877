//! Answers that others recorded from the services of vendors. Nothing of them is kept here: `scripts/setup` fetches
//! them with the package of the library they test, and a script tells what each of them says.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_llm::Answer;
use serde::Deserialize;

use super::transcripts::{Transcript, protocol_of};
use super::*;
use crate::suite::vendors::{fetched, script};

/// One answer, and what the recording itself says about it.
#[derive(Deserialize)]
struct Recording {
    name: String,
    protocol: String,
    kind: String,
    body: String,
    text: String,
    /// Names and arguments.
    calls: Vec<(String, String)>,
    counts: Option<Counts>,
    /// The service broke off with an error.
    failed: bool,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Counts {
    /// With what was read from and written to the cache.
    input: u64,
    output: u64,
    read: u64,
    write: u64,
    thought: u64,
}

impl Recording {
    fn transcript(&self) -> Transcript {
        let body = STANDARD.decode(&self.body).unwrap();
        match self.kind.as_str() {
            "text/event-stream" => Transcript::Events(body),
            "application/vnd.amazon.eventstream" => Transcript::Binary(body),
            _ => Transcript::Document(serde_json::from_slice(&body).unwrap()),
        }
    }

    /// What is different from what the recording says.
    fn differences(&self) -> Vec<String> {
        let (protocol, transcript) = (protocol_of(&self.protocol), self.transcript());
        let bytes = transcript.bytes();
        let (events, end) = transcript.events(protocol, std::iter::once(bytes));
        let mut found = Vec::new();
        if end.is_err() != self.failed {
            found.push(format!("it ended with {end:?}"));
        }
        let (in_pieces, _) = transcript.events(protocol, bytes.chunks(61));
        if in_pieces != events {
            found.push("it is read differently in pieces".to_owned());
        }
        let mut answer = Answer::default();
        for event in &events {
            answer.take(event);
        }
        if answer.text != self.text {
            found.push(format!("text\n  {:?}\n  {:?}", answer.text, self.text));
        }
        // No words at all are no arguments.
        let value = |text: &str| match text {
            "" => json!({}),
            text => serde_json::from_str(text).unwrap_or(Json::Null),
        };
        let calls: Vec<(&str, Json)> = answer
            .calls
            .iter()
            .map(|call| (call.name.as_str(), value(&call.arguments)))
            .collect();
        let said: Vec<(&str, Json)> = self
            .calls
            .iter()
            .map(|(name, arguments)| (name.as_str(), value(arguments)))
            .collect();
        if calls != said {
            found.push(format!("calls\n  {calls:?}\n  {said:?}"));
        }
        let usage = answer.usage;
        let counts = Counts {
            input: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            output: usage.output_tokens,
            read: usage.cache_read_tokens,
            write: usage.cache_write_tokens,
            thought: usage.reasoning_tokens,
        };
        if let Some(said) = &self.counts
            && counts != *said
        {
            found.push(format!("counts\n  {counts:?}\n  {said:?}"));
        }
        found
    }
}

// PV-6
// PV-7
// PV-8
// PV-9
// PV-10
#[test]
fn recorded_answers_of_vendors_say_what_they_said() {
    let told = script("recordings.py", &[&fetched("recordings")], "");
    let mut counted: BTreeMap<(String, bool), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in told.lines() {
        let recording: Recording = serde_json::from_str(line).unwrap();
        let streams = recording.kind != "application/json";
        *counted
            .entry((recording.protocol.clone(), streams))
            .or_default() += 1;
        for difference in recording.differences() {
            wrong.push(format!(
                "{} ({}): {difference}",
                recording.name, recording.protocol
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(
        counted.len(),
        10,
        "each protocol, whole and in pieces: {counted:?}"
    );
    for ((protocol, streams), count) in &counted {
        let least = if *streams { 6 } else { 30 };
        assert!(*count >= least, "{protocol}: {counted:?}");
    }
}
