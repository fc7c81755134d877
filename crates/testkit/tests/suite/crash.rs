//! The crash helper.

use std::time::Duration;

use anyhow::ensure;
use hermes_testkit::crash::{RandomKills, kill_at_every_line, kill_at_random_times};
use hermes_testkit::{HermeticCommand, TempHome};

/// Appends a line to a file, then reports it; four times.
fn appender(home: &TempHome) -> HermeticCommand {
    let script = "rm -f log; for n in 1 2 3 4; do echo $n >> log; echo $n; done";
    home.command("/bin/sh").args(["-c", script])
}

fn written(home: &TempHome) -> Vec<String> {
    let log = std::fs::read_to_string(home.workspace().join("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

#[test]
fn kills_after_each_line_until_the_program_ends_by_itself() {
    let home = TempHome::new().unwrap();
    let mut steps = Vec::new();
    let run = kill_at_every_line(&appender(&home), |line, seen| {
        ensure!(seen.len() == line, "asked for {line} lines");
        ensure!(written(&home).starts_with(seen), "reported but not written");
        steps.push(line);
        Ok(())
    })
    .unwrap();
    assert_eq!(steps, [0, 1, 2, 3, 4]);
    assert_eq!(run.kills, 5);
    assert_eq!(run.last.unwrap().ok().stdout, "1\n2\n3\n4\n");
}

#[test]
fn a_failed_check_names_the_step() {
    let home = TempHome::new().unwrap();
    let error = kill_at_every_line(&appender(&home), |line, _| {
        ensure!(line < 2, "lost a row");
        Ok(())
    })
    .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "after a kill at line 2, seen [\"1\", \"2\"]: lost a row"
    );
}

#[test]
fn random_kills_are_bounded_and_checked() {
    let home = TempHome::new().unwrap();
    let plan = RandomKills {
        rounds: 8,
        latest: Duration::from_millis(20),
        seed: 7,
    };
    let mut rounds = 0;
    let run = kill_at_random_times(&appender(&home), plan, |round, seen| {
        ensure!(round == rounds);
        ensure!(written(&home).starts_with(seen), "reported but not written");
        rounds += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(rounds, 8);
    assert!(run.kills <= 8);
}
