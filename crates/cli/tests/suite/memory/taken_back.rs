//! What an external memory hears of a conversation that is taken back in part, said again, or made shorter.

use std::time::Duration;

use hermes_testkit::memory_service::MemoryService;
use hermes_testkit::model_server::{Scenario, Step, error, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::approval::say;
use super::external::{home, mem0, variables};

const LIMIT: Duration = Duration::from_secs(60);

/// The first words of every turn that was told of.
fn told(service: &MemoryService) -> Vec<String> {
    let told = service.to("POST /memories").into_iter();
    let words = told.map(|asked| {
        asked.body["messages"][0]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    words.collect()
}

fn open(program: &crate::suite::program::Program, arguments: &[&str]) -> Terminal {
    let screen = Terminal::spawn(&program.command(arguments), 120, 100).unwrap();
    screen.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    screen
}

fn close(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

// LN-37, LN-39
#[test]
fn what_the_user_takes_back_is_taken_back_from_the_memory_too() {
    let service = mem0();
    service.on("DELETE /memories/*", json!({"message": "ok"}));
    let scenario = Scenario::new()
        .reply(Step::new(text("So be it.")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let (_server, program) = home(scenario, "mem0", &variables(&service));
    let screen = open(&program, &["chat", "--plain"]);
    say(&screen, "I drink Lapsang.", "So be it.");
    say(&screen, "No, I drink Assam.", "So be it.");
    // Said again it is the same message.
    say(&screen, "/retry", "So be it.");
    hermes_testkit::eventually(LIMIT, "both turns are told of", || {
        (told(&service).len() == 2).then_some(())
    })
    .unwrap();
    let mark = &service.to("POST /memories")[1].body["metadata"]["hermes"];
    let found = json!({"results": [
        {"id": "7", "memory": "Drinks Assam.", "metadata": {"hermes": mark}},
        {"id": "8", "memory": "Drinks Lapsang.", "metadata": {"hermes": "another turn"}},
    ]});
    service.on("POST /search", found);
    say(&screen, "/undo now", "Taken back: No, I drink Assam.");
    service.wait_for("DELETE /memories/*").unwrap();
    close(&screen);
    let gone: Vec<String> = service.lines();
    let gone: Vec<&String> = gone
        .iter()
        .filter(|line| line.starts_with("DELETE"))
        .collect();
    assert_eq!(gone, ["DELETE /memories/7"]);
    assert_eq!(told(&service), ["I drink Lapsang.", "No, I drink Assam."]);
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-37
#[test]
fn what_was_never_told_of_is_before_a_compaction_drops_it() {
    for in_place in [true, false] {
        let service = mem0();
        let long = format!("Noted. {}", "so it goes. ".repeat(900));
        let scenario = Scenario::new()
            .reply(Step::new(text("Goal: a shed.")).when_no_tools().repeat())
            .reply(Step::new(text(long)).repeat());
        let (_server, program) = home(scenario, "''", &variables(&service));
        let started = program.run(&["chat", "-Q", "-q", "the shed"]).ok();
        let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
        for part in 0..7 {
            let question = format!("part {part} of the shed");
            program.run(&["-z", &question, "--resume", session]).ok();
        }
        assert_eq!(
            service.lines(),
            Vec::<String>::new(),
            "no memory is used yet"
        );
        program
            .run(&["config", "set", "memory.provider", "mem0"])
            .ok();
        let setting = [
            "config",
            "set",
            "compression.in_place",
            &in_place.to_string(),
        ];
        program.run(&setting).ok();
        // One of them is told of when it ends, as ever.
        program
            .run(&["-z", "part 7 of the shed", "--resume", session])
            .ok();
        assert_eq!(told(&service), ["part 7 of the shed"]);
        let screen = open(&program, &["chat", "--plain", "--resume", session]);
        say(&screen, "/compress", "was shortened");
        screen.send("and the roof\r").unwrap();
        hermes_testkit::eventually(LIMIT, "the last turn is told of", || {
            (told(&service).last()? == "and the roof").then_some(())
        })
        .unwrap();
        close(&screen);
        let heard = told(&service);
        let count = |words: &str| heard.iter().filter(|said| *said == words).count();
        // The first and the last exchanges stay word for word, so they need not be told of yet.
        assert_eq!(
            [count("part 1 of the shed"), count("part 2 of the shed")],
            [1, 1],
            "{heard:?}"
        );
        assert_eq!(count("part 7 of the shed"), 1, "{heard:?}");
        assert_eq!(heard.last().unwrap(), "and the roof");
        assert_eq!(service.unexpected(), Vec::<String>::new());
    }
}

// LN-37: a turn that failed is no turn of the memory; when its message is answered after all, it is.
#[test]
fn a_message_that_is_answered_at_the_second_try_is_told_of() {
    let service = mem0();
    let scenario = Scenario::new()
        .reply(Step::new(error(400).message("out of order")))
        .reply(Step::new(text("So be it.")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let (_server, program) = home(scenario, "mem0", &variables(&service));
    let screen = open(&program, &["chat", "--plain"]);
    say(&screen, "I drink Lapsang.", "out of order");
    assert_eq!(told(&service), Vec::<String>::new());
    say(&screen, "/retry", "So be it.");
    close(&screen);
    assert_eq!(told(&service), ["I drink Lapsang."]);
}
