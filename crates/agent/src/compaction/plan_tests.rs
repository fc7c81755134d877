use std::collections::HashSet;

use hermes_core::{Message, ToolCall};
use hermes_secrets::Redactor;
use proptest::prelude::*;
use serde_json::json;

use super::*;

// AG-22
#[test]
fn remarks_and_news_are_not_what_the_user_asked_for() {
    let said = |text: &str| Entry::new(MessageId(1), Message::text(Role::User, text));
    assert!(is_request(&said("paint the fence")));
    let remark = said(&crate::turn::steered("and quickly"));
    assert!(!is_request(&remark) && !begins_turn(&remark));
    let news = said(&crate::turn::news_of_nothing());
    assert!(!is_request(&news) && begins_turn(&news));
}

/// One step of a made-up conversation; the number is roughly its tokens.
#[derive(Debug, Clone)]
enum Kind {
    Asks(usize),
    Says(usize),
    /// Calls, each with a result of this size.
    Works(usize, usize),
    Summary(usize),
}
use Kind::{Asks, Says, Summary, Works};

fn history(kinds: &[Kind]) -> Vec<Entry> {
    let mut messages = Vec::new();
    let text = |tokens: usize| "word".repeat(tokens);
    for (at, kind) in kinds.iter().enumerate() {
        match kind {
            Asks(tokens) => {
                messages.push(Message::text(Role::User, format!("{at} {}", text(*tokens))))
            }
            Says(tokens) => messages.push(Message::text(Role::Assistant, text(*tokens))),
            Works(calls, tokens) => {
                let ids: Vec<CallId> = (0..*calls).map(|n| CallId(format!("{at}-{n}"))).collect();
                let calls = ids.iter().map(|id| {
                    Part::ToolCall(ToolCall {
                        id: id.clone(),
                        name: "t".to_owned(),
                        arguments: json!({}),
                    })
                });
                messages.push(Message {
                    role: Role::Assistant,
                    parts: calls.collect(),
                    raw: None,
                });
                messages.extend(ids.iter().map(|id| Message {
                    role: Role::Tool,
                    parts: vec![Part::ToolResult {
                        call: id.clone(),
                        name: "t".to_owned(),
                        content: text(*tokens),
                        failed: false,
                    }],
                    raw: None,
                }));
            }
            Summary(tokens) => {
                messages.push(summary::message(
                    &text(*tokens),
                    "",
                    9_000,
                    &Redactor::default(),
                ));
            }
        }
    }
    (1..)
        .zip(messages)
        .map(|(row, message)| Entry::new(MessageId(row), message))
        .collect()
}

fn sizes(limit: u32) -> Sizes {
    Sizes {
        limit,
        window: limit * 4 / 3,
        fixed: 1_000,
    }
}

/// What a plan leaves.
fn kept<'a>(plan: &Plan, entries: &'a [Entry]) -> Vec<&'a Entry> {
    let places = (0..entries.len()).filter(|at| !plan.replaced.contains(at));
    places.map(|at| &entries[at]).collect()
}

fn kept_rows(kinds: &[Kind], limit: u32) -> Option<Vec<i64>> {
    let entries = history(kinds);
    let plan = plan(&entries, sizes(limit), &Compression::default())?;
    Some(
        kept(&plan, &entries)
            .iter()
            .map(|entry| entry.row.0)
            .collect(),
    )
}

// AG-22
#[test]
fn head_and_tail_stay_and_calls_keep_their_results() {
    let mut kinds = vec![Asks(100), Says(100), Asks(100)];
    kinds.extend(vec![Works(2, 4_000); 12]);
    kinds.extend([Says(100), Asks(100), Works(1, 3_000), Works(3, 3_000)]);
    // Rows: 3 of the head, 36 of work, then 40 and 41, then 42–43 and 44–47.
    let kept = kept_rows(&kinds, 100_000);
    let expected: Vec<i64> = (1..=3).chain(34..=47).collect();
    assert_eq!(kept, Some(expected));
}

// AG-22
#[test]
fn a_long_turn_keeps_the_request_it_is_about() {
    let mut kinds = vec![Asks(100), Says(100), Asks(100), Says(100), Asks(100)];
    kinds.extend(vec![Works(1, 4_000); 30]);
    let kept = kept_rows(&kinds, 100_000).unwrap_or_default();
    assert_eq!(
        kept[..5],
        [1, 2, 3, 4, 5],
        "head, the last answer and the request"
    );
    assert!(kept[5] > 40, "{kept:?}");
}

#[test]
fn the_head_is_not_kept_twice() {
    let mut kinds = vec![Asks(100), Says(100), Asks(100), Summary(1_000)];
    kinds.extend(vec![Works(1, 4_000); 30]);
    kinds.push(Asks(10));
    let kept = kept_rows(&kinds, 100_000).unwrap_or_default();
    assert!(kept[0] > 40, "{kept:?}");
}

#[test]
fn a_cut_through_a_group_leaves_it_whole() {
    // The third row is a result; its call cannot stay without the others.
    let mut kinds = vec![Asks(100), Works(3, 1_000)];
    kinds.extend(vec![Works(1, 4_000); 30]);
    let kept = kept_rows(&kinds, 100_000).unwrap_or_default();
    assert_eq!(kept[0], 1);
    assert!(kept[1] > 5, "{kept:?}");
}

#[test]
fn nothing_is_done_for_little() {
    assert_eq!(kept_rows(&[], 10_000), None);
    assert_eq!(kept_rows(&[Asks(50_000)], 10_000), None);
    assert_eq!(kept_rows(&[Asks(10), Says(10), Asks(10)], 10_000), None);
    // One long message at the end cannot be helped by forgetting the rest.
    let kinds = [
        Asks(100),
        Says(2_000),
        Asks(2_000),
        Says(2_000),
        Asks(60_000),
    ];
    assert_eq!(kept_rows(&kinds, 40_000), None);
}

#[test]
fn a_few_large_rows_do_not_take_all_the_room() {
    let kinds = [
        Asks(10),
        Works(1, 15_000),
        Works(1, 15_000),
        Works(1, 15_000),
        Works(1, 15_000),
    ];
    let kept = kept_rows(&kinds, 50_000);
    assert_eq!(kept, Some(vec![1, 8, 9]));
}

#[test]
fn results_far_from_their_call_stay_with_it() {
    let mut entries = history(&[Asks(10), Works(1, 10), Asks(10), Asks(10)]);
    let result = entries.remove(2);
    entries.push(result);
    assert_eq!(groups(&entries), [0..1, 1..5]);
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = prop_oneof![
        3 => (1..3_000_usize).prop_map(Asks),
        3 => (0..3_000_usize).prop_map(Says),
        6 => (1..4_usize, 0..9_000_usize).prop_map(|(calls, tokens)| Works(calls, tokens)),
        1 => (1..2_000_usize).prop_map(Summary),
    ];
    prop::collection::vec(kind, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // AG-22
    #[test]
    fn the_last_request_stays_and_the_history_stays_legal(
        kinds in kinds(),
        limit in 1_000_u32..200_000,
        last_n in 0_u32..30,
        written in 0_usize..12_000,
    ) {
        let entries = history(&kinds);
        let config = Compression { protect_last_n: last_n, ..Compression::default() };
        let sizes = sizes(limit);
        let whole = sizes.fixed + entries.iter().map(|entry| entry.tokens).sum::<u32>();
        if let Some(plan) = plan(&entries, sizes, &config) {
            let text = "word".repeat(written);
            let request = "r".repeat(2_000);
            let summary = summary::message(&text, &request, plan.budget, &Redactor::default());
            let kept = kept(&plan, &entries);
            let after = sizes.fixed
                + crate::turn::tokens(&summary)
                + kept.iter().map(|entry| entry.tokens).sum::<u32>();
            prop_assert!(is_gain(whole, after), "{whole} to {after}");

            let last = |entries: &mut dyn Iterator<Item = &Entry>| {
                entries.filter(|entry| is_request(entry)).last().map(|entry| entry.message.clone())
            };
            prop_assert_eq!(last(&mut kept.iter().copied()), last(&mut entries.iter()));
            prop_assert_eq!(kept.last().map(|entry| entry.row), entries.last().map(|entry| entry.row));

            let mut called = HashSet::new();
            let mut answered = HashSet::new();
            for part in kept.iter().flat_map(|entry| &entry.message.parts) {
                match part {
                    Part::ToolCall(call) => { called.insert(call.id.clone()); }
                    Part::ToolResult { call, .. } => {
                        prop_assert!(called.contains(call), "a result without its call");
                        answered.insert(call.clone());
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(called, answered);
        }
    }
}
