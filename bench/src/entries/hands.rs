//! The tools that touch the world: a command, a flood of output, a search, an edit, idle processes.

mod files;
mod place;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, ensure};
use hermes_core::Tool;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_tools::Terminal;
use serde_json::json;

use crate::bench::{Bench, Context};
use crate::figure::{Figure, percentile};
use place::{Confining, Place};

pub(crate) const BENCH: Bench = Bench {
    name: "hands",
    about: "a command beside bare bash, with and without the sandbox; 2 GB of output; search beside rg; an edit of 10 MB; idle processes",
    run,
};

/// Background processes that wait.
const IDLE: usize = 50;
/// How long they are watched.
const WATCHED: Duration = Duration::from_secs(5);
/// How often wardens are looked at while they carry much.
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut figures = runtime.block_on(commands(context, &hermes))?;
    for confining in [Confining::No, Confining::Yes] {
        figures.push(runtime.block_on(idle(&hermes, confining))?);
    }
    figures.extend(runtime.block_on(files::run(context))?);
    figures.push(flood(&hermes)?);
    Ok(figures)
}

/// What a command costs over the same command in bare bash. The three take turns, so that whatever else the
/// machine does reaches all of them.
async fn commands(context: &Context, hermes: &Path) -> anyhow::Result<Vec<Figure>> {
    let open = Place::new(hermes, Confining::No)?;
    let confined = Place::new(hermes, Confining::Yes)?;
    let (open_tool, confined_tool) = (
        Terminal::new(open.workplace.clone()),
        Terminal::new(confined.workplace.clone()),
    );
    let (mut bare, mut plain, mut boxed) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = context.count(200, 30);
    for round in 0..rounds + 5 {
        let started = Instant::now();
        let status = Command::new("bash")
            .args(["-c", "true"])
            .stdin(Stdio::null())
            .status()?;
        ensure!(status.success(), "bash failed");
        let times = [
            started.elapsed(),
            timed(&open_tool, &open).await?,
            timed(&confined_tool, &confined).await?,
        ];
        if round >= 5 {
            for (list, time) in [&mut bare, &mut plain, &mut boxed].into_iter().zip(times) {
                list.push(time);
            }
        }
    }
    let middle = |times: &[Duration]| {
        let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        percentile(&times, 50.0)
    };
    let over = |times: &[Duration]| middle(times) - middle(&bare);
    Ok(vec![
        Figure::times("bash -c true", &bare),
        Figure::times("terminal: true", &plain),
        Figure::new("what the tool adds", over(&plain), "ms")
            .at_most(3.0)
            .of(rounds),
        Figure::times("terminal: true, in the sandbox", &boxed)
            .note(format!("confined by {}", confined.confined_by())),
        Figure::new("what the tool and the sandbox add", over(&boxed), "ms")
            .at_most(5.0)
            .of(rounds),
    ])
}

async fn timed(tool: &Terminal, place: &Place) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let result = tool
        .call(json!({ "command": "true" }), &place.context)
        .await?;
    let took = started.elapsed();
    let result: serde_json::Value = serde_json::from_str(&result.content)?;
    ensure!(result["exit_code"] == 0, "{result}");
    Ok(took)
}

/// Processor time of this process and of everything below it, which includes those that watch over commands, while
/// many of them wait.
async fn idle(hermes: &Path, confining: Confining) -> anyhow::Result<Figure> {
    let place = Place::new(hermes, confining)?;
    let tool = Terminal::new(place.workplace.clone());
    let mut pids = Vec::new();
    for number in 0..IDLE {
        let arguments =
            json!({ "command": format!("exec sleep 9{number:02}"), "background": true });
        let result = tool.call(arguments, &place.context).await?;
        let result: serde_json::Value = serde_json::from_str(&result.content)?;
        let pid = result["pid"].as_u64().with_context(|| result.to_string())?;
        pids.push(u32::try_from(pid)?);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let all = place::below(std::process::id())?;
    ensure!(all.len() > pids.len(), "some are missing: {all:?}");
    let used = || {
        let mut sum = place::ticks(std::process::id())?;
        for pid in &all {
            sum += place::ticks(*pid)?;
        }
        anyhow::Ok(sum)
    };
    let before = used()?;
    tokio::time::sleep(WATCHED).await;
    let share = (used()? - before) as f64 / WATCHED.as_secs_f64();
    for pid in pids {
        // They are ours, and the place ends them anyway.
        place::end(pid);
    }
    let name = match confining {
        Confining::No => "50 idle background processes",
        Confining::Yes => "50 idle background processes, sandboxed",
    };
    // No more than the clock can tell from nothing: one of its ticks.
    Ok(Figure::new(name, share, "% cpu").at_most(1.0 / WATCHED.as_secs_f64()))
}

/// What a command that prints 2 GB adds to the peak of resident memory of a whole run of the program, which asks a
/// model, runs the command and ends, and to those of its wardens, through which the output goes. The command's own
/// processes are not in it.
fn flood(hermes: &Path) -> anyhow::Result<Figure> {
    let peak = |command: &str| -> anyhow::Result<f64> {
        let server = ModelServer::start(
            Scenario::new()
                .reply(tool_call(
                    "terminal",
                    json!({ "command": command, "timeout": 120 }),
                ))
                .reply(text("Done."))
                .lenient(),
        )?;
        let home = super::conversation::home_for(&server)?;
        let (told, over) = mpsc::channel::<()>();
        let watching = std::thread::spawn(move || {
            let mut peaks = BTreeMap::new();
            loop {
                place::note_wardens(&mut peaks)?;
                match over.recv_timeout(LOOK_EVERY) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return anyhow::Ok(peaks),
                }
            }
        });
        let output = super::conversation::ask(&home, &hermes.to_string_lossy(), &["-z", "go"])?;
        drop(told);
        let watched = watching.join();
        let wardens = watched.map_err(|_| anyhow!("nobody watched the wardens"))??;
        ensure!(!wardens.is_empty(), "no warden was seen");
        let wardens: u64 = wardens.values().sum();
        Ok((output.max_rss_kib + wardens) as f64 / 1024.0)
    };
    // Long enough to be seen.
    let (quiet, loud) = (peak("sleep 1")?, peak("yes | head -c 2G")?);
    Ok(Figure::new(
        "what 2 GB of output add to peak memory",
        loud - quiet,
        "MiB",
    )
    .at_most(20.0)
    .note(format!("{quiet:.1} MiB for a command that prints nothing")))
}
