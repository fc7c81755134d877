//! What an answer used.

use hermes_core::{ModelEvent, Usage};
use serde_json::json;

use super::{finish, read};

// PV-29, AG-25
#[test]
fn usage_is_counted_once_in_every_spelling() {
    let table = [
        (
            json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 5}, "cost": 0.25}),
            [30, 20, 60, 10, 5],
            Some(0.25),
        ),
        (
            json!({"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}),
            [36, 20, 64, 0, 0],
            None,
        ),
        (
            json!({"prompt_tokens": 100, "completion_tokens": 1, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 0}}),
            [30, 1, 40, 30, 0],
            None,
        ),
        // Thinking counted beside the completion.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 22, "completion_tokens_details": {"reasoning_tokens": 7}}),
            [10, 12, 0, 0, 7],
            None,
        ),
        // Thinking that only the total counts.
        (
            json!({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}),
            [35, 74, 0, 0, 0],
            None,
        ),
        (
            json!({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109, "cached_tokens": 9}),
            [26, 12, 9, 0, 0],
            None,
        ),
        (
            json!({"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}),
            [0, 1, 9, 0, 0],
            None,
        ),
        (
            json!({"prompt_tokens": 3.0, "completion_tokens": null, "prompt_tokens_details": null}),
            [3, 0, 0, 0, 0],
            None,
        ),
    ];
    for (object, [input, output, read_tokens, write, thought], cost) in table {
        let events = read(&[finish("stop"), json!({"choices": [], "usage": object})]).unwrap();
        let expected = ModelEvent::Usage {
            usage: Usage {
                input_tokens: input,
                output_tokens: output,
                cache_read_tokens: read_tokens,
                cache_write_tokens: write,
                reasoning_tokens: thought,
            },
            cost_usd: cost,
        };
        assert_eq!(events[0], expected, "{object}");
    }
}

// PV-29
#[test]
fn usage_is_also_found_where_groq_puts_it() {
    let usage = json!({"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30});
    let chunk = json!({"choices": [], "x_groq": {"id": "req_1", "usage": usage}});
    let events = read(&[finish("stop"), chunk]).unwrap();
    let expected = Usage {
        input_tokens: 21,
        output_tokens: 9,
        ..Usage::default()
    };
    let ModelEvent::Usage { usage, .. } = events[0] else {
        panic!("{events:?}");
    };
    assert_eq!(usage, expected);
}
