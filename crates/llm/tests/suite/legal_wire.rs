//! Whatever history comes in, the turns that come out are legal.

use std::collections::HashSet;
use std::sync::Arc;

use hermes_core::{CallId, Message, Part, RawTurn, Role, ToolCall, WireProtocol};
use hermes_llm::wire::legal::{
    Answer, Assistant, LOST_RESULT, Turn, UNNAMED_TOOL, UserPart, legal, legal_keeping,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn row(role: Role, parts: Vec<Part>) -> Arc<Message> {
    Arc::new(Message {
        role,
        parts,
        raw: None,
    })
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

fn call(id: &str, name: &str, arguments: Json) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId(id.to_owned()),
        name: name.to_owned(),
        arguments,
    })
}

fn result(id: &str, content: &str) -> Part {
    Part::ToolResult {
        call: CallId(id.to_owned()),
        name: "tool".to_owned(),
        content: content.to_owned(),
        failed: false,
    }
}

fn assistant<'t>(turns: &'t [Turn<'t>], place: usize) -> &'t Assistant<'t> {
    match &turns[place] {
        Turn::Assistant(assistant) => assistant,
        Turn::User(parts) => panic!("a user said {parts:?}"),
    }
}

fn contents<'t>(answers: &'t [Answer<'t>]) -> Vec<&'t str> {
    answers
        .iter()
        .map(|answer| answer.content.as_ref())
        .collect()
}

// PV-19
#[test]
fn results_follow_their_calls_in_order_and_lost_ones_are_named() {
    let history = [
        row(Role::Tool, vec![result("ghost", "orphan")]),
        row(Role::User, vec![text("a")]),
        row(
            Role::Assistant,
            vec![
                call("1", "read", json!({})),
                call("2", "", json!("{\"x\":1}")),
                call("3", "write", json!(null)),
            ],
        ),
        row(Role::Tool, vec![result("2", "second")]),
        row(Role::User, vec![text("hurry")]),
        row(Role::Tool, vec![result("1", "first"), text("steer")]),
        row(Role::Tool, vec![result("1", "again")]),
        row(Role::User, vec![text("now")]),
    ];
    let turns = legal(&history);
    assert_eq!(turns.len(), 3);
    let said = assistant(&turns, 1);
    assert_eq!(
        contents(&said.answers),
        ["first\n\nsteer", "second", LOST_RESULT]
    );
    assert!(said.answers[2].failed);
    let calls: Vec<_> = said.calls().collect();
    assert_eq!(calls[1].name, UNNAMED_TOOL);
    assert_eq!(*calls[1].arguments, json!({"x": 1}));
    assert_eq!(*calls[2].arguments, json!({}));
    assert_eq!(
        turns[2],
        Turn::User(vec![UserPart::Text("hurry"), UserPart::Text("now")])
    );
}

// PV-19
#[test]
fn ids_that_come_again_are_numbered_and_keep_their_own_results() {
    let history = [
        row(Role::Assistant, vec![call("c", "a", json!({}))]),
        row(
            Role::Assistant,
            vec![call("c", "b", json!({})), call("c", "d", json!({}))],
        ),
        row(Role::Tool, vec![result("c", "of b"), result("c", "of d")]),
        row(Role::Assistant, vec![call("", "e", json!({}))]),
        row(Role::Tool, vec![result("", "of e")]),
    ];
    let turns = legal(&history);
    assert_eq!(contents(&assistant(&turns, 0).answers), [LOST_RESULT]);
    let second = assistant(&turns, 1);
    assert_eq!(contents(&second.answers), ["of b", "of d"]);
    let ids: Vec<&str> = second
        .answers
        .iter()
        .map(|answer| answer.id.as_ref())
        .collect();
    assert_eq!(ids, ["c_2", "c_3"]);
    assert_eq!(assistant(&turns, 2).answers[0].id, "call_2");
    assert_eq!(contents(&assistant(&turns, 2).answers), ["of e"]);
}

#[test]
fn rows_that_only_think_are_dropped_unless_they_can_be_replayed() {
    let thinking = |raw: Option<Json>| {
        Arc::new(Message {
            role: Role::Assistant,
            parts: vec![Part::Reasoning {
                text: "hm".to_owned(),
            }],
            raw: raw.map(|body| RawTurn {
                protocol: WireProtocol::Responses,
                provider: "p".to_owned(),
                model: "m".to_owned(),
                body,
            }),
        })
    };
    let history = [
        row(Role::User, vec![text("a")]),
        thinking(None),
        row(Role::User, vec![text("b"), text("  ")]),
        thinking(Some(json!([1]))),
        thinking(Some(json!([2]))),
    ];
    let both = Turn::User(vec![UserPart::Text("a"), UserPart::Text("b")]);
    assert_eq!(legal(&history), std::slice::from_ref(&both));
    let kept = legal_keeping(&history, |_| true);
    assert_eq!(kept[0], both);
    assert_eq!(
        assistant(&kept, 1).raw.as_ref().unwrap().body,
        json!([1, 2])
    );
}

fn any_part() -> impl Strategy<Value = Part> {
    let id = prop::sample::select(vec!["", "a", "b", "a_2", " "]);
    prop_oneof![
        prop::sample::select(vec!["", " ", "hi"]).prop_map(text),
        Just(Part::Reasoning {
            text: "hm".to_owned()
        }),
        (id.clone(), prop::sample::select(vec!["", "t"])).prop_map(|(id, name)| call(
            id,
            name,
            json!([])
        )),
        id.prop_map(|id| result(id, "r")),
    ]
}

pub(crate) fn any_history() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let row =
        (role, prop::collection::vec(any_part(), 0..4)).prop_map(|(role, parts)| row(role, parts));
    prop::collection::vec(row, 0..12)
}

proptest! {
    // PV-19
    #[test]
    fn any_history_becomes_legal(history in any_history()) {
        let mut ids = HashSet::new();
        let mut before: Option<Turn<'_>> = None;
        for turn in legal(&history) {
            match (&before, &turn) {
                (Some(Turn::User(_)), Turn::User(_)) => prop_assert!(false, "two users in a row"),
                (Some(Turn::Assistant(first)), Turn::Assistant(_)) => prop_assert!(!first.answers.is_empty()),
                _ => {}
            }
            match &turn {
                Turn::User(parts) => prop_assert!(!parts.is_empty()),
                Turn::Assistant(said) => {
                    prop_assert!(said.calls().count() == said.answers.len());
                    prop_assert!(!said.text().is_empty() || !said.answers.is_empty());
                    for (call, answer) in said.calls().zip(&said.answers) {
                        prop_assert_eq!(&call.id, &answer.id);
                        prop_assert!(ids.insert(call.id.clone().into_owned()));
                        prop_assert!(!call.name.is_empty() && call.arguments.is_object());
                    }
                }
            }
            before = Some(turn);
        }
    }
}
