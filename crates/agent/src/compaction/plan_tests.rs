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

// AG-22
#[test]
fn a_gain_is_a_fifth_or_more() {
    assert!(is_gain(100, 80));
    assert!(!is_gain(100, 81));
    assert!(!is_gain(u32::MAX, u32::MAX));
}

/// One step of a made-up conversation; the number is roughly its tokens.
#[derive(Debug, Clone)]
enum Kind {
    Asks(usize),
    /// What the user adds while the model works.
    Adds(usize),
    Says(usize),
    /// Calls, each with a result of this size.
    Works(usize, usize),
    Summary(usize),
}
use Kind::{Adds, Asks, Says, Summary, Works};

fn history(kinds: &[Kind]) -> Vec<Entry> {
    let mut messages = Vec::new();
    let text = |tokens: usize| "word".repeat(tokens);
    for (at, kind) in kinds.iter().enumerate() {
        match kind {
            Asks(tokens) => {
                messages.push(Message::text(Role::User, format!("{at} {}", text(*tokens))))
            }
            Adds(tokens) => {
                let remark = crate::turn::steered(&format!("{at} {}", text(*tokens)));
                messages.push(Message::text(Role::User, remark));
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

// AG-22
#[test]
fn what_the_user_wrote_last_stays_word_for_word() {
    let mut kinds = vec![Asks(100), Says(100), Asks(100)];
    for _ in 0..3 {
        kinds.push(Asks(100));
        kinds.extend(vec![Works(1, 4_000); 8]);
    }
    // Rows: 3 of the head; requests at 4, 21 and 38, each with 16 of work behind it.
    kinds.insert(kinds.len() - 7, Adds(50));
    kinds.insert(kinds.len() - 6, Adds(60));
    let kept = kept_rows(&kinds, 60_000).unwrap_or_default();
    assert_eq!(
        kept[..8],
        [1, 2, 3, 4, 21, 38, 41, 44],
        "the last three requests, and what was added to the last"
    );
    // As many as there is room for: the newest first, and the last in any case.
    let long = |tokens| {
        let mut kinds = vec![Asks(100), Says(100), Asks(100)];
        for _ in 0..3 {
            kinds.push(Asks(tokens));
            kinds.extend(vec![Works(1, 4_000); 8]);
        }
        kept_rows(&kinds, 60_000).unwrap_or_default()
    };
    assert_eq!(long(6_000)[3..5], [21, 38]);
    assert_eq!(long(12_000)[3], 38);
}

// AG-22
#[test]
fn a_remark_is_part_of_what_was_asked_for_last() {
    let entries = history(&[Asks(1), Says(1), Asks(2), Works(1, 10), Adds(1), Adds(2)]);
    let request = super::super::summarise::last_request(&entries);
    assert!(request.starts_with("2 wordword\n\n"), "{request}");
    assert!(
        request.contains("added: 4 word]") && request.contains("added: 5 wordword]"),
        "{request}"
    );
    let long = history(&[Asks(9_000), Adds(9_000), Adds(1)]);
    let request = super::super::summarise::last_request(&long);
    assert!(request.len() < 1_400, "{}", request.len());
    assert!(request.starts_with("0 word") && request.ends_with("added: 2 word]"));
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

// AG-43
#[test]
fn so_many_exchanges_stay_as_were_asked_for() {
    let entries = history(&vec![[Asks(100), Says(4_000)]; 10].concat());
    let config = Compression::default();
    let planned = |exchanges| plan_before(&entries, exchanges, sizes(100_000), &config);
    let plan = planned(2).unwrap();
    let rows: Vec<i64> = kept(&plan, &entries)
        .iter()
        .map(|entry| entry.row.0)
        .collect();
    assert!(rows.ends_with(&[17, 18, 19, 20]), "{rows:?}");
    assert!(!rows.contains(&16), "{rows:?}");
    // None at all, all of them, and more than there are.
    for exchanges in [0, 10, 11] {
        assert_eq!(planned(exchanges), None, "{exchanges}");
    }
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
        2 => (1..300_usize).prop_map(Adds),
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
            // What was added to the last request goes only where keeping it would leave no gain, or where it is long.
            let asked = entries.iter().rposition(is_request).unwrap_or(entries.len());
            let is_added = |entry: &&Entry| is_remark(&entry.message);
            let added: Vec<&Entry> = entries.iter().skip(asked).filter(is_added).collect();
            let words: u32 = added.iter().map(|entry| entry.tokens).sum();
            let groups = groups(&entries);
            let tail = tail(&entries, &groups, sizes.limit, &config);
            let wide = planned(&entries, &groups, tail, sizes, &config, Some(REQUESTS));
            if wide.is_some() && words <= tail_tokens(sizes.limit, &config) / 2 {
                for entry in added {
                    prop_assert!(kept.iter().any(|kept| kept.row == entry.row));
                }
            }

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
