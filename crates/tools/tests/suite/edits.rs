//! `patch` in replace mode.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::fixture::Bench;

#[derive(Deserialize)]
struct Case {
    name: String,
    file: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
    near_line: Option<usize>,
    becomes: Option<String>,
    strategy: Option<String>,
    lines: Option<(usize, usize)>,
    error: Option<String>,
    match_lines: Option<Vec<usize>>,
    #[serde(default)]
    already: bool,
}

// EX-42
#[tokio::test]
async fn texts_are_found_in_the_order_of_the_strategies() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../corpus/matching.json")).unwrap();
    let bench = Bench::new();
    for case in cases {
        bench.put("f.txt", &case.file);
        let mut arguments = json!({
            "path": "f.txt", "old_string": case.old, "new_string": case.new, "replace_all": case.all,
        });
        if let Some(line) = case.near_line {
            arguments["near_line"] = json!(line);
        }
        let answer = bench.call("patch", arguments).await;
        let name = &case.name;
        let wanted = case.becomes.as_ref().unwrap_or(&case.file);
        assert_eq!(&bench.text("f.txt"), wanted, "{name}: {answer}");
        match &case.error {
            Some(error) => {
                let told = answer["error"].as_str().unwrap();
                assert!(told.contains(error.as_str()), "{name}: {answer}");
            }
            None => assert_eq!(answer["success"], true, "{name}: {answer}"),
        }
        if let Some(strategy) = &case.strategy {
            assert_eq!(&answer["match_strategy"], strategy, "{name}: {answer}");
        }
        if let Some((first, last)) = case.lines {
            assert_eq!(
                answer["lines"],
                json!({"first": first, "last": last}),
                "{name}"
            );
        }
        if let Some(lines) = &case.match_lines {
            assert_eq!(answer["match_lines"], json!(lines), "{name}");
        }
        if case.already {
            assert_eq!(answer["already_applied"], true, "{name}: {answer}");
            assert_eq!(answer["diff"], "", "{name}");
        }
    }
}

// EX-42
#[tokio::test]
async fn quotes_that_only_the_request_escapes_are_refused() {
    let bench = Bench::new();
    bench.put("f.py", "  a =   \"x\"  # say \\\"\n  b\n");
    // Found by blanks, and the escaped quote of the request is in the file too.
    let asked = json!({"path": "f.py", "old_string": "a = \"x\" # say \\\"", "new_string": "a = \"y\" # say \\\""});
    assert_eq!(bench.call("patch", asked).await["success"], true);
    bench.put("g.py", "  it's  “so”\n");
    let asked =
        json!({"path": "g.py", "old_string": "it\\'s \"so\"", "new_string": "it\\'s \"no\""});
    assert!(bench.error("patch", asked).await.contains("not found"));
    assert_eq!(bench.text("g.py"), "  it's  “so”\n");
    // The file has a backslash too, but in front of another quote: the request was not taken from it.
    bench.put("h.py", "it\\’s so\n");
    let asked = json!({"path": "h.py", "old_string": "it\\'s so", "new_string": "it\\'s not so"});
    let told = bench.error("patch", asked).await;
    assert!(told.contains("both strings escape quotes"), "{told}");
    assert_eq!(bench.text("h.py"), "it\\’s so\n");
}

// EX-43
#[tokio::test]
async fn similar_lines_are_suggested_and_never_changed() {
    let bench = Bench::new();
    let file = "fn f() {\n    alpha(1);\n    beta(9);\n    gamma(3);\n}\n";
    bench.put("f.rs", file);
    let asked = json!({
        "path": "f.rs",
        "old_string": "    alpha(1);\n    beta(2);\n    gamma(3);",
        "new_string": "    alpha(1);\n    beta(5);\n    gamma(3);",
    });
    let answer = bench.call("patch", asked).await;
    assert_eq!(bench.text("f.rs"), file);
    assert_eq!(answer["success"], false);
    let suggestion = &answer["suggestion"];
    assert_eq!(suggestion["match_strategy"], "block_anchor");
    assert_eq!(suggestion["lines"], json!({"first": 2, "last": 4}));
    let diff = suggestion["diff"].as_str().unwrap();
    assert!(diff.contains("-    beta(2);\n+    beta(9);"), "{diff}");
    assert!(
        answer["closest_regions"][0]
            .as_str()
            .unwrap()
            .contains("2|    alpha(1);")
    );
    // Two blocks like it: none is suggested.
    bench.put("f.rs", format!("{file}{file}"));
    let asked = json!({"path": "f.rs", "old_string": "    alpha(1);\n    beta(2);\n    gamma(3);", "new_string": "x"});
    let answer = bench.call("patch", asked).await;
    assert!(answer.get("suggestion").is_none(), "{answer}");
}

#[tokio::test]
async fn the_third_miss_in_a_row_gets_another_hint() {
    let bench = Bench::new();
    bench.put("f", "a\n");
    let asked = json!({"path": "f", "old_string": "not there at all", "new_string": "x"});
    for _ in 0..2 {
        assert!(
            bench
                .call("patch", asked.clone())
                .await
                .get("_hint")
                .is_none()
        );
    }
    let hint = bench.call("patch", asked).await["_hint"].to_string();
    assert!(hint.contains("3 times in a row"), "{hint}");
}

// EX-41
#[tokio::test]
async fn files_of_any_encoding_are_edited_to_the_byte() {
    let bench = Bench::new();
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units
            .flat_map(|unit| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            })
            .collect()
    };
    let cases = [
        (
            "ASCII in Latin-1",
            b"caf\xE9 = 1\nx = \xA4\xFF\n".to_vec(),
            "x = ",
            "y = ",
            b"caf\xE9 = 1\ny = \xA4\xFF\n".to_vec(),
        ),
        (
            "Latin-1 characters",
            b"caf\xE9 = 1\n\xFF\n".to_vec(),
            "café = 1",
            "café = 2",
            b"caf\xE9 = 2\n\xFF\n".to_vec(),
        ),
        (
            "UTF-8 with a stray byte",
            b"\xE2\x82\xAC 5\n\xFF\n".to_vec(),
            "€ 5",
            "€ 6",
            b"\xE2\x82\xAC 6\n\xFF\n".to_vec(),
        ),
        (
            "little UTF-16",
            utf16("a\r\né\r\n", false),
            "é",
            "è",
            utf16("a\r\nè\r\n", false),
        ),
        (
            "big UTF-16",
            utf16("a\né\n", true),
            "a\n",
            "b\n",
            utf16("b\né\n", true),
        ),
        (
            "marked UTF-8",
            b"\xEF\xBB\xBFa\r\nb".to_vec(),
            "b",
            "c",
            b"\xEF\xBB\xBFa\r\nc".to_vec(),
        ),
    ];
    for (name, before, old, new, after) in cases {
        bench.put("f", before);
        let asked = json!({"path": "f", "old_string": old, "new_string": new});
        let answer = bench.call("patch", asked).await;
        assert_eq!(answer["success"], true, "{name}: {answer}");
        assert_eq!(bench.bytes("f"), after, "{name}");
    }
    // What has no unmistakable bytes is refused.
    for (before, new) in [(&b"caf\xE9 x\n"[..], "ü"), (b"caf\xE9 x\n", "€")] {
        bench.put("f", before);
        let asked = json!({"path": "f", "old_string": "x", "new_string": new});
        assert!(bench.error("patch", asked).await.contains("not UTF-8"));
        assert_eq!(bench.bytes("f"), before);
    }
    for broken in [&b"\xFF\xFEa\x00\x00\xD8x\x00"[..], b"\xFF\xFEa", b"a\0x\n"] {
        bench.put("f", broken);
        let asked = json!({"path": "f", "old_string": "a", "new_string": "b"});
        bench.error("patch", asked).await;
        assert_eq!(bench.bytes("f"), broken);
    }
}

// EX-41
#[tokio::test]
async fn links_modes_and_second_names_are_respected() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let bench = Bench::new();
    let real = bench.put("real.sh", "echo a\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o751)).unwrap();
    symlink("real.sh", bench.path("link.sh")).unwrap();
    let edit = |path: &str| json!({"path": path, "old_string": "echo a", "new_string": "echo b"});
    let answer = bench.done("patch", edit("link.sh")).await;
    assert_eq!(answer["resolved_path"], json!(real));
    assert!(bench.path("link.sh").is_symlink());
    assert_eq!(bench.text("real.sh"), "echo b\n");
    assert_eq!(real.metadata().unwrap().mode() & 0o7777, 0o751);

    bench.put("one", "echo a\n");
    std::fs::hard_link(bench.path("one"), bench.path("two")).unwrap();
    assert!(
        bench
            .error("patch", edit("one"))
            .await
            .contains("hard links")
    );
    assert_eq!(bench.text("two"), "echo a\n");

    symlink("loop-b", bench.path("loop-a")).unwrap();
    symlink("loop-a", bench.path("loop-b")).unwrap();
    assert!(
        bench
            .error("patch", edit("loop-a"))
            .await
            .contains("circles")
    );
    assert_eq!(
        bench
            .names()
            .iter()
            .filter(|name| name.starts_with(".hermes"))
            .count(),
        0
    );
}

#[tokio::test]
async fn an_expected_hash_is_checked() {
    let bench = Bench::new();
    bench.put("f", "abc");
    let asked = |hash: &str| json!({"path": "f", "old_string": "b", "new_string": "B", "expected_hash": hash});
    assert!(
        bench
            .error("patch", asked("00000000"))
            .await
            .contains("ba7816bf")
    );
    assert!(bench.error("patch", asked("")).await.contains("ba7816bf"));
    assert_eq!(
        bench.call("patch", asked("BA7816BF8F01")).await["success"],
        Json::Bool(true)
    );
}

// EX-62
#[tokio::test]
async fn masks_are_never_written_back() {
    let bench = Bench::new();
    bench.put("f", "key = real\nother = 1\n");
    for arguments in [
        json!({"path": "f", "old_string": "key = real", "new_string": "key = [redacted:openai]"}),
        json!({"patch": "*** Update File: f\n-key = real\n+key = [redacted:openai]\n"}),
        json!({"patch": "*** Add File: g\n+key = [redacted:openai]\n"}),
    ] {
        assert!(
            bench
                .error("patch", arguments)
                .await
                .contains("[redacted:openai]")
        );
    }
    let asked = json!({"path": "f", "content": "key = [redacted:openai]\n"});
    assert!(
        bench
            .error("write_file", asked)
            .await
            .contains("destroy the secret")
    );
    assert_eq!(bench.text("f"), "key = real\nother = 1\n");
    assert_eq!(bench.names(), ["f"]);
    // A file that is about masks keeps its own.
    bench.put("doc", "masks look like [redacted:openai] here\n");
    let asked = json!({"path": "doc", "old_string": "masks look like [redacted:openai]", "new_string": "a mask: [redacted:openai]"});
    assert_eq!(bench.call("patch", asked).await["success"], true);
}

// EX-62
#[tokio::test]
async fn a_change_tells_no_more_of_a_file_than_reading_it_would() {
    let bench = Bench::new();
    let key = format!("sk-{}", "a1b2c3d4e5f6g7h8".repeat(3));
    bench.put("f", format!("port = 1\nkey = {key}\nhost = a\n"));
    let told = bench
        .call(
            "patch",
            json!({"path": "f", "old_string": "port = 1", "new_string": "port = 2"}),
        )
        .await;
    assert_eq!(told["success"], true, "{told}");
    let diff = told["diff"].as_str().unwrap();
    assert!(
        diff.contains("+port = 2\n") && diff.contains("key = [redacted:"),
        "{diff}"
    );
    assert!(!told.to_string().contains(&key), "{told}");
    assert!(bench.text("f").contains(&key));
    for miss in [
        json!({"path": "f", "old_string": "key = sk-key", "new_string": "key = x"}),
        json!({"path": "f", "old_string": "port = 2\nkey = sk-\nhost = a", "new_string": "x"}),
        json!({"patch": "*** Update File: f\n port = 2\n-key = sk-a1b2\n+key = x\n"}),
    ] {
        let told = bench.call("patch", miss).await;
        assert_eq!(told["success"], false, "{told}");
        assert!(told.to_string().contains("key = [redacted:"), "{told}");
        assert!(!told.to_string().contains(&key), "{told}");
    }

    // The first line of a key is far from the change, and its last ones are near.
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let kind = "PRIVATE KEY";
    let pem = format!(
        "-----BEGIN {kind}-----\n{}-----END {kind}-----\n",
        format!("{line}\n").repeat(9)
    );
    bench.put("pem", format!("{pem}port = 1\n"));
    let patch = json!({"path": "pem", "old_string": "port = 1", "new_string": "port = 2"});
    let told = bench.call("patch", patch).await;
    assert!(
        told["diff"].as_str().unwrap().contains("+port = 2"),
        "{told}"
    );
    assert!(!told.to_string().contains(line), "{told}");
    let miss = json!({"path": "pem", "old_string": "port = 3", "new_string": "port = 4"});
    let told = bench.call("patch", miss).await;
    assert!(!told.to_string().contains(line), "{told}");
    assert_eq!(bench.text("pem"), format!("{pem}port = 2\n"));
}

// EX-37, EX-62
#[tokio::test]
async fn a_file_that_is_not_read_is_not_shown_by_changing_or_moving_it_either() {
    let bench = Bench::new();
    bench.put(".env", "PORT=1\nDB_PASSWORD=hunter22\nHOST=a\n");
    let told = bench
        .call(
            "patch",
            json!({"path": ".env", "old_string": "PORT=1", "new_string": "PORT=2"}),
        )
        .await;
    assert_eq!(told["success"], true, "{told}");
    assert!(
        told["diff"].as_str().unwrap().contains("not shown"),
        "{told}"
    );
    assert!(!told.to_string().contains("hunter22"), "{told}");
    for refused in [
        json!({"path": ".env", "old_string": "DB_PASSWORD=hunter2", "new_string": "x", "expected_hash": "00000000"}),
        json!({"path": ".env", "old_string": "DB_PASSWORD=hunter1", "new_string": "x"}),
        json!({"patch": "*** Update File: .env\n PORT=2\n-DB_PASSWORD=\n+x\n"}),
        json!({"patch": "*** Move File: .env -> notes.txt\n"}),
        json!({"patch": "*** Update File: .env\n*** Move to: notes.txt\n-PORT=2\n+PORT=3\n"}),
    ] {
        let told = bench.call("patch", refused.clone()).await;
        assert!(told["error"].is_string(), "{refused}: {told}");
        assert!(!told.to_string().contains("hunter22"), "{refused}: {told}");
    }
    assert_eq!(bench.text(".env"), "PORT=2\nDB_PASSWORD=hunter22\nHOST=a\n");
    assert_eq!(bench.names(), [".env"]);
    let gone = json!({"patch": "*** Delete File: .env\n"});
    let told = bench.call("patch", gone).await;
    assert_eq!(told["success"], true, "{told}");
    assert!(!told.to_string().contains("hunter22"), "{told}");
    assert!(bench.names().is_empty());
}

// EX-62: conversations that came from the reference hold masks of its own.
#[tokio::test]
async fn masks_of_the_reference_are_not_written_back_either() {
    let bench = Bench::new();
    bench.put("f", "key = real\n");
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": "f", "content": "key = «redacted:ghp_…»\n"}),
        ),
        (
            "patch",
            json!({"path": "f", "old_string": "real", "new_string": "«redacted:ghp_…»"}),
        ),
    ] {
        let error = bench.error(tool, arguments).await;
        assert!(error.contains("«redacted:ghp_…»"), "{error}");
    }
    assert_eq!(bench.text("f"), "key = real\n");
}
