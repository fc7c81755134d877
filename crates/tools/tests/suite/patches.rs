//! `patch` over several files.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::fixture::Bench;

#[derive(Deserialize)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    patch: String,
    becomes: Option<BTreeMap<String, String>>,
    error: Option<String>,
}

// EX-44: a hunk keeps what it does not change, as a replacement does, and drifts as little.
#[tokio::test]
async fn hunks_are_rewritten_by_the_strategy_that_found_them() {
    let bench = Bench::new();
    let patch = |file: &str, old: &str, new: &str| {
        json!({"mode": "patch", "patch": format!(
            "*** Begin Patch\n*** Update File: {file}\n-{old}\n+{new}\n*** End Patch\n"
        )})
    };
    bench.put("a.py", "print(“a”, 1)\n");
    let asked = patch("a.py", "print(\"a\", 1)", "print(\"a\", 9)");
    assert_eq!(bench.call("patch", asked).await["success"], true);
    assert_eq!(bench.text("a.py"), "print(“a”, 9)\n");

    bench.put("b.py", "\tx =  'it'  # “so”\n");
    let asked = patch("b.py", "x = \\'it\\' # \"so\"", "x = \\'at\\' # \"so\"");
    assert!(bench.call("patch", asked).await["error"].is_string());
    assert_eq!(bench.text("b.py"), "\tx =  'it'  # “so”\n");
}

/// All files below a directory with their content.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

// EX-44, EX-45
#[tokio::test]
async fn patches_of_every_dialect_apply_or_change_nothing() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../corpus/v4a.json")).unwrap();
    for case in cases {
        let bench = Bench::new();
        for (name, content) in &case.files {
            bench.put(name, content);
        }
        let name = &case.name;
        let answer = bench
            .call("patch", json!({"mode": "patch", "patch": case.patch}))
            .await;
        let wanted = case.becomes.as_ref().unwrap_or(&case.files);
        assert_eq!(&tree(&bench.context.directory), wanted, "{name}: {answer}");
        match &case.error {
            Some(error) => {
                let told = answer["error"].as_str().unwrap_or_default();
                assert!(told.contains(error.as_str()), "{name}: {answer}");
            }
            None => assert_eq!(answer["success"], true, "{name}: {answer}"),
        }
    }
}

// EX-44
#[tokio::test]
async fn an_answer_names_every_file_and_place() {
    let bench = Bench::new();
    bench.put("a", "1\n  2\n3\n");
    bench.put("b", "x\n");
    let patch = "*** Update File: a\n@@\n-2\n+two\n*** Delete File: b\n*** Add File: c\n+new\n";
    let answer = bench.done("patch", json!({ "patch": patch })).await;
    let at = |name: &str| json!([bench.path(name)]);
    assert_eq!(answer["files_modified"], at("a"));
    assert_eq!(answer["files_deleted"], at("b"));
    assert_eq!(answer["files_created"], at("c"));
    assert_eq!(answer["match_strategy"], "line_trimmed");
    assert_eq!(answer["lines"], json!({"first": 2, "last": 2}));
    let diff = answer["diff"].as_str().unwrap();
    assert!(diff.contains("-  2\n+  two\n") && diff.contains("-x\n") && diff.contains("+new\n"));
}

// EX-44
#[tokio::test]
async fn a_file_that_cannot_be_written_keeps_the_others_as_they_were() {
    let bench = Bench::new();
    bench.put("a", "1\n");
    bench.put("b", "2\n");
    std::fs::hard_link(bench.path("b"), bench.path("b2")).unwrap();
    let patch =
        "*** Update File: a\n-1\n+one\n*** Add File: n/c\n+3\n*** Update File: b\n-2\n+two\n";
    assert!(
        bench
            .error("patch", json!({ "patch": patch }))
            .await
            .contains("hard links")
    );
    assert_eq!(bench.names(), ["a", "b", "b2"]);
    assert_eq!(bench.text("a"), "1\n");
    assert_eq!(bench.text("b"), "2\n");
}

fn patch_like() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("*** Begin Patch".to_owned()),
        Just("*** End Patch".to_owned()),
        Just("*** End of File".to_owned()),
        Just("*** Move to: z".to_owned()),
        Just("@@ -1,2 +1 @@".to_owned()),
        "[ +\\-]?[abc]{0,2}",
        "@@ ?[abc]? ?(@@)?",
        "\\*\\*\\* (Update|Add|Delete) File: [ab]",
        "\\PC{0,12}",
    ];
    proptest::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

proptest! {
    // EX-44
    #[test]
    fn no_patch_breaks_anything(patch in patch_like(), file in "([abc ]{0,2}\r?\n){0,8}[abc]?") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bench = Bench::new();
        bench.put("a", &file);
        let before = tree(&bench.context.directory);
        let answer = runtime.block_on(bench.call("patch", json!({"mode": "patch", "patch": patch})));
        if answer.get("error").is_some() {
            prop_assert_eq!(tree(&bench.context.directory), before);
        }
        prop_assert!(!bench.names().iter().any(|name| name.starts_with(".hermes")));
    }

    // EX-42
    #[test]
    fn no_request_breaks_anything(
        file in "([ab“”\t …é\\\\n'\"]{0,6}\r?\n){0,6}",
        old in "[ab\"\t .é\\\\n'\n]{1,8}",
        new in "[ab\"\t .é\\\\n'\n]{0,8}",
        all: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bench = Bench::new();
        bench.put("a", &file);
        let asked = json!({"path": "a", "old_string": old, "new_string": new, "replace_all": all});
        let answer = runtime.block_on(bench.call("patch", asked));
        let after = bench.text("a");
        if answer["success"] != true {
            prop_assert_eq!(&after, &file);
        }
        // An exact match means exactly what the standard library would do.
        if answer["match_strategy"] == "exact" && all && !file.contains('\r') && !new.contains(&old) {
            prop_assert_eq!(after, file.replace(&old, &new));
        }
    }
}
