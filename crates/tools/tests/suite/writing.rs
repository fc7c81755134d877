//! `write_file`.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use hermes_testkit::Sshd;
use hermes_tools::FileServices;
use serde_json::json;

use super::away;
use super::fixture::Bench;

// EX-40
#[tokio::test]
async fn files_are_made_and_replaced_with_what_belongs_to_them() {
    let bench = Bench::new();
    let answer = bench
        .done(
            "write_file",
            json!({"path": "d/e/new.txt", "content": "é\n"}),
        )
        .await;
    assert_eq!(answer["bytes_written"], 3);
    assert_eq!(answer["dirs_created"], true);
    assert_eq!(answer["resolved_path"], json!(bench.path("d/e/new.txt")));
    assert_eq!(answer["files_modified"], json!([bench.path("d/e/new.txt")]));
    assert_eq!(answer["lint"]["status"], "skipped");
    let answer = bench
        .done("write_file", json!({"path": "d/e/new.txt", "content": "x"}))
        .await;
    assert_eq!(answer["dirs_created"], false);

    let script = bench.put("run.sh", "a\r\nb\r\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o4750)).unwrap();
    bench
        .done("write_file", json!({"path": "run.sh", "content": "1\n2\n"}))
        .await;
    assert_eq!(bench.bytes("run.sh"), b"1\r\n2\r\n");
    assert_eq!(script.metadata().unwrap().mode() & 0o7777, 0o4750);

    bench.put("marked", b"\xEF\xBB\xBFold\n");
    bench
        .done("write_file", json!({"path": "marked", "content": "new\n"}))
        .await;
    assert_eq!(bench.bytes("marked"), b"\xEF\xBB\xBFnew\n");
    bench.put("wide", b"\xFF\xFEa\x00");
    bench
        .done("write_file", json!({"path": "wide", "content": "é"}))
        .await;
    assert_eq!(bench.bytes("wide"), b"\xFF\xFE\xE9\x00");

    symlink("target.txt", bench.path("dangling")).unwrap();
    bench
        .done(
            "write_file",
            json!({"path": "dangling", "content": "through"}),
        )
        .await;
    assert_eq!(bench.text("target.txt"), "through");
    assert!(bench.path("dangling").is_symlink());
}

// EX-40
#[tokio::test]
async fn what_cannot_be_right_is_not_written() {
    let bench = Bench::new();
    bench.put("a.json", "{}\n");
    let cases = [
        (json!({"path": "a.json", "content": "{\"a\": }"}), "JSON"),
        (json!({"path": "a.yaml", "content": "a: [1\nb: 2"}), "YAML"),
        (json!({"path": "a.toml", "content": "a ="}), "TOML"),
        (
            json!({"path": "x", "content": "1|a\n2|b\n3|c\n"}),
            "numbers",
        ),
        (
            json!({"path": "x", "content": "{\"status\":\"unchanged\",\"dedup\":true,\"content_returned\":false}"}),
            "notice",
        ),
        (json!({"content": "x"}), "path is missing"),
        (json!({"path": "new/", "content": "x"}), "names a directory"),
        (json!({"path": "x"}), "content is missing"),
        (
            json!({"path": "x", "content": {"a": 1}}),
            "must be a string",
        ),
        (json!({"path": "a.json/x", "content": "y"}), "a.json"),
        (json!({"path": ".", "content": "y"}), "directory"),
    ];
    for (arguments, named) in cases {
        let error = bench.error("write_file", arguments).await;
        assert!(error.contains(named), "{error}");
    }
    assert_eq!(bench.names(), ["a.json"]);
    assert_eq!(bench.text("a.json"), "{}\n");
    bench
        .done(
            "write_file",
            json!({"path": "b.yml", "content": "a: !x 1\n---\nb: 2\n"}),
        )
        .await;
}

// EX-41
#[tokio::test]
async fn files_of_others_stay_theirs() {
    let bench = Bench::new();
    let path = bench.put("theirs", "a");
    // Only root can give files away; what others write stays their own.
    let facts = path.metadata().unwrap();
    let (owner, group) = match facts.uid() {
        0 => (1234, 1234),
        own => (own, facts.gid()),
    };
    std::os::unix::fs::chown(&path, Some(owner), Some(group)).unwrap();
    bench
        .done("write_file", json!({"path": "theirs", "content": "b"}))
        .await;
    let facts = path.metadata().unwrap();
    assert_eq!((facts.uid(), facts.gid()), (owner, group));
    assert_eq!(bench.text("theirs"), "b");
    bench.put("one", "a");
    std::fs::hard_link(bench.path("one"), bench.path("two")).unwrap();
    assert!(
        bench
            .error("write_file", json!({"path": "one", "content": "b"}))
            .await
            .contains("hard links")
    );
    assert_eq!(bench.text("two"), "a");
}

/// File tools whose checks run on a machine behind a server.
struct Checked {
    bench: Bench,
    _folder: tempfile::TempDir,
    _server: Sshd,
}

impl Checked {
    fn new() -> Self {
        let server = Sshd::start().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let backend = away::ssh(&server, &server.user().unwrap());
        let place = away::workplace(&backend, "/tmp", folder.path());
        let bench = Bench::with(FileServices {
            place: Some(Arc::new(place)),
            ..FileServices::default()
        });
        Self {
            bench,
            _folder: folder,
            _server: server,
        }
    }
}

// EX-49
#[tokio::test(flavor = "multi_thread")]
async fn only_new_mistakes_are_reported() {
    let checked = Checked::new();
    let bench = &checked.bench;
    let write = |content: &str| json!({"path": "a.py", "content": content});
    let good = bench.done("write_file", write("x = 1\n")).await;
    assert_eq!(good["lint"]["status"], "ok");
    let broken = bench.done("write_file", write("def f(:\n    pass\n")).await;
    assert_eq!(broken["lint"]["status"], "error");
    assert!(
        broken["lint"]["output"]
            .as_str()
            .unwrap()
            .contains("line 1"),
        "{broken}"
    );
    // The same mistake further down is not a new one.
    let same = bench
        .done("write_file", write("y = 2\ndef f(:\n    pass\n"))
        .await;
    assert_eq!(same["lint"]["status"], "ok", "{same}");
    let other = bench.done("write_file", write("y = 'open\n")).await;
    assert_eq!(other["lint"]["status"], "error");
    bench.put("b.json", "{\"a\": 1}\n");
    let asked = json!({"path": "b.json", "old_string": "1", "new_string": "1,"});
    assert_eq!(bench.done("patch", asked).await["lint"]["status"], "error");
}

// EX-40
#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.txt");
    let whole = |content: &[u8]| {
        content.len() == 1_000_000 && content.iter().all(|byte| Some(byte) == content.first())
    };
    for round in 0..15_u64 {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_write-loop"))
            .arg(&path)
            .spawn()
            .unwrap();
        hermes_testkit::eventually(std::time::Duration::from_secs(30), "a first write", || {
            path.exists().then_some(())
        })
        .unwrap();
        // Another moment of the write each time.
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(whole(&std::fs::read(&path).unwrap()), "round {round}");
        std::fs::remove_file(&path).unwrap();
    }
}

// EX-40
#[tokio::test]
async fn a_full_disk_leaves_the_old_content() {
    let bench = Bench::new();
    let mount = bench.path("small");
    std::fs::create_dir(&mount).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&mount)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        // Without the right to mount there is no small disk to fill; where all tests must count, there has to be.
        #[expect(
            clippy::disallowed_methods,
            reason = "whether all tests must count is said in the environment"
        )]
        let must_count = std::env::var_os("CI").is_some();
        assert!(!must_count, "cannot mount a small disk");
        return;
    }
    bench.put("small/f", "old\n");
    bench.put("small/g", "old\n");
    let big = "x".repeat(200_000);
    let error = bench
        .error("write_file", json!({"path": "small/f", "content": big}))
        .await;
    let patch =
        format!("*** Update File: small/g\n-old\n+new\n*** Update File: small/f\n-old\n+{big}\n");
    let second = bench.error("patch", json!({ "patch": patch })).await;
    let left: Vec<_> = std::fs::read_dir(&mount)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    let (f, g) = (bench.text("small/f"), bench.text("small/g"));
    let unmounted = std::process::Command::new("umount")
        .arg(&mount)
        .status()
        .unwrap();
    assert!(unmounted.success());
    assert!(
        error.contains("no space") && second.contains("no space"),
        "{error} {second}"
    );
    assert_eq!((f.as_str(), g.as_str()), ("old\n", "old\n"));
    assert_eq!(left.len(), 2, "{left:?}");
}

// EX-49: programs that are there check what they know, without running it.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_other_languages_are_checked_when_their_program_is_there() {
    let found = |name: &str| {
        let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
        let mut paths = folders.iter().map(|folder| Path::new(folder).join(name));
        paths.find(|path| path.is_file())
    };
    let checked = Checked::new();
    let bench = &checked.bench;
    let lint = async |path: &str, content: &str| {
        let written = bench
            .done("write_file", json!({"path": path, "content": content}))
            .await;
        written["lint"].clone()
    };
    let marker = bench.path("ran");
    let harmless = format!("touch {}\n", marker.display());
    assert_eq!(lint("a.sh", &harmless).await["status"], "ok");
    let broken = lint("a.sh", "if true; then\n").await;
    assert_eq!(broken["status"], "error", "{broken}");
    // Broken before, broken now: nothing new.
    assert_eq!(lint("a.sh", "\nif true; then\n").await["status"], "ok");
    if found("node").is_none() {
        assert_eq!(lint("a.js", "let a = ;\n").await["status"], "skipped");
        return;
    }
    let broken = lint("a.js", "let a = ;\n").await;
    assert_eq!(broken["status"], "error", "{broken}");
    assert!(!broken.to_string().contains("node:internal"), "{broken}");
    for (path, fine) in [
        ("b.js", "const fs = require('fs');\n"),
        ("c.js", "import x from 'y';\nawait x;\n"),
        ("d.mjs", "import x from 'y';\n"),
    ] {
        assert_eq!(lint(path, fine).await["status"], "ok", "{path}");
    }
    assert_eq!(
        lint("e.cjs", "import x from 'y';\n").await["status"],
        "error"
    );
    assert!(!marker.exists());
}
