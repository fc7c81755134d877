//! `hermes completion`

use super::program::Program;

fn script(program: &Program, shell: &str) -> std::path::PathBuf {
    let script = program.run(&["completion", shell]).ok().stdout;
    let name = format!("hermes.{shell}");
    program.home.write_work(&name, script).unwrap();
    program.home.workspace().join(name)
}

// CL-27
#[test]
fn scripts_are_valid_for_their_shells() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish"] {
        script(&program, shell);
        let checked = program.shell(&format!("{shell} -n hermes.{shell}")).ok();
        assert_eq!(checked.stderr, "", "{shell}");
    }
    let default = program.run(&["completion"]).ok().stdout;
    assert_eq!(default, program.run(&["completion", "bash"]).ok().stdout);
    program.run(&["completion", "csh"]).code(2);
}

/// What bash offers for a line, the last word being completed.
fn bash(program: &Program, words: &[&str]) -> Vec<String> {
    let script = script(program, "bash");
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let line = format!(
        "source {}; COMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{}'; COMP_POINT=${{#COMP_LINE}}; \
         handler=$(complete -p hermes); handler=${{handler#*-F }}; handler=${{handler%% *}}; \
         $handler hermes \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
        words.join(" ")
    );
    let command = program.home.command("/bin/bash").args(["-c", &line]);
    let output = command.run().unwrap().ok();
    assert_eq!(output.stderr, "");
    output
        .stdout
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

// CL-27
#[test]
fn bash_completes_commands_and_profiles_of_the_home_in_use() {
    let program = Program::new();
    assert_eq!(bash(&program, &["hermes", "ses"]), ["sessions"]);
    assert_eq!(bash(&program, &["hermes", "sessions", "ren"]), ["rename"]);
    assert_eq!(bash(&program, &["hermes", "logs", "gate"]), ["gateway"]);
    assert_eq!(bash(&program, &["hermes", "-p", ""]), ["default"]);
    program.home.write("profiles/work/config.yaml", "").unwrap();
    program
        .home
        .write("profiles/with-dash/config.yaml", "")
        .unwrap();
    program.home.write("profiles/a-file", "").unwrap();
    assert_eq!(
        bash(&program, &["hermes", "-p", ""]),
        ["default", "with-dash", "work"]
    );
    assert_eq!(
        bash(&program, &["hermes", "profile", "use", "wo"]),
        ["work"]
    );
    assert_eq!(bash(&program, &["hermes", "--profile", "wo"]), ["work"]);
    assert_eq!(
        bash(&program, &["hermes", "--profile", "=", "wi"]),
        ["with-dash"]
    );
    assert_eq!(
        bash(&program, &["hermes", "sessions", "-p", "d"]),
        ["default"]
    );
}

// CL-27
#[test]
fn a_home_inside_profiles_offers_its_siblings_in_every_shell() {
    let program = Program::new();
    program.home.write("profiles/work/config.yaml", "").unwrap();
    program.home.write("profiles/play/config.yaml", "").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        script(&program, shell);
    }
    let root = program.home.path().display().to_string();
    for home in [
        root.clone(),
        format!("{root}/"),
        format!("{root}/profiles/work"),
    ] {
        let ask = |shell: &str, line: &str| {
            let command = program.home.command(format!("/usr/bin/{shell}"));
            let output = command.args(["-c", line]).env("HERMES_HOME", &home);
            output.run().unwrap().ok().stdout
        };
        let expected = "default\nplay\nwork\n";
        assert_eq!(
            ask("bash", "source ./hermes.bash; _hermes_profiles"),
            expected
        );
        assert_eq!(
            ask("fish", "source ./hermes.fish; __hermes_profiles"),
            expected
        );
        let zsh = "compadd() { print -l -- ${(P)2} }; autoload -U compinit; compinit -D; source ./hermes.zsh; _hermes_profiles";
        assert_eq!(ask("zsh", zsh), expected);
    }
    let fish = program.home.command("/usr/bin/fish");
    let offered = fish
        .args(["-c", "source ./hermes.fish; complete -C 'hermes -p '"])
        .run()
        .unwrap()
        .ok()
        .stdout;
    let names: Vec<_> = offered
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(names, ["default", "play", "work"]);
    let fish = program.home.command("/usr/bin/fish");
    let offered = fish
        .args(["-c", "source ./hermes.fish; complete -C 'hermes ses'"])
        .run()
        .unwrap();
    assert!(offered.ok().stdout.starts_with("sessions\t"));
    let zsh = std::fs::read_to_string(program.home.workspace().join("hermes.zsh")).unwrap();
    assert!(zsh.contains("':name -- The profile:_hermes_profiles'"));
}
