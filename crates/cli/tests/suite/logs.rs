//! `hermes logs` and the files it reads.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::time::Duration;

use hermes_testkit::Running;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error};

use super::program::Program;

const LIMIT: Duration = Duration::from_secs(10);

const AGENT: &str = "\
2026-07-04 09:00:00,000 INFO run_agent: started
2026-07-04 10:00:00,000 INFO [20260704_100000_aaaaaa] agent.loop: turn 1
2026-07-04 10:00:01,500 ERROR [20260704_100000_aaaaaa] tools.shell: failed
Traceback (most recent call last):
  File \"x.py\", line 1
ValueError: no
2026-07-04 10:00:02,000 WARNING [20260704_100000_bbbbbb] gateway.telegram: slow
2026-07-04 10:00:03,000 DEBUG cron.scheduler: tick
2026-07-04 10:00:04,000 INFO hermes_cli.main: bye
";

fn with_log() -> Program {
    let program = Program::new();
    program.home.write("logs/agent.log", AGENT).unwrap();
    program
}

#[track_caller]
fn check(program: &Program, arguments: &str, expected: &[&str]) {
    let arguments: Vec<_> = std::iter::once("logs")
        .chain(arguments.split_whitespace())
        .collect();
    let shown = program.run(&arguments).ok().stdout;
    let texts: Vec<_> = shown
        .lines()
        .map(|line| line.rsplit_once(": ").map_or(line, |(_, text)| text))
        .collect();
    assert_eq!(texts, expected, "{arguments:?}");
}

// CL-26
#[test]
fn filters_pick_records_with_their_further_lines() {
    let program = with_log();
    let trace = [
        "failed",
        "Traceback (most recent call last):",
        "  File \"x.py\", line 1",
        "no",
    ];
    assert_eq!(program.stdout(&["logs"]), AGENT);
    check(&program, "-n 1", &["bye"]);
    check(&program, "-n 0", &[]);
    check(&program, "--level error", &trace);
    check(&program, "--level WARN -n 1", &["slow"]);
    check(&program, "--level CRITICAL", &[]);
    check(&program, "--session bbbbbb", &["slow"]);
    check(
        &program,
        "--session 20260704_100000_aa --level info -n 2",
        &[&["turn 1"], &trace[..]].concat(),
    );
    check(&program, "--component tools", &trace);
    check(&program, "--component agent", &["started", "turn 1"]);
    check(&program, "--component cli", &["bye"]);
    check(&program, "--component cron", &["tick"]);
    check(
        &program,
        "--since 2026-07-04T10:00:02",
        &["slow", "tick", "bye"],
    );
    check(&program, "--since 1s", &[]);
    program.run(&["logs", "--since", "soon"]).code(2);
    program.run(&["logs", "--level", "loud"]).code(2);
}

#[test]
fn json_is_one_record_a_line() {
    let program = with_log();
    let shown = program.run(&["logs", "--json", "--level", "error"]).ok();
    assert_eq!(
        shown.json(),
        serde_json::json!({
            "timestamp": "2026-07-04T10:00:01.500Z",
            "level": "ERROR",
            "session_id": "20260704_100000_aaaaaa",
            "logger": "tools.shell",
            "message": "failed\nTraceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no",
        })
    );
    assert_eq!(
        program.run(&["logs", "--json"]).ok().stdout.lines().count(),
        6
    );
}

#[test]
fn older_files_are_read_when_more_is_asked_for() {
    let program = with_log();
    let line = |number: u32| format!("2026-07-03 10:00:00,{number:03} INFO agent: old {number}\n");
    program
        .home
        .write("logs/agent.log.1", line(3) + &line(4))
        .unwrap();
    program
        .home
        .write("logs/agent.log.2", line(1) + &line(2))
        .unwrap();
    program.home.write("logs/agent.log.10", line(0)).unwrap();
    check(
        &program,
        "-n 8 --component agent",
        &[
            "old 0", "old 1", "old 2", "old 3", "old 4", "started", "turn 1",
        ],
    );
    check(
        &program,
        "-n 4 --component agent",
        &["old 3", "old 4", "started", "turn 1"],
    );
}

#[test]
fn a_large_log_is_read_from_its_end() {
    let program = Program::new();
    let line = "2026-07-03 10:00:00,000 INFO agent: one of very many lines\n";
    program.home.write("logs/agent.log", "").unwrap();
    let file = fs::File::create(program.home.path().join("logs/agent.log")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    // Written piece by piece: memory of the test would count as the program's.
    for _ in 0..1_500_000 {
        file.write_all(line.as_bytes()).unwrap();
    }
    writeln!(file, "2026-07-03 10:00:01,000 INFO agent: last").unwrap();
    drop(file);
    let shown = program.run(&["logs", "-n", "1"]).ok();
    assert_eq!(shown.stdout, "2026-07-03 10:00:01,000 INFO agent: last\n");
    assert!(shown.max_rss_kib < 30_000, "{} KiB", shown.max_rss_kib);
}

#[test]
fn a_log_that_is_not_there_is_named() {
    let program = Program::new();
    let failed = program.run(&["logs", "gateway"]).code(1);
    let said = program.home.scrub(&failed.stderr);
    assert_eq!(
        said,
        "error: there is no [HOME]/.hermes/logs/gateway.log\n\
         hint: nothing was logged there yet; hermes logs list shows what there is\n"
    );
    assert_eq!(
        program.stdout(&["logs", "list"]),
        "No logs yet in [HOME]/.hermes/logs.\n"
    );
    assert_eq!(
        program.run(&["logs", "list", "--json"]).ok().json(),
        serde_json::json!([])
    );
}

#[test]
fn the_list_has_sizes_and_ages() {
    let program = with_log();
    program.home.write("logs/errors.log.1", "x").unwrap();
    program
        .home
        .write("logs/mcp-stderr.log", "server says\nhello\n")
        .unwrap();
    program.home.write("logs/.rotate.lock", "").unwrap();
    let listed = program.stdout(&["logs", "list"]);
    let expected = format!(
        "Log             Size   Changed\n\
         agent.log       {} B  just now\n\
         errors.log.1    1 B    just now\n\
         mcp-stderr.log  18 B   just now\n\
         in [HOME]/.hermes/logs\n",
        AGENT.len()
    );
    assert_eq!(listed, expected);
    let rows = program.run(&["logs", "list", "--json"]).ok().json();
    assert_eq!(rows[1]["name"], "errors.log.1");
    assert_eq!(rows[1]["bytes"], 1);
    check(&program, "mcp -n 1", &["hello"]);
}

#[test]
fn a_log_cannot_steer_the_terminal() {
    let program = Program::new();
    let line = "2026-07-04 09:00:00,000 INFO agent: \u{1b}[2Jgone\u{7}\n";
    program.home.write("logs/agent.log", line).unwrap();
    let shown = program.run(&["logs"]).ok().stdout;
    assert_eq!(shown, "2026-07-04 09:00:00,000 INFO agent: [2Jgone\n");
}

struct Log<'a> {
    program: &'a Program,
    count: u32,
}

impl Log<'_> {
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.program.home.path().join("logs").join(name)
    }

    fn line(&mut self) -> String {
        self.count += 1;
        format!("2026-07-04 10:00:00,000 INFO agent: line {}", self.count)
    }

    /// Appends a record and sees it shown.
    fn say(&mut self, running: &Running) {
        let line = self.line();
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path("agent.log"))
            .unwrap();
        writeln!(file, "{line}").unwrap();
        assert_eq!(running.next_line(LIMIT).unwrap(), Some(line));
    }
}

#[test]
fn following_goes_on_through_rotation_and_truncation() {
    let program = Program::new();
    let mut log = Log {
        program: &program,
        count: 0,
    };
    let running = program.command(&["logs", "-f", "-n", "1"]).spawn().unwrap();
    fs::create_dir_all(log.path("")).unwrap();
    log.say(&running);
    log.say(&running);
    fs::rename(log.path("agent.log"), log.path("agent.log.1")).unwrap();
    log.say(&running);
    // Twice between two looks: what is in the file between must not be missed.
    let (one, two, three) = (log.line(), log.line(), log.line());
    let staging = log.path("next");
    fs::create_dir(&staging).unwrap();
    fs::write(staging.join("2"), format!("{one}\n")).unwrap();
    fs::write(staging.join("3"), format!("{two}\n{three}\n")).unwrap();
    fs::rename(log.path("agent.log.1"), log.path("agent.log.3")).unwrap();
    fs::rename(log.path("agent.log"), log.path("agent.log.2")).unwrap();
    fs::rename(staging.join("2"), log.path("agent.log.1")).unwrap();
    fs::rename(staging.join("3"), log.path("agent.log")).unwrap();
    for line in [one, two, three] {
        assert_eq!(running.next_line(LIMIT).unwrap(), Some(line));
    }
    log.say(&running);
    fs::write(log.path("agent.log"), "").unwrap();
    log.say(&running);
    running.signal(hermes_testkit::Signal::SIGINT).unwrap();
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.signal, Some(2));
}

// CL-34
#[test]
fn following_ends_when_the_reader_goes_away() {
    let program = with_log();
    // Nothing more is logged: only the closed pipe can end it.
    let output = program.shell("($HERMES logs -f; echo $? >&2) | head -n 1");
    assert_eq!(output.stdout.lines().count(), 1);
    assert_eq!(output.stderr, "0\n");
}

// AG-35
#[test]
fn what_commands_log_is_private_redacted_and_in_the_format() {
    let program = Program::new();
    let canary = "correct-horse-battery-staple";
    program
        .home
        .write_env(&format!("OPENAI_API_KEY={canary}\n"))
        .unwrap();
    // Neither a known value nor something of the shape of a key may reach a file.
    let shaped = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    program
        .run(&["backup", "-o", &format!("{canary}.zip")])
        .ok();
    program
        .run(&["backup", "-o", &format!("{shaped}.zip")])
        .ok();
    program
        .run(&["import", "-f", &format!("{canary}.zip")])
        .ok();
    program
        .run(&["backup", "-o", &format!("no/{canary}.zip")])
        .code(1);
    let agent = program.home.read("logs/agent.log").unwrap();
    let errors = program.home.read("logs/errors.log").unwrap();
    for secret in [canary, shaped] {
        assert!(
            !agent.contains(secret) && !errors.contains(secret),
            "{agent}{errors}"
        );
    }
    assert!(agent.contains("[redacted:OPENAI_API_KEY]"), "{agent}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    for name in ["logs/agent.log", "logs/errors.log"] {
        assert_eq!(program.home.mode(name).unwrap(), 0o600, "{name}");
    }
    let shown = program
        .run(&["logs", "--component", "cli", "--json"])
        .ok()
        .stdout;
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert_eq!(program.run(&["logs", "errors"]).ok().stdout, errors);
}

// AG-35
#[test]
fn a_conversation_that_fails_leaves_no_secret_in_logs_dumps_or_rows() {
    let canary = "correct-horse-battery-staple";
    // A provider that repeats the key it refuses, in words and in a header.
    let refused = error(401).message(format!("the key {canary} is not known"));
    let server = ModelServer::start(
        Scenario::new().reply(Step::new(refused).header("x-echo", canary).repeat()),
    )
    .unwrap();
    let program = Program::new();
    program
        .home
        .write_env(&format!(
            "DEEPSEEK_API_KEY={canary}\nDEEPSEEK_BASE_URL={}\n",
            server.base_url()
        ))
        .unwrap();
    program
        .home
        .write_config(
            "model: {provider: deepseek}\nlogging: {level: DEBUG}\nagent: {api_max_retries: 2}\n",
        )
        .unwrap();
    let question = format!("my key is {canary}, why is it refused?");
    let output = program.run(&["-z", &question]).code(2);
    let asked = server.requests().pop().unwrap();
    let bearer = format!("Bearer {canary}");
    assert_eq!(asked.header("authorization"), Some(bearer.as_str()));
    assert!(!output.stderr.contains(canary) && output.stderr.contains("401"));
    let mut looked_at = Vec::new();
    let mut folders = vec![program.home.path()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with(".env") {
                let bytes = fs::read(&path).unwrap();
                let found = bytes
                    .windows(canary.len())
                    .any(|window| window == canary.as_bytes());
                assert!(!found, "{} holds it", path.display());
                looked_at.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    for name in ["agent.log", "hermes.db"] {
        assert!(looked_at.iter().any(|seen| seen == name), "{looked_at:?}");
    }
    let log = program.home.read("logs/agent.log").unwrap();
    assert!(log.contains("reason=auth"), "the failure is logged: {log}");
}

#[test]
fn a_log_is_begun_anew_when_it_has_grown() {
    let program = Program::new();
    program
        .home
        .write_config("logging:\n  max_size_mb: 1\n  backup_count: 2\n")
        .unwrap();
    let full = "x".repeat(1024 * 1024);
    for round in 0..4 {
        program
            .home
            .write("logs/agent.log", format!("{round}{full}"))
            .unwrap();
        program.run(&["backup", "-q"]).ok();
    }
    let tree = program.home.tree().unwrap();
    let names: Vec<_> = tree
        .keys()
        .filter(|name| name.starts_with("logs/agent"))
        .collect();
    assert_eq!(
        names,
        ["logs/agent.log", "logs/agent.log.1", "logs/agent.log.2"]
    );
    assert!(
        program
            .home
            .read("logs/agent.log.1")
            .unwrap()
            .starts_with('3')
    );
    assert!(
        program
            .home
            .read("logs/agent.log.2")
            .unwrap()
            .starts_with('2')
    );
    assert_eq!(
        program.home.read("logs/agent.log").unwrap().lines().count(),
        1
    );
}

#[test]
fn the_level_comes_from_the_settings() {
    let program = Program::new();
    program
        .home
        .write_config("logging:\n  level: ERROR\n")
        .unwrap();
    program.run(&["backup", "-q"]).ok();
    assert!(
        !program.home.path().join("logs").exists(),
        "nothing to log, nothing opened"
    );
}

#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let program = Program::new();
    program.home.write_config("a: 1\n").unwrap();
    // A file where the directory should be.
    program.home.write("logs", "in the way").unwrap();
    program.run(&["backup", "-q"]).ok();
    // A device on which every write fails as on a full disk.
    fs::remove_file(program.home.path().join("logs")).unwrap();
    fs::create_dir(program.home.path().join("logs")).unwrap();
    std::os::unix::fs::symlink("/dev/full", program.home.path().join("logs/agent.log")).unwrap();
    let output = program.run(&["backup", "-q"]).ok();
    assert_eq!(output.stderr, "");
}

#[test]
fn processes_that_log_at_once_do_not_mix_their_records() {
    let program = Program::new();
    program
        .home
        .write_config("logging:\n  max_size_mb: 1\n  backup_count: 3\n")
        .unwrap();
    let almost = "2026-07-04 10:00:00,000 INFO agent: filler\n".repeat(24_380);
    program.home.write("logs/agent.log", almost).unwrap();
    let jobs = "for n in 1 2 3 4 5 6 7 8; do $HERMES backup -o $n.zip & done; wait";
    program.shell(jobs).ok();
    let shown = program
        .run(&["logs", "-n", "100", "--component", "cli"])
        .ok()
        .stdout;
    let whole = shown
        .lines()
        .filter(|line| line.contains("backup written path=") || line.contains("the backup failed"))
        .count();
    assert_eq!((shown.lines().count(), whole), (8, 8), "{shown}");
}
