//! `kill -9` while a conversation is being shortened, in the real program.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, text};
use serde_json::{Value as Json, json};

use super::program::Program;
use super::speakers::{SPEAKERS, Speaker, configure};

const SESSION: &str = "20260101_000000_abcdef";
const QUESTION: &str = "and now paint it green";
const NEXT: &str = "and then?";
const PLANKS: usize = 20;
const SUMMARY: &str = "## Goal\nBuild a shed.\n\n## Remaining work\nPaint it.";
/// What only the request for a summary says.
const ASKS: &str = "You write the summary that another assistant will work from";
const NEVER: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(20);

/// A conversation that does not fit, and its server.
struct Shed {
    program: Program,
    server: ModelServer,
    mode: &'static str,
}

impl Shed {
    /// The first summary and every answer but the last come as slowly as said.
    fn new(speaker: &Speaker, summary: Duration, answer: Duration) -> Self {
        let scenario = Scenario::new()
            // Helpers ask servers on this machine not to think.
            .extra_keys(["think"])
            .reply(Step::new(text(SUMMARY)).when_body(ASKS).delay(summary))
            .reply(Step::new(text(SUMMARY)).when_body(ASKS).repeat())
            .reply(Step::new(text("Going on.")).when_user(NEXT).repeat())
            .reply(Step::new(text("Never.")).delay(answer).repeat());
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let mode = configure(&program, &server, speaker, 32_000);
        let line = json!({
            "id": SESSION, "source": "cli", "started_at": 1.0, "messages": talk(),
        });
        program
            .home
            .write_work("in.jsonl", format!("{line}\n"))
            .unwrap();
        program.run(&["sessions", "import", "in.jsonl"]).ok();
        Self {
            program,
            server,
            mode,
        }
    }

    /// Asks, and kills the program so long after its request of this number came.
    fn killed_after(&self, requests: usize, wait: Duration) {
        let arguments = ["-z", QUESTION, "--resume", SESSION];
        let running = self.program.command(&arguments).spawn().unwrap();
        eventually(LIMIT, "the model is asked", || {
            (self.asked().len() >= requests).then_some(())
        })
        .unwrap();
        std::thread::sleep(wait);
        running.kill().unwrap();
    }

    /// The requests for an answer or a summary.
    fn asked(&self) -> Vec<RecordedRequest> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.protocol.is_some());
        requests
    }

    fn is_shortened(&self) -> bool {
        let rows = rows(&self.program, SESSION);
        rows.iter()
            .any(|row| row.contains("[Summary of the earlier conversation"))
    }

    /// Whether all that was said is there, once, and a strict vendor takes what is made of it.
    fn goes_on(&self) {
        let mode = self.mode;
        let complete = |rows: &[String]| {
            for plank in 0..PLANKS {
                let count = |row: &&String| row.contains(&format!("plank{plank} "));
                assert_eq!(rows.iter().filter(count).count(), 1, "{mode}: {plank}");
            }
            let asked = format!("\"user\" \"{QUESTION}\"");
            let count = rows.iter().filter(|row| **row == asked).count();
            assert_eq!(count, 1, "{mode}: {rows:?}");
        };
        complete(&rows(&self.program, SESSION));
        let arguments = ["-z", NEXT, "--resume", SESSION];
        let answer = self.program.run(&arguments).ok();
        assert_eq!(answer.stdout, "Going on.\n", "{mode}: {}", answer.stderr);
        let after = rows(&self.program, SESSION);
        complete(&after);
        let next = format!("\"user\" \"{NEXT}\"");
        assert!(after.contains(&next), "{mode}: {after:?}");
        let refused: Vec<_> = self
            .server
            .requests()
            .into_iter()
            .flat_map(|request| request.violations)
            .collect();
        assert!(refused.is_empty(), "{mode}: {refused:?}");
        let check = self.program.run(&["sessions", "repair", "--check-only"]);
        assert_eq!(check.code, Some(0), "{}", check.stdout);
    }
}

/// What a session holds, oldest first, with what a summary took the place of.
fn rows(program: &Program, session: &str) -> Vec<String> {
    let arguments = ["sessions", "show", session, "--all", "--json"];
    let shown = program.run(&arguments).ok().json();
    shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        // What stands behind a summary was moved there: what is left of it at its old place is no row of anybody.
        .filter(|message| message["state"] != "rewound")
        .map(|message| format!("{} {}", message["role"], message["content"]))
        .collect()
}

/// Rounds of work on a shed.
fn talk() -> Vec<Json> {
    let mut rows = vec![
        json!({"role": "user", "content": "first question"}),
        json!({"role": "assistant", "content": "first answer"}),
        json!({"role": "user", "content": "build a shed"}),
    ];
    for plank in 0..PLANKS {
        let id = format!("call_{plank}");
        let call = json!({
            "id": id, "type": "function",
            "function": {"name": "terminal", "arguments": json!({"command": "saw"}).to_string()},
        });
        let wood = format!("plank{plank} {}", "wood ".repeat(1_200));
        rows.push(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
        rows.push(json!({
            "role": "tool", "content": wood, "tool_call_id": id, "tool_name": "terminal",
        }));
    }
    rows.push(json!({"role": "assistant", "content": "the walls stand"}));
    for (index, row) in rows.iter_mut().enumerate() {
        row["timestamp"] = json!(1.0 + index as f64);
    }
    rows
}

// AG-22, AG-34
#[test]
fn a_kill_while_the_summary_is_written_leaves_the_conversation_as_it_was() {
    for speaker in &SPEAKERS {
        let shed = Shed::new(speaker, NEVER, Duration::ZERO);
        shed.killed_after(1, Duration::from_millis(30));
        assert!(!shed.is_shortened(), "{}", shed.mode);
        shed.goes_on();
    }
}

// AG-22, AG-34
#[test]
fn a_kill_after_the_summary_was_kept_goes_on_from_it() {
    for speaker in &SPEAKERS {
        let shed = Shed::new(speaker, Duration::ZERO, NEVER);
        shed.killed_after(2, Duration::ZERO);
        assert!(shed.is_shortened(), "{}", shed.mode);
        shed.goes_on();
        let last = shed.asked().pop().unwrap();
        let body = String::from_utf8(last.body).unwrap();
        assert!(body.contains("Build a shed."), "{}", shed.mode);
        assert!(!body.contains("plank3 "), "{}", shed.mode);
    }
}

// AG-24
#[test]
fn of_two_programs_in_one_conversation_one_shortens_it() {
    let shed = Shed::new(&SPEAKERS[0], Duration::from_secs(3), Duration::ZERO);
    let arguments = ["-z", QUESTION, "--resume", SESSION];
    let first = shed.program.command(&arguments).spawn().unwrap();
    eventually(LIMIT, "a summary is asked for", || {
        (!shed.asked().is_empty()).then_some(())
    })
    .unwrap();
    let arguments = ["-z", NEXT, "--resume", SESSION];
    let second = shed.program.run(&arguments).ok();
    assert_eq!(second.stdout, "Going on.\n", "{}", second.stderr);
    let waits = "is working in this conversation; waiting for it";
    assert!(second.stderr.contains(waits), "{}", second.stderr);
    assert!(shed.is_shortened(), "the first one is through with it");
    first.wait(LIMIT).unwrap().ok();
    let summaries = shed.server.requests();
    let summaries = summaries
        .iter()
        .filter(|request| String::from_utf8_lossy(&request.body).contains(ASKS));
    assert_eq!(summaries.count(), 1);
    let kept = rows(&shed.program, SESSION);
    let is_summary = |row: &&String| row.contains("[Summary of the earlier conversation");
    assert_eq!(kept.iter().filter(is_summary).count(), 1);
}

// AG-22, AG-34: somewhere between the answer with the summary and the request that goes on from it.
#[test]
fn a_kill_between_the_summary_and_the_next_request_loses_nothing() {
    for trial in 0..8 {
        let shed = Shed::new(&SPEAKERS[0], Duration::from_millis(8), NEVER);
        shed.killed_after(1, Duration::from_millis(4 + 3 * trial));
        shed.goes_on();
    }
}

impl Shed {
    /// The same, with a conversation that goes on in a session of its own when it is shortened.
    fn apart(speaker: &Speaker, summary: Duration, answer: Duration) -> Self {
        let shed = Self::new(speaker, summary, answer);
        let setting = ["config", "set", "compression.in_place", "false"];
        shed.program.run(&setting).ok();
        shed
    }

    /// Whether all that was said is found, the question stands once where the conversation goes on, and it does.
    fn goes_on_apart(&self, place: &str) {
        let once = |text: &str, rows: &[String]| {
            let wanted = format!("\"user\" \"{text}\"");
            let count = rows.iter().filter(|row| **row == wanted).count();
            assert_eq!(count, 1, "{place}: {text}: {rows:?}");
        };
        once(QUESTION, &rows(&self.program, SESSION));
        let answer = self.program.run(&["-z", NEXT, "--resume", SESSION]).ok();
        assert_eq!(answer.stdout, "Going on.\n", "{place}: {}", answer.stderr);
        let after = rows(&self.program, SESSION);
        once(QUESTION, &after);
        once(NEXT, &after);
        let is_summary = |row: &&String| row.contains("[Summary of the earlier conversation");
        // A killed one is taken for one that is still at it, for a while.
        assert!(after.iter().filter(is_summary).count() <= 1, "{place}");
        for plank in [0, PLANKS / 2, PLANKS - 1] {
            let found = self
                .program
                .stdout(&["sessions", "search", &format!("plank{plank}")]);
            assert!(found.contains(&format!("plank{plank}")), "{place}: {found}");
        }
        let requests = self.server.requests().into_iter();
        let refused: Vec<_> = requests.flat_map(|request| request.violations).collect();
        assert!(refused.is_empty(), "{place}: {refused:?}");
        let check = self.program.run(&["sessions", "repair", "--check-only"]);
        assert_eq!(check.code, Some(0), "{place}: {}", check.stdout);
    }
}

// AG-22, AG-34: the conversation is in one session or in the other, never in half of each.
#[test]
fn a_kill_around_the_move_to_another_session_loses_nothing() {
    for speaker in &SPEAKERS {
        let shed = Shed::apart(speaker, NEVER, Duration::ZERO);
        shed.killed_after(1, Duration::from_millis(30));
        assert!(!shed.is_shortened(), "{}", shed.mode);
        shed.goes_on_apart(shed.mode);
        let shed = Shed::apart(speaker, Duration::ZERO, NEVER);
        shed.killed_after(2, Duration::ZERO);
        assert!(shed.is_shortened(), "{}", shed.mode);
        shed.goes_on_apart(shed.mode);
    }
    for trial in 0..8 {
        let shed = Shed::apart(&SPEAKERS[0], Duration::from_millis(8), NEVER);
        shed.killed_after(1, Duration::from_millis(4 + 3 * trial));
        shed.goes_on_apart(&format!("trial {trial}"));
    }
}
