//! `hermes tools` and `hermes prompt-size` as a user runs them.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::chat::with_model;
use super::program::Program;

fn enabled(program: &Program, platform: &str) -> Vec<String> {
    let list = program
        .run(&["tools", "list", "--json", "--platform", platform])
        .ok()
        .json();
    let sets = list["toolsets"].as_array().unwrap().clone();
    sets.iter()
        .filter(|set| set["enabled"] == true)
        .map(|set| set["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_toolset_without_a_tool_of_its_own_is_not_offered() {
    let program = Program::new();
    let list = program.run(&["tools", "list", "--json"]).ok().json();
    let sets = list["toolsets"].as_array().unwrap();
    let named = |name: &str| sets.iter().find(|set| set["name"] == name).unwrap();
    // It only brings the search along, which is there.
    assert_eq!(named("browser")["available"], false);
    assert_eq!(named("browser")["reason"], "it is not part of this version");
    assert_eq!(named("search")["available"], true);
    assert_eq!(named("web")["available"], true);
}

#[test]
fn a_preset_is_taken_apart_before_a_set_is_switched_off() {
    let program = Program::new();
    let before = enabled(&program, "cli");
    assert!(before.contains(&"terminal".to_owned()) && !before.contains(&"spotify".to_owned()));
    program
        .run(&["tools", "disable", "terminal", "memory"])
        .ok();
    let mut expected = before.clone();
    expected.retain(|name| name != "terminal" && name != "memory");
    assert_eq!(enabled(&program, "cli"), expected);
    assert_eq!(
        enabled(&program, "telegram"),
        before,
        "other platforms stay as they are"
    );
    program
        .run(&["tools", "enable", "memory", "spotify", "--platform", "cli"])
        .ok();
    let after = enabled(&program, "cli");
    assert!(after.contains(&"memory".to_owned()) && after.contains(&"spotify".to_owned()));
    let again = program.stdout(&["tools", "enable", "memory"]);
    assert!(again.contains("already"), "{again}");
}

// AG-30
#[test]
fn switching_says_what_came_of_it() {
    let program = Program::new();
    // A part of another set cannot be taken out by itself.
    let output = program.stdout(&["tools", "disable", "search"]);
    assert!(
        output.contains("search is still on, as a part of web"),
        "{output}"
    );
    assert!(program.home.read("config.yaml").is_err());
    let output = program.stdout(&["tools", "disable", "search", "web"]);
    assert!(output.contains("web switched off"), "{output}");
    assert!(
        output.contains("search is still on, as a part of browser"),
        "{output}"
    );
    let output = program.stdout(&["tools", "disable", "search", "browser"]);
    assert!(output.contains("search was off already"), "{output}");
    assert!(!enabled(&program, "cli").contains(&"search".to_owned()));
    // What this version lacks is said, whether it was on before or not.
    for set in ["spotify", "spotify", "browser"] {
        let output = program.stdout(&["tools", "enable", set]);
        let why = format!("cli: {set} cannot be used: it is not part of this version");
        assert!(output.contains(&why), "{output}");
    }
    let output = program.stdout(&["tools", "enable", "memory"]);
    assert!(!output.contains("cannot be used"), "{output}");
}

// AG-30
#[test]
fn single_tools_of_a_server_are_switched_by_its_name_and_theirs() {
    let program = Program::new();
    let server = "mcp_servers:\n  fix:\n    command: nobody\n";
    program.home.write_config(server).unwrap();
    let file = || program.home.read("config.yaml").unwrap();
    let get = |key: &str| program.stdout(&["config", "get", key]);
    let exclude = "mcp_servers.fix.tools.exclude";
    let output = program.stdout(&["tools", "disable", "fix:echo", "mcp-fix:wait", "todo"]);
    assert!(
        output.contains("everywhere: fix:echo, fix:wait switched off"),
        "{output}"
    );
    assert!(output.contains("cli: todo switched off"), "{output}");
    let written = get(exclude);
    assert!(
        written.contains("echo") && written.contains("wait"),
        "{}",
        file()
    );
    assert!(file().starts_with(server), "{}", file());
    let again = program.stdout(&["tools", "disable", "fix:echo"]);
    assert!(again.contains("fix:echo was off already"), "{again}");
    program.run(&["tools", "enable", "fix:echo"]).ok();
    assert!(!get(exclude).contains("echo"), "{}", file());
    program.run(&["tools", "enable", "fix:wait"]).ok();
    assert!(!file().contains("exclude"), "{}", file());
    // Where those that are offered are named, one that is not among them has no effect.
    let server = "mcp_servers: {fix: {command: nobody, tools: {include: [echo, wait]}}}\n";
    program.home.write_config(server).unwrap();
    program.run(&["tools", "disable", "fix:wait"]).ok();
    assert!(
        !file().contains("exclude") && !file().contains("wait"),
        "{}",
        file()
    );
    let unknown = program.run(&["tools", "disable", "fxi:echo"]).code(1);
    assert!(
        unknown.stderr.contains("there is no MCP server fxi"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn sets_made_of_sets_and_names_of_others_are_kept() {
    let program = Program::new();
    program
        .home
        .write_config("platform_toolsets:\n  cli: [debugging, no_mcp, my_plugin]\n")
        .unwrap();
    program.run(&["tools", "disable", "terminal"]).ok();
    let file = program.home.read("config.yaml").unwrap();
    for name in ["web", "file", "no_mcp", "my_plugin"] {
        assert!(file.contains(name), "{file}");
    }
    assert!(
        !file.contains("terminal") && !file.contains("debugging"),
        "{file}"
    );
}

#[test]
fn names_that_are_unknown_get_a_suggestion_and_change_nothing() {
    let program = Program::new();
    let output = program.run(&["tools", "disable", "todo", "memry"]).code(2);
    assert!(
        output.stderr.contains("did you mean memory?"),
        "{}",
        output.stderr
    );
    let output = program
        .run(&["tools", "list", "--platform", "telegra"])
        .code(2);
    assert!(
        output.stderr.contains("did you mean telegram?"),
        "{}",
        output.stderr
    );
    assert!(program.home.read("config.yaml").is_err());
    let warned = Program::new();
    warned
        .home
        .write_config("agent: {disabled_toolsets: [memory]}\n")
        .unwrap();
    let output = warned.run(&["tools", "enable", "memory"]).ok();
    assert!(
        output.stderr.contains("agent.disabled_toolsets"),
        "{}",
        output.stderr
    );
}

#[test]
fn the_size_of_the_prompt_is_told_part_by_part() {
    let program = Program::new();
    program
        .home
        .write("SOUL.md", "You are a lighthouse keeper. ".repeat(40))
        .unwrap();
    let size = program.run(&["prompt-size", "--json"]).ok().json();
    let part = |name: &str| {
        let parts = size["prompt"].as_array().unwrap();
        parts
            .iter()
            .find(|part| part["name"] == name)
            .cloned()
            .unwrap()
    };
    assert!(part("identity")["bytes"].as_u64().unwrap() > 1_000);
    assert_eq!(part("session")["tier"], "volatile");
    let sum = |list: &str| -> u64 {
        let parts = size[list].as_array().unwrap();
        parts
            .iter()
            .map(|part| part["tokens"].as_u64().unwrap())
            .sum()
    };
    assert_eq!(size["total"]["tokens"], sum("prompt") + sum("tools"));
    let page = program.stdout(&["prompt-size"]);
    assert!(
        page.contains("identity") && page.contains("before the first message"),
        "{page}"
    );
}

// AG-30
#[test]
fn tools_that_cannot_be_used_are_named_and_not_counted() {
    let program = Program::new();
    let config = "web: {search_backend: tavily}\nmemory: {memory_enabled: false, user_profile_enabled: false}\n";
    program.home.write_config(config).unwrap();
    let list = program.run(&["tools", "list", "--json"]).ok().json();
    let why = |name: &str| {
        let sets = list["toolsets"].as_array().unwrap().iter();
        let mut sets = sets.filter(|set| set["name"] == name);
        let set = sets.next().unwrap().clone();
        assert_eq!(set["available"], set["reason"].is_null(), "{set}");
        set["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(why("search").contains("TAVILY_API_KEY"), "{list:#}");
    assert_eq!(why("memory"), "memory is switched off in the settings");
    assert_eq!(why("web"), "", "pages can still be read");
    assert_eq!(why("terminal"), "");
    let counted = |program: &Program| -> Vec<String> {
        let size = program.run(&["prompt-size", "--json"]).ok().json();
        let tools = size["tools"].as_array().unwrap().clone();
        let name = |tool: &serde_json::Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    };
    let mut usual = counted(&Program::new());
    usual.retain(|name| name != "web_search" && name != "memory");
    assert_eq!(counted(&program), usual);

    let config = "terminal: {backend: daytona}\n";
    program.home.write_config(config).unwrap();
    let list = program.run(&["tools", "list", "--json"]).ok().json();
    let sets = list["toolsets"].as_array().unwrap();
    for set in sets.iter().filter(|set| {
        let name = set["name"].as_str().unwrap();
        ["terminal", "file", "code_execution"].contains(&name)
    }) {
        assert_eq!(set["available"], false, "{set}");
    }
    let tools = counted(&program);
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    // The one that can say why.
    assert!(has("terminal") && !has("read_file") && !has("execute_code"));
}

// AG-30: a name that means nothing is named, wherever settings are looked at.
#[test]
fn toolsets_in_the_settings_that_do_not_exist_are_told() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("ok")).repeat())).unwrap();
    let program = with_model(&server.base_url());
    let own = program.home.read("config.yaml").unwrap();
    let lists = "platform_toolsets: {cli: [fiel, todo], telegram: [wbe, web]}\n\
                 agent: {disabled_toolsets: [memry]}\n";
    program.home.write_config(&format!("{own}{lists}")).unwrap();
    let asked = program.run(&["-z", "hello"]).ok();
    assert_eq!(asked.stdout.trim(), "ok");
    let told = |text: &str| {
        let fiel = text.contains("platform_toolsets.cli: there is no toolset fiel");
        let wbe = text.contains("platform_toolsets.telegram: there is no toolset wbe");
        let memry = text.contains("agent.disabled_toolsets: there is no toolset memry");
        (fiel, wbe, memry)
    };
    assert_eq!(told(&asked.stderr), (true, false, true), "{}", asked.stderr);
    assert!(
        asked.stderr.contains("did you mean file?"),
        "{}",
        asked.stderr
    );
    let named = program.run(&["-z", "hello", "-t", "todo"]).ok();
    assert_eq!(
        told(&named.stderr),
        (false, false, true),
        "{}",
        named.stderr
    );
    for (arguments, code) in [(["config", "check"].as_slice(), 1), (&["doctor"], 1)] {
        let page = program.run(arguments).code(code).stdout;
        assert_eq!(told(&page), (true, true, true), "{arguments:?}: {page}");
    }
}
