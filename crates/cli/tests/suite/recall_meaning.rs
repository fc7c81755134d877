//! Searching by meaning, with a model file in which words mean what the test says.

use std::path::PathBuf;

use hermes_testkit::eventually;
use hermes_testkit::gguf::write_meanings;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;
use super::recall_lab::{LIMIT, asking, each, past, seed, told};

/// Puts a model beside the settings in which cars are vehicles and roofs are shingles.
fn with_meanings(program: &Program) -> PathBuf {
    let file = program.home.path().join("models/meanings.gguf");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    write_meanings(
        &file,
        &[&["car", "vehicle", "automobile"], &["roof", "shingles"]],
    )
    .unwrap();
    let config = program.home.read("config.yaml").unwrap_or_default();
    let config = format!("{config}sessions: {{embedding_model: meanings.gguf}}\n");
    program.home.write_config(&config).unwrap();
    file
}

fn sessions() -> [Json; 3] {
    [
        past(
            "drive",
            "cli",
            1,
            &["my car makes a noise", "look at the belt"],
        ),
        past("house", "cli", 2, &["the roof leaks", "new shingles then"]),
        past(
            "words",
            "cli",
            3,
            &["what does automobile mean", "a thing with wheels"],
        ),
    ]
}

fn search(program: &Program, query: &str, semantic: bool) -> Vec<String> {
    let mut arguments = vec!["sessions", "search", query, "--json"];
    arguments.extend(semantic.then_some("--semantic"));
    let hits = program.run(&arguments).ok().json();
    let hits = hits.as_array().unwrap().iter();
    hits.map(|hit| hit["session_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_paraphrase_is_found_that_shares_no_word() {
    let program = Program::new();
    seed(&program, "default", &sessions());
    with_meanings(&program);
    let indexed = program.run(&["sessions", "index", "--json"]).ok().json();
    assert_eq!(
        (&indexed["made"], &indexed["missing"]),
        (&json!(6), &json!(0)),
        "{indexed}"
    );
    let again = program.run(&["sessions", "index"]).ok().stdout;
    assert!(
        again.starts_with("0 messages indexed with meanings.gguf:"),
        "{again}"
    );
    // By words only the one that says it; by meaning the car too, and the roof in neither case.
    assert_eq!(search(&program, "automobile", false), ["words"]);
    assert_eq!(search(&program, "automobile", true), ["words", "drive"]);
    // Where no word is the same there is only the meaning.
    assert_eq!(search(&program, "vehicle", false), Vec::<String>::new());
    let mut found = search(&program, "vehicle", true);
    found.sort_unstable();
    assert_eq!(found, ["drive", "words"]);
    // What means nothing to the model is still found by its words.
    assert_eq!(search(&program, "belt", true), ["drive"]);
}

#[test]
fn the_tool_finds_it_too_and_says_when_the_model_is_gone() {
    let (server, program) = asking(
        &[
            json!({"query": "vehicle"}),
            json!({"query": "vehicle", "sort": "newest"}),
        ],
        "",
    );
    seed(&program, "default", &sessions());
    let file = with_meanings(&program);
    program.run(&["sessions", "index"]).ok();
    let found = told(&server, &program);
    let mut both = each(&found[0], "session_id");
    both.sort_unstable();
    assert_eq!(both, ["drive", "words"]);
    assert_eq!(found[0].get("notes"), None);
    assert_eq!(found[1]["count"], 0, "by time only words count");

    std::fs::remove_file(&file).unwrap();
    let (server, program2) = asking(
        &[json!({"query": "belt"})],
        "sessions: {embedding_model: gone.gguf}\n",
    );
    seed(&program2, "default", &sessions());
    let found = told(&server, &program2);
    assert_eq!(each(&found[0], "session_id"), ["drive"]);
    let note = found[0]["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("searched by words only: ") && note.contains("gone.gguf"),
        "{note}"
    );
}

#[test]
fn without_a_model_or_vectors_that_is_said() {
    let program = Program::new();
    seed(&program, "default", &sessions());
    for command in [
        &["sessions", "search", "x", "--semantic"][..],
        &["sessions", "index"],
    ] {
        let refused = program.run(command).code(2);
        assert!(
            refused.stderr.contains("sessions.embedding_model"),
            "{}",
            refused.stderr
        );
    }
    let file = with_meanings(&program);
    let found = program
        .run(&["sessions", "search", "vehicle", "--semantic"])
        .ok();
    assert!(
        found.stderr.contains("6 messages are not compared yet"),
        "{}",
        found.stderr
    );
    std::fs::write(&file, b"not a model").unwrap();
    let refused = program.run(&["sessions", "index"]).code(1);
    assert!(
        refused.stderr.contains("is not a GGUF model file"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
}

#[test]
fn vectors_are_made_behind_a_conversation() {
    let scenario = Scenario::new().reply(Step::new(text("I see.")).repeat());
    // The title is made by a helper that is told not to think.
    let server = ModelServer::start(scenario.extra_keys(["think"])).unwrap();
    let program = with_model(&server.base_url());
    seed(&program, "default", &sessions());
    with_meanings(&program);
    let command = program.command(&["chat", "--plain"]);
    let terminal = Terminal::spawn(&command, 100, 30).unwrap();
    terminal.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    // Nothing before the first answer.
    let waiting = program
        .run(&["sessions", "search", "vehicle", "--semantic"])
        .ok();
    assert!(
        waiting.stderr.contains("6 messages are not compared yet"),
        "{}",
        waiting.stderr
    );
    terminal.send("the shingles are blue\r").unwrap();
    terminal.wait_for_text("I see.", LIMIT).unwrap();
    eventually(LIMIT, "vectors of the past and of now", || {
        let found = program
            .run(&["sessions", "search", "roof", "--semantic"])
            .ok();
        let done = found.stdout.contains("blue") && !found.stderr.contains("not compared yet");
        done.then_some(())
    })
    .unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}
