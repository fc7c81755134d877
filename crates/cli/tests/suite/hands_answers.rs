//! What the model is answered, field by field, whatever it asks for.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::hands::{run_in, terminal};

fn answers(calls: &[(&str, Json)]) -> Vec<Json> {
    run_in(|program, _| program, "", calls, &[]).results
}

fn keys(answer: &Json) -> BTreeSet<&str> {
    let fields = answer.as_object().unwrap();
    fields.keys().map(String::as_str).collect()
}

// EX-1, EX-5, EX-10, EX-13, EX-19
#[test]
fn a_command_is_answered_with_the_documented_fields_and_no_others() {
    let with = |command: &str, more: Json| {
        let mut arguments = json!({ "command": command });
        let more = more.as_object().unwrap().clone();
        arguments.as_object_mut().unwrap().extend(more);
        ("terminal", arguments)
    };
    let results = answers(&[
        terminal("echo hi; exit 2"),
        terminal("grep nothing-like-it /etc/hostname"),
        terminal(
            "printf '\\033[31mtoken ghp_%s%s\\033[0m\\n' 0123456789abcdefghij 0123456789abcdefgh",
        ),
        with("echo part; sleep 100", json!({ "timeout": 1 })),
        with(
            "test -t 0 && test -t 1 && stty size",
            json!({ "pty": true }),
        ),
    ]);
    let [plain, noted, masked, late, shown] = &results[..] else {
        panic!("{results:?}");
    };
    let documented = BTreeSet::from(["backend", "error", "exit_code", "output", "sandbox"]);
    assert_eq!(keys(plain), documented, "{plain}");
    assert_eq!(
        (&plain["output"], &plain["exit_code"]),
        (&json!("hi"), &json!(2))
    );
    assert_eq!(plain["error"], Json::Null);
    let more = keys(noted)
        .difference(&documented)
        .copied()
        .collect::<Vec<_>>();
    assert_eq!(more, ["exit_code_meaning"], "{noted}");
    let printed = masked["output"].as_str().unwrap();
    assert!(printed.starts_with("token [redacted"), "{printed}");
    assert!(
        !printed.contains("0123456789") && !printed.contains('\u{1b}'),
        "{printed}"
    );
    assert_eq!(
        (&late["exit_code"], &late["error"]),
        (&json!(124), &Json::Null),
        "{late}"
    );
    assert!(
        late["output"].as_str().unwrap().starts_with("part"),
        "{late}"
    );
    assert_eq!(shown["output"], "30 120", "{shown}");
}

// EX-1: a command that is none is answered like one that failed.
#[test]
fn a_command_that_is_no_text_is_answered_in_the_form_of_a_command() {
    // Two at a time: a remark follows the third failure of a turn.
    let mut results = answers(&[
        ("terminal", json!({"command": ["ls", "-l"]})),
        ("terminal", json!({"command": {"run": "ls"}})),
    ]);
    results.extend(answers(&[
        ("terminal", json!({"command": "  "})),
        ("terminal", json!({"timeout": 5})),
    ]));
    for result in &results {
        assert_eq!(
            (&result["status"], &result["exit_code"], &result["output"]),
            (&json!("error"), &json!(-1), &json!("")),
            "{result}"
        );
        assert!(
            result["error"].as_str().unwrap().contains("command"),
            "{result}"
        );
    }
}

// EX-1, EX-54: what is judged is run, in the foreground and behind it, however long. Only what is too long to be
// judged is not.
#[test]
fn a_command_of_megabytes_is_judged_and_run() {
    let padding = "x".repeat(1 << 20);
    let results = answers(&[
        terminal(&format!(": '{padding}'; echo ran")),
        terminal(&format!(": '{padding}'; rm -rf /")),
        (
            "terminal",
            json!({"command": format!(": '{padding}'; echo ran behind >behind"), "background": true}),
        ),
        terminal("until [ -s behind ]; do sleep 0.05; done; cat behind"),
        terminal(&format!(": '{padding}{padding}{padding}'; echo ran")),
        terminal(&format!(
            ": '{padding}{padding}{padding}{padding}'; echo ran"
        )),
    ]);
    assert_eq!(results[0]["output"], "ran", "{}", results[0]["error"]);
    assert_eq!(results[1]["status"], "blocked");
    let id = results[2]["session_id"].as_str().unwrap_or_default();
    assert!(id.starts_with("proc_"), "{}", results[2]);
    assert_eq!(results[3]["output"], "ran behind", "{}", results[3]);
    assert_eq!(results[4]["output"], "ran", "{}", results[4]["error"]);
    assert_eq!(results[5]["status"], "blocked");
    let told = results[5]["error"].as_str().unwrap();
    assert!(told.contains("longer than"), "{told}");
}

// EX-1: bytes that are no text, a directory that goes away, a program that is not there.
#[test]
fn odd_output_and_odd_places_are_answered_in_words() {
    let results = answers(&[
        terminal("printf 'a\\377\\000b\\n'; head -c 2000 /dev/urandom >blob; cat blob | wc -c"),
        ("read_file", json!({"path": "blob"})),
        ("read_file", json!({"path": "/dev/zero"})),
        terminal("no-such-program-anywhere --at all"),
        terminal("mkdir -p gone/deep && cd gone/deep && rm -r ../../gone; pwd"),
        terminal("pwd"),
        terminal("ln -s b a && ln -s a b; cat a"),
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "x"})),
    ]);
    let text = |index: usize| results[index]["output"].as_str().unwrap().to_owned();
    assert!(
        text(0).contains('\u{fffd}') && text(0).ends_with("2000"),
        "{:?}",
        results[0]
    );
    for refused in [1, 2, 7, 8] {
        let told = results[refused].to_string();
        assert!(told.contains("error") && told.len() > 30, "{told}");
    }
    assert_eq!(results[3]["exit_code"], 127, "{:?}", results[3]);
    assert!(text(3).contains("not found"), "{:?}", results[3]);
    assert_eq!(results[5]["exit_code"], 0, "{:?}", results[5]);
    assert_ne!(results[6]["exit_code"], 0, "{:?}", results[6]);
}
