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

// EX-1, EX-54: in the foreground nothing is too long to be read, judged and run; behind it that is said.
#[test]
fn a_command_of_a_megabyte_is_judged_and_run() {
    let padding = "x".repeat(1 << 20);
    let results = answers(&[
        terminal(&format!(": '{padding}'; echo ran")),
        terminal(&format!(": '{padding}'; rm -rf /")),
        (
            "terminal",
            json!({"command": format!(": '{padding}'; echo ran behind"), "background": true}),
        ),
    ]);
    assert_eq!(results[0]["output"], "ran", "{}", results[0]["error"]);
    assert_eq!(results[1]["status"], "blocked");
    let told = results[2]["error"].as_str().unwrap();
    assert!(told.contains("too long"), "{told}");
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
