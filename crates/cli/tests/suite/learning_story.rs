//! Ten conversations of one home: a task that was clumsy at first is done right at the first try in the last one.
//!
//! The model answers by what it is sent. It knows the way only where the list of skills names the skill, the skill it
//! read holds the corrected step, and the prompt holds what is remembered; else it says that it does not know.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{Answer, ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LIMIT: Duration = Duration::from_secs(120);
/// How a look back begins.
const LOOKING: &str = "This is not from the user";
const SKILL: &str = "sales-report";
const KEPT: &str = "Wants reports as Markdown.";
/// Nobody is asked about commands, and no title asks the model.
const SETTINGS: &str =
    "auxiliary: {title_generation: {enabled: false}}\napprovals: {mode: 'off'}\n";
/// What the task comes down to.
const SCRIPT: &str = r#"month= format=csv
while [ $# -gt 0 ]; do
    case "$1" in
        --month) month=$2 ;;
        --format) format=$2 ;;
        *) echo "unknown: $1" >&2; exit 2 ;;
    esac
    shift 2
done
[ -n "$month" ] || { echo "which --month?" >&2; exit 2; }
echo "sales of $month" > "sales-$month.$format"
echo "wrote sales-$month.$format"
"#;
/// How somebody finds it who was never told.
const CLUMSY: [&str; 10] = [
    "make report",
    "ls",
    "ls tools",
    "cat tools/report.sh",
    "sh tools/report.sh",
    "sh tools/report.sh may",
    "sh tools/report.sh --mon may",
    "ls sales-may.csv",
    "sh tools/report.sh --month may",
    "cat sales-may.csv",
];

fn terminal(command: &str) -> Answer {
    tool_call("terminal", json!({ "command": command }))
}

fn written() -> String {
    format!(
        "---\nname: {SKILL}\ndescription: Makes the sales report of a month\n---\n\n# Sales report\n\n\
         1. Run `sh tools/report.sh --month MONTH`.\n2. It says which file it wrote; name that file.\n"
    )
}

/// The model.
fn scenario() -> Scenario {
    let mut all = Scenario::new();
    // Looking back: what took detours is written down, if the way that worked is in what it sees.
    let create = json!({"action": "create", "name": SKILL, "content": written()});
    all = all
        .reply(
            Step::new(tool_call("skill_manage", create))
                .when_user(LOOKING)
                .when_body("wrote sales-may.csv"),
        )
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat());
    // Without a skill.
    for command in CLUMSY {
        let step = Step::new(terminal(command)).when_user("report for May");
        all = all.reply(step.when_system_lacks(SKILL));
    }
    all = all.reply(Step::new(text("Done: sales-may.csv")).when_last("sales of may"));
    // With the skill, and corrected.
    let view = || tool_call("skill_view", json!({ "name": SKILL }));
    let patch = json!({"action": "patch", "name": SKILL,
        "old_string": "--month MONTH`", "new_string": "--month MONTH --format md`"});
    let keep = json!({"target": "user", "action": "add", "content": KEPT});
    all = all
        .reply(
            Step::new(view())
                .when_last("report for June")
                .when_system(SKILL),
        )
        .reply(
            Step::new(terminal("sh tools/report.sh --month june"))
                .when_user("report for June")
                .when_last("--month MONTH`"),
        )
        .reply(Step::new(text("Done: sales-june.csv")).when_last("wrote sales-june.csv"))
        .reply(Step::new(tool_call("skill_manage", patch)).when_last("as Markdown please"))
        .reply(Step::new(tool_call("memory", keep)).when_last("skill sales-report changed"))
        .reply(
            Step::new(terminal("sh tools/report.sh --month june --format md"))
                .when_user("as Markdown please")
                .when_last("entry_count"),
        )
        .reply(Step::new(text("Done: sales-june.md")).when_last("wrote sales-june.md"));
    // With all that was learned.
    all.reply(
        Step::new(view())
            .when_last("report for July")
            .when_system(SKILL)
            .when_system(KEPT),
    )
    .reply(
        Step::new(terminal("sh tools/report.sh --month july --format md"))
            .when_user("report for July")
            .when_last("--month MONTH --format md`"),
    )
    .reply(Step::new(text("Done: sales-july.md")).when_last("wrote sales-july.md"))
    .reply(
        Step::new(text("I do not know how."))
            .when_user("report for")
            .repeat(),
    )
    .reply(Step::new(text("so be it")).repeat())
}

/// What a conversation cost.
#[derive(Debug, Default, Clone, Copy)]
struct Figures {
    calls: usize,
    /// Calls of looking back.
    behind: usize,
    /// Roughly, of all that was sent.
    tokens: usize,
}

struct Story {
    server: ModelServer,
    program: Program,
}

impl Story {
    fn new() -> Self {
        let server = ModelServer::start(scenario()).unwrap();
        let program = with_model(&server.base_url());
        let config = program.home.read("config.yaml").unwrap();
        let config = format!("{config}{SETTINGS}");
        program.home.write_config(&config).unwrap();
        program.home.write_work("tools/report.sh", SCRIPT).unwrap();
        Self { server, program }
    }

    /// A conversation: each line is answered with these words before the next is typed.
    fn session(&self, lines: &[(&str, &str)], before_leaving: impl FnOnce(&Self)) -> Figures {
        let from = self.server.requests().len();
        let screen =
            Terminal::spawn(&self.program.command(&["chat", "--plain"]), 120, 100).unwrap();
        screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
        for (line, answer) in lines {
            screen.send(&format!("{line}\r")).unwrap();
            let said = |page: &Screen| {
                let page = page.text();
                page.contains(answer) || page.contains("I do not know how.")
            };
            let told = screen.wait_for(said, LIMIT);
            let page = screen.screen().text();
            assert!(told.is_ok() && page.contains(answer), "{line}\n{page}");
        }
        before_leaving(self);
        screen.send("/exit\r").unwrap();
        assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
        let mut figures = Figures::default();
        for request in self.server.requests().iter().skip(from) {
            if !request.path.ends_with("/chat/completions") {
                continue;
            }
            match String::from_utf8_lossy(&request.body).contains(LOOKING) {
                true => figures.behind += 1,
                false => figures.calls += 1,
            }
            figures.tokens += request.body.len() / 4;
        }
        figures
    }

    fn log(&self) -> Vec<Json> {
        let log = self.program.run(&["learning", "log", "--json"]).ok().json();
        log["changes"].as_array().unwrap().clone()
    }

    /// Waits until a look back was written down.
    fn looked_back(&self) {
        let row = || {
            self.log()
                .into_iter()
                .find(|row| row["subject"] == "review")
        };
        let row = eventually(LIMIT, "the look back is written down", row).unwrap();
        assert_eq!(row["summary"], "looked back: 1 kept");
    }

    fn skill(&self) -> String {
        let read = self.program.home.read(&format!("skills/{SKILL}/SKILL.md"));
        read.unwrap_or_default()
    }

    fn work(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.program.home.workspace().join(file)).ok()
    }
}

// LN-36 LN-2 LN-27 LN-30 AG-26
#[test]
fn in_ten_conversations_a_clumsy_task_becomes_one_done_right_at_once() {
    let story = Story::new();
    let mut all = Vec::new();
    let first = [("Make the sales report for May", "Done: sales-may.csv")];
    all.push(story.session(&first, Story::looked_back));
    assert_eq!(story.skill(), written(), "looking back wrote the skill");
    assert!(story.work("sales-may.csv").is_some());

    let second = [
        ("Make the sales report for June", "Done: sales-june.csv"),
        ("No, always as Markdown please", "Done: sales-june.md"),
    ];
    all.push(story.session(&second, |_| {}));
    assert!(story.skill().contains("--month MONTH --format md`"));
    let about_user = story.program.home.read("memories/USER.md").unwrap();
    assert_eq!(about_user, KEPT);

    for number in 3..=9 {
        let line = format!("What is {number}+{number}?");
        all.push(story.session(&[(line.as_str(), "so be it")], |_| {}));
    }
    let last = [("Make the sales report for July", "Done: sales-july.md")];
    all.push(story.session(&last, |_| {}));
    assert_eq!(
        story.work("sales-july.md").as_deref(),
        Some("sales of july\n")
    );
    assert!(story.work("sales-july.csv").is_none(), "at the first try");

    for (number, figures) in (1..).zip(&all) {
        println!(
            "conversation {number:>2}: {:>2} model calls and {} behind, about {} tokens sent",
            figures.calls, figures.behind, figures.tokens
        );
    }
    let (first, last) = (all[0], all[9]);
    assert_eq!((first.calls, last.calls), (11, 3));
    assert_eq!((first.behind, last.behind), (2, 0));
    assert!(last.tokens * 2 < first.tokens, "{first:?} {last:?}");

    // Everything that was learned says where it came from, and can be taken back.
    let log = story.log();
    let by = |subject: &str| -> Vec<&Json> {
        let rows = log.iter().rev();
        rows.filter(|row| row["subject"] == subject)
            .map(|row| &row["origin"])
            .collect()
    };
    assert_eq!(
        by("skill:sales-report"),
        [&json!("background_review"), &json!("foreground")]
    );
    assert_eq!(by("user"), [&json!("foreground")]);
    let usage = story.program.run(&["curator", "usage", "--json"]).ok();
    let usage = usage.json();
    let used = usage["skills"].as_array().unwrap().iter();
    let used: Vec<&Json> = used.filter(|skill| skill["name"] == SKILL).collect();
    assert_eq!(
        (&used[0]["use_count"], &used[0]["patch_count"]),
        (&json!(2), &json!(1)),
        "{used:?}"
    );
}
