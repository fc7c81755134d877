//! `search_files`.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use hermes_core::{Notice, ToolError};
use serde_json::{Value as Json, json};

use super::fixture::Bench;

// EX-46
#[tokio::test]
async fn few_matches_are_listed_and_many_are_grouped() {
    let bench = Bench::new();
    bench.put("a.rs", "one\nfn needle() {}\nthree\n");
    bench.put("sub/b.rs", "needle\n");
    let answer = bench
        .done("search_files", json!({"pattern": "needle", "context": 1}))
        .await;
    assert_eq!(answer["total_count"], 2);
    assert_eq!(
        answer["matches"],
        json!([
            {"path": "a.rs", "line": 2, "content": "fn needle() {}", "before": "one", "after": "three"},
            {"path": "sub/b.rs", "line": 1, "content": "needle"},
        ])
    );
    assert!(answer.get("truncated").is_none());
    bench.put("c.txt", "x\nneedle 1\nneedle 2\ny\nz\nneedle 3\n");
    let answer = bench
        .done("search_files", json!({"pattern": "needle"}))
        .await;
    assert_eq!(answer["total_count"], 5);
    assert_eq!(
        answer["matches_text"],
        "a.rs\n  2:fn needle() {}\nc.txt\n  2:needle 1\n  3:needle 2\n  6:needle 3\nsub/b.rs\n  1:needle\n"
    );
    let rust = bench
        .done(
            "search_files",
            json!({"pattern": "needle", "file_glob": "*.rs"}),
        )
        .await;
    assert_eq!(rust["total_count"], 2);
    let inside = bench
        .done("search_files", json!({"pattern": "needle", "path": "sub"}))
        .await;
    assert_eq!(inside["matches"][0]["path"], "sub/b.rs");
    let alone = bench
        .done(
            "search_files",
            json!({"pattern": "needle", "path": "c.txt"}),
        )
        .await;
    assert_eq!(alone["total_count"], 3);
}

/// Thirty files with three lines each that match.
fn ninety_hits() -> Bench {
    let bench = Bench::new();
    for file in 0..30 {
        bench.put(&format!("f{file:02}.txt"), "hit\nmiss\nhit\nhit\n");
    }
    bench
}

// EX-46
#[tokio::test]
async fn pages_of_matches_hold_all_of_them_once() {
    let bench = ninety_hits();
    let mut lines = Vec::new();
    let mut offset = 0;
    loop {
        let outcome = bench
            .outcome(
                "search_files",
                json!({"pattern": "hit", "limit": 20, "offset": offset}),
            )
            .await;
        let content = outcome.unwrap().content;
        let mut values = serde_json::Deserializer::from_str(&content).into_iter::<Json>();
        let answer = values.next().unwrap().unwrap();
        assert_eq!(answer["total_count"], 90);
        let mut file = "";
        for line in answer["matches_text"].as_str().unwrap().lines() {
            match line.strip_prefix("  ") {
                Some(hit) => lines.push(format!("{file} {hit}")),
                None => file = line,
            }
        }
        offset += 20;
        if offset >= 90 {
            assert!(answer.get("truncated").is_none());
            assert!(content.ends_with('}'));
            break;
        }
        assert_eq!(answer["truncated"], true);
        assert!(
            content.ends_with(&format!("of 90; go on with offset {offset}.]")),
            "{content}"
        );
    }
    assert_eq!(lines.len(), 90);
    lines.dedup();
    assert_eq!(lines.len(), 90);
}

// EX-46
#[tokio::test]
async fn totals_are_right_for_files_and_counts() {
    let bench = ninety_hits();
    let files = bench
        .done(
            "search_files",
            json!({"pattern": "hit", "output_mode": "files_only", "limit": 7}),
        )
        .await;
    assert_eq!(
        (
            files["files"].as_array().unwrap().len(),
            &files["total_count"],
            &files["truncated"]
        ),
        (7, &json!(30), &json!(true))
    );
    let counts = bench
        .done(
            "search_files",
            json!({"pattern": "hit", "output_mode": "count", "limit": 50}),
        )
        .await;
    assert_eq!(
        (&counts["counts"]["f07.txt"], &counts["total_count"]),
        (&json!(3), &json!(90))
    );
    assert!(counts.get("truncated").is_none());
}

// EX-46
#[tokio::test]
async fn odd_patterns_are_patterns() {
    let bench = Bench::new();
    bench.put("a", "--help\n-e x\nf(a)\n");
    for (pattern, total) in [
        ("--help", 1),
        ("-e", 1),
        ("^-", 2),
        (r"f\(a\)", 1),
        ("(?i)HELP", 1),
    ] {
        let answer = bench
            .done("search_files", json!({ "pattern": pattern }))
            .await;
        assert_eq!(answer["total_count"], total, "{pattern}");
    }
    assert!(
        bench
            .error("search_files", json!({"pattern": "f(a"}))
            .await
            .contains("regular expression")
    );
    let answer = bench
        .done("search_files", json!({"pattern": "help\\n-e"}))
        .await;
    assert!(answer["warning"].as_str().unwrap().contains("line break"));
    let answer = bench
        .call("search_files", json!({"pattern": "x", "path": "b"}))
        .await;
    assert!(answer["error"].as_str().unwrap().contains("does not exist"));
}

// EX-46
#[tokio::test]
async fn files_are_found_by_name_newest_first() {
    let bench = Bench::new();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (age, name) in [
        "new.py",
        "dir/middle.py",
        "old.py",
        "other.rs",
        ".hidden.py",
    ]
    .iter()
    .enumerate()
    {
        let path = bench.put(name, "x");
        let file = std::fs::File::open(path).unwrap();
        file.set_modified(now - Duration::from_secs(age as u64 * 60))
            .unwrap();
    }
    bench.put(".gitignore", "ignored.py\n");
    bench.put("ignored.py", "x");
    std::fs::create_dir(bench.path(".git")).unwrap();
    symlink("..", bench.path("dir/circle")).unwrap();
    let find = |pattern: &str| json!({"pattern": pattern, "target": "files"});
    let answer = bench.done("search_files", find("*.py")).await;
    assert_eq!(
        answer["files"],
        json!(["new.py", "dir/middle.py", "old.py"])
    );
    assert_eq!(
        bench.done("search_files", find("middle")).await["files"],
        json!(["dir/middle.py"])
    );
    assert_eq!(
        bench.done("search_files", find("dir/*.py")).await["files"],
        json!(["dir/middle.py"])
    );
    let alias = bench
        .done(
            "search_files",
            json!({"pattern": "x", "target": "grep", "output_mode": "files_only"}),
        )
        .await;
    assert_eq!(
        alias["files"],
        json!(["new.py", "dir/middle.py", "old.py", "other.rs"])
    );
}

// EX-46
#[tokio::test]
async fn the_same_search_over_and_over_is_refused() {
    let bench = Bench::new();
    bench.put("a", "x\n");
    let asked = json!({"pattern": "x"});
    for warned in [false, false, true] {
        let answer = bench.done("search_files", asked.clone()).await;
        assert_eq!(answer.get("_warning").is_some(), warned);
    }
    assert!(
        bench
            .error("search_files", asked.clone())
            .await
            .contains("4 times")
    );
    bench.notice(Notice::Called("terminal"));
    bench.done("search_files", asked).await;
}

// EX-46
#[tokio::test]
async fn a_tree_of_ten_thousand_files_is_searched_as_ripgrep_does() {
    let bench = Bench::new();
    for directory in 0..100 {
        std::fs::create_dir(bench.path(&format!("d{directory}"))).unwrap();
        for file in 0..100 {
            let needle = if (directory + file) % 7 == 0 {
                "the needle is here\n"
            } else {
                ""
            };
            let text = format!("some text\n{needle}more text {file}\n{needle}");
            std::fs::write(bench.path(&format!("d{directory}/f{file}.txt")), text).unwrap();
        }
    }
    let answer = bench
        .done(
            "search_files",
            json!({"pattern": "n[e]{2}dle", "limit": 10}),
        )
        .await;
    let rg = Command::new("rg")
        .args([
            "--no-config",
            "-e",
            "n[e]{2}dle",
            "--count-matches",
            "--no-filename",
        ])
        .current_dir(&bench.context.directory)
        .output();
    let counted = String::from_utf8(rg.unwrap().stdout).unwrap();
    let counted: usize = counted.lines().map(|n| n.parse::<usize>().unwrap()).sum();
    assert_eq!(answer["total_count"], counted);
    assert!(counted > 2_000);
    bench.context.cancel.cancel();
    let begun = Instant::now();
    let outcome = bench.outcome("search_files", json!({"pattern": "."})).await;
    assert_eq!(outcome.unwrap_err(), ToolError::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
