use super::*;

fn any_id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c.1", "", "a_2", "é|x"]).prop_map(str::to_owned)
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[a-c ]{0,3}".prop_map(|text| Part::Text { text }),
        "[a-c ]{0,3}".prop_map(|text| Part::Reasoning { text }),
        prop::sample::select(vec!["shot", "gone"]).prop_map(picture),
        (any_id(), "[a-b]{0,1}").prop_map(|(id, name)| call(&id, &name, json!({"x": 1}))),
        (any_id(), "[a-c ]{0,3}", any::<bool>()).prop_map(|(id, content, failed)| {
            Part::ToolResult {
                call: CallId(id),
                name: "look".to_owned(),
                content,
                failed,
            }
        }),
    ]
}

pub(super) fn any_block() -> impl Strategy<Value = Json> {
    prop_oneof![
        "[a-c ]{0,3}".prop_map(|text| json!({"type": "text", "text": text})),
        "[a-c]{0,2}"
            .prop_map(|text| json!({"type": "thinking", "thinking": text, "signature": text})),
        any_id().prop_map(|id| json!({"type": "tool_use", "id": id, "name": "a", "input": {}})),
        any_id().prop_map(
            |id| json!({"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": id})
        ),
        any_id().prop_map(|id| json!({"functionCall": {"name": "b", "id": id}})),
        "[a-c ]{0,3}".prop_map(|text| json!({"text": text, "thought": true})),
        Just(json!({"type": "redacted_thinking", "data": "x"})),
        Just(json!(7)),
    ]
}

pub(crate) fn any_history() -> impl Strategy<Value = Vec<Message>> {
    let turn = (
        prop::sample::select(vec![WireProtocol::Anthropic, WireProtocol::Gemini]),
        prop::sample::select(vec!["here", "elsewhere"]),
        prop::sample::select(vec!["claude-opus-4-6", "gemini-3-pro"]),
        prop::collection::vec(any_block(), 0..4),
    );
    let turn = turn.prop_map(|(protocol, provider, model, blocks)| RawTurn {
        protocol,
        provider: provider.to_owned(),
        model: model.to_owned(),
        body: json!(blocks),
    });
    let message = (
        prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]),
        prop::collection::vec(any_part(), 0..4),
        prop::option::of(turn),
    );
    let message = message.prop_map(|(role, parts, raw)| Message { role, parts, raw });
    prop::collection::vec(message, 0..8)
}

/// Conversations as an engine has them: rounds of steps, each with calls and results, each round ended
/// by an answer. Only `model` and `signed` decide what the raw turns look like.
pub(crate) fn rounds(
    steps: &[usize],
    mut turn: impl FnMut(usize) -> Message,
    answer: impl Fn() -> Message,
) -> Vec<Vec<Message>> {
    let mut history = Vec::new();
    let mut requests = Vec::new();
    let mut number = 0;
    for count in steps {
        history.push(user("go on"));
        requests.push(history.clone());
        for _ in 0..*count {
            history.push(turn(number));
            history.push(result(&format!("t{number}"), "seen"));
            requests.push(history.clone());
            number += 1;
        }
        history.push(answer());
    }
    requests
}
