//! `hermes profile` as a person uses it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use hermes_testkit::{Output, TempHome, pty::Terminal};

use super::program::Program;

const PATIENCE: Duration = Duration::from_secs(10);

/// Every path below a directory.
fn paths(top: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.strip_prefix(top).unwrap().display().to_string());
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    found
}

/// Which profile and home a program says it uses.
fn used(output: Output) -> String {
    output.ok().stdout.lines().nth(1).unwrap().to_owned()
}

fn line(profile: &str, home: &Path) -> String {
    format!("profile {profile}, home {}", home.display())
}

/// Two profiles besides the first one; `play` is the active one.
fn with_work_and_play() -> Program {
    let program = Program::new();
    program.home.write_config("model: acme/one\n").unwrap();
    program
        .run(&["profile", "create", "work", "--description", "the day job"])
        .ok();
    program
        .home
        .write("profiles/work/config.yaml", "model:\n  default: acme/two\n")
        .unwrap();
    program
        .run(&["profile", "create", "play", "--no-alias"])
        .ok();
    program.run(&["profile", "use", "play"]).ok();
    program
}

// CL-11
#[test]
fn the_list_shows_what_matters() {
    let program = with_work_and_play();
    insta::assert_snapshot!(program.stdout(&["profile"]), @r#"
       Profile  Model     Gateway  Wrapper  For
       default  acme/one  —        —        —
    *  play     —         —        —        —
       work     acme/two  —        work     the day job
    "#);
    assert_eq!(
        program.stdout(&["profile", "list"]),
        program.stdout(&["profile"])
    );
    insta::assert_snapshot!(program.stdout(&["-p", "work", "profile", "list"]), @r#"
       Profile  Model     Gateway  Wrapper  For
       default  acme/one  —        —        —
       play     —         —        —        —
    *  work     acme/two  —        work     the day job
    play is active; this run uses another one.
    "#);
    let listed = program.run(&["profile", "list", "--json"]).ok().json();
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["default", "play", "work"]);
}

// CL-11
#[test]
fn a_profile_is_shown_with_what_belongs_to_it() {
    let program = with_work_and_play();
    insta::assert_snapshot!(program.stdout(&["profile", "show", "work"]), @r#"
    Profile      work
    Home         [HOME]/.hermes/profiles/work
    State        not in use
    For          the day job
    Model        acme/two
    Gateway      not running
    Skills       0
    Wrapper      [HOME]/.local/bin/work
    "#);
    insta::assert_snapshot!(program.stdout(&["profile", "show", "work", "--json"]), @r#"
    {
      "name": "work",
      "home": "[HOME]/.hermes/profiles/work",
      "in_use": false,
      "active": false,
      "model": "acme/two",
      "description": "the day job",
      "gateway_pid": null,
      "skills": 0,
      "wrappers": [
        "[HOME]/.local/bin/work"
      ],
      "distribution": null
    }
    "#);
}

// CL-34
#[test]
fn a_list_into_a_closed_pipe_is_quiet() {
    let program = Program::new();
    for number in 0..40 {
        let name = format!("profiles/p{number}/config.yaml");
        program.home.write(&name, "").unwrap();
    }
    for command in [
        "profile",
        "profile list",
        "profile list --json",
        "profile show p1",
    ] {
        for reader in ["head -n 1 >/dev/null", "true"] {
            let output = program.shell(&format!("($HERMES {command}; echo $? >&2) | {reader}"));
            let code = output.stderr.trim();
            assert!(["0", "141"].contains(&code), "{command}: {}", output.stderr);
        }
    }
}

// CL-11
#[test]
fn the_home_is_chosen_in_the_documented_order() {
    let program = Program::new();
    let root = program.home.path();
    for name in ["work", "play"] {
        program.run(&["profile", "create", name]).ok();
    }
    let work = root.join("profiles/work");
    let play = root.join("profiles/play");
    let version = |arguments: &[&str]| program.command(arguments);
    assert_eq!(
        used(version(&["version"]).run().unwrap()),
        line("default", &root)
    );
    // Without HERMES_HOME, the one below HOME.
    let bare = version(&["version"]).env_remove("HERMES_HOME");
    assert_eq!(used(bare.run().unwrap()), line("default", &root));
    let told = program.stdout(&["profile", "use", "work"]);
    assert_eq!(
        told,
        "Profile work is active now, home [HOME]/.hermes/profiles/work\n"
    );
    // The active one beats HERMES_HOME that is a root,
    assert_eq!(
        used(version(&["version"]).run().unwrap()),
        line("work", &work)
    );
    // HERMES_HOME that is a profile beats the active one,
    let inside = version(&["version"]).env("HERMES_HOME", &play);
    assert_eq!(used(inside.run().unwrap()), line("play", &play));
    // and the flag beats them all.
    let flagged = version(&["-p", "default", "version"]).env("HERMES_HOME", &play);
    assert_eq!(used(flagged.run().unwrap()), line("default", &root));
    // A choice that has no effect is not made silently.
    let weaker = version(&["profile", "use", "default"]).env("HERMES_HOME", &play);
    let output = weaker.run().unwrap().ok();
    assert!(
        output
            .stdout
            .contains("note: HERMES_HOME points to profile play"),
        "{}",
        output.stdout
    );
}

// CL-11
#[test]
fn a_wrapper_finds_its_home_with_an_empty_environment() {
    let home = TempHome::new().unwrap();
    let binary = env!("CARGO_BIN_EXE_hermes");
    // One root where everybody has it, one with everything a shell could trip over in its name.
    let custom = home.workspace().join("it's a $HOME `of` \"mine\"");
    fs::create_dir(&custom).unwrap();
    for (root, name) in [(home.path(), "work"), (custom, "play")] {
        let hermes = || home.hermes(binary).env("HERMES_HOME", &root);
        hermes()
            .args(["profile", "create", name])
            .run()
            .unwrap()
            .ok();
        let wrapper = home.user_home().join(".local/bin").join(name);
        let mode = fs::metadata(&wrapper).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let profile = root.join("profiles").join(name);
        let mut command = home.command("/usr/bin/env").arg("-i").arg(&wrapper);
        command = command.arg("version");
        assert_eq!(used(command.run().unwrap()), line(name, &profile));
        // The caller's environment does not lead it astray either.
        let elsewhere = home.command(&wrapper).env("HERMES_HOME", home.workspace());
        assert_eq!(
            used(elsewhere.arg("version").run().unwrap()),
            line(name, &profile)
        );
    }
}

// CL-38
#[test]
fn nothing_is_written_outside_the_home_but_the_wrapper() {
    let program = Program::new();
    program.home.write("SOUL.md", "x").unwrap();
    let top = program.home.user_home().parent().unwrap();
    for arguments in [
        &["profile", "create", "work", "--clone"][..],
        &["profile", "create", "copy", "--clone-all", "--no-alias"],
        &["profile", "use", "work"],
        &["profile", "describe", "work", "--text", "x"],
        &["profile", "list"],
        &["profile", "show", "work"],
        &["profile", "rename", "copy", "other"],
    ] {
        program.run(arguments).ok();
    }
    let outside: Vec<_> = paths(top)
        .into_iter()
        .filter(|path| !path.starts_with("home/.hermes"))
        .collect();
    assert_eq!(
        outside,
        [
            "home",
            "home/.local",
            "home/.local/bin",
            "home/.local/bin/work",
            "work"
        ]
    );
    program.run(&["profile", "delete", "work", "-y"]).ok();
    assert!(!top.join("home/.local/bin/work").exists());
}

// CL-38
#[test]
fn a_program_of_the_user_is_never_replaced_hidden_or_removed() {
    let program = Program::new();
    let bin = program.home.user_home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("work"), "mine").unwrap();
    let made = program.run(&["profile", "create", "work"]).ok();
    assert!(made.stdout.contains("note: no wrapper:"), "{}", made.stdout);
    for arguments in [
        &["profile", "alias", "work"][..],
        &["profile", "alias", "work", "--remove"],
        &["profile", "alias", "work", "--name", "cat"],
    ] {
        program.run(arguments).code(1);
    }
    program
        .run(&["profile", "alias", "work", "--name", "chat"])
        .code(2);
    program
        .run(&["profile", "alias", "work", "--name", "../evil"])
        .code(2);
    program
        .run(&["profile", "alias", "work", "--name", "job"])
        .ok();
    assert!(bin.join("job").exists());
    for command in ["config", "chat", "sessions"] {
        let output = program.run(&["profile", "create", command]).code(2);
        assert!(output.stderr.contains("reserved"), "{}", output.stderr);
        assert!(!bin.join(command).exists());
    }
    program.run(&["profile", "delete", "work", "--yes"]).ok();
    assert!(
        !bin.join("job").exists(),
        "every wrapper goes with its profile"
    );
    assert_eq!(fs::read_to_string(bin.join("work")).unwrap(), "mine");
}

// CL-11
#[test]
fn deleting_asks_and_leaves_no_trace() {
    let program = Program::new();
    program.run(&["profile", "create", "work"]).ok();
    program.run(&["profile", "use", "work"]).ok();
    let before = program.home.tree_hash().unwrap();
    let refused = program.run(&["profile", "delete", "work"]).code(2);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    program.run(&["profile", "delete", "default", "-y"]).code(2);
    program
        .run(&["-p", "default", "profile", "delete", "nosuch", "-y"])
        .code(1);

    let terminal =
        Terminal::spawn(&program.command(&["profile", "delete", "work"]), 100, 24).unwrap();
    terminal.wait_for_text("[y/N]", PATIENCE).unwrap();
    terminal.send("n\r").unwrap();
    terminal.wait_exit(PATIENCE).unwrap();
    assert_eq!(program.home.tree_hash().unwrap(), before);

    // A gateway that runs there keeps it.
    let pid = std::process::id().to_string();
    program
        .home
        .write("profiles/work/gateway.pid", &pid)
        .unwrap();
    let running = program.run(&["profile", "delete", "work", "-y"]).code(1);
    assert!(running.stderr.contains(&pid), "{}", running.stderr);
    fs::remove_file(program.home.path().join("profiles/work/gateway.pid")).unwrap();

    let terminal =
        Terminal::spawn(&program.command(&["profile", "delete", "work"]), 100, 24).unwrap();
    terminal.wait_for_text("[y/N]", PATIENCE).unwrap();
    terminal.send("y\r").unwrap();
    terminal.wait_exit(PATIENCE).unwrap();
    assert!(!program.home.path().join("active_profile").exists());
    assert!(!program.home.path().join("profiles/work").exists());
    assert!(!program.home.user_home().join(".local/bin/work").exists());
    assert_eq!(
        used(program.run(&["version"])),
        line("default", &program.home.path())
    );
}

// CL-11
#[test]
fn renaming_moves_everything_that_names_the_profile() {
    let program = Program::new();
    program.run(&["profile", "create", "work"]).ok();
    program
        .run(&["profile", "alias", "work", "--name", "job"])
        .ok();
    program.run(&["profile", "use", "work"]).ok();
    program.run(&["profile", "rename", "work", "play"]).ok();
    let play = program.home.path().join("profiles/play");
    assert_eq!(used(program.run(&["version"])), line("play", &play));
    let bin = program.home.user_home().join(".local/bin");
    assert!(!bin.join("work").exists());
    for wrapper in ["play", "job"] {
        let output = program
            .home
            .command(bin.join(wrapper))
            .arg("version")
            .run()
            .unwrap();
        assert_eq!(used(output), line("play", &play));
    }
    program.run(&["profile", "create", "other"]).ok();
    let before = program.home.tree_hash().unwrap();
    program.run(&["profile", "rename", "play", "other"]).code(1);
    program
        .run(&["profile", "rename", "play", "hermes"])
        .code(2);
    program.run(&["profile", "rename", "default", "x"]).code(2);
    program.run(&["profile", "rename", "nosuch", "x"]).code(1);
    assert_eq!(program.home.tree_hash().unwrap(), before);
}

// CL-11
#[test]
fn a_profile_travels_as_an_archive() {
    let program = Program::new();
    program.run(&["profile", "create", "work"]).ok();
    program
        .home
        .write("profiles/work/.env", "ACME_KEY=CANARY\n")
        .unwrap();
    program
        .home
        .write("profiles/work/skills/a/SKILL.md", "a skill")
        .unwrap();
    let told = program.stdout(&["profile", "export", "work"]);
    insta::assert_snapshot!(told, @r#"
    Packed 2 files of profile work into work.tar.gz
    note: left out .env, home, logs
    "#);
    let archive = program.home.workspace().join("work.tar.gz");
    let grep = program
        .home
        .command("/bin/sh")
        .args(["-c", "gzip -dc work.tar.gz | grep -c CANARY"]);
    assert_eq!(grep.run().unwrap().stdout, "0\n");
    let archive = archive.to_str().unwrap();
    program.run(&["profile", "import", archive]).code(1);
    program
        .run(&["profile", "import", archive, "--name", "hermes"])
        .code(2);
    program.run(&["profile", "import", "nosuch.tar.gz"]).code(1);
    program
        .run(&["profile", "import", archive, "--name", "copy"])
        .ok();
    assert_eq!(
        program
            .home
            .read("profiles/copy/skills/a/SKILL.md")
            .unwrap(),
        "a skill"
    );
    assert!(
        !program
            .home
            .read("profiles/copy/.env")
            .unwrap()
            .contains("CANARY")
    );
    assert!(program.home.user_home().join(".local/bin/copy").exists());
}

#[test]
fn mistakes_get_one_line_and_a_hint_and_change_nothing() {
    let program = Program::new();
    program.run(&["profile", "create", "work"]).ok();
    let before = program.home.tree_hash().unwrap();
    for (arguments, code) in [
        (&["create", "Bad Name"][..], 2),
        (&["create", "default"], 2),
        (&["create", "tmp"], 2),
        (&["create", "work"], 1),
        (&["create", "new", "--clone-from", "nosuch"], 1),
        (&["use", "nosuch"], 1),
        (&["show", "nosuch"], 1),
        (&["info", "work"], 1),
        (&["update", "work", "-y"], 1),
        (&["describe", "work", "--auto"], 2),
        (&["describe", "--all"], 2),
        (&["alias", "nosuch"], 1),
        (&["alias", "default"], 2),
        (&["export", "nosuch"], 1),
        (&["install", "nosuch"], 2),
        (&["install", "http://h.example.test/x"], 2),
        (&["install", "https://u:p@h.example.test/x"], 2),
        (&["install", "."], 1),
    ] {
        let output = program
            .command(&["profile"])
            .args(arguments)
            .run()
            .unwrap()
            .code(code);
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!(lines.len(), 2, "{arguments:?}: {}", output.stderr);
        assert!(
            lines[0].starts_with("error: ") && lines[1].starts_with("hint: "),
            "{lines:?}"
        );
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    assert_eq!(program.home.tree_hash().unwrap(), before);
}

// CL-11
#[test]
fn a_distribution_is_installed_shown_and_updated() {
    let program = Program::new();
    let home = &program.home;
    let manifest = |version: &str| {
        format!(
            "name: bot\nversion: {version}\ndescription: Finds things\nauthor: Ada\nlicense: MIT\n\
             hermes_requires: '>=99'\nenv_requires:\n  - name: ACME_KEY\n    description: from acme\n"
        )
    };
    home.write_work("dist/distribution.yaml", manifest("1.0"))
        .unwrap();
    home.write_work("dist/SOUL.md", "one").unwrap();
    home.write_work("dist/config.yaml", "model: acme/one\n")
        .unwrap();
    home.write_work("dist/.env", "CANARY=1").unwrap();
    program.run(&["profile", "install", "dist"]).code(2);
    let told = program.stdout(&["profile", "install", "dist", "--alias", "-y"]);
    let told = told.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    insta::assert_snapshot!(told, @r#"
    Distribution bot
    Version      1.0
    For          Finds things
    Author       Ada
    Licence      MIT
    Needs hermes >=99
    Needs key    ACME_KEY from acme
    Brings       SOUL.md, config.yaml
    note: it asks for hermes >=99, this is [VERSION]
    Installed profile bot at [HOME]/.hermes/profiles/bot
    note: left out .env
    note: it needs ACME_KEY in [HOME]/.hermes/profiles/bot/.env
    [HOME]/.local/bin/bot runs it
    note: its directory is not on PATH
    "#);
    program.run(&["profile", "install", "dist", "-y"]).code(1);
    home.write("profiles/bot/config.yaml", "model: mine\n")
        .unwrap();
    home.write_work("dist/distribution.yaml", manifest("2.0"))
        .unwrap();
    home.write_work("dist/SOUL.md", "two").unwrap();
    program.run(&["profile", "update", "bot"]).code(2);
    program.run(&["profile", "update", "bot", "-y"]).ok();
    assert_eq!(home.read("profiles/bot/SOUL.md").unwrap(), "two");
    assert_eq!(
        home.read("profiles/bot/config.yaml").unwrap(),
        "model: mine\n"
    );
    program
        .run(&["profile", "update", "bot", "-y", "--force-config"])
        .ok();
    assert_eq!(
        home.read("profiles/bot/config.yaml").unwrap(),
        "model: acme/one\n"
    );
    assert_eq!(
        home.read("profiles/bot/config.yaml.bak").unwrap(),
        "model: mine\n"
    );
    insta::assert_snapshot!(program.stdout(&["profile", "info", "bot"]), @r#"
    Profile      bot
    Distribution bot
    Version      2.0
    For          Finds things
    Author       Ada
    Licence      MIT
    Needs hermes >=99
    Needs key    ACME_KEY from acme
    Source       [WORK]/dist
    Missing keys ACME_KEY
    "#);
    let info = program
        .run(&["profile", "info", "bot", "--json"])
        .ok()
        .json();
    assert_eq!(info["version"], "2.0");
    assert_eq!(info["env_requires"][0]["set"], false);
}

// CL-11
#[test]
fn a_distribution_may_come_from_git() {
    let program = Program::new();
    let home = &program.home;
    home.write_work("dist/distribution.yaml", "name: bot\nversion: 1\n")
        .unwrap();
    home.write_work("dist/skills/a/SKILL.md", "a").unwrap();
    let commit = "cd dist && git init -q && git add -A && \
                  git -c user.name=a -c user.email=a@example.test commit -q -m x";
    program.shell(commit).ok();
    let address = format!("file://{}/dist", home.workspace().display());
    program
        .run(&["profile", "install", &address, "-y", "--name", "found"])
        .ok();
    assert_eq!(home.read("profiles/found/skills/a/SKILL.md").unwrap(), "a");
    let names: Vec<_> = paths(&home.path().join("profiles"))
        .into_iter()
        .filter(|path| path.contains(".git") || path.starts_with('.'))
        .collect();
    assert_eq!(names, Vec::<String>::new(), "the clone is gone");
    home.write_work("dist/skills/a/SKILL.md", "b").unwrap();
    program.shell(&commit.replace("git init -q && ", "")).ok();
    program.run(&["profile", "update", "found", "-y"]).ok();
    assert_eq!(home.read("profiles/found/skills/a/SKILL.md").unwrap(), "b");

    let missing = program
        .run(&["profile", "install", "file:///nosuch/repository", "-y"])
        .code(1);
    assert!(
        missing.stderr.contains("could not be fetched"),
        "{}",
        missing.stderr
    );
    let without = program.command(&["profile", "install", &address, "-y"]);
    let without = without.env("PATH", "/nowhere").run().unwrap().code(1);
    assert!(
        without.stderr.contains("git is not installed"),
        "{}",
        without.stderr
    );
}
