//! Measures a model file: load time, reading and speaking speed, memory.

use std::path::Path;
use std::time::{Duration, Instant};

use hermes_core::Role;
use hermes_local_model::{
    AnswerEvent, ChatMessage, ChatRequest, Engine, LoadOptions, Sampling, Threads,
};
use tokio_util::sync::CancellationToken;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else {
        anyhow::bail!("usage: measure MODEL.gguf [every-core]");
    };
    let threads = match arguments.get(1).map(String::as_str) {
        Some("every-core") => Threads::EveryCore,
        _ => Threads::One,
    };
    let start = Instant::now();
    let options = LoadOptions {
        threads,
        ..LoadOptions::default()
    };
    let engine = Engine::load(Path::new(path), options)?;
    report("load", format!("{:.0} ms", millis(start.elapsed())));
    let short = "Write a short story about a fox who learns to read.";
    let long = format!(
        "Summarise: {}",
        "The harbour was quiet and the boats lay still. ".repeat(100)
    );
    for (name, question) in [("short", short), ("long", long.as_str())] {
        let request = ChatRequest {
            messages: vec![ChatMessage::new(Role::User, question)],
            max_tokens: Some(128),
            sampling: Sampling {
                temperature: 0.0,
                ..Sampling::default()
            },
            ..ChatRequest::default()
        };
        let start = Instant::now();
        let mut first = None;
        let mut text = String::new();
        let mut answer = engine.start(request, CancellationToken::new())?;
        while let Some(event) = answer.next_blocking() {
            match event? {
                AnswerEvent::Text(piece) => {
                    first.get_or_insert_with(|| (start.elapsed(), processor_time()));
                    text.push_str(&piece);
                }
                AnswerEvent::Finished(finish) => {
                    let (reading, read_by) = first.unwrap_or_default();
                    let speaking = start.elapsed().saturating_sub(reading);
                    let worked = processor_time().saturating_sub(read_by);
                    let said = finish.usage.output_tokens.saturating_sub(1);
                    let read = rate(finish.usage.input_tokens, reading);
                    let first = format!("first text after {:.0} ms", millis(reading));
                    let each = format!("{:.0} for each second of work", each(said, worked));
                    report(name, [read, first, rate(said, speaking), each].join(", "));
                }
            }
        }
        report("said", text.chars().take(200).collect());
    }
    report("memory", memory());
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the result of the program")]
fn report(what: &str, value: String) {
    println!("{what:>7}: {value}");
}

fn rate(tokens: u64, time: Duration) -> String {
    format!("{tokens} tokens at {:.0}/s", each(tokens, time))
}

fn each(tokens: u64, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}

/// What this process has used of the processor: on a busy machine less than what has gone by.
fn processor_time() -> Duration {
    const TICKS_A_SECOND: u64 = 100;
    const USER: usize = 11;
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = status.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(USER).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The most memory this process has had, where the system tells.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    lines
        .map(|line| line.replace('\t', " "))
        .collect::<Vec<_>>()
        .join(", ")
}
