//! Pictures that tools bring back.

use super::*;

/// A conversation of so many rounds, each with a picture.
fn rounds(count: usize) -> Vec<Message> {
    let mut rows = vec![Message::text(Role::User, "look around")];
    for round in 0..count {
        let id = CallId(format!("call_{round}"));
        rows.push(Message {
            role: Role::Assistant,
            parts: vec![Part::ToolCall(ToolCall {
                id: id.clone(),
                name: "look".to_owned(),
                arguments: json!({"path": format!("{round}.png")}),
            })],
            raw: None,
        });
        rows.push(Message {
            role: Role::Tool,
            parts: vec![
                Part::ToolResult {
                    call: id,
                    name: "look".to_owned(),
                    content: "seen".to_owned(),
                    failed: false,
                },
                media("image/png", MediaSource::Blob("picture".to_owned())),
            ],
            raw: None,
        });
    }
    rows
}

// AG-2
#[test]
fn with_six_pictures_of_tools_a_request_still_begins_with_the_one_before() {
    for protocol in PROTOCOLS {
        for text_only in [false, true] {
            let bodies: Vec<String> = (0..=6)
                .map(|count| {
                    let mut request = request(rounds(count));
                    request.model = model_of(protocol).to_owned();
                    // Claude must not think in the middle of a turn that began without.
                    request.settings.effort = None;
                    let quirks = quirks_of(protocol, text_only, false, false);
                    let dialect = Dialect {
                        provider: "lab",
                        quirks: &quirks,
                        media: &OnePicture,
                        schemas: &SCHEMAS,
                    };
                    wire::encode(protocol, &request, &dialect).to_string()
                })
                .collect();
            for pair in bodies.windows(2) {
                // Without what closes the list.
                let before = pair[0]
                    .strip_suffix("]}")
                    .expect("the conversation is last");
                let (before, after) = (before, &pair[1]);
                assert!(after.starts_with(before), "{protocol:?}\n{before}\n{after}");
            }
            if !text_only {
                assert_eq!(bodies[6].matches("cG5n").count(), 6, "{protocol:?}");
            }
        }
    }
}
