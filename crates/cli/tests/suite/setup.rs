//! `hermes setup`, and the first conversation where nothing is set up: what is asked, what is written, and when.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario};
use hermes_testkit::pty::{Key, Screen, Terminal};

use super::program::Program;

pub(crate) const KEY: &str = "sk-test-1234567890abcdef";
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
const INTERRUPTED: u32 = 130;

pub(crate) fn open(program: &Program, arguments: &[&str]) -> Terminal {
    let command = program.command(arguments).env("TERM", "xterm-256color");
    Terminal::spawn(&command, 120, 90).unwrap()
}

/// Types an answer once its question waits at the cursor.
pub(crate) fn reply(terminal: &Terminal, question: &str, answer: &str) {
    waits(terminal, question);
    terminal.send(&format!("{answer}\r")).unwrap();
}

pub(crate) fn waits(terminal: &Terminal, question: &str) -> Screen {
    let last = |screen: &Screen| {
        let (row, _) = screen.cursor();
        screen
            .rows()
            .get(usize::from(row))
            .is_some_and(|line| line.contains(question))
    };
    terminal
        .wait_for(last, LIMIT)
        .unwrap_or_else(|error| panic!("waited for {question:?}: {error:#}"))
}

/// The number in front of the last line that has these words.
fn number_of(screen: &Screen, words: &str) -> String {
    let rows = screen.rows();
    let line = rows.iter().rfind(|row| row.contains(words)).unwrap();
    line.split_whitespace().next().unwrap().to_owned()
}

pub(crate) fn pick(terminal: &Terminal, question: &str, words: &str) {
    let screen = waits(terminal, question);
    reply(terminal, question, &number_of(&screen, words));
}

pub(crate) fn ends(terminal: &Terminal, code: u32) {
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, code);
}

/// Copies of the settings that were kept.
fn copies(program: &Program) -> Vec<String> {
    let tree = program.home.tree().unwrap();
    let names = tree.keys();
    names
        .filter(|name| name.starts_with("config.yaml.bak."))
        .cloned()
        .collect()
}

/// A provider that needs a key, served on loopback.
fn acme(program: &Program, server: &ModelServer) {
    let profile = format!(
        "id: acme\nname: Acme\nbase_url: {}\nkey_env: [ACME_API_KEY]\nprotocol: chat_completions\n",
        server.base_url()
    );
    let place = "plugins/model-providers/acme/profile.yaml";
    program.home.write(place, profile).unwrap();
}

// CL-12, PV-25
#[test]
fn a_first_conversation_asks_for_a_model_and_goes_on() {
    let server = ModelServer::start(Scenario::echo().models(["big", "small"])).unwrap();
    let program = Program::new();
    let terminal = open(&program, &["chat"]);
    terminal
        .wait_for_text("No model is set up yet.", LIMIT)
        .unwrap();
    // Three questions, and the conversation begins.
    reply(&terminal, "Which model shall answer?", &server.base_url());
    reply(&terminal, "Key (it is not shown", KEY);
    reply(&terminal, "Which model?", "small");
    terminal.wait_for_text("ask anything", LIMIT).unwrap();
    terminal.send("are you there\r").unwrap();
    let shown = |screen: &Screen| screen.text().matches("are you there").count() >= 2;
    terminal.wait_for(shown, LIMIT).unwrap();
    terminal.send("\x04").unwrap();
    ends(&terminal, 0);
    let whole = format!(
        "model:\n  provider: custom\n  default: small\n  base_url: {}\n",
        server.base_url()
    );
    assert_eq!(program.home.read("config.yaml").unwrap(), whole);
    assert!(program.home.read("auth.json").unwrap().contains(KEY));
    // The next one asks nothing.
    let terminal = open(&program, &["chat"]);
    terminal.wait_for_text("ask anything", LIMIT).unwrap();
}

// CL-12
#[test]
fn who_would_rather_not_is_told_how_to_do_it_later() {
    let program = Program::new();
    let before = program.home.tree_hash().unwrap();
    let terminal = open(&program, &["chat"]);
    reply(&terminal, "Which model shall answer?", "s");
    terminal
        .wait_for_text("hermes auth add PROVIDER", LIMIT)
        .unwrap();
    ends(&terminal, 1);
    assert_eq!(program.home.tree_hash().unwrap(), before);
}

// CL-12
#[test]
fn the_quick_way_takes_three_answers_and_finds_keys_by_itself() {
    let program = Program::new();
    let keys = format!("DEEPSEEK_API_KEY={KEY}\nOPENROUTER_API_KEY={KEY}\n");
    program.home.write_env(&keys).unwrap();
    let terminal = open(&program, &["setup"]);
    reply(&terminal, "Which way?", "");
    pick(&terminal, "Which model shall answer?", "DEEPSEEK_API_KEY");
    terminal.wait_for_text("hermes to talk", LIMIT).unwrap();
    ends(&terminal, 0);
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "model:\n  provider: deepseek\n  default: deepseek-chat\n"
    );
    assert!(copies(&program).is_empty());
    // Nothing is missing any more.
    let terminal = open(&program, &["setup", "--quick"]);
    terminal.wait_for_text("nothing is missing", LIMIT).unwrap();
    ends(&terminal, 0);
}

// CL-12
#[test]
fn a_provider_that_needs_a_key_takes_three_answers_and_its_usual_model() {
    let program = Program::new();
    let terminal = open(&program, &["chat"]);
    pick(&terminal, "Which model shall answer?", "other providers");
    reply(&terminal, "Who shall serve", "deepseek");
    reply(&terminal, "Key (it is not shown", KEY);
    terminal
        .wait_for_text("deepseek-chat answers", LIMIT)
        .unwrap();
    terminal.wait_for_text("ask anything", LIMIT).unwrap();
    terminal.send("\x04").unwrap();
    ends(&terminal, 0);
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "model:\n  provider: deepseek\n  default: deepseek-chat\n"
    );
    assert!(program.home.read("auth.json").unwrap().contains(KEY));
}

// CL-12
#[test]
fn what_somebody_set_before_is_replaced_only_after_a_yes() {
    let server = ModelServer::start(Scenario::echo().models(["only"])).unwrap();
    let program = Program::new();
    let before = "model: {provider: deepseek, default: old}\n";
    program.home.write_config(before).unwrap();
    let terminal = open(&program, &["setup", "--quick"]);
    reply(&terminal, "Which model shall answer?", &server.base_url());
    reply(&terminal, "Key (it is not shown", "");
    reply(&terminal, "Write it? [Y/n]", "n");
    terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    ends(&terminal, 0);
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
}

// CL-12
#[test]
fn the_full_way_asks_for_everything_and_writes_it_at_once() {
    let server = ModelServer::start(Scenario::echo().models(["big", "small"])).unwrap();
    let program = Program::new();
    acme(&program, &server);
    program
        .home
        .write_config("# mine\ndisplay: {skin: mono}\n")
        .unwrap();
    let terminal = open(&program, &["setup"]);
    pick(&terminal, "Which way?", "Full:");
    pick(&terminal, "Which model shall answer?", "other providers");
    reply(&terminal, "Who shall serve", "acme");
    reply(&terminal, "Key (it is not shown", KEY);
    reply(&terminal, "Which model?", "big");
    pick(&terminal, "Where shall commands run?", "Docker or Podman");
    reply(&terminal, "Image of the container?", "debian:stable");
    reply(&terminal, "Processors it may use", "many");
    // What the settings would not take is asked for again.
    terminal
        .wait_for_text("terminal.container_cpu must be", LIMIT)
        .unwrap();
    reply(&terminal, "Processors it may use", "2");
    reply(&terminal, "Memory in MB", "");
    reply(&terminal, "Disk in MB", "");
    reply(&terminal, "Keep its files", "false");
    terminal
        .wait_for_text("Messaging platforms: not part", LIMIT)
        .unwrap();
    reply(&terminal, "Switch which?", "clarify todo nosuch");
    terminal
        .wait_for_text("There is no nosuch.", LIMIT)
        .unwrap();
    reply(&terminal, "Switch which?", "todo");
    reply(&terminal, "Switch which?", "");
    let screen = waits(&terminal, "Write it? [Y/n]").text();
    assert!(screen.contains("model: big from acme"), "{screen}");
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "# mine\ndisplay: {skin: mono}\n",
        "nothing is written before the last answer"
    );
    assert!(!program.home.path().join("auth.json").exists());
    terminal.send("\r").unwrap();
    terminal.wait_for_text("hermes to talk", LIMIT).unwrap();
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    let expected = "# mine\ndisplay: {skin: mono}\nmodel:\n  provider: acme\n  default: big\nterminal:\n  \
                    backend: docker\n  docker_image: debian:stable\n  container_cpu: 2\n  \
                    container_persistent: false\nplatform_toolsets:\n  cli:\n";
    assert!(config.starts_with(expected), "{config}");
    assert!(
        config.contains("terminal") && config.contains("- todo"),
        "{config}"
    );
    assert!(!config.contains("- clarify"), "{config}");
    let kept = copies(&program);
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(
        program.home.read(&kept[0]).unwrap(),
        "# mine\ndisplay: {skin: mono}\n"
    );
}

// CL-12
#[test]
fn a_blank_slate_has_a_model_commands_and_files() {
    let program = Program::new();
    let keys = format!("DEEPSEEK_API_KEY={KEY}\n");
    program.home.write_env(&keys).unwrap();
    let terminal = open(&program, &["setup"]);
    pick(&terminal, "Which way?", "Blank slate");
    pick(&terminal, "Which model shall answer?", "DEEPSEEK_API_KEY");
    reply(&terminal, "Where shall commands run?", "");
    reply(
        &terminal,
        "Go through skills, MCP servers and tools now?",
        "y",
    );
    reply(&terminal, "Bring in the skills", "");
    reply(&terminal, "Switch which?", "todo");
    reply(&terminal, "Switch which?", "");
    let screen = waits(&terminal, "Write it? [Y/n]").text();
    assert!(
        screen.contains("skills that come with the program: stay out"),
        "{screen}"
    );
    terminal.send("\r").unwrap();
    ends(&terminal, 0);
    assert!(!terminal.screen().contains("Still missing"));
    assert!(program.home.path().join(".no-bundled-skills").exists());
    let config = program.home.read("config.yaml").unwrap();
    let model = "model:\n  provider: deepseek\n  default: deepseek-chat\n";
    assert_eq!(
        config,
        format!("{model}platform_toolsets:\n  cli:\n  - terminal\n  - file\n  - todo\n")
    );
    let tools = program.run(&["tools", "list", "--json"]).ok().json();
    let on: Vec<&str> = tools["toolsets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|set| set["enabled"] == true)
        .map(|set| set["name"].as_str().unwrap())
        .collect();
    assert_eq!(on, ["terminal", "file", "todo"]);
}

// CL-12
#[test]
fn a_blank_slate_leaves_servers_and_skills_out_until_they_are_wanted() {
    let program = Program::new();
    let keys = format!("DEEPSEEK_API_KEY={KEY}\n");
    program.home.write_env(&keys).unwrap();
    let server = |token: &str| format!("{{command: none, env: {{TOKEN: '{token}'}}}}");
    let servers = format!(
        "mcp_servers: {{left: {}, notes: {}}}\n",
        server("x"),
        server("${NOTES_TOKEN}")
    );
    let before = format!("{servers}web: {{search_backend: tavily}}\n");
    let bare = |program: &Program| {
        program.home.write_config(&before).unwrap();
        let terminal = open(program, &["setup"]);
        pick(&terminal, "Which way?", "Blank slate");
        pick(&terminal, "Which model shall answer?", "DEEPSEEK_API_KEY");
        reply(&terminal, "Where shall commands run?", "");
        waits(&terminal, "Go through skills, MCP servers and tools now?");
        terminal
    };
    let terminal = bare(&program);
    let screen = terminal.screen();
    assert!(
        screen.contains("MCP: 2 servers in the settings, all off."),
        "{}",
        screen.text()
    );
    terminal.send("\r").unwrap();
    reply(&terminal, "Write it? [Y/n]", "");
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    let list = "platform_toolsets:\n  cli:\n  - terminal\n  - file\n";
    assert!(config.ends_with(&format!("{list}  - no_mcp\n")), "{config}");
    assert!(program.home.path().join(".no-bundled-skills").exists());

    let terminal = bare(&program);
    terminal.send("y\r").unwrap();
    reply(&terminal, "Bring in the skills", "y");
    reply(&terminal, "Use the MCP server left?", "n");
    reply(&terminal, "Use the MCP server notes?", "y");
    reply(&terminal, "Switch which?", "web");
    reply(&terminal, "Switch which?", "");
    reply(&terminal, "Write it? [Y/n]", "");
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    assert!(
        config.contains(&format!("{list}  - skills\n  - mcp-notes\n  - web\n")),
        "{config}"
    );
    assert!(!program.home.path().join(".no-bundled-skills").exists());
    // What is on and cannot be used yet is said where it can still be seen to.
    let screen = terminal.screen().text();
    let (_, missing) = screen.split_once("Still missing").unwrap();
    assert!(
        missing.contains("web_search: ") && missing.contains("TAVILY_API_KEY"),
        "{missing}"
    );
    assert!(
        missing.contains("MCP server notes: NOTES_TOKEN is not set"),
        "{missing}"
    );
    assert!(!missing.contains("left"), "{missing}");
}

// CL-12
#[test]
fn the_quick_way_asks_for_keys_of_what_is_on_and_names_those_that_stay_missing() {
    let program = Program::new();
    let keys = format!("DEEPSEEK_API_KEY={KEY}\n");
    program.home.write_env(&keys).unwrap();
    let before = "model: {provider: deepseek, default: deepseek-chat}\nweb: {search_backend: tavily}\n\
                  mcp_servers: {notes: {command: none, env: {TOKEN: '${NOTES_TOKEN}'}}}\n";
    program.home.write_config(before).unwrap();
    let asked = |tavily: &str| {
        let terminal = open(&program, &["setup", "--quick"]);
        reply(&terminal, "TAVILY_API_KEY (it is not shown", tavily);
        reply(&terminal, "NOTES_TOKEN (it is not shown", "");
        terminal
    };
    let missing = |terminal: &Terminal| {
        let screen = terminal.screen().text();
        let (_, missing) = screen.split_once("Still missing").unwrap();
        ["web_search: ", "MCP server notes: NOTES_TOKEN is not set"]
            .map(|one| missing.contains(one))
    };
    let terminal = asked("");
    terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    ends(&terminal, 0);
    assert_eq!(missing(&terminal), [true, true]);
    let terminal = asked("tvly-1234567890abcdef");
    reply(&terminal, "Write it? [Y/n]", "");
    ends(&terminal, 0);
    assert_eq!(missing(&terminal), [false, true]);
    assert!(!terminal.screen().contains("tvly-"));
    let kept = program.home.read(".env").unwrap();
    assert_eq!(
        kept,
        format!("{keys}TAVILY_API_KEY=tvly-1234567890abcdef\n")
    );
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
}

// CL-12
#[test]
fn one_part_is_set_up_with_what_is_set_as_the_answers() {
    let program = Program::new();
    let before = "agent:\n  max_turns: 40 # enough\n";
    program.home.write_config(before).unwrap();
    let terminal = open(&program, &["setup", "agent"]);
    reply(&terminal, "lead to? (Enter keeps 40)", "0");
    terminal
        .wait_for_text("agent.max_turns must be", LIMIT)
        .unwrap();
    reply(&terminal, "lead to? (Enter keeps 40)", "50");
    reply(&terminal, "What is shown of tools", "verbose");
    reply(&terminal, "Share of the window", "");
    reply(&terminal, "When a chat begins anew", "");
    reply(&terminal, "Write it? [Y/n]", "");
    ends(&terminal, 0);
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "agent:\n  max_turns: 50 # enough\ndisplay:\n  tool_progress: verbose\n"
    );
    assert_eq!(copies(&program).len(), 1);
    // A machine without a name is no machine.
    let before = program.home.tree_hash().unwrap();
    let terminal = open(&program, &["setup", "terminal"]);
    pick(&terminal, "Where shall commands run?", "over SSH");
    reply(&terminal, "Name or address of the machine?", "");
    terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    ends(&terminal, 0);
    assert_eq!(program.home.tree_hash().unwrap(), before);
    let terminal = open(&program, &["setup", "terminal"]);
    pick(&terminal, "Where shall commands run?", "over SSH");
    reply(&terminal, "Name or address of the machine?", "box");
    reply(&terminal, "User there?", "me");
    reply(&terminal, "Port?", "2222");
    reply(&terminal, "File of the private key?", "");
    reply(&terminal, "Try the connection now?", "n");
    reply(&terminal, "Write it? [Y/n]", "");
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    assert!(
        config.ends_with(
            "terminal:\n  ssh_host: box\n  backend: ssh\n  ssh_user: me\n  ssh_port: 2222\n"
        ),
        "{config}"
    );
    for (part, name) in [("gateway", "Messaging"), ("tts", "Speech")] {
        let terminal = open(&program, &["setup", part]);
        let screen = terminal.wait_for_text("not part of this version", LIMIT);
        assert!(screen.unwrap().contains(name));
        ends(&terminal, 0);
    }
    // Everything once more, and nothing new.
    let before = program.home.read("config.yaml").unwrap();
    let terminal = open(&program, &["setup", "--reconfigure"]);
    reply(&terminal, "Which model shall answer?", "s");
    reply(&terminal, "Where shall commands run?", "");
    reply(&terminal, "Switch which?", "");
    terminal
        .wait_for_text("Nothing was changed.", LIMIT)
        .unwrap();
    ends(&terminal, 0);
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
}

// CL-12
#[test]
fn control_c_leaves_everything_as_it_was() {
    let server = ModelServer::start(Scenario::echo().models(["big", "small"])).unwrap();
    let program = Program::new();
    acme(&program, &server);
    program
        .home
        .write_config("display: {skin: mono}\n")
        .unwrap();
    let before = program.home.tree().unwrap();
    let answers = [
        ("Which way?", "2"),
        ("Which model shall answer?", "OTHERS"),
        ("Who shall serve", "acme"),
        ("Key (it is not shown", KEY),
        ("Which model?", "big"),
        ("Where shall commands run?", "3"),
        ("Switch which?", "todo"),
    ];
    for depth in 0..=answers.len() {
        // With the skills that come along: they are for the first conversation.
        let command = program.command(&["setup"]).env("TERM", "xterm-256color");
        let command = command.env("HERMES_BUNDLED_SKILLS", "");
        let terminal = Terminal::spawn(&command, 120, 90).unwrap();
        for (question, answer) in &answers[..depth] {
            match *answer {
                "OTHERS" => pick(&terminal, question, "other providers"),
                answer => reply(&terminal, question, answer),
            }
        }
        let next = answers.get(depth).map_or("Switch which?", |(next, _)| next);
        waits(&terminal, next);
        terminal.send_key(Key::CtrlC).unwrap();
        terminal
            .wait_for_text("Nothing was changed.", LIMIT)
            .unwrap();
        ends(&terminal, INTERRUPTED);
        let mut after = program.home.tree().unwrap();
        // What a provider answered is remembered; no answer of the user is.
        after.retain(|name, _| !name.starts_with("cache") && !name.starts_with("logs"));
        let mut expected = before.clone();
        expected.retain(|name, _| !name.starts_with("cache") && !name.starts_with("logs"));
        assert_eq!(after, expected, "after {depth} answers");
    }
}

// CL-13
#[test]
fn without_a_terminal_there_are_commands_for_everything() {
    let program = Program::new();
    let output = program.command(&["setup"]).stdin("").run().unwrap().code(2);
    assert!(
        output.stderr.contains("on a terminal only"),
        "{}",
        output.stderr
    );
    for command in [
        "hermes auth add PROVIDER",
        "hermes model set MODEL --provider ID --api-key KEY",
        "hermes config set terminal.backend VALUE",
        "hermes config set terminal.ssh_host VALUE",
        "hermes config set agent.max_turns VALUE",
        "hermes tools enable NAME",
    ] {
        assert!(output.stdout.contains(command), "{}", output.stdout);
    }
    let printed = program.stdout(&["setup", "--non-interactive", "agent"]);
    assert!(printed.contains("agent.max_turns") && !printed.contains("terminal.backend"));
    // What is printed can be typed.
    for line in printed.lines().filter(|line| line.starts_with("  hermes")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let now = words.last().copied().filter(|last| *last != "set");
        let value = now.unwrap_or("none");
        program.run(&["config", "set", words[3], value]).ok();
    }
    let unset = Program::new();
    let output = unset.command(&["chat"]).stdin("").run().unwrap().code(1);
    assert!(
        output.stdout.contains("hermes model set MODEL"),
        "{}",
        output.stdout
    );
    let summary = program.command(&["tools", "--summary"]).stdin("").run();
    assert!(summary.unwrap().ok().stdout.contains("terminal"));
}

// CL-13
#[test]
fn tools_are_ticked_at_a_terminal() {
    let program = Program::new();
    let terminal = open(&program, &["tools"]);
    reply(&terminal, "for which platform?", "nowhere");
    reply(&terminal, "for which platform?", "telegram");
    let screen = waits(&terminal, "Switch which?");
    let number = number_of(&screen, "keep a list of steps");
    let text = screen.text();
    assert!(
        text.contains("tokens") && !text.contains("about 0 tokens"),
        "{text}"
    );
    reply(&terminal, "Switch which?", &format!("{number} nosuch"));
    terminal
        .wait_for_text("There is no nosuch.", LIMIT)
        .unwrap();
    reply(&terminal, "Switch which?", "");
    ends(&terminal, 0);
    let config = program.home.read("config.yaml").unwrap();
    assert!(
        config.starts_with("platform_toolsets:\n  telegram:\n"),
        "{config}"
    );
    assert!(!config.contains("todo"), "{config}");
}

// CL-12
#[test]
fn a_reset_keeps_the_old_settings_under_another_name() {
    let program = Program::new();
    let before = "display: {skin: mono}\nmodel: {default: old}\n";
    program.home.write_config(before).unwrap();
    program
        .command(&["setup", "--reset"])
        .stdin("")
        .run()
        .unwrap()
        .code(2);
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
    program.run(&["setup", "--reset", "--yes"]).ok();
    assert_eq!(program.home.read(&copies(&program)[0]).unwrap(), before);
    let skin = program.stdout(&["config", "get", "display.skin"]);
    assert_eq!(skin.trim(), "default");
}

// CL-9
#[test]
fn settings_that_others_manage_are_not_asked_for() {
    let program = Program::new();
    let managed = program.command(&["setup"]).env("HERMES_MANAGED", "nix");
    let terminal = Terminal::spawn(&managed, 120, 30).unwrap();
    terminal
        .wait_for_text("the settings are managed by", LIMIT)
        .unwrap();
    ends(&terminal, 1);
}
