//! `hermes config …` as a user runs it.

use insta::assert_snapshot;

use super::program::Program;

const FILE: &str = "# my settings\nmodel: gpt-5   # the good one\n\ndisplay:\n  skin: mono  # dark\n  compact: yes\n# end\n";

// CL-6
#[test]
fn get_prints_what_is_in_effect() {
    let program = Program::new();
    program.home.write_config(FILE).unwrap();
    assert_eq!(program.stdout(&["config", "get", "display.skin"]), "mono\n");
    assert_eq!(
        program.stdout(&["config", "get", "display.compact"]),
        "true\n"
    );
    assert_eq!(
        program.stdout(&["config", "get", "agent.max_turns"]),
        "90\n",
        "a default"
    );
    assert_eq!(
        program
            .run(&["config", "get", "model", "--json"])
            .ok()
            .json(),
        serde_json::json!({"default": "gpt-5"})
    );
    let output = program.run(&["config", "get", "display.skn"]).code(1);
    assert_snapshot!(output.stderr, @r"
    error: display.skn is not set
    hint: did you mean display.skin?
    ");
}

// CL-6
#[test]
fn layers_override_each_other_in_order() {
    let program = Program::new();
    program
        .home
        .write_config("timezone: Europe/Berlin\nterminal: {timeout: 5}\n")
        .unwrap();
    let get = |key: &str, name: &str, value: &str| {
        program
            .command(&["config", "get", key])
            .env(name, value)
            .run()
            .unwrap()
            .ok()
            .stdout
    };
    assert_eq!(
        get("terminal.timeout", "TERMINAL_TIMEOUT", "7"),
        "5\n",
        "the file wins over a variable that fills in"
    );
    assert_eq!(
        get("timezone", "HERMES_TIMEZONE", "UTC"),
        "UTC\n",
        "a variable for one run wins over the file"
    );
    let managed = program.home.workspace().join("managed");
    std::fs::create_dir(&managed).unwrap();
    std::fs::write(managed.join("config.yaml"), "timezone: Asia/Tokyo\n").unwrap();
    let directory = managed.to_str().unwrap();
    let pinned = program
        .command(&["config", "get", "timezone"])
        .env("HERMES_MANAGED_DIR", directory);
    assert_eq!(
        pinned
            .env("HERMES_TIMEZONE", "UTC")
            .run()
            .unwrap()
            .ok()
            .stdout,
        "Asia/Tokyo\n",
        "the administrator wins"
    );
}

// CL-7
#[test]
fn set_touches_only_the_key_asked_for() {
    let program = Program::new();
    program.home.write_config(FILE).unwrap();
    program.run(&["config", "set", "display.skin", "ares"]).ok();
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        FILE.replace("skin: mono  # dark", "skin: ares  # dark")
    );
    program
        .run(&["config", "set", "agent.max_turns", "50"])
        .ok();
    let added = program.home.read("config.yaml").unwrap();
    assert!(
        added.starts_with(FILE.replace("mono", "ares").trim_end_matches("# end\n")),
        "{added}"
    );
    assert!(added.contains("agent:\n  max_turns: 50\n"), "{added}");
    program.run(&["config", "unset", "agent.max_turns"]).ok();
    assert_eq!(
        program.stdout(&["config", "get", "agent.max_turns"]),
        "90\n"
    );
    program.run(&["config", "unset", "agent.max_turns"]).code(1);
}

// CL-7
#[test]
fn a_file_that_is_not_yaml_is_refused_and_left_alone() {
    let program = Program::new();
    let broken = "display:\n  skin: [mono\nagent: {max_turns: 5}\n";
    program.home.write_config(broken).unwrap();
    let output = program
        .run(&["config", "set", "display.skin", "ares"])
        .code(1);
    assert_eq!(program.home.read("config.yaml").unwrap(), broken);
    assert_snapshot!(program.home.scrub(&output.stderr));
    for arguments in [
        &["config", "unset", "display.skin"][..],
        &["config", "get", "display.skin"],
        &["config", "migrate"],
    ] {
        let output = program.run(arguments).code(1);
        assert!(
            output.stderr.contains("config.yaml") && output.stderr.contains("line 3"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("hint: "), "{}", output.stderr);
        assert_eq!(program.home.read("config.yaml").unwrap(), broken);
    }
}

// CL-7
#[test]
fn unknown_keys_are_kept_reported_and_not_written_by_accident() {
    let program = Program::new();
    program
        .home
        .write_config("display: {skin: mono, skinn: x}\nplugin_thing: {a: 1}\n")
        .unwrap();
    let output = program.run(&["config", "check"]).code(1);
    assert_snapshot!(program.home.scrub(&output.stdout));
    assert_eq!(program.stdout(&["config", "get", "plugin_thing.a"]), "1\n");
    let before = program.home.read("config.yaml").unwrap();
    let output = program
        .run(&["config", "set", "display.skni", "ares"])
        .code(2);
    assert!(
        output.stderr.contains("did you mean display.skin?"),
        "{}",
        output.stderr
    );
    assert_eq!(program.home.read("config.yaml").unwrap(), before);
    program
        .run(&["config", "set", "--force", "display.skni", "ares"])
        .ok();
    assert_eq!(program.stdout(&["config", "get", "display.skni"]), "ares\n");
}

#[test]
fn wrong_types_and_ranges_are_named_with_file_line_and_key() {
    let program = Program::new();
    program
        .home
        .write_config("agent:\n  max_turns: lots\n")
        .unwrap();
    let output = program.run(&["config", "get", "display.skin"]).code(1);
    assert_snapshot!(program.home.scrub(&output.stderr));
    for (key, value) in [
        ("agent.max_turns", "many"),
        ("approvals.mode", "sometimes"),
        ("compression.threshold", "7"),
    ] {
        let output = program.run(&["config", "set", key, value]).code(2);
        assert!(
            output.stderr.starts_with(&format!("error: {key} must be ")),
            "{}",
            output.stderr
        );
    }
    program
        .run(&["config", "set", "agent.max_turns", "12"])
        .ok();
    assert_eq!(
        program.stdout(&["config", "get", "agent.max_turns"]),
        "12\n"
    );
}

// CL-8
#[test]
fn secrets_go_to_the_env_file_and_are_never_shown() {
    let program = Program::new();
    let secret = "sk-or-v1-0123456789abcdef0123456789abcdef";
    let output = program
        .run(&["config", "set", "OPENROUTER_API_KEY", secret])
        .ok();
    assert!(!output.stdout.contains(secret), "{}", output.stdout);
    assert_eq!(
        program.home.read(".env").unwrap(),
        format!("OPENROUTER_API_KEY={secret}\n")
    );
    assert_eq!(program.home.mode(".env").unwrap() & 0o777, 0o600);
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--all", "--json"],
        &["config", "check"],
    ] {
        assert!(!program.run(arguments).ok().stdout.contains(secret));
    }
    let output = program.run(&["config", "set", "PATH", "/tmp"]).code(2);
    assert!(output.stderr.contains("hint: "), "{}", output.stderr);
    program.run(&["config", "unset", "OPENROUTER_API_KEY"]).ok();
    assert!(!program.home.read(".env").unwrap().contains(secret));
}

// CL-9
#[test]
fn managed_settings_cannot_be_changed() {
    let program = Program::new();
    let managed = program.home.workspace().join("managed");
    std::fs::create_dir(&managed).unwrap();
    std::fs::write(managed.join("config.yaml"), "display: {skin: corporate}\n").unwrap();
    let with_scope = |arguments: &[&str]| {
        program
            .command(arguments)
            .env("HERMES_MANAGED_DIR", managed.to_str().unwrap())
            .run()
            .unwrap()
    };
    for arguments in [
        &["config", "set", "display.skin", "mono"][..],
        &["config", "unset", "display.skin"],
    ] {
        let output = with_scope(arguments).code(1);
        assert!(output.stderr.contains("administrator"), "{}", output.stderr);
    }
    assert_eq!(
        with_scope(&["config", "get", "display.skin"]).ok().stdout,
        "corporate\n"
    );
    assert!(
        with_scope(&["config", "show"])
            .ok()
            .stdout
            .contains("managed:1")
    );
    let owned = program
        .command(&["config", "set", "display.skin", "mono"])
        .env("HERMES_MANAGED", "brew");
    let output = owned.run().unwrap().code(1);
    assert!(
        output.stderr.contains("Homebrew") && output.stderr.contains("brew upgrade"),
        "{}",
        output.stderr
    );
    assert!(!program.home.path().join("config.yaml").exists());
    std::fs::write(managed.join("config.yaml"), "display: [broken\n").unwrap();
    let output = with_scope(&["config", "get", "display.skin"]).ok();
    assert!(
        output.stderr.contains("warning: "),
        "a broken managed file is said loudly: {}",
        output.stderr
    );
}

// CL-10
#[test]
fn migrate_rewrites_old_spellings_and_keeps_a_copy() {
    let program = Program::new();
    let old = "# mine\n_config_version: 11\nmodel: gpt-4\nstt:\n  model: large-v3  # old place\n";
    program.home.write_config(old).unwrap();
    let before = program.stdout(&["config", "get", "stt", "--json"]);
    program.run(&["config", "migrate", "--dry-run"]).ok();
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        old,
        "a rehearsal changes nothing"
    );
    program.run(&["config", "migrate"]).ok();
    let new = program.home.read("config.yaml").unwrap();
    assert!(new.starts_with("# mine\n_config_version: 33\n"), "{new}");
    assert_eq!(
        program.stdout(&["config", "get", "stt", "--json"]),
        before,
        "the meaning is the same"
    );
    let copies = std::fs::read_dir(program.home.path()).unwrap();
    let copies: Vec<_> = copies
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        copies
            .iter()
            .any(|name| name.starts_with("config.yaml.bak.")),
        "{copies:?}"
    );
    assert_eq!(
        program.stdout(&["config", "migrate"]),
        "nothing to migrate\n"
    );
}

#[test]
fn paths_are_printed_bare() {
    let program = Program::new();
    assert_eq!(
        program.stdout(&["config", "path"]),
        "[HOME]/.hermes/config.yaml\n"
    );
    assert_eq!(
        program.stdout(&["config", "env-path"]),
        "[HOME]/.hermes/.env\n"
    );
}

#[test]
fn edit_opens_the_editor_and_checks_what_was_typed() {
    let program = Program::new();
    let editor = program.home.workspace().join("editor.sh");
    std::fs::write(
        &editor,
        "#!/bin/sh\necho 'agent: {max_turns: words}' > \"$1\"\n",
    )
    .unwrap();
    let command = program
        .command(&["config", "edit"])
        .env("EDITOR", format!("sh {}", editor.display()));
    let terminal = hermes_testkit::pty::Terminal::spawn(&command, 100, 20).unwrap();
    let patience = std::time::Duration::from_secs(20);
    terminal
        .wait_for_text("agent.max_turns must be", patience)
        .unwrap();
    assert_eq!(terminal.wait_exit(patience).unwrap().code, 1);
    let output = program.run(&["config", "edit"]).code(2);
    assert!(
        output.stderr.contains("terminal"),
        "without a terminal it says so: {}",
        output.stderr
    );
}

// CL-7
#[test]
fn changes_at_the_same_time_are_all_kept() {
    let program = Program::new();
    program.home.write_config("display:\n  skin: a\n").unwrap();
    let line = (10..34).map(|n| format!("$HERMES config set --force test.k{n} {n} & "));
    program
        .shell(&format!("{} wait", line.collect::<String>()))
        .ok();
    let kept = program
        .run(&["config", "get", "test", "--json"])
        .ok()
        .json();
    assert_eq!(kept.as_object().unwrap().len(), 24);
}

// CL-2
#[test]
fn a_profile_is_never_taken_for_another() {
    let program = Program::new();
    program
        .home
        .write("profiles/work/config.yaml", "display: {skin: mono}\n")
        .unwrap();
    for arguments in [
        &["-pwork", "config", "get", "display.skin"][..],
        &["-p=work", "config", "get", "display.skin"],
    ] {
        assert_eq!(program.stdout(arguments), "mono\n", "{arguments:?}");
    }
    for arguments in [
        &["-p", "bad.name", "config", "set", "display.skin", "x"][..],
        &["-p", "work", "-p", "other", "config", "path"],
        &["--profile=Ä", "config", "path"],
    ] {
        program.run(arguments).code(2);
    }
    assert!(!program.home.path().join("config.yaml").exists());
}

#[test]
fn secrets_are_masked_wherever_they_stand() {
    let program = Program::new();
    let secret = "sk-SECRETSECRET1234567890abcdef";
    program
        .home
        .write_config(&format!(
            "model:\n  base_url: https://user:{secret}@host.test/v1\n  extra_headers: {{Authorization: Bearer {secret}}}\n\
             mcp_servers:\n  x:\n    args: [--token, {secret}]\n    url: https://h.test/mcp?api_key={secret}\n    env: {{FOO: {secret}}}\n\
             fallback_providers:\n- {{provider: a, model: b, api_key: {secret}}}\n"
        ))
        .unwrap();
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["dump"],
        &["status"],
    ] {
        let output = program.run(arguments);
        assert!(
            !output.stdout.contains(secret),
            "{arguments:?}: {}",
            output.stdout
        );
    }
    let header = format!("Bearer {secret}");
    let output = program
        .run(&[
            "config",
            "set",
            "mcp_servers.x.headers.Authorization",
            &header,
        ])
        .ok();
    assert!(!output.stdout.contains(secret), "{}", output.stdout);
}

#[test]
fn what_is_no_list_entry_is_named() {
    let program = Program::new();
    for text in ["fallback_providers: x\n", "fallback_providers:\n- a\n- 5\n"] {
        program.home.write_config(text).unwrap();
        let output = program.run(&["config", "check"]).code(1);
        assert!(
            output.stdout.contains("fallback_providers.0 must be a map"),
            "{}",
            output.stdout
        );
    }
    program
        .run(&["config", "set", "fallback_providers", "[a, 5]"])
        .code(2);
}

// CL-11
#[test]
fn an_exported_profile_holds_no_secret_wherever_it_was_written() {
    let program = Program::new();
    let secret = "sk-SECRETSECRET1234567890abcdef";
    program
        .home
        .write(
            "profiles/work/config.yaml",
            format!(
                "# my old key {secret}\nagent:\n  system_prompt: use {secret} please\n\
                 mcp_servers:\n  x:\n    args: [--token, {secret}]\n    url: https://h.test/mcp?api_key={secret}\n"
            ),
        )
        .unwrap();
    program
        .run(&["profile", "export", "work", "-o", "work.tar.gz"])
        .ok();
    let unpacked = program.shell("tar xzOf work.tar.gz work/config.yaml").ok();
    assert!(!unpacked.stdout.contains(secret), "{}", unpacked.stdout);
    assert!(
        unpacked.stdout.contains("mcp_servers:"),
        "the rest is there: {}",
        unpacked.stdout
    );
}

// CL-7
#[test]
fn an_item_of_a_list_and_a_doubled_key_can_be_unset() {
    let program = Program::new();
    let before = "# top\nskills:\n  disabled: # not now\n  - a # first\n  # about b\n  - b\ndisplay:\n  skin: x # x\n  # about compact\n  compact: on\n  skin: z\n";
    program.home.write_config(before).unwrap();
    program.run(&["config", "unset", "skills.disabled.0"]).ok();
    program.run(&["config", "unset", "display.skin"]).ok();
    assert_eq!(
        program.home.read("config.yaml").unwrap(),
        "# top\nskills:\n  disabled: # not now\n  # about b\n  - b\ndisplay:\n  # about compact\n  compact: on\n"
    );
}

// CL-7
#[test]
fn refusals_name_their_cause_and_a_next_step() {
    let program = Program::new();
    let deep = ["part"; 70].join(".");
    let big: String = (0..200_000).map(|n| format!("k{n}: 1\n")).collect();
    for (file, arguments, code, error, hint) in [
        (
            "",
            &["set", "agent.max_turns", "-5"][..],
            2,
            "agent.max_turns must be a whole number, 0 or more, not `-5`",
            "hermes config get agent.max_turns shows what is set",
        ),
        (
            "",
            &["set", "display", "x"],
            2,
            "display must be a map, not `x`",
            "set one of its keys: hermes config set display.compact VALUE",
        ),
        (
            "display: 5\n",
            &["get", "display.skin"],
            1,
            "config.yaml:1: display must be a map, not `5`",
            "hermes config unset display, then hermes config set display.compact VALUE",
        ),
        (
            "",
            &["set", "--force", &deep, "x"],
            1,
            "the key has 70 parts, more than the 64 a file may be deep",
            "write it like display.skin",
        ),
        (
            &big,
            &["set", "display.skin", "x"],
            1,
            "config.yaml: line 50000, column 9: the file holds more than 100000 keys and values",
            "move what is no setting to a file of its own",
        ),
        (
            "# nothing\nnull\n",
            &["set", "display.skin", "x"],
            1,
            "config.yaml: line 2: the file must be a map of settings, not nothing",
            "the file must hold `key: value` lines; nothing was written",
        ),
        (
            "a: &x {skin: b}\ndisplay: *x\n",
            &["set", "display.skin", "x"],
            1,
            "config.yaml: display is an alias of another value",
            "write the value out where the `*name` stands, or change the value it names",
        ),
        (
            "",
            &["unset", "agent.max_turns"],
            1,
            "agent.max_turns is not set in ",
            "hermes config get agent.max_turns shows what is in effect",
        ),
        (
            "",
            &["unset", "skills.disabled.3"],
            1,
            "skills.disabled.3 is not set in ",
            "hermes config get skills.disabled shows what is there",
        ),
        (
            "",
            &["unset", "agent.max_trns"],
            1,
            "agent.max_trns is not set in ",
            "did you mean agent.max_turns?",
        ),
        (
            "",
            &["unset", "OPENROUTER_API_KEY"],
            1,
            "OPENROUTER_API_KEY is not set in ",
            "hermes config env-path says where the file is",
        ),
    ] {
        program.home.write_config(file).unwrap();
        let line: Vec<_> = ["config"].iter().chain(arguments).copied().collect();
        let output = program.run(&line).code(code);
        let (said, next) = output.stderr.split_once('\n').unwrap();
        assert!(said.contains(error), "{said}");
        assert_eq!(next, format!("hint: {hint}\n"));
        assert_eq!(program.home.read("config.yaml").unwrap(), file);
    }
}

// CL-8
#[test]
fn check_names_what_is_odd_in_the_env_file() {
    let program = Program::new();
    program
        .home
        .write_env("1A=x\nB=1\n# c\nexport B=2\nPATH=/bin\n")
        .unwrap();
    let file = program.home.path().join(".env");
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o644);
    let output = program.run(&["config", "check"]).code(1);
    assert_snapshot!(program.home.scrub(&output.stdout), @r"
    config.yaml is version 0 of 33
    warning: [HOME]/.hermes/.env: others can read the file (mode 644)
      hint: chmod 600 [HOME]/.hermes/.env
    warning: [HOME]/.hermes/.env:1: 1A is not a variable name
      hint: use letters, digits and _, not starting with a digit
    warning: [HOME]/.hermes/.env:4: B is set on line 2 already; the later one counts
      hint: remove the line that is not wanted
    warning: [HOME]/.hermes/.env:5: PATH decides which programs run and does not belong in .env
      hint: remove the line, and set it in your shell instead
    ");
    program
        .run(&["config", "set", "OPENROUTER_API_KEY", "k"])
        .ok();
    assert_eq!(program.home.mode(".env").unwrap() & 0o777, 0o600);
    program.home.write_env("B=2\n").unwrap();
    program.run(&["config", "check"]).ok();
}

#[test]
fn the_editor_may_stand_in_quotes() {
    let program = Program::new();
    let editor = program.home.workspace().join("my editor.sh");
    std::fs::write(&editor, "echo 'agent: {max_turns: words}' > \"$2\"\n").unwrap();
    let command = program
        .command(&["config", "edit"])
        .env("EDITOR", format!("sh '{}' \"a b\"", editor.display()));
    let terminal = hermes_testkit::pty::Terminal::spawn(&command, 100, 20).unwrap();
    let patience = std::time::Duration::from_secs(20);
    terminal
        .wait_for_text("agent.max_turns must be", patience)
        .unwrap();
    assert_eq!(terminal.wait_exit(patience).unwrap().code, 1);
}

// CL-9
#[test]
fn a_managed_installation_gets_no_new_profiles() {
    let program = Program::new();
    let command = program
        .command(&["profile", "create", "work"])
        .env("HERMES_MANAGED", "brew");
    let output = command.run().unwrap().code(1);
    assert!(
        output.stderr.contains("Homebrew") && output.stderr.contains("brew upgrade"),
        "{}",
        output.stderr
    );
    assert!(!program.home.path().join("profiles").exists());
}

// CL-7
#[test]
fn a_key_of_a_service_that_is_read_by_its_variable_can_be_kept() {
    let program = Program::new();
    let keys = [
        "MODAL_TOKEN_SECRET",
        "MODAL_TOKEN_ID",
        "DAYTONA_API_URL",
        "AWS_SECRET_ACCESS_KEY",
    ];
    for key in keys {
        program.run(&["config", "set", key, "x-1234567890"]).ok();
        let kept = program.home.read(".env").unwrap();
        assert!(kept.contains(&format!("{key}=x-1234567890\n")), "{kept}");
    }
    // What counts in the environment alone is not put where nothing would come of it.
    let refused = program.run(&["config", "set", "HERMES_WRITE_SAFE_ROOT", "x"]);
    assert!(!refused.code(2).stderr.is_empty());
}

// CL-41
#[test]
fn settings_that_nothing_reads_are_named_and_nothing_is_called_wrong() {
    let program = Program::new();
    program
        .home
        .write_config(
            "hooks: {pre_tool_call: [{matcher: terminal, command: /bin/false}]}\n\
             worktree: true\nagent: {gateway_timeout: 60, max_turns: 20}\n\
             discord: {}\nstreaming: {enabled: false}\n",
        )
        .unwrap();
    let found = program.run(&["config", "check"]).ok();
    let said = program.home.scrub(&found.stdout);
    let said: Vec<&str> = said.lines().collect();
    let file = "[HOME]/.hermes/config.yaml";
    // What stands there with its default is nothing to speak of.
    assert_eq!(
        said[said.len() - 4..],
        [
            &format!(
                "note: {file}:3: agent.gateway_timeout has no effect until there is a gateway"
            ),
            &format!("note: {file}:1: hooks has no effect until hooks are run"),
            &format!("note: {file}:2: worktree has no effect until Hermes makes worktrees"),
            "nothing is wrong",
        ]
    );
    let report = program.run(&["config", "check", "--json"]).ok().json();
    let severities = report["findings"].as_array().unwrap().iter();
    assert!(
        severities.clone().count() == 3 && severities.clone().all(|one| one["severity"] == "note")
    );
    let doctor = program.run(&["doctor", "--json"]);
    let doctor: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    let weak = doctor["findings"].as_array().unwrap().iter();
    let mut weak = weak.filter(|one| one["about"] == "settings" && one["standing"] == "weak");
    let text = weak.next().unwrap()["text"].as_str().unwrap();
    assert!(text.contains("has no effect"), "{text}");
    assert_eq!(weak.count(), 2);
}
