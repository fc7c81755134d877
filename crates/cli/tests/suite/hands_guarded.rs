//! What a confined command leaves lying about is nothing that runs outside later, and whose home commands live in.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_testkit::SYSTEM_PATH;
use hermes_testkit::model_server::{ModelServer, Scenario, text};
use serde_json::json;

use super::chat::with_model;
use super::hands::{run_in, terminal};
use super::program::Program;

/// A file outside every workspace, which only something unconfined can make. Gone again when this is dropped.
struct Marker(PathBuf);

impl Marker {
    fn new(name: &str) -> Self {
        Self(PathBuf::from(format!(
            "/var/hermes-{name}-{}",
            std::process::id()
        )))
    }

    /// Puts programs of these names into a virtual environment of the workspace that would make the file, and
    /// answers with a `PATH` that finds them first.
    fn plant(&self, program: &Program, names: &[&str]) -> String {
        let folder = program.home.workspace().join(".venv/bin");
        fs::create_dir_all(&folder).unwrap();
        for name in names {
            let file = folder.join(name);
            fs::write(&file, format!("#!/bin/sh\ntouch {}\n", self.0.display())).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        format!("{}:{SYSTEM_PATH}", folder.display())
    }

    fn assert_absent(&self, told: &dyn std::fmt::Debug) {
        assert!(!self.0.exists(), "something ran outside: {told:?}");
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

// EX-58, EX-68: what looks at a changed file runs as confined as a command; the sandbox and the scanner are never
// taken from where commands write.
#[test]
fn programs_in_a_virtual_environment_of_the_workspace_do_not_run_outside() {
    let marker = Marker::new("helper");
    let write = ("write_file", json!({"path": "x.py", "content": "x = 1\n"}));
    let run = run_in(
        |program, environment| {
            let path = marker.plant(&program, &["python3", "bwrap", "tirith"]);
            environment.push(("PATH", path));
            program
        },
        "",
        &[terminal("echo ran"), write, terminal("true")],
        &[],
    );
    marker.assert_absent(&run.results);
    assert_eq!(run.results[0]["output"], "ran", "{:?}", run.results);
    assert_eq!(run.results[1]["bytes_written"], 6, "{:?}", run.results);
    // It did run, where it could not do any harm.
    assert_ne!(run.results[1]["lint"]["status"], "ok", "{:?}", run.results);
}

// EX-49, EX-58: the check itself still works.
#[test]
fn a_changed_file_is_checked_inside_the_sandbox() {
    let write = |content: &str| ("write_file", json!({"path": "x.py", "content": content}));
    let calls = [write("x = 1\n"), write("def f(:\n"), terminal("true")];
    let run = run_in(|program, _| program, "", &calls, &[]);
    assert_eq!(run.results[0]["lint"]["status"], "ok", "{:?}", run.results);
    let broken = &run.results[1]["lint"];
    assert_eq!(broken["status"], "error", "{broken}");
    assert!(
        broken["output"].as_str().unwrap().contains("line 1"),
        "{broken}"
    );
}

/// Where a program really lies that is on the path of whoever runs the tests.
fn folder_of(program: &str) -> Option<String> {
    let find = format!("rustup which {program} 2>/dev/null || command -v {program}");
    let found = Command::new("sh").args(["-c", &find]).output().unwrap();
    let path = String::from_utf8(found.stdout).unwrap();
    let folder = Path::new(path.lines().next()?).parent()?;
    Some(folder.display().to_string())
}

// EX-49: Go and Rust are checked by their own programs where those are installed, and only what is new is told.
#[test]
fn go_and_rust_are_checked_by_their_own_programs() {
    let broken = "fn a() { let x = ; }\n";
    let twice = format!("{broken}\nfn b() {{ (1 + }}\n");
    let large = "// a line of a large file\nfn f() {}\n".replace("f()", "FN()");
    let large: String = (0..12_000)
        .map(|number| large.replace("FN", &format!("f{number}")))
        .collect();
    let write =
        |path: &str, content: &str| ("write_file", json!({"path": path, "content": content}));
    for (program, ending, texts) in [
        ("rustfmt", "rs", [large.as_str(), broken, &twice]),
        (
            "gofmt",
            "go",
            [
                "package a\n\nfunc f() {}\n",
                "package a\n\nfunc f( {}\n",
                "package a\n\nfunc f( {}\n\nfunc g() { x := }\n",
            ],
        ),
    ] {
        let path = format!("x.{ending}");
        let mut calls: Vec<_> = texts.iter().map(|text| write(&path, text)).collect();
        calls.extend([write(&path, texts[2]), terminal("true")]);
        let folder = folder_of(program);
        let there = folder.is_some();
        let path = folder.map_or(SYSTEM_PATH.to_owned(), |folder| {
            format!("{folder}:{SYSTEM_PATH}")
        });
        let prepare = |program: Program, environment: &mut Vec<(&'static str, String)>| {
            environment.push(("PATH", path));
            program
        };
        let run = run_in(prepare, "", &calls, &[]);
        let lints: Vec<_> = run.results.iter().map(|result| &result["lint"]).collect();
        if !there {
            assert!(
                lints[..4].iter().all(|lint| lint["status"] == "skipped"),
                "{lints:?}"
            );
            continue;
        }
        assert_eq!(lints[0]["status"], "ok", "{program}: {}", lints[0]);
        assert_eq!(lints[1]["status"], "error", "{program}: {}", lints[1]);
        assert_eq!(lints[3]["status"], "ok", "{program}: {}", lints[3]);
    }
}

// EX-49: TypeScript is read by `tsc`, of which only what cannot be read counts.
#[test]
fn typescript_is_checked_where_its_compiler_is_installed() {
    let calls = [
        (
            "write_file",
            json!({"path": "a.ts", "content": "let x: number = 1;\n"}),
        ),
        (
            "write_file",
            json!({"path": "b.tsx", "content": "let y: string = 1;\n"}),
        ),
        (
            "write_file",
            json!({"path": "c.mts", "content": "let = ;\n"}),
        ),
        terminal("true"),
    ];
    // As the real one answers: the file is named last, and reading is all that is asked of it.
    let compiler = "#!/bin/sh\nfor file; do :; done\ncase \" $* \" in *' --noEmit '*) ;; *) exit 9;; esac\n\
                    grep -q 'let = ' \"$file\" && { echo \"$file(1,5): error TS1134: Variable declaration expected.\"; exit 2; }\n\
                    grep -q 'string = 1' \"$file\" && { echo \"$file(1,5): error TS2322: Type.\"; exit 2; }\nexit 0\n";
    for there in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let prepare = |program: Program, environment: &mut Vec<(&'static str, String)>| {
            let path = folder.path().join("tsc");
            if there {
                fs::write(&path, compiler).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            let folder = folder.path().display();
            environment.push(("PATH", format!("{folder}:{SYSTEM_PATH}")));
            program
        };
        let run = run_in(prepare, "", &calls, &[]);
        let lints: Vec<_> = run.results.iter().map(|result| &result["lint"]).collect();
        if !there {
            assert_eq!(lints[2]["message"], "tsc is not installed", "{lints:?}");
            continue;
        }
        assert_eq!(lints[0]["status"], "ok", "{lints:?}");
        assert_eq!(lints[1]["status"], "ok", "{lints:?}");
        assert_eq!(
            *lints[2],
            json!({"status": "error", "output": "x.mts(1,5): error TS1134: Variable declaration expected."})
        );
    }
}

// AG-29, EX-58: neither another git nor what a repository has git run gets out.
#[test]
fn changes_are_shown_by_a_git_that_runs_nothing_outside() {
    let marker = Marker::new("git");
    let server = ModelServer::start(Scenario::new().reply(text("seen"))).unwrap();
    let program = with_model(&server.base_url());
    let work = program.home.workspace();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(arguments)
            .current_dir(work)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    fs::write(work.join("a.txt"), "one\n").unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "a.txt"]);
    git(&["commit", "--quiet", "-m", "first"]);
    fs::write(work.join(".gitattributes"), "*.txt filter=evil\n").unwrap();
    let clean = format!("touch {}; cat", marker.0.display());
    git(&["config", "filter.evil.clean", &clean]);
    fs::write(work.join("a.txt"), "one\ntwo\n").unwrap();
    let path = marker.plant(&program, &["git"]);
    let command = program.command(&["-z", "look at @diff"]).env("PATH", path);
    assert_eq!(command.run().unwrap().ok().stdout, "seen\n");
    let requests = server.requests();
    let asked = requests.last().unwrap().expect_json().to_string();
    marker.assert_absent(&asked);
    assert!(asked.contains("+two"), "{asked}");
}

// EX-37, EX-47: a home that is a link is the same home.
#[test]
fn secrets_and_settings_are_guarded_where_a_linked_home_really_is() {
    let calls = |home: &Path| {
        [
            ("read_file", json!({"path": home.join("auth.json")})),
            (
                "write_file",
                json!({"path": home.join("config.yaml"), "content": "a: 1\n"}),
            ),
            (
                "write_file",
                json!({"path": home.join(".env"), "content": "A=1\n"}),
            ),
        ]
    };
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    let real = folder.path().join("real");
    let run = run_in(
        |program, environment| {
            program.home.write("auth.json", "{\"planted\": 1}").unwrap();
            let status = Command::new("cp")
                .arg("-r")
                .arg(program.home.path())
                .arg(&real)
                .status();
            assert!(status.unwrap().success());
            symlink(&real, &link).unwrap();
            environment.push(("HERMES_HOME", link.display().to_string()));
            program
        },
        "",
        &[calls(&real), calls(&link)].concat(),
        &["--yolo"],
    );
    for refused in &run.results {
        let told = refused.to_string();
        assert!(
            told.contains("error") && !told.contains("planted"),
            "{told}"
        );
    }
    let kept = fs::read_to_string(real.join("config.yaml")).unwrap();
    assert!(kept.contains("model"), "{kept}");
    assert!(!real.join(".env").exists());
}

// EX-47
#[test]
fn only_safe_roots_are_written_also_when_they_are_links() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let write = |path: &Path| ("write_file", json!({"path": path, "content": "x\n"}));
    let calls = [
        write(&link.join("a.txt")),
        write(&real.join("b.txt")),
        write(Path::new("c.txt")),
    ];
    let run = run_in(
        |program, environment| {
            environment.push(("HERMES_WRITE_SAFE_ROOT", link.display().to_string()));
            program
        },
        "",
        &calls,
        &["--yolo"],
    );
    assert_eq!(run.results[0]["bytes_written"], 2, "{:?}", run.results);
    assert_eq!(run.results[1]["bytes_written"], 2, "{:?}", run.results);
    let told = run.results[2].to_string();
    assert!(told.contains("HERMES_WRITE_SAFE_ROOT"), "{told}");
    assert!(!run.program.home.workspace().join("c.txt").exists());
}

// EX-68: whoever starts in their home lends it out, but not what the next shell runs.
#[test]
fn a_home_as_workspace_keeps_what_runs_at_login() {
    let run = run_in(
        |program, environment| {
            let work = program.home.workspace();
            for folder in ["notes", ".config", ".local/bin"] {
                fs::create_dir_all(work.join(folder)).unwrap();
            }
            fs::write(work.join(".bashrc"), "true\n").unwrap();
            environment.push(("HOME", work.display().to_string()));
            program
        },
        "terminal: {home_mode: real}\n",
        &[
            terminal("echo evil >> ~/.bashrc"),
            terminal("echo evil > ~/.zshenv"),
            terminal("echo evil > ~/.local/bin/ls"),
            terminal("mkdir ~/.config/autostart"),
            terminal("mv ~/.bashrc ~/notes/b"),
            terminal("echo fine > ~/notes/list && cat ~/notes/list"),
        ],
        &["--yolo"],
    );
    let work = run.program.home.workspace();
    for refused in &run.results[..5] {
        assert_ne!(refused["exit_code"], 0, "{:?}", run.results);
    }
    assert_eq!(fs::read_to_string(work.join(".bashrc")).unwrap(), "true\n");
    for absent in [".zshenv", ".local/bin/ls", ".config/autostart"] {
        assert!(!work.join(absent).exists(), "{absent}");
    }
    assert_eq!(run.results[5]["output"], "fine", "{:?}", run.results);
}

// EX-68: a profile sees nothing of the root's keys, nor of other profiles'.
#[test]
fn other_profiles_are_hidden_from_a_profile() {
    const KEPT: [&str; 5] = [
        ".env",
        "auth.json",
        "mcp-tokens/a.json",
        "profiles/other/.env",
        "profiles/other/auth.json",
    ];
    const SKILL: &str = "---\nname: mine\ndescription: d\n---\nfine\n";
    let read = "import os, sys\nroot = os.environ['HERMES_HOME'].rsplit('/profiles/', 1)[0]\n\
                for path in sys.argv[1:]:\n  try: print(open(root + '/' + path).read())\n  \
                except OSError as error: print(error)\nprint('read')\n";
    let names = KEPT.join(" ");
    let code = format!(
        "import subprocess\nprint(subprocess.run('python3 read.py {names}'.split(), capture_output=True, text=True))"
    );
    let run = run_in(
        |program, environment| {
            for path in KEPT {
                let text = match path.ends_with(".json") {
                    true => r#"{"K": "PLANTED-value"}"#,
                    false => "K=PLANTED-value\n",
                };
                program.home.write(path, text).unwrap();
            }
            let root = program.home.path();
            let profile = root.join("profiles/work");
            fs::create_dir_all(profile.join("skills/mine")).unwrap();
            fs::write(profile.join("skills/mine/SKILL.md"), SKILL).unwrap();
            fs::copy(root.join("config.yaml"), profile.join("config.yaml")).unwrap();
            let work = program.home.workspace();
            fs::write(work.join("read.py"), read).unwrap();
            // Keys in settings are known only to whoever reads these settings.
            symlink(root.join("config.yaml"), work.join("link.yaml")).unwrap();
            fs::copy(root.join("config.yaml"), work.join("shown.yaml")).unwrap();
            environment.push(("HERMES_HOME", profile.display().to_string()));
            program
        },
        "",
        &[
            terminal(&format!("python3 read.py {names}")),
            ("execute_code", json!({ "code": code })),
            terminal("cat \"$HERMES_HOME/skills/mine/SKILL.md\""),
            ("read_file", json!({"path": "link.yaml"})),
            ("read_file", json!({"path": "shown.yaml"})),
        ],
        &["--yolo"],
    );
    let told: Vec<String> = run.results.iter().map(ToString::to_string).collect();
    for told in &told[..2] {
        let hidden = told.contains("read") && !told.contains("PLANTED");
        assert!(hidden, "{told}");
    }
    assert!(told[2].contains("fine"), "{}", told[2]);
    assert!(!told[3].contains("base_url"), "{}", told[3]);
    assert!(told[4].contains("base_url"), "{}", told[4]);
}

// EX-68: an agent is not reached by commands wherever its socket lies.
#[test]
fn the_agent_that_a_variable_names_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("own.sock");
    let _agent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let connect = format!(
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}'); print('connec' + 'ted')\"",
        socket.display()
    );
    for named in [true, false] {
        let run = run_in(
            |program, environment| {
                if named {
                    environment.push(("SSH_AUTH_SOCK", socket.display().to_string()));
                }
                program
            },
            "",
            &[terminal(&connect)],
            &["--yolo"],
        );
        let told = run.results[0].to_string();
        assert_ne!(told.contains("connected"), named, "{told}");
    }
}

// EX-13, EX-62: known values stay masked, guesses are the user's to switch off.
#[test]
fn what_only_looks_like_a_secret_is_shown_when_the_user_says_so() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let code = format!("print('{token}')");
    let calls = [
        terminal(&format!("echo {token}")),
        ("execute_code", json!({ "code": code })),
    ];
    for (settings, shown) in [("", false), ("security: {redact_secrets: false}\n", true)] {
        let run = run_in(|program, _| program, settings, &calls, &["--yolo"]);
        for result in &run.results {
            assert_eq!(result.to_string().contains(token), shown, "{result}");
        }
    }
}

// EX-12
#[test]
fn commands_live_in_a_home_of_their_own_when_the_settings_say_so() {
    let settings = "terminal: {home_mode: profile}\n";
    let calls = [
        terminal(
            "cd ~ && pwd && touch here && git config --global user.name n && cat ~/.gitconfig",
        ),
        terminal("ls ~; ls $HERMES_REAL_HOME >/dev/null && echo real"),
    ];
    let run = run_in(|program, _| program, settings, &calls, &[]);
    let home = run.program.home.path().join("home");
    let said = run.results[0]["output"].as_str().unwrap();
    assert!(
        said.contains(&home.display().to_string()) && said.contains("name = n"),
        "{said}"
    );
    assert_eq!(run.results[1]["output"], "here\nreal", "{:?}", run.results);
    assert_eq!(run.program.home.mode("home").unwrap() & 0o777, 0o700);
}

// EX-12: commands are told which session they belong to, never another one.
#[test]
fn a_command_knows_its_own_session() {
    let run = run_in(
        |program, environment| {
            environment.push(("HERMES_SESSION_ID", "stale".to_owned()));
            environment.push(("HERMES_SESSION_CHAT", "stale".to_owned()));
            program
        },
        "",
        &[terminal("echo \"$HERMES_SESSION_ID|$HERMES_SESSION_CHAT\"")],
        &[],
    );
    let said = run.results[0]["output"].as_str().unwrap();
    let id = said.strip_suffix('|').unwrap();
    let listed = run.program.run(&["sessions", "list"]).ok().stdout;
    assert!(
        !id.is_empty() && id != "stale" && listed.contains(id),
        "{id}: {listed}"
    );
}

// EX-32: a script gets an object also when there is more to find.
#[test]
fn a_script_gets_a_dict_from_a_search_with_further_pages() {
    let code = "from hermes_tools import search_files\n\
                found = search_files('hit', limit=10)\n\
                print(type(found).__name__, found['total_count'], found['truncated'], found['next_offset'])\n";
    let run = run_in(
        |program, _| {
            program
                .home
                .write_work("many.txt", "hit\n".repeat(80))
                .unwrap();
            program
        },
        "",
        &[("execute_code", json!({ "code": code }))],
        &["--yolo"],
    );
    let said = run.results[0]["output"].as_str().unwrap();
    assert_eq!(said, "dict 80 True 10", "{:?}", run.results);
}

// EX-36: an environment whose interpreter does not work does not keep scripts from running.
#[test]
fn a_broken_interpreter_of_the_project_is_passed_over() {
    let run = run_in(
        |program, environment| {
            let folder = program.home.workspace().join("venv/bin");
            fs::create_dir_all(&folder).unwrap();
            let python = folder.join("python");
            fs::write(&python, "#!/bin/sh\nexit 3\n").unwrap();
            fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
            let venv = program.home.workspace().join("venv").display().to_string();
            environment.push(("VIRTUAL_ENV", venv));
            program
        },
        "",
        &[("execute_code", json!({"code": "print('ran')"}))],
        &["--yolo"],
    );
    assert_eq!(run.results[0]["output"], "ran", "{:?}", run.results);
}
