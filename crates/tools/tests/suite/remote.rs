//! The file tools and scripts where commands run elsewhere.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Consultation, Tool, ToolContext, ToolHost, ToolOutcome, ToolResult};
use hermes_exec::Backend;
use hermes_testkit::{Dockerd, Sshd};
use hermes_tools::{CodeSettings, ExecuteCode, FileServices, FileTools, Terminal};
use serde_json::{Value as Json, json};

use super::away;
use super::documents::packed;
use super::fixture::{Bench, context};

/// A session whose files are elsewhere, as `there`, and can be seen here, as `here`.
fn bench(backend: &Arc<dyn Backend>, there: &str, here: &Path) -> Bench {
    Bench {
        files: FileTools::new(away::files(backend, there)),
        context: context("one", here),
        _folder: None,
    }
}

async fn reads(bench: &Bench) {
    bench.put("src/main.rs", "fn main() {\r\n    old();\r\n}");
    let asked = json!({"path": "src/main.rs"});
    let read = bench.done("read_file", asked.clone()).await;
    assert_eq!(read["content"], "1|fn main() {\n2|    old();\n3|}\n");
    assert_eq!(
        (&read["total_lines"], &read["truncated"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(bench.done("read_file", asked).await["status"], "unchanged");
    let part = json!({"path": "src/main.rs", "offset": 2, "limit": 1});
    let part = bench.done("read_file", part).await;
    assert_eq!(
        (&part["content"], &part["next_offset"]),
        (&json!("2|    old();\n"), &json!(3))
    );
    let missing = bench
        .call("read_file", json!({"path": "src/mian.rs"}))
        .await;
    assert!(
        missing["similar_files"][0]
            .as_str()
            .unwrap()
            .ends_with("src/main.rs"),
        "{missing}"
    );
    bench.put("latin", b"caf\xe9\n");
    let latin = bench.done("read_file", json!({"path": "latin"})).await;
    assert_eq!(latin["content"], "1|café\n");
    bench.put("wide", b"\xff\xfeh\0i\0\n\0");
    assert_eq!(
        bench.done("read_file", json!({"path": "wide"})).await["content"],
        "1|hi\n"
    );
    bench.put("blob", [0_u8, 1, 2, 3]);
    let blob = bench.call("read_file", json!({"path": "blob"})).await;
    assert_eq!(blob["is_binary"], true);
    bench.put(".env", "KEY=1");
    std::os::unix::fs::symlink(".env", bench.path("link")).unwrap();
    for name in [".env", "link", "./src/../.env"] {
        let error = bench.error("read_file", json!({"path": name})).await;
        assert!(error.contains("secrets"), "{name}: {error}");
    }
    let error = bench.error("read_file", json!({"path": "/dev/zero"})).await;
    assert!(error.contains("device"), "{error}");
}

async fn shows_documents(bench: &Bench) {
    let notebook = json!({"cells": [{"cell_type": "code", "source": "print(1)"}]});
    bench.put("n.ipynb", notebook.to_string());
    let shown = bench.done("read_file", json!({"path": "n.ipynb"})).await;
    assert_eq!(shown["content"], "1|[cell 1: code]\n2|print(1)\n");
    let word = r#"<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>Fish</w:t></w:r></w:p></w:body></w:document>"#;
    bench.put("d.docx", packed(&[("word/document.xml", word.to_owned())]));
    let shown = bench.done("read_file", json!({"path": "d.docx"})).await;
    assert_eq!(
        (&shown["content"], &shown["extracted_document"]),
        (&json!("1|Fish\n"), &json!("docx"))
    );
    let book = r#"<workbook><sheets><sheet name="S" sheetId="1" id="r1"/></sheets></workbook>"#;
    let links =
        r#"<Relationships><Relationship Id="r1" Target="worksheets/s.xml"/></Relationships>"#;
    let sheet = r#"<worksheet><sheetData><row><c r="A1"><v>1</v></c><c r="C1"><v>3</v></c></row></sheetData></worksheet>"#;
    let parts = [
        ("xl/workbook.xml", book.to_owned()),
        ("xl/_rels/workbook.xml.rels", links.to_owned()),
        ("xl/worksheets/s.xml", sheet.to_owned()),
    ];
    bench.put("b.xlsx", packed(&parts));
    let shown = bench.done("read_file", json!({"path": "b.xlsx"})).await;
    assert_eq!(shown["content"], "1|## S\n2|1\t\t3\n");
}

async fn changes(bench: &Bench) {
    let made = json!({"path": "new/deep/a.txt", "content": "a\n"});
    let made = bench.done("write_file", made).await;
    assert_eq!(
        (&made["bytes_written"], &made["dirs_created"]),
        (&json!(2), &json!(true))
    );
    let main = bench.path("src/main.rs");
    std::fs::set_permissions(&main, std::fs::Permissions::from_mode(0o750)).unwrap();
    let edit = json!({"path": "src/main.rs", "old_string": "old()", "new_string": "new()"});
    let edited = bench.done("patch", edit).await;
    assert_eq!(edited["match_strategy"], "exact", "{edited}");
    assert_eq!(bench.text("src/main.rs"), "fn main() {\r\n    new();\r\n}");
    assert_eq!(std::fs::metadata(&main).unwrap().mode() & 0o777, 0o750);
    let edit = json!({"path": "latin", "old_string": "caf", "new_string": "Caf"});
    bench.done("patch", edit).await;
    assert_eq!(bench.bytes("latin"), b"Caf\xe9\n");
    let error = bench
        .error("write_file", json!({"path": "x.json", "content": "{"}))
        .await;
    assert!(error.contains("JSON"), "{error}");

    bench.put("one", "1\n");
    bench.put("two", "2\n");
    let patch = |second: &str| {
        json!({"patch": format!(
            "*** Begin Patch\n*** Update File: one\n-1\n+one\n*** Add File: sub/three\n+3\n\
             *** Move File: latin -> moved\n*** Update File: two\n-{second}\n+two\n*** End Patch\n"
        )})
    };
    let error = bench.error("patch", patch("9")).await;
    assert!(error.contains("no file was changed"), "{error}");
    assert_eq!(
        (bench.text("one"), bench.text("two")),
        ("1\n".to_owned(), "2\n".to_owned())
    );
    assert!(!bench.path("sub").exists() && bench.path("latin").exists());
    let done = bench.done("patch", patch("2")).await;
    assert_eq!(done["files_created"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(
        (bench.text("one"), bench.text("two")),
        ("one\n".to_owned(), "two\n".to_owned())
    );
    assert_eq!(
        (bench.bytes("moved"), bench.text("sub/three")),
        (b"Caf\xe9\n".to_vec(), "3\n".to_owned())
    );
    assert!(!bench.path("latin").exists());

    bench.done("read_file", json!({"path": "one"})).await;
    bench.put("one", "changed by somebody\n");
    let edit = json!({"path": "one", "old_string": "somebody", "new_string": "us"});
    let warned = bench.done("patch", edit).await;
    assert!(
        warned["_warning"].to_string().contains("changed outside"),
        "{warned}"
    );
}

async fn searches(bench: &Bench, note: bool) {
    let found = bench
        .done("search_files", json!({"pattern": "new\\(", "context": 1}))
        .await;
    assert_eq!(found["total_count"], 1, "{found}");
    assert_eq!(found["matches"][0]["path"], "src/main.rs");
    assert_eq!(found["matches"][0]["line"], 2);
    assert_eq!(found["matches"][0]["before"], "fn main() {");
    assert_eq!(found.get("search_note").is_some(), note, "{found}");
    let found = bench
        .done(
            "search_files",
            json!({"pattern": "*.rs", "target": "files"}),
        )
        .await;
    assert_eq!(found["files"], json!(["src/main.rs"]));
    let missing = bench
        .error("search_files", json!({"pattern": "x", "path": "scr"}))
        .await;
    assert!(missing.contains("does not exist"), "{missing}");
}

// EX-37, EX-39, EX-40, EX-41, EX-42, EX-44, EX-46, EX-48
#[tokio::test(flavor = "multi_thread")]
async fn the_file_tools_do_over_ssh_what_they_do_here() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    let bench = bench(&backend, root.to_str().unwrap(), &root);
    reads(&bench).await;
    shows_documents(&bench).await;
    changes(&bench).await;
    searches(&bench, false).await;
    assert_eq!(server.logins(), 1);
    backend.close().await.unwrap();
}

// EX-37, EX-39, EX-40, EX-41, EX-42, EX-44, EX-46, EX-48, EX-69
#[tokio::test(flavor = "multi_thread")]
async fn the_file_tools_do_in_a_container_what_they_do_here() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let (backend, here) = away::docker(&engine, folder.path());
    let bench = bench(&backend, "/workspace", &here);
    let made = json!({"path": "first", "content": ""});
    bench.done("write_file", made).await;
    reads(&bench).await;
    shows_documents(&bench).await;
    changes(&bench).await;
    searches(&bench, true).await;
    reads_what_was_kept_here(&backend, folder.path()).await;
    backend.close().await.unwrap();
}

/// A result that was too long for the conversation lies on this machine, and only there.
async fn reads_what_was_kept_here(backend: &Arc<dyn Backend>, folder: &Path) {
    let kept = folder.canonicalize().unwrap().join("kept");
    std::fs::create_dir_all(kept.join("session")).unwrap();
    std::fs::write(kept.join("session/1.txt"), "long\n".repeat(200_000)).unwrap();
    let services = FileServices {
        kept_results: vec![kept.clone()],
        ..away::files(backend, "/workspace")
    };
    let bench = Bench {
        files: FileTools::new(services),
        context: context("one", folder),
        _folder: None,
    };
    let path = kept.join("session/1.txt");
    let read = bench
        .done("read_file", json!({"path": path, "offset": 199_999}))
        .await;
    assert_eq!(read["content"], "199999|long\n200000|long\n");
    // All of a long line can be seen, piece by piece.
    let long = kept.join("session/2.txt");
    std::fs::write(&long, format!("first\n{}the very end", "é".repeat(9_000))).unwrap();
    let mut whole = String::new();
    let mut offset = 1;
    while let Some(next) = {
        let page = json!({"path": long, "offset": offset, "limit": 2});
        let read = bench.done("read_file", page).await;
        for line in read["content"].as_str().unwrap().lines() {
            whole.push_str(line.split_once('|').unwrap().1);
        }
        read["next_offset"].as_i64()
    } {
        offset = next;
    }
    assert_eq!(whole, format!("first{}the very end", "é".repeat(9_000)));
    std::fs::write(kept.join("../outside"), "ours").unwrap();
    let outside = json!({"path": kept.join("../outside")});
    let error = bench.error("read_file", outside).await;
    assert!(error.contains("does not exist"), "{error}");
    let write = json!({"path": path, "content": "x"});
    bench.call("write_file", write).await;
    assert_eq!(
        std::fs::metadata(&path).unwrap().len(),
        1_000_000,
        "written here"
    );
}

/// A session whose tools answer with as much as they are asked for.
struct Generous;

impl ToolHost for Generous {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        vec!["read_file".to_owned()]
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        arguments: Json,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let size = arguments["limit"].as_u64().unwrap() as usize;
            let content = json!({"content": "é".repeat(size)}).to_string();
            Ok(ToolResult {
                content,
                media: Vec::new(),
            })
        })
    }
}

/// Breaks the connection off as soon as something was printed or asked.
struct Cutting(Sshd);

impl ToolHost for Cutting {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async { self.0.cut().unwrap() })
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        vec!["read_file".to_owned()]
    }

    fn call<'a>(&'a self, _: &'a str, _: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async {
            self.0.cut().unwrap();
            std::future::pending().await
        })
    }
}

// EX-1, EX-32: how far it came nobody knows, and that is no exit code of its own.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_when_the_connection_breaks_is_told_as_lost() {
    let server = Sshd::start().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    let place = Arc::new(away::workplace(&backend, directory, folder.path()));
    let settings = CodeSettings {
        in_project: true,
        timeout: Duration::from_secs(120),
        most_calls: 5,
        passthrough: Vec::new(),
        time_zone: None,
        project_environment: None,
    };
    let mut context = context("one", Path::new("/"));
    context.host = Arc::new(Cutting(server));
    let command = json!({"command": "echo begun; sleep 500"});
    let code = json!({"code": "from hermes_tools import read_file\nread_file('x')"});
    let script = ExecuteCode::new(place.clone(), settings);
    let terminal = Terminal::new(place);
    let calls: [(&dyn Tool, Json, &str); 2] =
        [(&terminal, command, "begun\n["), (&script, code, "")];
    for (tool, asked, said) in calls {
        let result = tool.call(asked, &context).await.unwrap();
        let lost: Json = serde_json::from_str(&result.content).unwrap();
        assert_eq!(lost["exit_code"], -1, "{lost}");
        assert!(lost["output"].as_str().unwrap().starts_with(said), "{lost}");
        let error = lost["error"].as_str().unwrap();
        assert!(error.contains("how far it came is not known"), "{lost}");
    }
    let again = terminal.call(json!({"command": "true"}), &context).await;
    let again: Json = serde_json::from_str(&again.unwrap().content).unwrap();
    assert_eq!(again["exit_code"], 0, "{again}");
}

/// `seconds` is a number that no other test sleeps: on this machine all of them can be seen.
async fn runs_scripts(backend: &Arc<dyn Backend>, directory: &str, seconds: u32) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("look")).unwrap();
    let mut place = away::workplace(backend, directory, folder.path());
    place.scratch = PathBuf::from(directory);
    let place = Arc::new(place);
    let settings = |seconds| CodeSettings {
        in_project: true,
        timeout: Duration::from_secs(seconds),
        most_calls: 5,
        passthrough: Vec::new(),
        time_zone: None,
        project_environment: None,
    };
    let tool = ExecuteCode::new(place.clone(), settings(120));
    let mut context = context("one", Path::new("/"));
    context.host = Arc::new(Generous);
    let run = async |tool: &ExecuteCode, code: &str| -> Json {
        let result = tool.call(json!({ "code": code }), &context).await.unwrap();
        serde_json::from_str(&result.content).unwrap()
    };
    let code = "import os, threading\nfrom hermes_tools import read_file\n\
                print(os.getcwd(), len(read_file('x', limit=2500000)['content']))\n\
                several = [threading.Thread(target=read_file, args=('y', 1, 10)) for _ in range(3)]\n\
                [one.start() for one in several]; [one.join() for one in several]\n\
                print([read_file('z', limit=1).get('error') for _ in range(3)])\n";
    let ran = run(&tool, code).await;
    assert_eq!(
        (&ran["status"], &ran["tool_calls_made"]),
        (&json!("success"), &json!(5)),
        "{ran}"
    );
    let output = ran["output"].as_str().unwrap();
    assert!(
        output.starts_with(&format!("{directory} 2500000\n")),
        "{output}"
    );
    assert!(
        output.contains("[None, 'a script may make 5 calls"),
        "{output}"
    );
    let ran = run(&tool, "print('x' * 2_000_000)\nraise SystemExit(3)").await;
    assert_eq!(
        (&ran["exit_code"], &ran["stdout_truncated"]),
        (&json!(3), &json!(true)),
        "{ran}"
    );
    assert_eq!(ran["stdout_bytes_total"], 2_000_001);
    // It is asked to end and may take a moment for it.
    let slow = ExecuteCode::new(place.clone(), settings(15));
    let code = format!(
        "import signal, subprocess, sys, time\n\
         def end(*_):\n    time.sleep(1)\n    open('handled', 'w').close()\n    sys.exit()\n\
         signal.signal(signal.SIGTERM, end)\nprint('begun', flush=True)\n\
         subprocess.Popen(['sleep', '{seconds}'])\ntime.sleep(500)"
    );
    let ran = run(&slow, &code).await;
    assert_eq!(
        (&ran["status"], &ran["exit_code"]),
        (&json!("timeout"), &json!(124)),
        "{ran}"
    );
    assert_eq!(ran["output"], "begun", "{ran}");
    let stubborn = ExecuteCode::new(place, settings(4));
    let code =
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(500)";
    assert_eq!(run(&stubborn, code).await["status"], "timeout");
    let place = away::workplace(backend, "/", folder.path().join("look").as_path());
    let command = hermes_exec::Command {
        text: format!(
            "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep [{}]{}'; \
             cd {directory}; ls -d handled hermes_exec_* 2>/dev/null",
            &seconds.to_string()[..1],
            &seconds.to_string()[1..]
        ),
        timeout: Duration::from_secs(60),
        ..hermes_exec::Command::default()
    };
    let seen = place.shell.run(command, &context.cancel, &mut |_| {}).await;
    let seen = seen.unwrap().output.text;
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(
        seen.first(),
        Some(&"0"),
        "the script's child is still there"
    );
    assert_eq!(
        seen.get(1),
        Some(&"handled"),
        "it was not let end by itself: {seen:?}"
    );
    let left = |line: &&&str| line.starts_with("hermes_exec_");
    assert_eq!(seen.iter().find(left), None, "its folder is still there");
}

/// A command that fits into no argument runs, in the foreground and behind it.
async fn runs_a_long_command(backend: &Arc<dyn Backend>, directory: &str) {
    let folder = tempfile::tempdir().unwrap();
    // The shell keeps its files where nobody else does, so that what is left can be told from what is in use.
    let mut place = away::workplace(backend, directory, folder.path());
    place.shell = away::shell(backend, directory, PathBuf::from(directory));
    let terminal = Terminal::new(Arc::new(place));
    let context = context("one", Path::new("/"));
    let padding = "x".repeat(1_200_000);
    let run = async |command: String, background: bool| -> Json {
        let asked = json!({"command": command, "background": background});
        let result = terminal.call(asked, &context).await.unwrap();
        serde_json::from_str(&result.content).unwrap()
    };
    let ran = run(format!("x='{padding}'; echo ${{#x}} $#"), false).await;
    assert_eq!(ran["output"], "1200000 0", "{ran}");
    let behind = run(
        format!("x='{padding}'; echo ${{#x}} >long-$$.tmp; mv long-$$.tmp long"),
        true,
    )
    .await;
    assert!(behind["session_id"].is_string(), "{behind}");
    let waited = run(
        "until [ -s long ]; do sleep 0.1; done; cat long; rm long".to_owned(),
        false,
    )
    .await;
    assert_eq!(waited["output"], "1200000", "{waited}");
    // What it was handed in is gone.
    let left = run(
        "ls -d hermes-shell-*; ls hermes-shell-* | grep -c command-".to_owned(),
        false,
    )
    .await;
    let left = left["output"].as_str().unwrap();
    assert!(left.starts_with("hermes-shell-"), "{left}");
    assert!(left.ends_with("\n0"), "{left}");
}

// EX-1, EX-25
#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_a_megabyte_runs_over_ssh() {
    let server = Sshd::start().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    let there = tempfile::tempdir().unwrap();
    runs_a_long_command(&backend, there.path().to_str().unwrap()).await;
    backend.close().await.unwrap();
}

// EX-1, EX-20
#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_a_megabyte_runs_in_a_container() {
    let engine = Dockerd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (backend, _) = away::docker(&engine, folder.path());
    runs_a_long_command(&backend, "/root").await;
    backend.close().await.unwrap();
}

// EX-32, EX-34
#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_over_ssh_with_large_replies_and_the_same_limits() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    runs_scripts(&backend, root.to_str().unwrap(), 987_651).await;
    backend.close().await.unwrap();
}

// EX-32, EX-34
#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_in_a_container_with_large_replies_and_the_same_limits() {
    let engine = Dockerd::start_with_python().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (backend, _) = away::docker(&engine, folder.path());
    runs_scripts(&backend, "/workspace", 987_652).await;
    backend.close().await.unwrap();
}

// EX-6, EX-23: a call that is dropped halfway leaves nothing of its script behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_whose_call_was_dropped_ends() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    let place = Arc::new(away::workplace(&backend, root.to_str().unwrap(), &root));
    let settings = CodeSettings {
        in_project: true,
        timeout: Duration::from_secs(600),
        most_calls: 5,
        passthrough: Vec::new(),
        time_zone: None,
        project_environment: None,
    };
    let tool = ExecuteCode::new(place, settings);
    let context = context("one", Path::new("/"));
    let code = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                open('begun', 'w').write(str(os.getpid()))\nos.rename('begun', 'pid')\ntime.sleep(500)\n";
    let begun = async {
        loop {
            if let Ok(pid) = std::fs::read_to_string(root.join("pid")) {
                return pid.parse::<i32>().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let pid = tokio::select! {
        ended = tool.call(json!({ "code": code }), &context) => panic!("{:?}", ended.map(|one| one.content)),
        pid = begun => pid,
    };
    let gone = async {
        while hermes_testkit::process::alive(pid) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .unwrap();
    backend.close().await.unwrap();
}

// EX-6, EX-32: whoever stops a script is answered at once; what ignores that it is to end is ended behind that.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_a_script_that_ignores_it() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let backend = away::ssh(&server, &server.user().unwrap());
    let mut place = away::workplace(&backend, root.to_str().unwrap(), &root);
    place.scratch = root.join("scratch");
    std::fs::create_dir(&place.scratch).unwrap();
    let scratch = place.scratch.clone();
    let settings = CodeSettings {
        in_project: true,
        timeout: Duration::from_secs(600),
        most_calls: 5,
        passthrough: Vec::new(),
        time_zone: None,
        project_environment: None,
    };
    let tool = ExecuteCode::new(Arc::new(place), settings);
    let context = context("one", Path::new("/"));
    let code = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                open('begun', 'w').write(str(os.getpid()))\nos.rename('begun', 'pid')\ntime.sleep(500)\n";
    let stop = async {
        loop {
            if let Ok(pid) = std::fs::read_to_string(root.join("pid")) {
                context.cancel.cancel();
                return pid.parse::<i32>().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (ended, pid) = tokio::join!(tool.call(json!({ "code": code }), &context), stop);
    assert!(hermes_testkit::process::alive(pid), "it was waited for");
    let ended: Json = serde_json::from_str(&ended.unwrap().content).unwrap();
    assert_eq!(
        (&ended["status"], &ended["exit_code"]),
        (&json!("interrupted"), &json!(130)),
        "{ended}"
    );
    let gone = async {
        let left = || std::fs::read_dir(&scratch).unwrap().count();
        while hermes_testkit::process::alive(pid) || left() > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .unwrap();
    backend.close().await.unwrap();
}
