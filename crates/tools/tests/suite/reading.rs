//! `read_file`.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::{Notice, ToolError};
use hermes_policy::FileRules;
use hermes_tools::{FileLimits, FileServices};
use serde_json::json;

use super::fixture::Bench;

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

// AG-6
#[test]
fn a_call_says_which_file_it_is_about_when_that_is_known_from_its_words() {
    let bench = Bench::new();
    for tool in bench.files.tools() {
        let here = std::path::Path::new("/here");
        let about = |path: &str| tool.touches(&json!({ "path": path }), here);
        match tool.spec().name.as_str() {
            "search_files" => assert_eq!(about("a"), None),
            _ => {
                assert_eq!(about("a/b"), Some(vec!["/here/a/b".into()]));
                assert_eq!(about(" /there/c "), Some(vec!["/there/c".into()]));
                assert_eq!(about("~/a"), None);
            }
        }
        if tool.spec().name == "patch" {
            let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+z\n\
                        *** Delete File: /d\n*** Move File: e -> f\n*** End Patch";
            let patch = json!({ "mode": "patch", "path": "other", "patch": text });
            let named = [
                "/here/other",
                "/here/a",
                "/here/b",
                "/here/c",
                "/d",
                "/here/e",
                "/here/f",
            ];
            let named = named.map(std::path::PathBuf::from);
            assert_eq!(tool.touches(&patch, here), Some(named.to_vec()));
        }
    }
}

// EX-37
#[tokio::test]
async fn pages_are_numbered_and_counted_right() {
    let bench = Bench::new();
    bench.put("a", lines(1_200));
    let answer = bench.done("read_file", json!({"path": "a"})).await;
    let content = answer["content"].as_str().unwrap();
    assert!(content.starts_with("1|line 1\n2|line 2\n") && content.ends_with("500|line 500\n"));
    assert_eq!(answer["total_lines"], 1_200);
    assert_eq!(answer["truncated"], true);
    assert_eq!(answer["next_offset"], 501);
    assert_eq!(answer["file_size"], lines(1_200).len());
    let answer = bench
        .done(
            "read_file",
            json!({"path": "a", "offset": 1_199, "limit": 9}),
        )
        .await;
    assert_eq!(answer["content"], "1199|line 1199\n1200|line 1200\n");
    assert_eq!(answer["truncated"], false);
    assert!(answer.get("next_offset").is_none());
    assert!(
        bench
            .error("read_file", json!({"path": "a", "offset": 1_201}))
            .await
            .contains("1200 lines")
    );

    // A last line without a break is a line like the others.
    bench.put("b", lines(11).trim_end());
    let answer = bench
        .done("read_file", json!({"path": "b", "limit": 10}))
        .await;
    assert_eq!(answer["total_lines"], 11);
    assert_eq!(answer["truncated"], true);
    let answer = bench
        .done("read_file", json!({"path": "b", "offset": 11}))
        .await;
    assert_eq!(answer["content"], "11|line 11\n");
    assert_eq!(answer["total_lines"], 11);

    bench.put("c", "\u{feff}a\r\nb\r\n");
    let answer = bench.done("read_file", json!({"path": "c"})).await;
    assert_eq!(answer["content"], "1|a\n2|b\n");
    bench.put("empty", "");
    let answer = bench.done("read_file", json!({"path": "empty"})).await;
    assert_eq!(
        (&answer["content"], &answer["total_lines"]),
        (&json!(""), &json!(0))
    );
}

// EX-37
#[tokio::test]
async fn budgets_hold_for_lines_and_characters() {
    let bench = Bench::with(FileServices {
        limits: FileLimits {
            lines: 100,
            line_length: 50,
            characters: 1_000,
        },
        ..FileServices::default()
    });
    bench.put("long", format!("{}\nnext\n", "é".repeat(80)));
    let answer = bench.done("read_file", json!({"path": "long"})).await;
    let content = answer["content"].as_str().unwrap();
    assert!(content.starts_with(&format!(
        "1|{} [cut: the line has 160 bytes]\n",
        "é".repeat(50)
    )));
    assert!(content.ends_with("2|next\n"));
    bench.put("many", lines(500));
    let answer = bench
        .done("read_file", json!({"path": "many", "limit": 400}))
        .await;
    assert_eq!(answer["truncated_by"], "bytes");
    let content = answer["content"].as_str().unwrap();
    assert!(content.chars().count() <= 1_000 && content.ends_with('\n'));
    let next = content.lines().count() + 1;
    assert_eq!(answer["next_offset"], next);
    assert_eq!(answer["total_lines"], 500);
    bench.put("short", "x\n".repeat(150));
    let answer = bench
        .done("read_file", json!({"path": "short", "limit": 9_999}))
        .await;
    assert_eq!(answer["content"].as_str().unwrap().lines().count(), 100);
    bench.put("large", lines(60_000));
    let answer = bench
        .done("read_file", json!({"path": "large", "limit": 100}))
        .await;
    assert!(answer.get("_hint").is_none());
}

// EX-37
#[tokio::test]
async fn what_is_no_text_is_told_apart() {
    let bench = Bench::new();
    bench.put("a.unknown", b"ab\0cd");
    bench.put("b.png", "not really");
    bench.put("c.sqlite", "x");
    bench.put("control", [1_u8; 100]);
    let answer = bench.call("read_file", json!({"path": "a.unknown"})).await;
    assert_eq!(
        (&answer["is_binary"], &answer["file_size"]),
        (&json!(true), &json!(5))
    );
    // A refusal is no text in the conversation: it is given again.
    let again = bench.call("read_file", json!({"path": "a.unknown"})).await;
    assert_eq!(again, answer);
    let answer = bench.done("read_file", json!({"path": "b.png"})).await;
    assert_eq!(answer["is_image"], true);
    assert!(answer["hint"].as_str().unwrap().contains("vision_analyze"));
    for name in ["c.sqlite", "control"] {
        assert!(
            bench
                .error("read_file", json!({ "path": name }))
                .await
                .contains("binary")
        );
    }
    assert!(
        bench
            .error("read_file", json!({"path": "."}))
            .await
            .contains("directory")
    );
    bench.put("latin", b"caf\xE9\nna\xC3\xAFve\n");
    let answer = bench.done("read_file", json!({"path": "latin"})).await;
    assert_eq!(answer["content"], "1|café\n2|naïve\n");
    assert!(answer["encoding"].as_str().unwrap().contains("not UTF-8"));
    bench.put("wide", b"\xFF\xFEa\x00\r\x00\n\x00\xE9\x00");
    assert_eq!(
        bench.done("read_file", json!({"path": "wide"})).await["content"],
        "1|a\n2|é\n"
    );
}

// EX-37
#[tokio::test]
async fn devices_pipes_and_circles_never_hang() {
    let bench = Bench::new();
    symlink("/dev/zero", bench.path("zero")).unwrap();
    symlink("zero", bench.path("zero2")).unwrap();
    symlink("/dev/stdin", bench.path("stdin")).unwrap();
    symlink("b", bench.path("a")).unwrap();
    symlink("a", bench.path("b")).unwrap();
    let pipe = bench.path("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for path in [
        "/dev/zero",
        "/dev/urandom",
        "/dev/stdin",
        "/dev/fd/0",
        "/proc/self/fd/0",
        "/proc/self/environ",
        "/proc/1/maps",
        "/proc/self/task/1/environ",
        "zero",
        "zero2",
        "stdin",
        "a",
        "pipe",
        "/dev/null",
    ] {
        let error = tokio::time::timeout(
            Duration::from_secs(20),
            bench.error("read_file", json!({ "path": path })),
        );
        let error = error.await.unwrap_or_else(|_| panic!("{path} hangs"));
        assert!(
            ["device", "plain file", "circles"]
                .iter()
                .any(|why| error.contains(why)),
            "{path}: {error}"
        );
    }
}

// EX-37
#[tokio::test]
async fn a_huge_file_takes_little_memory_and_can_be_stopped() {
    let bench = Bench::new();
    let path = bench.put("huge", "first\nsecond\n");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(1 << 30).unwrap();
    assert!(
        bench
            .error("read_file", json!({"path": "huge"}))
            .await
            .contains("binary")
    );
    // Text for as long as the sample goes, then a gigabyte without an end of line.
    std::fs::write(&path, lines(2_000)).unwrap();
    file.set_len(1 << 30).unwrap();
    let answer = bench
        .done("read_file", json!({"path": "huge", "limit": 2}))
        .await;
    assert_eq!(answer["total_lines"], 2_001);
    assert_eq!(answer["content"], "1|line 1\n2|line 2\n");
    let answer = bench
        .done("read_file", json!({"path": "huge", "offset": 2_001}))
        .await;
    assert!(answer["content"].as_str().unwrap().len() < 10_000);
    assert!(peak_memory() < 300 << 20, "{} bytes", peak_memory());
    assert!(
        bench
            .error(
                "patch",
                json!({"path": "huge", "old_string": "first", "new_string": "x"})
            )
            .await
            .contains("larger")
    );
    bench.context.cancel.cancel();
    let begun = Instant::now();
    let outcome = bench
        .outcome("read_file", json!({"path": "huge", "limit": 1}))
        .await;
    assert_eq!(outcome.unwrap_err(), ToolError::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1_024
}

// EX-37
#[tokio::test]
async fn similar_names_are_offered_best_first() {
    let bench = Bench::new();
    for name in [
        "config.yaml",
        "config.json",
        "my_config.yml.bak",
        "other.rs",
        "konfig.yml",
    ] {
        bench.put(name, "");
    }
    let answer = bench.call("read_file", json!({"path": "config.yml"})).await;
    assert!(answer["error"].as_str().unwrap().contains("does not exist"));
    let similar: Vec<&str> = answer["similar_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let at = |name: &str| {
        similar
            .iter()
            .position(|path| path.ends_with(&format!("/{name}")))
    };
    assert!(at("config.json") < at("my_config.yml.bak"), "{similar:?}");
    assert!(at("config.yaml").is_some() && at("konfig.yml").is_some() && at("other.rs").is_none());
}

// EX-38
#[tokio::test]
async fn reading_the_same_again_is_answered_shortly_and_then_refused() {
    let bench = Bench::new();
    let path = bench.put("a", "one\n");
    let read = json!({"path": "a"});
    assert_eq!(
        bench.done("read_file", read.clone()).await["content"],
        "1|one\n"
    );
    let again = bench.done("read_file", read.clone()).await;
    assert_eq!(again["status"], "unchanged");
    assert_eq!(
        (&again["dedup"], &again["content_returned"]),
        (&json!(true), &json!(false))
    );
    let third = bench.call("read_file", read.clone()).await;
    assert!(third["error"].is_string() && third["already_read"] == true);
    // Another call in between makes it a new look; the text is still in the conversation.
    bench.notice(Notice::Called("terminal"));
    assert_eq!(
        bench.done("read_file", read.clone()).await["status"],
        "unchanged"
    );
    // Other lines are another read.
    assert!(
        bench
            .done("read_file", json!({"path": "a", "limit": 5}))
            .await["content"]
            .is_string()
    );
    // A changed file is read again, and so is everything after a compaction.
    std::fs::write(&path, "two, longer\n").unwrap();
    assert_eq!(
        bench.done("read_file", read.clone()).await["content"],
        "1|two, longer\n"
    );
    bench.notice(Notice::Compacted);
    assert_eq!(
        bench.done("read_file", read.clone()).await["content"],
        "1|two, longer\n"
    );
}

// EX-38
#[tokio::test]
async fn a_script_gets_the_text_however_often_it_reads() {
    let mut bench = Bench::new();
    bench.put("a", "one\n");
    let read = json!({"path": "a"});
    bench.done("read_file", read.clone()).await;
    bench.context.nested = true;
    for _ in 0..5 {
        let answer = bench.done("read_file", read.clone()).await;
        assert_eq!(answer["content"], "1|one\n");
        let search = json!({"pattern": "one"});
        assert_eq!(bench.done("search_files", search).await["total_count"], 1);
    }
    bench.context.nested = false;
    let again = bench.done("read_file", read).await;
    assert_eq!(again["status"], "unchanged");
}

// EX-38
#[tokio::test]
async fn going_in_circles_over_a_changing_file_ends() {
    let bench = Bench::new();
    let read = json!({"path": "a"});
    let mut answers = Vec::new();
    for round in 1..=4 {
        bench.put("a", "x".repeat(round));
        answers.push(bench.call("read_file", read.clone()).await);
    }
    let warned: Vec<bool> = answers
        .iter()
        .map(|answer| answer.get("_warning").is_some())
        .collect();
    assert_eq!(warned, [false, false, true, false]);
    assert!(answers[3]["error"].is_string());
    bench.put("a", "x".repeat(9));
    bench.notice(Notice::Called("terminal"));
    assert!(bench.done("read_file", read).await["content"].is_string());
}

// EX-62
#[tokio::test]
async fn secrets_in_files_are_masked() {
    let bench = Bench::new();
    let key = format!("sk-{}", "a1b2c3d4e5f6g7h8".repeat(3));
    bench.put("f", format!("key = {key}\n"));
    let answer = bench.done("read_file", json!({"path": "f"})).await;
    assert!(!answer.to_string().contains(&key), "{answer}");
    assert!(
        answer["content"]
            .as_str()
            .unwrap()
            .starts_with("1|key = [redacted:")
    );
    assert_eq!(answer["redacted"], true);
    let found = bench.done("search_files", json!({"pattern": "key"})).await;
    assert!(!found.to_string().contains(&key), "{found}");
    // What was shown cannot be written back.
    let content = answer["content"].as_str().unwrap().trim_start_matches("1|");
    assert!(
        bench
            .error("write_file", json!({"path": "f", "content": content}))
            .await
            .contains("secret")
    );
    assert!(bench.text("f").contains(&key));
}

// EX-37, EX-47
#[tokio::test]
async fn rules_hold_for_every_tool_also_through_links() {
    let user = tempfile::tempdir().unwrap();
    let user = user.path().canonicalize().unwrap();
    let own = user.join(".hermes");
    let other = own.join("profiles/other");
    std::fs::create_dir_all(other.join("skills")).unwrap();
    let bench = Bench::with(FileServices {
        rules: Arc::new(FileRules {
            home: user.clone(),
            product_home: own.clone(),
            profiles: vec![own.clone(), other.clone()],
            ..FileRules::default()
        }),
        ..FileServices::default()
    });
    std::fs::write(own.join("auth.json"), "needle\n").unwrap();
    std::fs::write(own.join("config.yaml"), "a: 1\n").unwrap();
    bench.put(".env", "needle\n");
    bench.put("open.txt", "needle\n");
    bench.put("x/keep", "");
    symlink(own.join("auth.json"), bench.path("link.txt")).unwrap();
    symlink(own.join("config.yaml"), bench.path("link.yaml")).unwrap();
    symlink(&own, bench.path("home")).unwrap();
    for path in [".env", "link.txt", "home/auth.json", "./x/../.env"] {
        let error = bench.error("read_file", json!({ "path": path })).await;
        assert!(error.contains("secrets"), "{path}: {error}");
    }
    let active = own.join("config.yaml").display().to_string();
    for path in [active.as_str(), "link.yaml", "home/config.yaml"] {
        let write = json!({"path": path, "content": "a: 2\n"});
        assert!(
            bench
                .error("write_file", write)
                .await
                .contains("configuration")
        );
        let edit = json!({"path": path, "old_string": "1", "new_string": "2"});
        assert!(bench.error("patch", edit).await.contains("configuration"));
        for patch in [
            format!("*** Add File: n\n+x\n*** Update File: {path}\n-a: 1\n+a: 2\n"),
            format!("*** Delete File: {path}\n"),
            format!("*** Move File: open.txt -> {path}\n"),
        ] {
            let error = bench.error("patch", json!({ "patch": patch })).await;
            assert!(error.contains("configuration"), "{error}");
        }
    }
    assert_eq!(std::fs::read_to_string(&active).unwrap(), "a: 1\n");
    assert!(!bench.path("n").exists());
    // The file itself may be searched only where it may be read.
    let found = bench
        .done("search_files", json!({"pattern": "needle", "path": &own}))
        .await;
    assert_eq!(
        (&found["total_count"], &found["_omitted"]),
        (&json!(0), &json!(1))
    );
    let skill = other.join("skills/s.md");
    let mut write = json!({"path": skill, "content": "x"});
    assert!(
        bench
            .error("write_file", write.clone())
            .await
            .contains("another profile")
    );
    write["cross_profile"] = json!(true);
    assert_eq!(bench.done("write_file", write).await["bytes_written"], 1);
    let write = json!({"path": "/etc/hermes-test", "content": "x"});
    assert!(bench.error("write_file", write).await.contains("system"));
}

// EX-47
#[tokio::test]
async fn nothing_is_written_outside_the_safe_roots() {
    let root = tempfile::tempdir().unwrap();
    let safe = root.path().canonicalize().unwrap().join("safe");
    std::fs::create_dir(&safe).unwrap();
    let bench = Bench::with(FileServices {
        rules: Arc::new(FileRules {
            safe_roots: vec![safe.clone()],
            ..FileRules::default()
        }),
        ..FileServices::default()
    });
    symlink(bench.path("target"), safe.join("way-out")).unwrap();
    for path in [bench.path("f"), safe.join("way-out"), safe.join("../f")] {
        let write = json!({"path": path, "content": "x"});
        assert!(
            bench.error("write_file", write).await.contains("outside"),
            "{}",
            path.display()
        );
    }
    assert!(!bench.path("target").exists());
    bench
        .done(
            "write_file",
            json!({"path": safe.join("d/f"), "content": "x"}),
        )
        .await;
}
