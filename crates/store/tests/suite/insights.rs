//! What a report over a period says, on the reference's database and on our own rows.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_core::{CostStatus, Role, SessionId, Usage};
use hermes_store::{Insights, ModelCall, NewRecord, Period, Spent, TopRecord};
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::fixture::{Fixture, id};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/state")
}

fn golden(name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(fixtures().join("expected").join(name)).unwrap()).unwrap()
}

fn of_the_reference() -> Fixture {
    let fixture = Fixture::new();
    std::fs::copy(fixtures().join("v22.db"), fixture.path("state.db")).unwrap();
    fixture
        .store
        .import_reference(&fixture.path("state.db"), |_| ControlFlow::Continue(()))
        .unwrap();
    fixture
}

fn insights(fixture: &Fixture, since: f64, source: Option<&str>) -> Insights {
    let period = Period {
        since,
        source: source.map(ToOwned::to_owned),
        zone: TimeZone::UTC,
    };
    fixture.store.insights(period).wait().unwrap()
}

fn tokens(usage: Usage) -> Json {
    json!([
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.total()
    ])
}

fn golden_tokens(row: &Json, prefix: &str) -> Json {
    json!([
        row[format!("{prefix}input_tokens")],
        row[format!("{prefix}output_tokens")],
        row[format!("{prefix}cache_read_tokens")],
        row[format!("{prefix}cache_write_tokens")],
        row["total_tokens"]
    ])
}

/// What the reference counts for each model.
fn golden_models(golden: &Json) -> Vec<Json> {
    golden["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            json!([
                row["model"],
                row["sessions"],
                row["api_calls"],
                row["tool_calls"],
                golden_tokens(row, ""),
                row["reasoning_tokens"]
            ])
        })
        .collect()
}

// CL-26
#[test]
fn totals_of_the_reference_come_out_again() {
    let fixture = of_the_reference();
    for (name, source) in [("insights.json", None), ("insights_cli.json", Some("cli"))] {
        let golden = golden(name);
        let found = insights(&fixture, 0.0, source);
        let overview = &found.overview;
        assert_eq!(
            tokens(overview.usage),
            golden_tokens(&golden["overview"], "total_"),
            "{name}"
        );
        // The rewound session counts the four messages it has, not the two that were taken back.
        let messages = golden["overview"]["total_messages"].as_u64().unwrap() - 2;
        assert_eq!(
            json!([
                overview.sessions,
                overview.tool_calls,
                overview.user_messages,
                overview.assistant_messages,
                overview.tool_messages,
                overview.messages,
            ]),
            json!([
                golden["overview"]["total_sessions"],
                golden["overview"]["total_tool_calls"],
                golden["overview"]["user_messages"],
                golden["overview"]["assistant_messages"],
                golden["overview"]["tool_messages"],
                messages,
            ]),
            "{name}"
        );
        let models: Vec<_> = found
            .models
            .iter()
            .map(|model| {
                json!([
                    model.model,
                    model.sessions,
                    model.calls,
                    model.tool_calls,
                    tokens(model.usage),
                    model.usage.reasoning_tokens
                ])
            })
            .collect();
        assert_eq!(models, golden_models(&golden), "{name}");
    }
}

// CL-26
#[test]
fn a_price_that_nobody_knows_is_not_zero() {
    let fixture = of_the_reference();
    let found = insights(&fixture, 0.0, None);
    let cost = |name: &str| {
        let model = found.models.iter().find(|model| model.model == name);
        model.unwrap().cost
    };
    // The reference leaves out what has no status, 0.05 here, and knows no price of the third call.
    assert!((cost("large").estimated_usd.unwrap() - 0.07).abs() < 1e-9);
    assert_eq!(cost("large").actual_usd, Some(0.008));
    assert!((cost("large").known_usd.unwrap() - 0.058).abs() < 1e-9);
    assert_eq!(cost("large").status(), CostStatus::Unknown);
    assert_eq!(cost("large").unknown_calls, 5);
    assert_eq!(cost("vision").actual_usd, None);
    assert_eq!(cost("vision").status(), CostStatus::Estimated);
    assert_eq!(
        found.overview.unknown_cost_sessions, 1,
        "sessions without calls cost nothing"
    );
    assert_eq!(found.overview.included_cost_sessions, 0);
}

fn call(session: Option<&SessionId>, task: &str, status: CostStatus) -> ModelCall {
    ModelCall {
        session: session.cloned(),
        task: task.to_owned(),
        provider: "acme".to_owned(),
        model: "acme/large".to_owned(),
        base_url: String::new(),
        billing_mode: String::new(),
        usage: Usage {
            input_tokens: 100,
            output_tokens: 10,
            ..Usage::default()
        },
        estimated_cost_usd: None,
        actual_cost_usd: None,
        cost_status: status,
        cost_source: String::new(),
        pricing_version: String::new(),
        started_at: 1_783_000_000.0,
        ended_at: 1_783_000_001.0,
        outcome: "ok".to_owned(),
    }
}

#[test]
fn a_helper_call_of_ours_counts_once() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    for task in ["", "title"] {
        fixture
            .store
            .record_call(call(Some(&session), task, CostStatus::Included))
            .wait()
            .unwrap();
    }
    fixture
        .store
        .record_call(call(None, "probe", CostStatus::Unknown))
        .wait()
        .unwrap();
    let all = insights(&fixture, 0.0, None);
    assert_eq!(all.overview.usage.total(), 330);
    assert_eq!((all.models[0].sessions, all.models[0].calls), (1, 3));
    assert_eq!(all.platforms[0].usage.total(), 220);
    let cost = all.overview.cost;
    assert_eq!((cost.included_calls, cost.unknown_calls), (2, 1));
    assert_eq!((cost.estimated_usd, cost.actual_usd), (None, None));
    assert_eq!(all.overview.included_cost_sessions, 1);
    let cli = insights(&fixture, 0.0, Some("cli"));
    assert_eq!(cli.overview.usage.total(), 220, "the probe has no source");
    assert_eq!(cli.overview.cost.status(), CostStatus::Included);
}

// CL-3
#[test]
fn what_a_conversation_spent_is_added_up_from_a_moment_on() {
    let fixture = Fixture::new();
    let (first, session) = (fixture.session("first"), fixture.session("second"));
    fixture.sql("UPDATE sessions SET parent_session_id = 'first' WHERE id = 'second'");
    let began = 1_783_000_000.0;
    let spent = || fixture.store.spent(&session, began).wait().unwrap();
    assert_eq!(spent(), Spent::default(), "no call, no price");
    let record = |session, status, at: f64, change: &dyn Fn(&mut ModelCall)| {
        let mut call = call(Some(session), "", status);
        call.started_at = at;
        change(&mut call);
        // Nobody waits for it: what is asked next comes behind it.
        drop(fixture.store.record_call(call));
    };
    record(&session, CostStatus::Included, began, &|_| {});
    assert_eq!(
        (spent().cost_usd, spent().status),
        (None, CostStatus::Included)
    );
    record(&session, CostStatus::Estimated, began - 1.0, &|call| {
        call.estimated_cost_usd = Some(64.0);
    });
    record(&session, CostStatus::Estimated, began + 1.0, &|call| {
        call.estimated_cost_usd = Some(0.25);
        call.cost_source = "list".to_owned();
    });
    // The conversation went on in another session.
    record(&first, CostStatus::Actual, began + 2.0, &|call| {
        call.actual_cost_usd = Some(0.5);
    });
    let expected = Spent {
        calls: 3,
        usage: Usage {
            input_tokens: 300,
            output_tokens: 30,
            ..Usage::default()
        },
        cost_usd: Some(0.75),
        status: CostStatus::Estimated,
        source: "list".to_owned(),
    };
    assert_eq!(spent(), expected);
    record(&session, CostStatus::Unknown, began + 3.0, &|_| {});
    assert_eq!(
        (spent().cost_usd, spent().status, spent().calls),
        (None, CostStatus::Unknown, 4)
    );
}

// AG-25
#[test]
fn the_cost_of_a_session_is_as_certain_as_its_least_certain_call() {
    use CostStatus::{Actual, Estimated, Included, Unknown};
    for (calls, certain, sum) in [
        (&[Included][..], "included", None),
        (&[Actual, Included], "actual", Some(0.5)),
        (&[Included, Actual], "actual", Some(0.5)),
        (&[Estimated, Actual], "estimated", Some(0.75)),
        (&[Actual, Estimated, Included], "estimated", Some(0.75)),
        (&[Unknown, Actual], "unknown", Some(0.5)),
        (&[Estimated, Unknown, Included], "unknown", Some(0.25)),
    ] {
        let fixture = Fixture::new();
        let session = fixture.session("s");
        for status in calls {
            let mut call = call(Some(&session), "", *status);
            call.estimated_cost_usd = (*status == Estimated).then_some(0.25);
            call.actual_cost_usd = (*status == Actual).then_some(0.5);
            call.cost_source = status.word().to_owned();
            fixture.store.record_call(call).wait().unwrap();
        }
        let row = fixture.store.session(&session).wait().unwrap().unwrap();
        assert_eq!(row.cost_status.as_deref(), Some(certain), "{calls:?}");
        assert_eq!(row.cost_source.as_deref(), Some(certain), "{calls:?}");
        assert_eq!(row.cost_usd(), sum, "{calls:?}");
        assert_eq!(row.costs_more(), certain == "unknown");
        assert_eq!(row.api_call_count, calls.len() as u64);
    }
}

// AG-25
#[test]
fn an_imported_session_does_not_become_more_certain_by_a_call_of_ours() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.sql("UPDATE sessions SET api_call_count = 3, cost_status = NULL WHERE id = 's'");
    let call = call(Some(&session), "", CostStatus::Estimated);
    fixture.store.record_call(call).wait().unwrap();
    let row = fixture.store.session(&session).wait().unwrap().unwrap();
    assert_eq!(row.cost_status.as_deref(), Some("unknown"));
}

// AG-23
#[test]
fn the_last_request_that_a_model_counted_is_known_with_what_it_held() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let last = |model: &str| fixture.store.last_counted(&session, model).wait().unwrap();
    assert_eq!(last("acme/large"), None);
    let rows = fixture.say(&session, &["one", "two"]);
    let asked = |task: &str, change: &dyn Fn(&mut ModelCall)| {
        let mut call = call(Some(&session), task, CostStatus::Included);
        change(&mut call);
        fixture.store.record_call(call).wait().unwrap();
    };
    asked("", &|call| call.usage.cache_read_tokens = 900);
    // None of these says how long the conversation is for the model.
    asked("title", &|_| {});
    asked("", &|call| call.usage = Usage::default());
    asked("", &|call| call.model = "acme/small".to_owned());
    fixture.clock.advance(Duration::from_secs(3 * 86_400));
    fixture.say(&session, &["three"]);
    let counted = last("acme/large").unwrap();
    assert_eq!((counted.tokens, counted.through), (1_000, rows[1]));
    assert_eq!(last("acme/small").unwrap().tokens, 100);
}

#[test]
fn only_sessions_that_began_in_the_period_count() {
    let fixture = Fixture::new();
    fixture.say(&fixture.session("old"), &["one", "two"]);
    fixture.clock.advance(Duration::from_secs(10 * 86_400));
    fixture.say(&fixture.session("new"), &["three"]);
    let since = fixture
        .store
        .glance()
        .wait()
        .unwrap()
        .last_active_at
        .unwrap()
        - 3_600.0;
    let found = insights(&fixture, since, None);
    assert_eq!((found.overview.sessions, found.overview.messages), (1, 1));
    assert_eq!(found.top_sessions.len(), 1);
    assert_eq!(found.top_sessions[0].record, TopRecord::MostMessages);
    assert_eq!(found.top_sessions[0].session, id("new"));
    let none = insights(&fixture, since, Some("nosuch"));
    assert_eq!(none.overview, hermes_store::Overview::default());
    assert!(none.models.is_empty() && none.tools.is_empty() && none.top_sessions.is_empty());
}

#[test]
fn days_begin_where_the_zone_says() {
    let fixture = Fixture::new();
    // 12:00 in UTC on a Wednesday, and every 24 hours after that.
    for name in ["a", "b", "c"] {
        fixture.session(name);
        fixture.clock.advance(Duration::from_secs(86_400));
    }
    fixture.clock.advance(Duration::from_secs(86_400));
    fixture.session("d");
    let period = |zone| Period {
        since: 0.0,
        source: None,
        zone,
    };
    let utc = fixture
        .store
        .insights(period(TimeZone::UTC))
        .wait()
        .unwrap();
    assert_eq!(utc.activity.by_weekday, [0, 0, 1, 1, 1, 0, 1]);
    assert_eq!(utc.activity.by_hour[12], 4);
    assert_eq!(
        (utc.activity.active_days, utc.activity.longest_streak),
        (4, 3)
    );
    let far = TimeZone::fixed(jiff::tz::offset(13));
    let far = fixture.store.insights(period(far)).wait().unwrap();
    assert_eq!(far.activity.by_weekday, [1, 0, 0, 1, 1, 1, 0]);
    assert_eq!(far.activity.by_hour[1], 4);
}

#[test]
fn rows_of_broken_programs_do_not_end_the_report() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, &["a", "b", "c", "d"]);
    fixture.sql(
        "UPDATE messages SET tool_calls = 'not json' WHERE content = 'a';
         UPDATE messages SET tool_calls = '[\"text\", 3, {\"name\": \"flat\"}, {}]' WHERE content = 'b';
         UPDATE messages SET tool_calls = '{\"x\": {\"function\": {\"name\": 7}}}' WHERE content = 'c';
         UPDATE messages SET role = 'tool', tool_name = 'flat' WHERE content IN ('c', 'd');
         UPDATE sessions SET model = 'vendor/', started_at = 1e18, tool_call_count = 1;",
    );
    let found = insights(&fixture, 0.0, None);
    assert_eq!(found.tools.len(), 1);
    assert_eq!(
        (found.tools[0].tool.as_str(), found.tools[0].calls),
        ("flat", 2)
    );
    assert_eq!(found.models[0].model, "vendor/");
    assert_eq!(found.activity.active_days, 0);
}

// CL-26
#[test]
fn a_call_about_a_skill_that_did_nothing_is_no_use_of_it() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    // Ids of calls come again.
    for (tool, skill, result) in [
        (
            "skill_view",
            "bake",
            r#"{"success":true,"content":"success\":false"}"#,
        ),
        ("skill_view", "nosuch", r#"{"success":false,"error":"x"}"#),
        (
            "skill_view",
            "nosuch",
            r#"{"success": false, "error": "x"}"#,
        ),
        (
            "skill_manage",
            "bake",
            r#"{"success":false,"error":"x"} A remark."#,
        ),
        ("skill_manage", "bake", r#"{"success":true}"#),
    ] {
        let mut call = NewRecord::text(Role::Assistant, "");
        let arguments = json!({"name": skill}).to_string();
        call.tool_calls = Some(json!([{"id": "c", "type": "function",
            "function": {"name": tool, "arguments": arguments}}]));
        let mut answer = NewRecord::text(Role::Tool, result);
        answer.tool_call_id = Some("c".to_owned());
        answer.tool_name = Some(tool.to_owned());
        let records = vec![call, answer];
        fixture.store.append(&session, records).wait().unwrap();
    }
    let found = insights(&fixture, 0.0, None).skills;
    let [bake] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (bake.skill.as_str(), bake.loads, bake.edits),
        ("bake", 1, 1)
    );
}

#[test]
fn a_glance_counts_without_reading() {
    let fixture = of_the_reference();
    let glance = fixture.store.glance().wait().unwrap();
    assert_eq!(glance.sessions, 15);
    assert_eq!(
        glance.last_active_at,
        fixture
            .store
            .list(hermes_store::Listing {
                limit: 1,
                ..Default::default()
            })
            .wait()
            .unwrap()
            .first()
            .map(|listed| listed.session.last_active_at)
    );
    assert!(glance.database_bytes > 0);
}
