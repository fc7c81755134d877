use super::*;

pub(super) fn marks(sent: &Json) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    let mut look = |place: String, blocks: &Json| {
        for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
            if let Some(mark) = block.get("cache_control") {
                found.push((format!("{place}/{index}"), mark.clone()));
            }
        }
    };
    look("system".to_owned(), &sent["system"]);
    for (index, message) in sent["messages"].as_array().unwrap().iter().enumerate() {
        look(index.to_string(), &message["content"]);
    }
    found
}

// AG-21
#[test]
fn four_marks_at_most_and_none_on_thinking() {
    let blocks = json!([
        {"type": "text", "text": "hm"},
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "thinking", "thinking": "x", "signature": "s"},
    ]);
    let mut history = vec![user("one"), assistant(vec![said("yes")], None), user("two")];
    history.push(assistant(
        vec![said("hm"), call("t", "look", json!({}))],
        raw(blocks),
    ));
    history.extend([result("t", ""), user("hurry")]);
    let mut request = request("claude-opus-4-6", history);
    let quirks = Quirks {
        cache: CacheStyle::Blocks,
        ..Quirks::default()
    };
    let at = |places: [&str; 4], mark: Json| -> Vec<(String, Json)> {
        places
            .iter()
            .map(|place| ((*place).to_owned(), mark.clone()))
            .collect()
    };
    let places = ["system/0", "2/0", "3/1", "4/1"];
    assert_eq!(
        marks(&body(&request, &quirks)),
        at(places, json!({"type": "ephemeral"}))
    );
    request.settings.cache = CacheLife::Long;
    let long = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(marks(&body(&request, &quirks)), at(places, long));
    for cache in [CacheStyle::Automatic, CacheStyle::Envelope] {
        let quirks = Quirks {
            cache,
            ..Quirks::default()
        };
        assert_eq!(marks(&body(&request, &quirks)), Vec::new());
    }
    request.messages.truncate(1);
    assert_eq!(marks(&body(&request, &quirks)).len(), 2);
}
