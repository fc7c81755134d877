//! Questions and answers through the binary, against a scripted server that answers at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hermes_core::{Role, SessionId, SystemClock};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Store};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::{Output, TempHome};
use serde_json::json;

use crate::bench::{Bench, Context};
use crate::figure::{Figure, percentile};

pub(crate) const BENCH: Bench = Bench {
    name: "conversation",
    about: "one-shot question, tool rounds, a long history, a long answer; beside the reference with --peer reference=HERMES",
    run,
};

/// Tool rounds of one turn.
const ROUNDS: usize = 20;
/// Messages of the long history.
const HISTORY: usize = 200;
/// Pieces of the long answer.
const PIECES: usize = 5_000;
/// The id of the session with the long history.
pub(super) const LONG: &str = "20260101_000000_abcdef";

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let hermes = hermes.to_string_lossy().into_owned();
    let mut figures = one_shot(context, &hermes)?;
    figures.extend(tool_rounds(&hermes)?);
    figures.extend(long_answer(&hermes)?);
    Ok(figures)
}

pub(super) fn home_for(server: &ModelServer) -> anyhow::Result<TempHome> {
    let home = TempHome::new()?;
    home.write_config(&format!(
        "model:\n  provider: custom\n  base_url: {}\n  default: scripted\n  context_length: 200000\n",
        server.base_url()
    ))?;
    Ok(home)
}

pub(super) fn ask(home: &TempHome, program: &str, arguments: &[&str]) -> anyhow::Result<Output> {
    let output = home.command(program).args(arguments).run()?;
    ensure!(
        output.code == Some(0),
        "{program} failed\n{}",
        output.report()
    );
    Ok(output)
}

/// The most memory a run had, in millions of bytes.
pub(super) fn megabytes(output: &Output) -> f64 {
    output.max_rss_kib as f64 * 1_024.0 / 1e6
}

fn one_shot(context: &Context, hermes: &str) -> anyhow::Result<Vec<Figure>> {
    let server = ModelServer::start(
        Scenario::new()
            .reply(Step::new(text("Forty-two.")).repeat())
            .lenient(),
    )?;
    let home = home_for(&server)?;
    let runs = context.count(100, 15);
    let mut outputs = Vec::new();
    for round in 0..runs + 3 {
        let output = ask(&home, hermes, &["-z", "What is the answer?"])?;
        ensure!(output.stdout.trim() == "Forty-two.", "{}", output.report());
        if round >= 3 {
            outputs.push(output);
        }
    }
    let walls: Vec<Duration> = outputs.iter().map(|output| output.wall).collect();
    let seconds: Vec<f64> = walls.iter().map(Duration::as_secs_f64).collect();
    let memory: Vec<f64> = outputs.iter().map(megabytes).collect();
    let median = percentile(&seconds, 50.0);
    let mut figures = vec![
        Figure::times("hermes -z, start to exit", &walls).at_most(30.0),
        Figure::new("hermes -z, peak memory", percentile(&memory, 50.0), "MB")
            .at_most(25.0)
            .of(runs),
    ];
    for peer in context.peers.iter().filter(|peer| peer.name == "reference") {
        let Some(program) = peer.command.first() else {
            continue;
        };
        let home = home_for(&server)?;
        let mut theirs = Vec::new();
        for _ in 0..context.count(5, 2) {
            theirs.push(ask(&home, program, &["-z", "What is the answer?"])?.wall);
        }
        let their_median: Vec<f64> = theirs.iter().map(Duration::as_secs_f64).collect();
        figures.push(Figure::times("the reference, the same question", &theirs));
        let ratio = percentile(&their_median, 50.0) / median;
        figures.push(Figure::new("the reference against hermes", ratio, "×").at_least(100.0));
    }
    Ok(figures)
}

/// From one request's arrival to the next: the server's answer, our reading of it, the tool, the rows on
/// disk and the next request.
fn tool_rounds(hermes: &str) -> anyhow::Result<Vec<Figure>> {
    let short = gaps(hermes, 0)?;
    let long = gaps(hermes, HISTORY)?;
    let middle = |gaps: &[Duration]| {
        percentile(
            &gaps.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            50.0,
        ) * 1_000.0
    };
    let added = middle(&long) - middle(&short);
    Ok(vec![
        Figure::times("end of an answer to our next request, a tool round", &short).at_most(2.0),
        Figure::times("the same with 200 messages before", &long),
        Figure::new("what the history adds to a round", added, "ms")
            .at_most(1.0)
            .of(long.len()),
    ])
}

fn gaps(hermes: &str, history: usize) -> anyhow::Result<Vec<Duration>> {
    let mut all = Vec::new();
    for _ in 0..5 {
        let mut scenario = Scenario::new();
        for round in 0..ROUNDS {
            scenario = scenario.reply(tool_call(
                "todo",
                json!({"todos": [
                {"id": "1", "content": format!("step {round}"), "status": "pending"}]}),
            ));
        }
        let server = ModelServer::start(scenario.reply(text("Done.")).lenient())?;
        let home = home_for(&server)?;
        let mut arguments = vec!["-z", "go"];
        if history > 0 {
            remember(&home, history)?;
            arguments.extend(["--resume", LONG]);
        }
        ask(&home, hermes, &arguments)?;
        // What the server needs to read a request and to write an answer is not ours.
        let requests = server.requests();
        all.extend(requests.windows(2).filter_map(|pair| {
            let answered = pair[0].answered_at?;
            Some(pair[1].arrived_at.saturating_duration_since(answered))
        }));
    }
    Ok(all)
}

/// A session with a long past.
fn remember(home: &TempHome, messages: usize) -> anyhow::Result<()> {
    let store = Store::open(Options {
        path: home.path().join("hermes.db"),
        blobs: home.path().join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?;
    let id = SessionId::try_from(LONG.to_owned())?;
    store
        .create_session(NewSession::new(id.clone(), "cli"))
        .wait()?;
    let rows = (0..messages)
        .map(|number| {
            let role = if number % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            NewRecord::text(
                role,
                format!("Message {number}, a few sentences of an ordinary length. ").repeat(4),
            )
        })
        .collect();
    store.append(&id, rows).wait()?;
    Ok(())
}

/// The processor time of a run whose answer comes in thousands of pieces.
fn long_answer(hermes: &str) -> anyhow::Result<Vec<Figure>> {
    let long: String = (0..PIECES)
        .map(|piece| format!("w{:03} ", piece % 1_000))
        .collect();
    let measure = |answer: &str| -> anyhow::Result<f64> {
        let answer = Step::new(text(answer)).chunk_chars(5).repeat();
        let server = ModelServer::start(Scenario::new().reply(answer).lenient())?;
        let home = home_for(&server)?;
        let mut times = Vec::new();
        for _ in 0..10 {
            times.push(ask(&home, hermes, &["-z", "go"])?.cpu.as_secs_f64() * 1_000.0);
        }
        Ok(percentile(&times, 50.0))
    };
    let (whole, short) = (measure(&long)?, measure("w000 ")?);
    Ok(vec![
        Figure::new("processor time of a run with 5,000 pieces", whole, "ms")
            .at_most(30.0)
            .of(10),
        Figure::new("of which the pieces", whole - short, "ms").of(10),
    ])
}
