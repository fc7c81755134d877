//! What is chosen, looked up and defined with commands of a conversation.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::{Color, Screen, Terminal};
use serde_json::Value as Json;

use super::screen::{LIMIT, READY, leave, open, quiet};

fn echoing() -> ModelServer {
    let steps = (0..8).fold(Scenario::new(), |scenario, number| {
        scenario.reply(text(format!("Answer {number}.")))
    });
    ModelServer::start(steps.lenient()).unwrap()
}

fn last(server: &ModelServer) -> Json {
    server.requests().last().unwrap().expect_json().clone()
}

fn tools(request: &Json) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned))
        .collect()
}

/// Sends a command, and waits for words below it: they may stand further up already.
fn answers(terminal: &Terminal, line: &str, shown: &str) {
    terminal.send(&format!("{line}\r")).unwrap();
    let said = format!("● {line}");
    let seen = eventually(LIMIT, shown, || {
        let rows = terminal.everything();
        let at = rows.iter().rposition(|row| row.contains(&said))?;
        let end = rows.iter().rposition(|row| row.starts_with("────"))?;
        let below = rows.get(at + 1..end)?;
        below.iter().any(|row| row.contains(shown)).then_some(())
    });
    assert!(seen.is_ok(), "{line}\n{}", terminal.screen());
}

// CL-21
#[test]
fn personality_tools_and_effort_count_from_the_next_message_on() {
    let server = echoing();
    let program = quiet(&server, "");
    let settings = program.home.read("config.yaml").unwrap();
    let settings = settings.replace(
        "agent: {api_max_retries: 1}",
        "agent: {api_max_retries: 1, system_prompt: Never mention Tuesdays.}",
    );
    program.home.write_config(&settings).unwrap();
    let terminal = open(&program, 110, 40);
    let say = |line: &str, shown: &str| {
        terminal.send(&format!("{line}\r")).unwrap();
        terminal.wait_for_text(shown, LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    };
    say("one", "Answer 0.");
    assert!(tools(&last(&server)).contains(&"terminal".to_owned()));
    // Out of a list, found by a few letters.
    terminal.send("/personality\r").unwrap();
    terminal.wait_for_text("Speak like", LIMIT).unwrap();
    terminal.send("pirat\r").unwrap();
    terminal
        .wait_for_text("in the manner of pirate", LIMIT)
        .unwrap();
    terminal.send("/tools disable terminal\r").unwrap();
    terminal
        .wait_for_text("counts from your next message", LIMIT)
        .unwrap();
    terminal.send("/reasoning high\r").unwrap();
    terminal.wait_for_text("with effort high", LIMIT).unwrap();
    say("two", "Answer 1.");
    let request = last(&server);
    let body = request.to_string();
    assert!(body.contains("pirate captain"), "{body}");
    assert!(body.contains("Never mention Tuesdays."), "{body}");
    assert!(!tools(&request).contains(&"terminal".to_owned()), "{body}");
    assert!(body.contains("\"high\""), "{body}");
    say("/personality none", "as it does by itself");
    say("three", "Answer 2.");
    assert!(!last(&server).to_string().contains("pirate captain"));
    say("/personality pirat", "did you mean");
    leave(&terminal);
    let config = program.home.read("config.yaml").unwrap();
    assert!(config.contains("Never mention Tuesdays."), "{config}");
}

// CL-21
#[test]
fn a_model_is_picked_from_what_is_known_and_the_bar_follows() {
    let scenario = Scenario::new()
        .reply(Step::new(text("The other one speaks.")).when_model("swift-model"))
        .lenient();
    let server = ModelServer::start(scenario).unwrap();
    let providers = format!(
        "providers: {{lab: {{name: Lab, base_url: '{}', api_key: test-key-1234567890, \
         models: {{swift-model: {{context_length: 64000}}}}}}}}\n",
        server.base_url()
    );
    let program = quiet(&server, &providers);
    let terminal = open(&program, 110, 40);
    terminal.wait_for_text("/100k", LIMIT).unwrap();
    terminal.send("/model\r").unwrap();
    let screen = terminal.wait_for_text("Answer with", LIMIT).unwrap();
    assert!(screen.contains("swift-model"), "{}", screen.text());
    assert!(screen.contains("64k"), "{}", screen.text());
    terminal.send("swift\r").unwrap();
    terminal.wait_for_text("chosen by the user", LIMIT).unwrap();
    terminal.wait_for_text("/64k", LIMIT).unwrap();
    terminal.send("hello\r").unwrap();
    terminal
        .wait_for_text("The other one speaks.", LIMIT)
        .unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-21
#[test]
fn models_stand_with_their_prices_and_providers_lead_to_theirs() {
    let server = echoing();
    let providers = format!(
        "providers: {{lab: {{name: Lab, base_url: '{}', api_key: test-key-1234567890, \
         models: {{swift-model: {{context_length: 64000}}}}}}}}\n",
        server.base_url()
    );
    let program = quiet(&server, &providers);
    let key = "ANTHROPIC_API_KEY=key-1234567890\n";
    program.home.write_env(key).unwrap();
    let terminal = open(&program, 110, 40);
    terminal.send("/model\r").unwrap();
    let screen = terminal.wait_for_text("Answer with", LIMIT).unwrap();
    let rows = screen.rows();
    let sonnet = rows.iter().find(|row| row.contains("claude-sonnet-4-5"));
    let sonnet = sonnet.unwrap_or_else(|| panic!("{}", screen.text()));
    assert!(
        sonnet.contains("200k") && sonnet.ends_with("3.00/15.00"),
        "{sonnet}"
    );
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // The list of providers leads to the models of one of them, also by its name in the settings.
    terminal.send("/provider\r").unwrap();
    let screen = terminal
        .wait_for_text("Providers that are set up", LIMIT)
        .unwrap();
    assert!(screen.contains("anthropic") && screen.contains("custom:lab"));
    for way in ["lab\r", "/provider lab\r"] {
        terminal.send(way).unwrap();
        let screen = terminal.wait_for_text("Answer with", LIMIT).unwrap();
        assert!(
            screen.contains("swift-model") && !screen.contains("claude"),
            "{}",
            screen.text()
        );
        terminal.send("\x1b").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-21
#[test]
fn pages_tell_what_there_is_to_know() {
    let server = echoing();
    let program = quiet(&server, "");
    let terminal = open(&program, 120, 60);
    terminal.send("one\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    for (line, shown) in [
        ("/status", "approvals"),
        ("/usage", "tokens in all"),
        ("/context", "results of tools"),
        ("/context", "reads 100000 tokens"),
        ("/sessions --limit 0", "no earlier conversations"),
        ("/save", "sessions/saved/"),
        ("/insights 7", "1 by you, 1 by the agent"),
        ("/whoami", "profile default"),
        ("/profile", "default"),
        ("/version", "hermes 0."),
        ("/config", "api_max_retries"),
        ("/debug", "--- hermes dump ---"),
        ("/mcp", "There are no MCP servers"),
        ("/toolsets", "WHAT IT DOES"),
        ("/voice on", "will let you speak"),
        ("/cron", "this version cannot"),
        ("/provider", "The models of no provider are known"),
        ("/export talk.jsonl", "with 2 messages written to"),
        ("/stat", "PART"),
        ("/usge", "Did you mean /usage?"),
        ("/insights x", "/insights 7 looks back a week"),
    ] {
        answers(&terminal, line, shown);
    }
    leave(&terminal);
    let saved = program.home.workspace().join("talk.jsonl");
    let saved = std::fs::read_to_string(saved).unwrap();
    assert!(saved.contains("Answer 0."), "{saved}");
    // Bars are as long as there is room for, beside a list of sessions too.
    for mode in ["--cli", "--tui"] {
        let command = program.command(&["chat", mode]);
        let command = command.env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 110, 60).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        terminal.send("/insights 7\r").unwrap();
        let screen = terminal.wait_for_text("Sessions by hour", LIMIT).unwrap();
        let whole = |row: &String| row.contains("cli  ") && row.trim_end().ends_with(" tokens");
        assert!(screen.rows().iter().any(whole), "{screen}");
        leave(&terminal);
    }
}

// CL-21
#[test]
fn toolsets_are_ticked_in_a_list_and_calls_are_shown_as_far_as_asked_for() {
    let server = echoing();
    let program = quiet(&server, "");
    let terminal = open(&program, 110, 40);
    terminal.send("/tools\r").unwrap();
    terminal.wait_for_text("Toolsets of this", LIMIT).unwrap();
    terminal.wait_for_text("space picks", LIMIT).unwrap();
    terminal.send("terminal \r").unwrap();
    terminal
        .wait_for_text("counts from your next message", LIMIT)
        .unwrap();
    terminal.send("one\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let offered = tools(&last(&server));
    assert!(!offered.contains(&"terminal".to_owned()), "{offered:?}");
    assert!(offered.contains(&"read_file".to_owned()), "{offered:?}");
    for shown in ["shown: every call with arguments", "shown: no calls"] {
        terminal.send("/verbose\r").unwrap();
        terminal.wait_for_text(shown, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-21 CL-30
#[test]
fn a_skin_that_is_named_is_put_on_at_once() {
    let server = echoing();
    let program = quiet(&server, "display: {compact: true}\n");
    let command = program.command(&["chat"]);
    let command = command
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .env("HERMES_TUI_THEME", "dark");
    let terminal = Terminal::spawn(&command, 80, 24).unwrap();
    // The words that wait in the composer.
    let colour = |screen: &Screen| {
        let rows = screen.rows();
        let row = rows.iter().rposition(|row| row.contains(READY))?;
        let column = rows.get(row)?.split_once(READY)?.0.chars().count();
        let cell = screen.cell(u16::try_from(row).ok()?, u16::try_from(column).ok()?)?;
        Some(cell.foreground)
    };
    let is = |wanted: Color| move |screen: &Screen| colour(screen) == Some(wanted);
    terminal
        .wait_for(is(Color::Rgb(0x8b, 0x86, 0x82)), LIMIT)
        .unwrap();
    terminal.send("/skin poseidon\r").unwrap();
    terminal
        .wait_for(is(Color::Rgb(0x7f, 0xa3, 0xa8)), LIMIT)
        .unwrap();
    answers(&terminal, "/skin posseidon", "did you mean /skin poseidon?");
    leave(&terminal);
    // Without --save it is for this conversation only.
    let config = program.home.read("config.yaml").unwrap();
    assert!(!config.contains("poseidon"), "{config}");
}

// CL-21, EX-52
#[test]
fn commands_of_the_users_own_run_and_stand_for_others() {
    let server = echoing();
    let program = quiet(
        &server,
        "approvals:\n  deny: ['touch *']\n\
         quick_commands:\n  mark: {type: exec, command: 'cd . && /usr/bin/touch marked'}\n  \
         greet: {type: exec, command: 'echo hello $((40 + 2)); echo key $SECRET_API_KEY; pwd'}\n  \
         wipe: {type: exec, command: 'rm -rf /'}\n  \
         tidy: {type: exec, command: 'rm -rf build; echo tidied'}\n  \
         who: {type: alias, target: whoami}\n  \
         loop: {type: alias, target: /loop}\n",
    );
    let command = program.command(&["chat"]);
    let command = command
        .env("TERM", "xterm-256color")
        .env("SECRET_API_KEY", "sk-1234567890abcdefghij");
    let terminal = Terminal::spawn(&command, 110, 40).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    for (line, shown) in [
        ("/greet", "hello 42"),
        ("/who", "at the terminal"),
        ("/wipe", "never runs"),
        ("/mark", "`touch *` in approvals.deny"),
        ("/tidy", "tidied"),
        ("/loop", "stands for itself"),
        ("/gree", "hello 42"),
        ("/grete", "Did you mean /greet?"),
    ] {
        answers(&terminal, line, shown);
    }
    assert!(!terminal.screen().contains("sk-1234567890"));
    assert!(!program.home.workspace().join("marked").exists());
    leave(&terminal);
    // What became of each stands in the log, oldest last.
    let log = program.run(&["policy", "log", "--json"]).ok().json();
    let rows: Vec<_> = log["decisions"].as_array().unwrap().iter().collect();
    let told: Vec<[&str; 3]> = rows
        .iter()
        .rev()
        .map(|row| ["tool", "outcome", "decided_by"].map(|key| row[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ["/wipe", "refused", "rule: built-in limit"],
            ["/mark", "refused", "rule: touch *"],
            ["/tidy", "once", "user"],
        ]
    );
}

// CL-17
#[test]
fn arguments_and_files_of_the_project_are_offered() {
    let server = echoing();
    let program = quiet(&server, "");
    program.home.write_work("src/deep/engine.rs", "").unwrap();
    let terminal = open(&program, 110, 40);
    for (typed, shown) in [
        ("/personality shak", "in the manner of the stage"),
        ("/skin posei", "poseidon"),
        ("/tools disable code", "run a program that calls tools"),
        ("look at @deng", "@file:src/deep/engine.rs"),
    ] {
        terminal.send(typed).unwrap();
        terminal.wait_for_text(shown, LIMIT).unwrap();
        terminal.send("\x03").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    leave(&terminal);
}
