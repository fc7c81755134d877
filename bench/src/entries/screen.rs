//! The screen at a terminal: how soon it is there, how soon a key shows, what it costs while nothing happens,
//! and what a long conversation adds. Everything in a real pseudo-terminal against the scripted server.

mod past;
mod stage;

use std::time::Duration;

use anyhow::{Context as _, ensure};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::conversation::{LONG, home_for};
use crate::bench::{Bench, Context};
use crate::figure::{Figure, percentile};
use stage::{Act, Stage};

pub(crate) const BENCH: Bench = Bench {
    name: "screen",
    about: "first paint, key to screen under load, idle cost, a long conversation; beside the reference with --peer reference=HERMES",
    run,
};

/// Pieces of an answer in a second.
const RATE: u64 = 200;
/// Messages of the long conversation.
const MESSAGES: usize = 5_000;
/// Lines that were sent before, at every start that is timed.
const ENTRIES: usize = 10_000;
/// Words of the first of them, as they stand in the conversation and not in the list of sessions.
const FIRST_WORDS: &str = "● Message 0,";
/// More pages it cannot have.
const MOST_PAGES: usize = 10_000;
/// Keys that turn to another place in it.
const PAGE_UP: &str = "\x1b[5~";
const BEGINNING: &str = "\x1b[1;5H";
const END: &str = "\x1b[1;5F";
/// 60 MB.
const MOST_KIB: f64 = 58_593.0;

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let hermes = hermes.to_string_lossy().into_owned();
    let inline = Act {
        name: "inline",
        program: hermes.clone(),
        arguments: vec!["chat".to_owned()],
        drawn: &["starting; what you write", "ask anything"],
        ready: "ask anything",
        scrolls: false,
    };
    let (mut figures, ours) = measure(&inline, context)?;
    if offers_full_screen(&hermes)? {
        let mut whole = inline;
        whole.name = "full screen";
        whole.arguments.push("--tui".to_owned());
        whole.scrolls = true;
        figures.extend(measure(&whole, context)?.0);
    }
    for peer in context.peers.iter().filter(|peer| peer.name == "reference") {
        let Some((program, arguments)) = peer.command.split_first() else {
            continue;
        };
        let theirs = Act {
            name: "the reference",
            program: program.clone(),
            arguments: arguments.to_vec(),
            drawn: &["❯"],
            ready: "❯",
            scrolls: false,
        };
        // What another program does not do is no failure of ours.
        match beside(&theirs, ours, context) {
            Ok(found) => figures.extend(found),
            Err(error) => context.tell(&format!("the reference could not be measured: {error:#}")),
        }
    }
    Ok(figures)
}

/// Whether the binary knows the flag of the full-screen mode.
fn offers_full_screen(hermes: &str) -> anyhow::Result<bool> {
    let home = hermes_testkit::TempHome::new()?;
    let help = home.command(hermes).args(["chat", "--help"]).run()?;
    Ok(help.stdout.contains("--tui"))
}

/// Everything about one mode of ours, and the median time until a question can be asked, in seconds.
fn measure(act: &Act, context: &Context) -> anyhow::Result<(Vec<Figure>, f64)> {
    let name = |what: &str| format!("{}: {what}", act.name);
    let starts = first_paints(act, context.count(30, 5))?;
    let keys = under_load(act, context.count(250, 40))?;
    let idle = idle(act, context)?;
    let long = long_conversation(act, context.count(10, 3))?;
    let mut figures = vec![
        Figure::times(name("first paint"), &starts.painted).at_most(50.0),
        Figure::times(name("ready for a question"), &starts.ready),
        worst(name("key to screen, 200 pieces a second, p99"), &keys).at_most(16.0),
        Figure::times(name("key to screen, the same"), &keys),
        Figure::new(name("idle, of a processor"), idle.share * 100.0, "%").at_most(0.1),
        Figure::new(name("idle, peak memory"), idle.memory, "KiB"),
        Figure::times(name("5,000 messages, first paint"), &long.painted),
        Figure::times(name("5,000 messages, ready"), &long.ready),
        // A window that is being resized is drawn when it has rested for 40 ms.
        worst(
            name("5,000 messages, resize to repaint, p99"),
            &long.resized,
        )
        .at_most(90.0),
        Figure::times(name("5,000 messages, the same"), &long.resized),
        Figure::new(name("5,000 messages, memory afterwards"), long.after, "KiB").at_most(MOST_KIB),
        Figure::new(name("5,000 messages, peak memory"), long.memory, "KiB").at_most(MOST_KIB),
    ];
    if act.scrolls {
        let p99 = name("5,000 messages, a page up to repaint, p99");
        figures.push(worst(p99, &long.scrolled).at_most(16.0));
        let pages = name("5,000 messages, a page up to repaint");
        figures.push(Figure::times(pages, &long.scrolled));
        let jumps = name("5,000 messages, first to last and back, p99");
        figures.push(worst(jumps, &long.jumped).at_most(50.0));
    }
    Ok((figures, median(&starts.ready)))
}

fn median(times: &[Duration]) -> f64 {
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    percentile(&seconds, 50.0)
}

/// What can be compared with a program that is not ours; `ours` is our time until a question can be asked. The long
/// conversation cannot: the reference prints the last ten exchanges of one and keeps nothing it could scroll.
fn beside(act: &Act, ours: f64, context: &Context) -> anyhow::Result<Vec<Figure>> {
    let name = |what: &str| format!("{}: {what}", act.name);
    let starts = first_paints(act, context.count(5, 2))?;
    let ratio = median(&starts.ready) / ours;
    let mut figures = vec![
        Figure::times(name("prompt appears"), &starts.ready),
        Figure::new(name("prompt appears, against hermes"), ratio, "×"),
    ];
    match under_load(act, context.count(100, 20)) {
        Ok(keys) => {
            let p99 = name("key to screen, 200 pieces a second, p99");
            figures.push(worst(p99, &keys));
            figures.push(Figure::times(name("key to screen, the same"), &keys));
        }
        Err(error) => context.tell(&format!("{}: no key was timed: {error:#}", act.name)),
    }
    let idle = idle(act, context)?;
    figures.push(Figure::new(
        name("idle, of a processor"),
        idle.share * 100.0,
        "%",
    ));
    figures.push(Figure::new(name("idle, peak memory"), idle.memory, "KiB"));
    Ok(figures)
}

/// The 99th percentile as the value, because that is what was promised.
fn worst(name: String, times: &[Duration]) -> Figure {
    let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    Figure::new(name, percentile(&times, 99.0), "ms").of(times.len())
}

struct Starts {
    painted: Vec<Duration>,
    ready: Vec<Duration>,
}

fn first_paints(act: &Act, runs: usize) -> anyhow::Result<Starts> {
    let server = ModelServer::start(Scenario::echo().lenient())?;
    let home = home_for(&server)?;
    home.write(".hermes_history", past::history(ENTRIES))?;
    let mut starts = Starts {
        painted: Vec::new(),
        ready: Vec::new(),
    };
    for round in 0..=runs {
        let stage = Stage::open(act, &home)?;
        // The first one fills the caches of the file system and makes the database.
        if round > 0 {
            starts.painted.push(stage.painted);
            starts.ready.push(stage.ready);
        }
    }
    Ok(starts)
}

fn under_load(act: &Act, keys: usize) -> anyhow::Result<Vec<Duration>> {
    // Digits only: what is typed must be found again. Longer than the typing takes.
    let words: String = (0..keys * 60)
        .map(|number| format!("{:04} ", number % 10_000))
        .collect();
    let answer = Step::new(text(words))
        .chunk_chars(5)
        .pace(Duration::from_millis(1_000 / RATE));
    let server = ModelServer::start(Scenario::new().reply(answer.repeat()).lenient())?;
    let home = home_for(&server)?;
    let config = "auxiliary: {title_generation: {enabled: false}}\n";
    let before = home.read("config.yaml")?;
    home.write_config(&format!("{before}{config}"))?;
    let stage = Stage::open(act, &home)?;
    stage.ask("count", "0003 0004")?;
    stage.type_at_random(keys)
}

struct Idle {
    /// Of one processor.
    share: f64,
    /// In KiB.
    memory: f64,
}

fn idle(act: &Act, context: &Context) -> anyhow::Result<Idle> {
    let server = ModelServer::start(Scenario::echo().lenient())?;
    let home = home_for(&server)?;
    let stage = Stage::open(act, &home)?;
    // What is done once behind the first prompt is not what idling costs.
    std::thread::sleep(Duration::from_secs(2));
    let time = Duration::from_secs(context.count(20, 5) as u64);
    let before = stage.processor_time()?;
    std::thread::sleep(time);
    let used = stage.processor_time()? - before;
    Ok(Idle {
        share: used.as_secs_f64() / time.as_secs_f64(),
        memory: stage.peak_memory()?,
    })
}

struct Long {
    painted: Vec<Duration>,
    ready: Vec<Duration>,
    resized: Vec<Duration>,
    scrolled: Vec<Duration>,
    /// From the beginning to the end or back.
    jumped: Vec<Duration>,
    /// Memory at the end, and the most there was, in KiB.
    after: f64,
    memory: f64,
}

fn long_conversation(act: &Act, runs: usize) -> anyhow::Result<Long> {
    let server = ModelServer::start(Scenario::echo().lenient())?;
    let home = home_for(&server)?;
    past::remember(&home, MESSAGES)?;
    let mut act = act.clone();
    act.arguments
        .extend(["--resume".to_owned(), LONG.to_owned()]);
    let mut long = Long {
        painted: Vec::new(),
        ready: Vec::new(),
        resized: Vec::new(),
        scrolled: Vec::new(),
        jumped: Vec::new(),
        after: 0.0,
        memory: 0.0,
    };
    for _ in 0..runs {
        let stage = Stage::open(&act, &home)?;
        long.painted.push(stage.painted);
        long.ready.push(stage.ready);
        for columns in [80, 120, 100] {
            long.resized.push(stage.resize(columns)?);
        }
        if act.scrolls {
            // Through all of it, so that whatever is kept of what was looked at is there.
            for page in 0.. {
                if stage.shows(FIRST_WORDS) {
                    break;
                }
                ensure!(page < MOST_PAGES, "the first message was not reached");
                long.scrolled.push(stage.turn_to(PAGE_UP)?);
            }
            for (there, back) in [(END, BEGINNING), (END, BEGINNING)] {
                long.jumped.push(stage.turn_to(there)?);
                long.jumped.push(stage.turn_to(back)?);
            }
            // At the beginning a new width is not only that of the end.
            for columns in [80, 120, 100] {
                long.resized.push(stage.resize(columns)?);
            }
        }
        long.after = long.after.max(stage.memory()?);
        long.memory = long.memory.max(stage.peak_memory()?);
    }
    Ok(long)
}
