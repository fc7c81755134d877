//! Killing a program at every step, to prove that nothing durable is lost or doubled.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::command::{HermeticCommand, Output, Running};

/// How long one run may take before the helper gives up on it.
const RUN_LIMIT: Duration = Duration::from_secs(30);
/// More steps than this means that the program never gets to its end.
const MAX_KILLS: usize = 1_000;

/// What a crash run came to.
#[derive(Debug)]
pub struct CrashRun {
    /// How many times the program was killed.
    pub kills: usize,
    /// The run that was allowed to end, if there was one.
    pub last: Option<Output>,
}

/// Random kill times: how many, how late, and from which seed.
#[derive(Debug, Clone, Copy)]
pub struct RandomKills {
    /// How many times the program is started.
    pub rounds: usize,
    /// Kills fall evenly between the start and this.
    pub latest: Duration,
    /// The same seed gives the same delays.
    pub seed: u64,
}

/// Kills `command` after its k-th line on standard output, for k = 0, 1, 2 … until a run ends by
/// itself before its k-th line; that run is the last.
///
/// The kill is SIGKILL to the process group. `verify` is called after each kill with k and the
/// lines seen in that run. The command must print a line after each durable step, and flush it.
pub fn kill_at_every_line(
    command: &HermeticCommand,
    mut verify: impl FnMut(usize, &[String]) -> anyhow::Result<()>,
) -> anyhow::Result<CrashRun> {
    for line_count in 0..MAX_KILLS {
        let running = command.spawn()?;
        let seen = read_lines(&running, line_count)?;
        if seen.len() < line_count {
            let last = running.wait(RUN_LIMIT)?;
            return Ok(CrashRun {
                kills: line_count,
                last: Some(last),
            });
        }
        running.kill()?;
        verify(line_count, &seen)
            .with_context(|| format!("after a kill at line {line_count}, seen {seen:?}"))?;
    }
    bail!("the program still prints after {MAX_KILLS} lines")
}

/// Kills `command` at pseudo-random times, `plan.rounds` times; a run that ends earlier is left be.
///
/// `verify` is called after each round with its number and the lines seen.
pub fn kill_at_random_times(
    command: &HermeticCommand,
    plan: RandomKills,
    mut verify: impl FnMut(usize, &[String]) -> anyhow::Result<()>,
) -> anyhow::Result<CrashRun> {
    ensure!(
        plan.rounds <= MAX_KILLS,
        "at most {MAX_KILLS} rounds, not {}",
        plan.rounds
    );
    let mut state = plan.seed;
    let mut kills = 0;
    let mut last = None;
    for round in 0..plan.rounds {
        let fraction = next_random(&mut state) as f64 / u64::MAX as f64;
        let delay = plan.latest.mul_f64(fraction);
        let running = command.spawn()?;
        let (seen, ended) = lines_until(&running, Instant::now() + delay);
        if ended {
            last = Some(running.wait(RUN_LIMIT)?);
        } else {
            running.kill()?;
            kills += 1;
        }
        verify(round, &seen).with_context(|| {
            format!(
                "round {round} (seed {}), killed after {delay:?}, seen {seen:?}",
                plan.seed
            )
        })?;
    }
    Ok(CrashRun { kills, last })
}

/// The first `count` lines, fewer when the program closes its output before.
fn read_lines(running: &Running, count: usize) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + RUN_LIMIT;
    let mut seen = Vec::new();
    while seen.len() < count {
        let left = deadline.saturating_duration_since(Instant::now());
        match running.next_line(left)? {
            Some(line) => seen.push(line),
            None => break,
        }
    }
    Ok(seen)
}

/// The lines up to `deadline`, and whether the program closed its output before.
fn lines_until(running: &Running, deadline: Instant) -> (Vec<String>, bool) {
    let mut seen = Vec::new();
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        match running.next_line(left) {
            Ok(Some(line)) => seen.push(line),
            Ok(None) => return (seen, true),
            Err(_) => break,
        }
    }
    (seen, false)
}

/// One step of SplitMix64: small, seedable, good enough to spread kill times.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
