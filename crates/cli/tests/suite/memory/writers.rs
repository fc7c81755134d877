//! Several processes that write, and some that are killed while they do.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};

use super::add;
use crate::suite::chat::with_model;
use crate::suite::program::Program;

const LONG: Duration = Duration::from_secs(240);
const WRITERS: usize = 8;
const ENTRIES: usize = 25;
const EDITS: usize = 20;

/// Edits the file as the reference does: under its lock, with another file put in its place.
fn edit(folder: &Path, number: usize) {
    let lock = folder.join("MEMORY.md.lock");
    let lock = File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    let file = folder.join("MEMORY.md");
    let before = fs::read_to_string(&file).unwrap();
    let saved = folder.join("saved");
    fs::write(&saved, format!("By hand {number}.\n§\n{before}")).unwrap();
    fs::rename(&saved, &file).unwrap();
    lock.unlock().unwrap();
}

// LN-7, LN-8
#[test]
fn eight_processes_and_an_editor_that_write_at_once_lose_nothing() {
    let entry =
        |writer: usize, number: usize| add(&format!("Writer {writer} wrote line {number}."));
    let mut scenario = Scenario::new();
    for writer in 0..WRITERS {
        let first = tool_call("memory", entry(writer, 0));
        let calls = (1..ENTRIES).fold(first, |answer, number| {
            answer.and_tool_call("memory", entry(writer, number))
        });
        scenario = scenario.reply(Step::new(calls).when_user(format!("writer {writer} begins")));
    }
    let server = ModelServer::start(scenario.reply(Step::new(text("done")).repeat())).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}memory: {{memory_char_limit: 100000}}\n");
    program.home.write_config(&config).unwrap();
    let running: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let question = format!("writer {writer} begins");
            program.command(&["-z", &question]).spawn().unwrap()
        })
        .collect();
    let begun = || program.home.read("memories/MEMORY.md").ok();
    eventually(LONG, "the first entry", begun).unwrap();
    for number in 0..EDITS {
        edit(&program.home.path().join("memories"), number);
        std::thread::sleep(Duration::from_millis(5));
    }
    for one in running {
        assert_eq!(one.wait(LONG).unwrap().ok().stdout, "done\n");
    }
    let file = program.home.read("memories/MEMORY.md").unwrap();
    let entries: BTreeSet<&str> = file.split("\n§\n").collect();
    assert_eq!(entries.len(), WRITERS * ENTRIES + EDITS, "{file}");
    for number in 0..EDITS {
        assert!(entries.contains(&*format!("By hand {number}.")), "{file}");
    }
    let log = program
        .run(&["memory", "log", "-n", "500", "--json"])
        .ok()
        .json();
    assert_eq!(log["changes"].as_array().unwrap().len(), WRITERS * ENTRIES);
}

/// What the files and the journal say after a kill.
fn check(program: &Program, tried: usize) -> (usize, usize) {
    let listed = program.run(&["memory", "list", "--json"]).ok().json();
    assert_eq!(
        listed["memory"]["edited_outside"], false,
        "after {tried}: {listed}"
    );
    let kept: BTreeSet<String> = listed["memory"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["text"].as_str().unwrap().to_owned())
        .collect();
    let log = program
        .run(&["memory", "log", "-n", "500", "--json"])
        .ok()
        .json();
    let noted: BTreeSet<String> = log["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["after"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        kept.is_subset(&noted),
        "nothing is kept that was not noted: {kept:?}"
    );
    (kept.len(), noted.len())
}

// LN-4, LN-7: a kill between the journal and the file, or anywhere else.
#[test]
fn a_writer_that_is_killed_leaves_the_file_whole_and_the_next_goes_on() {
    let program = Program::new();
    program.run(&["memory", "add", "The first."]).ok();
    let folder = program.home.path().join("memories");
    let unfinished = || {
        let entries = fs::read_dir(&folder).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with(".mem_"))
    };
    for round in 0..16u32 {
        let text = format!("Killed in round {round}.");
        let running = program.command(&["memory", "add", &text]).spawn().unwrap();
        // The new bytes lie beside the file from before the journal is written until they take its place.
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && !unfinished() {
            std::hint::spin_loop();
            if program
                .home
                .read("memories/MEMORY.md")
                .unwrap()
                .contains(&text)
            {
                break;
            }
        }
        let beyond = Instant::now() + Duration::from_micros(u64::from(round) * 250);
        while Instant::now() < beyond {
            std::hint::spin_loop();
        }
        // It may have ended by itself.
        let _ = running.kill();
        let (kept, noted) = check(&program, round as usize);
        assert!(kept >= 1 && noted <= round as usize + 2, "{kept} {noted}");
    }
    program.run(&["memory", "add", "The last."]).ok();
    assert!(!unfinished(), "what was left unfinished is cleared away");
    let file = program.home.read("memories/MEMORY.md").unwrap();
    assert!(
        file.starts_with("The first.") && file.ends_with("The last."),
        "{file}"
    );
    // Everything that was noted can be taken back, whether or not it reached the file.
    let log = program
        .run(&["memory", "log", "-n", "500", "--json"])
        .ok()
        .json();
    for change in log["changes"].as_array().unwrap() {
        if change["undone_at"].is_null() {
            program
                .run(&["memory", "undo", &change["id"].to_string()])
                .ok();
        }
    }
    assert_eq!(program.home.read("memories/MEMORY.md").unwrap(), "");
}
