//! The hermetic command runner.

use std::time::{Duration, Instant};

use hermes_testkit::process::find_by_env_marker;
use hermes_testkit::{HermeticCommand, TempHome, eventually};

const LIMIT: Duration = Duration::from_secs(10);

fn sh(home: &TempHome, script: &str) -> HermeticCommand {
    home.command("/bin/sh").args(["-c", script])
}

#[test]
fn starts_from_an_empty_environment() {
    let home = TempHome::new().unwrap();
    let output = home
        .command("/usr/bin/env")
        .env("EXTRA", "1")
        .run()
        .unwrap()
        .ok();
    let mut lines: Vec<String> = home
        .scrub(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "EXTRA=1",
            // No test pays for the skills that come with the program unless it asks for them.
            "HERMES_BUNDLED_SKILLS=[HOME]/.hermes/no-bundled-skills",
            "HERMES_HOME=[HOME]/.hermes",
            "HOME=[HOME]",
            "LANG=C.UTF-8",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "TZ=UTC",
        ]
    );
}

#[test]
fn feeds_input_and_reports_both_streams_and_the_code() {
    let home = TempHome::new().unwrap();
    let output = sh(&home, "pwd >&2; cat; exit 3")
        .stdin("hello")
        .run()
        .unwrap()
        .code(3);
    assert_eq!(output.stdout, "hello");
    assert_eq!(home.scrub(&output.stderr), "[WORK]\n");
    let killed = sh(&home, "kill -9 $$").run().unwrap();
    assert_eq!((killed.code, killed.signal), (None, Some(9)));
    assert_eq!(sh(&home, "echo '{\"a\": 1}'").run().unwrap().json()["a"], 1);
}

#[test]
fn measures_the_memory_of_the_child() {
    let home = TempHome::new().unwrap();
    let script = "x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}";
    let big = sh(&home, script).run().unwrap().ok();
    assert!(big.max_rss_kib > 58_000, "{}", big.report());
    // Lives long enough to be sampled even on a busy machine.
    let small = sh(&home, "cat > /dev/null; sleep 0.3")
        .stdin("x")
        .run()
        .unwrap()
        .ok();
    assert!(small.max_rss_kib < 6_000, "{}", small.report());
}

#[test]
fn a_timeout_kills_the_whole_group_and_shows_the_output() {
    let home = TempHome::new().unwrap();
    let marker = home.path().display().to_string();
    let started = Instant::now();
    let error = sh(&home, "echo before; sleep 100 & sleep 100")
        .env("MARKER", &marker)
        .timeout(Duration::from_secs(2))
        .run()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("not done within") && error.contains("before"),
        "{error}"
    );
    assert!(started.elapsed() < LIMIT);
    eventually(LIMIT, "the group is gone", || {
        find_by_env_marker("MARKER", &marker)
            .is_empty()
            .then_some(())
    })
    .unwrap();
}

#[test]
fn a_descendant_that_holds_the_output_is_named_not_waited_for() {
    let home = TempHome::new().unwrap();
    let error = sh(&home, "sleep 100 & exit 0")
        .timeout(Duration::from_secs(2))
        .run()
        .unwrap_err()
        .to_string();
    assert!(error.contains("kept its output open"), "{error}");
}

#[test]
fn lines_can_be_read_while_it_runs() {
    let home = TempHome::new().unwrap();
    let running = sh(&home, "echo one; echo two; printf three")
        .spawn()
        .unwrap();
    let lines: Vec<Option<String>> = (0..4).map(|_| running.next_line(LIMIT).unwrap()).collect();
    let expected = ["one", "two", "three"].map(|line| Some(line.to_owned()));
    assert_eq!(lines[..3], expected);
    assert_eq!(lines[3], None);
    running.wait(LIMIT).unwrap().ok();
}

#[test]
fn a_program_that_is_not_there_is_an_error_with_its_name() {
    let home = TempHome::new().unwrap();
    let error = home
        .command("/nowhere/hermes")
        .run()
        .unwrap_err()
        .to_string();
    assert_eq!(error, "could not start /nowhere/hermes");
}
