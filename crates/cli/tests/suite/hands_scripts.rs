//! Scripts on this machine, through the binary: their limits, their socket, their interpreter. And what is kept
//! before a command changes files, and the form of lists and questions.

use std::process::Command;
use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::process::find_by_env_marker;
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::{run_in, terminal};

/// The results of these scripts.
fn scripts(settings: &str, codes: &[&str], environment: &[(&'static str, String)]) -> Vec<Json> {
    let calls: Vec<(&str, Json)> = codes
        .iter()
        .map(|code| ("execute_code", json!({ "code": code })))
        .collect();
    let prepare = |program: super::program::Program, all: &mut Vec<(&'static str, String)>| {
        program.home.write_work("f", "text\n".repeat(100)).unwrap();
        all.extend(environment.iter().cloned());
        program
    };
    run_in(prepare, settings, &calls, &[]).results
}

// EX-32
#[test]
fn a_script_gets_the_fields_of_an_answer_also_of_a_failed_call() {
    let code = "from hermes_tools import patch, read_file, terminal\n\
                r = patch(path='f', old_string='nope nope', new_string='y')\n\
                print(r['success'], 'not found' in r['error'])\n\
                print(any(path.endswith('/f') for path in read_file('ff')['similar_files']))\n\
                print(terminal('exit 3')['exit_code'])\n";
    let results = scripts("", &[code], &[]);
    assert_eq!(results[0]["output"], "False True\nTrue\n3", "{results:?}");
}

// EX-32
#[test]
fn a_script_has_its_tools_and_its_limits() {
    let names = "import hermes_tools\n\
                 print(sorted(name for name in dir(hermes_tools) if not name.startswith('_')))\n";
    let many = "from hermes_tools import read_file\n\
                answers = [read_file('f', limit=number + 1) for number in range(60)]\n\
                print(len([one for one in answers if 'content' in one]))\n\
                print(answers[-1])\n";
    let loud = "print('x' * 2_000_000)";
    let broken = "import sys\nprint('before')\nsys.exit('no good')";
    let results = scripts("", &[names, many, loud, broken], &[]);
    let offered = results[0]["output"].as_str().unwrap();
    for name in [
        "json_parse",
        "patch",
        "read_file",
        "retry",
        "search_files",
        "shell_quote",
        "terminal",
        "web_extract",
        "web_search",
        "write_file",
    ] {
        assert!(offered.contains(&format!("'{name}'")), "{offered}");
    }
    let counted = results[1]["output"].as_str().unwrap();
    assert!(
        counted.starts_with("50\n") && counted.contains("max_tool_calls"),
        "{counted}"
    );
    assert_eq!(results[1]["tool_calls_made"], 50);
    let loud = &results[2];
    assert_eq!(
        (&loud["status"], &loud["stdout_truncated"]),
        (&json!("success"), &json!(true))
    );
    assert_eq!(loud["stdout_bytes_total"], 2_000_001);
    let captured = loud["stdout_bytes_captured"].as_u64().unwrap();
    let omitted = loud["stdout_bytes_omitted"].as_u64().unwrap();
    assert!(
        captured <= 50_000 && captured + omitted == 2_000_001,
        "{captured} {omitted}"
    );
    let broken = &results[3];
    assert_eq!(
        (&broken["status"], &broken["exit_code"]),
        (&json!("error"), &json!(1))
    );
    let output = broken["output"].as_str().unwrap();
    assert!(
        output.starts_with("before") && output.contains("no good"),
        "{output}"
    );
    for key in [
        "output",
        "exit_code",
        "tool_calls_made",
        "duration_seconds",
        "error",
    ] {
        assert!(broken.get(key).is_some(), "{key}: {broken}");
    }
}

// EX-32
#[test]
fn a_script_that_takes_too_long_is_ended_with_its_children() {
    let number = std::process::id().to_string();
    let code = format!(
        "import os, signal, subprocess, sys, time\n\
         def end(*_):\n    time.sleep(1)\n    open('handled', 'w').close()\n    sys.exit()\n\
         signal.signal(signal.SIGTERM, end)\nprint('begun', flush=True)\n\
         subprocess.Popen(['sleep', '543219'], env=os.environ | {{'HERMES_TEST_SCRIPT': '{number}'}})\n\
         time.sleep(500)"
    );
    // What it was asked for with a word it may do, and nothing of it stays.
    let after = "import os\nown = os.path.dirname(os.path.abspath(__file__))\n\
                 beside = os.listdir(os.path.dirname(own))\n\
                 print(os.path.exists('handled'), len([one for one in beside if 'hermes_exec_' in one]))";
    let alive = || find_by_env_marker("HERMES_TEST_SCRIPT", &number);
    let results = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let some = || (!alive().is_empty()).then_some(());
            eventually(Duration::from_secs(60), "the child", some)
        });
        let results = scripts("code_execution: {timeout: 15}\n", &[&code, after], &[]);
        seen.join().unwrap().unwrap();
        results
    });
    let ran = &results[0];
    assert_eq!(
        (&ran["status"], &ran["exit_code"]),
        (&json!("timeout"), &json!(124)),
        "{ran}"
    );
    assert!(
        ran["output"].as_str().unwrap().starts_with("begun"),
        "{ran}"
    );
    assert_eq!(results[1]["output"], "True 1", "{}", results[1]);
    assert_eq!(alive(), []);
}

// EX-33
#[test]
fn the_socket_of_a_script_is_private_and_wants_the_token() {
    let code = "import json, os, socket, stat\n\
                path, token = os.environ['HERMES_RPC_SOCKET'], os.environ['HERMES_RPC_TOKEN']\n\
                print(oct(stat.S_IMODE(os.stat(path).st_mode)))\n\
                def ask(**request):\n\
                \x20   with socket.socket(socket.AF_UNIX) as connection:\n\
                \x20       connection.connect(path)\n\
                \x20       connection.sendall((json.dumps(request) + chr(10)).encode())\n\
                \x20       print(connection.makefile().readline().strip())\n\
                write = {'path': 'planted', 'content': 'x'}\n\
                ask(tool='write_file', args=write, token='wrong')\n\
                ask(tool='write_file', args=write)\n\
                ask(tool='write_file', args=write, token=token[:-1])\n\
                ask(tool='delegate_task', args={}, token=token)\n\
                print(os.path.exists('planted'))\n\
                with socket.socket(socket.AF_UNIX) as connection:\n\
                \x20   connection.connect(path)\n\
                \x20   talk = connection.makefile('rw')\n\
                \x20   for given in ('wrong', token, token):\n\
                \x20       request = {'tool': 'read_file', 'args': {'path': 'f', 'limit': 1}, 'token': given}\n\
                \x20       talk.write(json.dumps(request) + chr(10))\n\
                \x20       talk.flush()\n\
                \x20       print('content' in talk.readline())\n";
    let results = scripts("", &[code], &[]);
    let output = results[0]["output"].as_str().unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "0o600", "{output}");
    for line in &lines[1..4] {
        assert!(line.contains("the token is wrong"), "{output}");
    }
    assert!(lines[4].contains("no tool delegate_task"), "{output}");
    assert_eq!(lines[5], "False");
    // Several calls over one connection are answered one after the other.
    assert_eq!(lines[6..], ["False", "True", "True"], "{output}");
    assert_eq!(results[0]["tool_calls_made"], 2);
}

// EX-32: skills call by position, so the order of the parameters is part of the contract.
#[test]
fn a_script_writes_patches_reads_searches_and_runs_by_position() {
    let code = "import hermes_tools\n\
                from hermes_tools import patch, read_file, search_files, terminal, write_file\n\
                print(write_file('w.txt', 'one\\ntwo\\ntwo\\n')['bytes_written'])\n\
                print(patch('w.txt', 'one', 'first')['success'], patch('w.txt', 'two', 'next', True)['success'])\n\
                print(patch(mode='patch', patch='*** Begin Patch\\n*** Add File: n.txt\\n+new\\n*** End Patch')['success'])\n\
                print(read_file('w.txt', 2, 1)['content'].strip())\n\
                print(search_files('next', 'content', '.', '*.txt', 1, 1)['matches'][0]['line'])\n\
                print(len(search_files('*.txt', 'files', '.', None, 10)['files']))\n\
                print(terminal('pwd', 30, '/usr')['output'])\n\
                kept = hermes_tools._call('terminal', command='echo waited for', background=True, pty=True)\n\
                print(kept['output'], 'session_id' in kept)\n";
    let results = scripts("", &[code], &[]);
    let expected = "12\nTrue True\nTrue\n2|next\n3\n2\n/usr\nwaited for False";
    assert_eq!(results[0]["output"], expected, "{}", results[0]);
    assert_eq!(results[0]["tool_calls_made"], 9, "{}", results[0]);
}

// EX-32, EX-33: a socket's path is short by nature, and temporary directories of clusters are long.
#[test]
fn a_long_temporary_directory_keeps_no_script_from_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    let code = "import os, stat\n\
                from hermes_tools import read_file\n\
                path = os.environ['HERMES_RPC_SOCKET']\n\
                print(oct(stat.S_IMODE(os.stat(path).st_mode)), os.environ['TMPDIR'])\n\
                print(read_file('f', limit=1)['content'])\n";
    for length in [60, 200] {
        let long = folder.path().join("t".repeat(length));
        std::fs::create_dir(&long).unwrap();
        let long = long.display().to_string();
        let results = scripts("", &[code], &[("TMPDIR", long.clone())]);
        let expected = format!("0o600 {long}\n1|text");
        assert_eq!(results[0]["status"], "success", "{}", results[0]);
        assert_eq!(results[0]["output"], expected.as_str(), "{}", results[0]);
        assert_eq!(std::fs::read_dir(&long).unwrap().count(), 0, "{long}");
    }
}

// EX-32: what keeps a script from running is said in words, and nothing of it runs.
#[test]
fn a_script_in_a_directory_that_is_gone_says_so_and_one_in_an_odd_directory_runs() {
    let calls = [
        terminal("mkdir -p gone && cd gone && rmdir ../gone"),
        ("execute_code", json!({"code": "print('ran')"})),
        terminal("mkdir $'caf\\xe9' && cd $'caf\\xe9'"),
        (
            "execute_code",
            json!({"code": "import os\nprint(os.getcwdb()[-4:])"}),
        ),
    ];
    let run = run_in(|program, _| program, "", &calls, &[]);
    let [_, gone, _, odd] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(
        (&gone["status"], &gone["output"]),
        (&json!("error"), &json!("")),
        "{gone}"
    );
    let told = gone["error"].as_str().unwrap();
    assert!(told.contains("/gone is gone; go to another one"), "{told}");
    assert_eq!(odd["output"], "b'caf\\xe9'", "{odd}");
}

// EX-35: a session that has no tools for scripts gives them none, by name or by the socket.
#[test]
fn a_script_of_a_session_without_tools_has_none() {
    let code = "import hermes_tools, os\n\
                named = ('terminal', 'read_file', 'write_file', 'web_search')\n\
                print([name for name in named if hasattr(hermes_tools, name)])\n\
                print(hermes_tools._call('terminal', command='touch planted')['error'])\n\
                print(hermes_tools.shell_quote('a b'), os.path.exists('planted'))\n";
    let calls = [("execute_code", json!({ "code": code }))];
    let flags = ["--toolsets", "code_execution"];
    let run = run_in(|program, _| program, "", &calls, &flags);
    let output = run.results[0]["output"].as_str().unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "[]", "{output}");
    assert!(
        lines[1].starts_with("scripts have no tool terminal"),
        "{output}"
    );
    assert_eq!(lines[2], "'a b' False", "{output}");
    assert_eq!(run.results[0]["tool_calls_made"], 0, "{output}");
}

// EX-35: a reader and a writer that wait for each other.
#[test]
fn calls_of_a_script_run_side_by_side() {
    let code = "import threading\n\
                from hermes_tools import terminal\n\
                terminal('mkfifo pipe')\n\
                heard = []\n\
                listen = lambda: heard.append(terminal('cat pipe', timeout=60)['output'])\n\
                reader = threading.Thread(target=listen)\n\
                reader.start()\n\
                terminal('echo hello >pipe', timeout=60)\n\
                reader.join()\n\
                print(heard[0])\n";
    let results = scripts("", &[code], &[]);
    assert_eq!(results[0]["output"], "hello", "{results:?}");
    assert_eq!(results[0]["tool_calls_made"], 3, "{results:?}");
}

// EX-36
#[test]
fn project_mode_uses_the_environment_of_the_project_and_strict_mode_none() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("venv");
    let made = Command::new("/usr/bin/env")
        .args([
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "python3",
            "-m",
            "venv",
            "--without-pip",
        ])
        .arg(&project)
        .status()
        .unwrap();
    assert!(made.success());
    let library = std::fs::read_dir(project.join("lib"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let package = library.path().join("site-packages/only_here.py");
    std::fs::write(package, "word = 'found'\n").unwrap();
    let environment = [("VIRTUAL_ENV", project.display().to_string())];
    let code = "import os\nprint(os.path.exists('f'))\nimport only_here\nprint(only_here.word)";
    let results = scripts("", &[code], &environment);
    assert_eq!(results[0]["output"], "True\nfound", "{}", results[0]);
    let results = scripts("code_execution: {mode: strict}\n", &[code], &environment);
    assert_eq!(results[0]["status"], "error", "{}", results[0]);
    let output = results[0]["output"].as_str().unwrap();
    assert!(
        output.starts_with("False") && output.contains("only_here"),
        "{output}"
    );
}

// EX-50: a snapshot is taken before a command that changes files, and not before one that looks.
#[test]
fn what_a_command_is_about_to_change_is_kept() {
    for (command, kept) in [("echo new > keep.txt", true), ("cat keep.txt", false)] {
        let run = run_in(
            |program, _| {
                program.home.write_work("Makefile", "").unwrap();
                program.home.write_work("keep.txt", "old\n").unwrap();
                program
            },
            "checkpoints: {enabled: true}\n",
            &[terminal(command)],
            &[],
        );
        assert_eq!(run.results[0]["exit_code"], 0, "{:?}", run.results);
        let store = run.program.home.path().join("checkpoints/store");
        let git = |arguments: &[&str]| {
            let output = Command::new("git")
                .arg("--git-dir")
                .arg(&store)
                .args(arguments)
                .output()
                .unwrap();
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let references = git(&["for-each-ref", "--format=%(refname)"]);
        if kept {
            assert_eq!(git(&["show", &format!("{references}:keep.txt")]), "old");
        } else {
            assert_eq!(references, "");
        }
    }
}

// EX-63
#[test]
fn lists_and_questions_are_answered_in_their_documented_form() {
    let steps = json!([{"id": "1", "content": "look", "status": "in_progress"}]);
    let calls = [
        ("todo", json!({ "todos": steps })),
        (
            "clarify",
            json!({"question": "Which colour?", "choices": ["red", "blue"]}),
        ),
    ];
    let run = run_in(|program, _| program, "", &calls, &[]);
    assert_eq!(run.results[0]["todos"], steps, "{:?}", run.results);
    assert_eq!(run.results[0]["summary"]["in_progress"], 1);
    assert!(
        run.results[1].to_string().contains("Nobody can be asked"),
        "{:?}",
        run.results
    );

    let scenario = Scenario::new()
        .reply(tool_call("clarify", calls[1].1.clone()))
        .reply(text("painted"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let quiet = format!("{settings}auxiliary: {{title_generation: {{enabled: false}}}}\n");
    program.home.write_config(&quiet).unwrap();
    let limit = Duration::from_secs(60);
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", limit).unwrap();
    screen.send("paint\r").unwrap();
    // What is typed before the prompt is there is no answer.
    let prompted = |screen: &Screen| screen.rows().iter().any(|row| row.trim_end() == "?");
    screen.wait_for(prompted, limit).unwrap();
    screen.send("2\r").unwrap();
    screen.wait_for_text("painted", limit).unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(limit).unwrap().code, 0);
    let last = server.requests().last().unwrap().expect_json().clone();
    let messages = last["messages"].as_array().unwrap();
    let result = messages
        .iter()
        .find(|message| message["role"] == "tool")
        .unwrap();
    let result: Json = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
    let expected = json!({
        "question": "Which colour?", "choices_offered": ["red", "blue"], "user_response": "blue",
    });
    assert_eq!(result, expected);
}

// EX-36: a file of the project with the name of a standard module is the script's business, not the runner's.
#[test]
fn a_project_with_a_module_named_like_a_standard_one_runs_scripts() {
    let prepare = |program: super::program::Program, _: &mut Vec<(&'static str, String)>| {
        let broken = "raise RuntimeError('not the module you wanted')\n";
        program.home.write_work("struct.py", broken).unwrap();
        program
            .home
            .write_work("own.py", "word = 'mine'\n")
            .unwrap();
        program
    };
    let code = "import sys\nsys.path.append('.')\nimport own\nprint(own.word)\n";
    let calls = [("execute_code", json!({ "code": code }))];
    let run = run_in(prepare, "", &calls, &[]);
    assert_eq!(run.results[0]["output"], "mine", "{:?}", run.results);
}

// EX-5: the end of the output says that the command did not end by itself.
#[test]
fn a_command_whose_time_is_up_says_so_at_the_end_of_its_output() {
    let calls = [(
        "terminal",
        json!({"command": "echo begun; sleep 600", "timeout": 2}),
    )];
    let run = run_in(|program, _| program, "", &calls, &[]);
    assert_eq!(run.results[0]["exit_code"], 124, "{:?}", run.results);
    assert_eq!(run.results[0]["output"], "begun\n[timed out after 2 s]");
    assert_eq!(run.results[0]["error"], Json::Null);
}
