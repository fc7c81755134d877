//! Every rule of the strict validators has a body that keeps it and one that breaks it.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use hermes_testkit::model_server::Protocol;
use hermes_testkit::strict::{violations, violations_allowing};
use serde_json::{Value, json};

/// One rule: an edit that keeps it, an edit that breaks it, and what is said then.
struct Rule {
    keeps: fn(&mut Value),
    breaks: fn(&mut Value),
    says: &'static str,
}

/// Applies each edit to a fresh body. A broken rule must be the only thing that is said.
#[track_caller]
fn check(protocol: Protocol, body: &Value, rules: &[Rule]) {
    assert_eq!(violations(protocol, body), [""; 0], "the body itself");
    for rule in rules {
        let mut kept = body.clone();
        (rule.keeps)(&mut kept);
        assert_eq!(violations(protocol, &kept), [""; 0], "{}", rule.says);
        let mut broken = body.clone();
        (rule.breaks)(&mut broken);
        let found = violations(protocol, &broken);
        assert!(
            !found.is_empty() && found.iter().all(|said| said.contains(rule.says)),
            "expected only {:?}, got {found:#?}",
            rule.says
        );
    }
}

/// Leaves the body as it is.
fn nothing(_: &mut Value) {}

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().unwrap().shift_remove(key);
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().unwrap()
}

#[test]
fn allowed_keys_are_taken_but_local_ones_never() {
    let extra = ["reasoning_content".to_owned(), "_mine".to_owned()];
    let mut body = json!({"model": "m", "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "c"},
        {"role": "user", "content": "d"},
    ]});
    let protocol = Protocol::ChatCompletions;
    assert_eq!(
        violations(protocol, &body),
        ["messages[1]: `reasoning_content` is not known here"]
    );
    assert_eq!(violations_allowing(protocol, &body, &extra), [""; 0]);
    body["messages"][0]["_mine"] = true.into();
    assert_eq!(
        violations_allowing(protocol, &body, &extra),
        ["messages[0]: `_mine` is a local key"]
    );
}

#[test]
fn chat_completions_take_four_cache_markers_where_the_vendor_knows_them() {
    let extra = ["cache_control".to_owned()];
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let body = |count: usize| {
        let parts = vec![marked.clone(); count];
        json!({"model": "m", "messages": [{"role": "user", "content": parts}]})
    };
    let protocol = Protocol::ChatCompletions;
    assert_eq!(violations_allowing(protocol, &body(4), &extra), [""; 0]);
    assert_eq!(
        violations_allowing(protocol, &body(5), &extra),
        ["body: 5 cache markers, more than 4"]
    );
    assert_eq!(
        violations(protocol, &body(1)),
        ["messages[0].content[0]: `cache_control` is not known here"]
    );
}
