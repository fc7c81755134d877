//! Several conversations in one program, on the screen and at the prompt.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::Value as Json;

use super::program::Program;
use super::screen::{LIMIT, READY, last_said, leave, open, quiet};

fn served(answers: &[&str]) -> ModelServer {
    let scenario = answers.iter().fold(Scenario::new(), |scenario, answer| {
        scenario.reply(text(*answer))
    });
    ModelServer::start(scenario).unwrap()
}

fn last_body(server: &ModelServer) -> String {
    server.requests().last().unwrap().expect_json().to_string()
}

/// Sends a line and waits for what it leads to.
fn say(terminal: &Terminal, line: &str, answer: &str) {
    terminal.send(&format!("{line}\r")).unwrap();
    terminal.wait_for_text(answer, LIMIT).unwrap();
}

fn plain(program: &Program, arguments: &[&str]) -> Terminal {
    let mut all = vec!["chat", "--plain"];
    all.extend(arguments);
    let terminal = Terminal::spawn(&program.command(&all), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal
}

fn rows(program: &Program, session: &str, more: &[&str]) -> String {
    let mut arguments = vec!["sessions", "show", session, "--json"];
    arguments.extend(more);
    program.run(&arguments).ok().stdout
}

// CL-21 CL-22
#[test]
fn a_conversation_is_left_taken_up_again_and_undone_on_the_screen() {
    let server = served(&[
        "First answer.",
        "Second answer.",
        "Third answer.",
        "Fourth answer.",
    ]);
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 40);
    // Nothing was said yet, so nothing is lost.
    say(&terminal, "/new", "This is a new conversation");
    say(&terminal, "first question", "First answer.");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/title morning talk", "is called morning talk");
    say(&terminal, "/new", "Begin another conversation");
    terminal.send("1").unwrap();
    terminal.wait_for_text("confirmed", LIMIT).unwrap();
    // What is written at once already belongs to the new one.
    say(&terminal, "second question", "Second answer.");
    assert!(!last_body(&server).contains("first question"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // By its title, with a look back.
    say(
        &terminal,
        "/resume morning talk",
        "↻ morning talk (2 messages)",
    );
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "third question", "Third answer.");
    let body = last_body(&server);
    assert!(body.contains("first question") && !body.contains("second question"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // What is taken back comes back to the composer and stays in the rows.
    say(&terminal, "/undo now", "Taken back: third question");
    terminal.wait_for_text("❯ third question", LIMIT).unwrap();
    assert!(!rows(&program, "morning talk", &[]).contains("third question"));
    assert!(rows(&program, "morning talk", &["--all"]).contains("third question"));
    terminal.send(" again\r").unwrap();
    terminal.wait_for_text("Fourth answer.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "third question again");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("\x04").unwrap();
    let end = terminal
        .wait_for_text("4 messages, 2 of them yours", LIMIT)
        .unwrap();
    let again = "hermes chat --resume 'morning talk'";
    assert!(end.contains(again), "{}", end.text());
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-22
#[test]
fn several_messages_are_taken_back_at_once() {
    let server = served(&["Answer one.", "Answer two.", "Answer three."]);
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 40);
    for (question, answer) in [("apples", "Answer one."), ("pears", "Answer two.")] {
        say(&terminal, question, answer);
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    say(&terminal, "/undo 2 -y", "Taken back: apples");
    terminal.wait_for_text("❯ apples", LIMIT).unwrap();
    terminal.send(" and nuts\r").unwrap();
    terminal.wait_for_text("Answer three.", LIMIT).unwrap();
    let body = last_body(&server);
    assert!(body.contains("apples and nuts"), "{body}");
    assert!(
        !body.contains("pears") && !body.contains("Answer one."),
        "{body}"
    );
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/undo none", "/undo 2 takes the last two back");
    leave(&terminal);
}

// CL-19
#[test]
fn a_yes_for_good_is_written_down_and_a_no_changes_nothing() {
    let server = served(&["Answer."]);
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    say(&terminal, "question", "Answer.");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/clear", "Begin another conversation");
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text("cancelled", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/reset", "Yes, and do not ask again");
    terminal.send("2").unwrap();
    terminal
        .wait_for_text("This is a new conversation", LIMIT)
        .unwrap();
    leave(&terminal);
    let config = program.home.read("config.yaml").unwrap();
    assert!(
        config.contains("destructive_slash_confirm: false"),
        "{config}"
    );
}

// CL-22
#[test]
fn sessions_are_found_by_typing_and_copied_at_a_branch() {
    let server = served(&["One.", "Two.", "Three."]);
    let program = quiet(&server, "");
    let mut ids = Vec::new();
    for (question, title) in [("about apples", "fruit"), ("about cars", "wheels")] {
        program.run(&["chat", "-Q", "-q", question]).ok();
        let listed = program.run(&["sessions", "list", "--json"]).ok().stdout;
        let listed: Json = serde_json::from_str(&listed).unwrap();
        let id = listed[0]["session_id"].as_str().unwrap();
        program.run(&["sessions", "rename", id, title]).ok();
        ids.push(id.to_owned());
    }
    let terminal = open(&program, 100, 30);
    say(&terminal, "/sessions", "Go on with");
    // The preview is searched too, and the source is shown.
    terminal.send("apples").unwrap();
    terminal
        .wait_for(
            |screen| screen.contains("fruit") && !screen.contains("wheels"),
            LIMIT,
        )
        .unwrap();
    terminal.send("\r").unwrap();
    terminal
        .wait_for_text("↻ fruit (2 messages)", LIMIT)
        .unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/branch", "The copy is called fruit #2");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "and pears?", "Three.");
    assert!(last_body(&server).contains("about apples"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/history", "and pears?");
    say(&terminal, "/save talk.md", "written to");
    say(&terminal, "/copy", "Copied 6 characters");
    leave(&terminal);
    let saved = program.home.workspace().join("talk.md");
    assert!(
        std::fs::read_to_string(saved)
            .unwrap()
            .contains("and pears?")
    );
    assert!(!rows(&program, &ids[0], &[]).contains("pears"));
    assert!(rows(&program, "fruit #2", &[]).contains("pears"));
    for found in [["--resume", "fruit #2"], ["--continue", "fruit"]] {
        let terminal = plain(&program, &found);
        let screen = terminal.wait_for_text("● and pears?", LIMIT).unwrap();
        assert!(screen.contains("↻ fruit #2"), "{}", screen.text());
        terminal.send("\x04").unwrap();
        terminal.wait_exit(LIMIT).unwrap();
    }
}

// CL-22
#[test]
fn the_prompt_takes_conversations_up_where_they_were() {
    let server = served(&["Here.", "There."]);
    let program = quiet(&server, "");
    let project = program.home.workspace().join("project");
    std::fs::create_dir(&project).unwrap();
    let command = program.command(&["chat", "-Q", "-q", "where am I"]);
    command.current_dir(&project).run().unwrap().ok();
    let terminal = plain(&program, &[]);
    say(&terminal, "/sessions", "1. where am I");
    terminal.send("1\r").unwrap();
    terminal.wait_for_text("again.", LIMIT).unwrap();
    assert!(terminal.screen().text().contains("● where am I"));
    say(&terminal, "/status", "project");
    say(&terminal, "/resume nobody", "hint:");
    say(&terminal, "/undo", "y = this time");
    say(&terminal, "y", "Taken back: where am I");
    say(
        &terminal,
        "/new evening --yes",
        "This is a new conversation",
    );
    say(&terminal, "/title", "is called evening");
    say(&terminal, "hello", "There.");
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    // The directory of the program stays when that is wanted.
    let id = program.run(&["sessions", "list", "--json"]).ok().stdout;
    let id: Json = serde_json::from_str(&id).unwrap();
    let id = id[1]["session_id"].as_str().unwrap();
    for (more, restored) in [(&[][..], true), (&["--no-restore-cwd"][..], false)] {
        let mut arguments = vec!["--resume", id];
        arguments.extend(more);
        let terminal = plain(&program, &arguments);
        terminal.send("/status\r").unwrap();
        let screen = terminal.wait_for_text("directory", LIMIT).unwrap();
        let told = screen
            .text()
            .lines()
            .any(|line| line.starts_with("directory") && line.trim_end().ends_with("project"));
        assert_eq!(told, restored, "{}", screen.text());
        terminal.send("\x04").unwrap();
        terminal.wait_exit(LIMIT).unwrap();
    }
}

// CL-22
#[test]
fn a_conversation_is_found_by_its_id_the_beginning_of_it_and_the_last_of_its_title() {
    let server = served(&["One.", "Two."]);
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 40);
    say(&terminal, "first thing", "One.");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/title garden", "is called garden");
    say(&terminal, "/branch", "The copy is called garden #2");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "second thing", "Two.");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    let listed = program.run(&["sessions", "list", "--json"]).ok().stdout;
    let listed: Vec<Json> = serde_json::from_str(&listed).unwrap();
    let first = listed.iter().find(|one| one["title"] == "garden").unwrap();
    let id = first["session_id"].as_str().unwrap();
    let (beginning, _) = id.split_at(id.len() - 1);
    for (arguments, recap) in [
        (["--resume", id], "↻ garden (2 messages)"),
        (["--resume", beginning], "↻ garden (2 messages)"),
        (["--continue", "garden"], "↻ garden #2 (4 messages)"),
    ] {
        let mut all = vec!["chat"];
        all.extend(arguments);
        let command = program.command(&all).env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 100, 40).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        let screen = terminal.screen();
        assert!(screen.contains(recap), "{arguments:?}: {screen}");
        leave(&terminal);
    }
}

#[test]
fn a_conversation_is_picked_from_the_shell() {
    let server = served(&["One.", "Two."]);
    let program = quiet(&server, "");
    program.run(&["chat", "-Q", "-q", "about apples"]).ok();
    let command = program.command(&["sessions", "browse"]);
    let terminal = Terminal::spawn(&command.env("TERM", "xterm-256color"), 100, 30).unwrap();
    terminal.wait_for_text("Go on with", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("(2 messages)", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "and pears?", "Two.");
    assert!(last_body(&server).contains("about apples"));
    leave(&terminal);
    program.run(&["sessions", "browse"]).code(2);
}

#[test]
fn a_conversation_can_be_left_for_good() {
    let server = served(&["Gone soon."]);
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    say(&terminal, "a secret thing", "Gone soon.");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    say(&terminal, "/quit --delete", "It is gone for good.");
    terminal.send("1").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let listed = program.run(&["sessions", "list"]).ok().stdout;
    assert!(!listed.contains("secret"), "{listed}");
}

// CL-22
#[test]
fn as_much_of_an_earlier_conversation_is_shown_as_the_settings_say() {
    let answer: String = (1..=6)
        .map(|number| format!("line {number} {}\n", "of an answer ".repeat(4)))
        .collect();
    let server =
        ModelServer::start(Scenario::new().reply(Step::new(text(answer)).repeat())).unwrap();
    let settings = "resume_exchanges: 12, resume_max_user_chars: 400, resume_max_assistant_chars: 1000, \
                    resume_max_assistant_lines: 5";
    for (settings, first, question, last) in [
        ("", "question-3 ", false, "line 3"),
        (settings, "question-1 ", true, "line 5"),
    ] {
        let program = quiet(&server, &format!("display: {{{settings}}}\n"));
        let questions: String = (1..=12)
            .map(|number| {
                format!(
                    "question-{number} {} end-of-{number}\n",
                    "and on ".repeat(50)
                )
            })
            .collect();
        let talk = program.command(&["chat", "--plain"]).stdin(questions);
        talk.run().unwrap().ok();
        let command = program.command(&["chat", "--continue"]);
        let command = command.env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 120, 30).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        let all = terminal.everything().join("\n");
        let shown = all
            .split_once("question-")
            .map(|(_, rest)| format!("question-{rest}"));
        let shown = shown.unwrap_or_else(|| panic!("{all}"));
        assert!(shown.starts_with(first), "{all}");
        assert_eq!(shown.contains("end-of-12"), question, "{all}");
        assert!(shown.contains(last), "{all}");
        let next = format!("line {}", last[5..].parse::<u32>().unwrap() + 1);
        assert!(!shown.contains(&next), "{all}");
        leave(&terminal);
    }
}
