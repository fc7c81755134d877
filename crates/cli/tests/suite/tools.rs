//! `hermes tools` and `hermes prompt-size` as a user runs them.

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
