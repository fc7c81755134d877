//! Long conversations: shortened, kept legal, and left alone when that cannot be done well.

mod bench;

use std::time::{Duration, Instant};

use hermes_core::{Event, Message, Op, Role, TurnEnd};
use hermes_store::{SearchFilter, SearchOrder, Visibility};
use hermes_testkit::model_server::{Scenario, error, text};

use bench::{Bench, STEPS, SUMMARY, by, is_compacted, is_summary, say, texts, turn};

// AG-22
#[tokio::test]
async fn a_long_conversation_is_shortened_before_the_next_call() {
    let scenario = Scenario::new()
        .reply(by("small", text(SUMMARY)))
        .reply(by("main", text("painted")).repeat());
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 20).await;
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    say(&session, "and now paint it green");
    let (events, why) = turn(&session).await;
    assert_eq!(why, TurnEnd::Done, "{events:?}");
    assert!(is_compacted(&events), "{events:?}");

    let rows = store.history(&bench.id).await.unwrap();
    let shown = texts(&rows);
    assert_eq!(
        shown[..3],
        ["first question", "first answer", "build a shed"],
        "the head stays"
    );
    assert!(is_summary(&rows[3]));
    for field in [
        "## Task snapshot",
        "and now paint it green",
        "## Goal",
        "Measured the garden.",
        "## Remaining work",
    ] {
        assert!(shown[3].contains(field), "{field}: {}", shown[3]);
    }
    assert_eq!(
        (rows[5].tool_name.as_deref(), shown[5].as_str()),
        (Some("todo"), STEPS),
        "the list of steps stays"
    );
    assert_eq!(
        shown[shown.len() - 3..],
        ["the walls stand", "and now paint it green", "painted"]
    );
    let asked = bench.asked("main");
    let body = asked[0].expect_json().to_string();
    assert!(
        body.contains("Build a shed.")
            && body.contains("paint the shed")
            && !body.contains("plank0")
    );
    assert!(asked[0].violations.is_empty(), "{:?}", asked[0].violations);

    let found = store
        .search("plank0", SearchFilter::default(), SearchOrder::Relevance, 5)
        .await
        .unwrap();
    assert_eq!(found.len(), 1, "what was replaced is still found");
    let all = store.all_records(&bench.id).await.unwrap();
    assert!(
        all.iter()
            .any(|row| row.visibility == Visibility::Compacted)
    );
    let summarised = bench.asked("small")[0].expect_json().to_string();
    assert!(summarised.contains("saw 3") && summarised.contains("plank12 wood"));
}

// AG-22
#[tokio::test]
async fn a_second_summary_brings_the_first_up_to_date() {
    let scenario = Scenario::new()
        .reply(by("small", text(SUMMARY)))
        .reply(by("small", text("## Goal\nBuild a second shed.")));
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 20).await;
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    assert!(session.send(Op::Compact));
    assert!(is_compacted(&turn(&session).await.0));
    let more: Vec<Message> = (0..8)
        .flat_map(|n| {
            let asked = Message::text(Role::User, format!("shingle{n} {}", "roof ".repeat(800)));
            [asked, Message::text(Role::Assistant, format!("nailed{n}"))]
        })
        .collect();
    store
        .append(&bench.id, more.iter().map(Into::into).collect())
        .await
        .unwrap();
    assert!(session.send(Op::Compact));
    assert!(is_compacted(&turn(&session).await.0));

    let asked = bench.asked("small")[1].expect_json().to_string();
    assert!(
        asked.contains("<earlier_summary>") && asked.contains("Measured the garden."),
        "{asked}"
    );
    assert_eq!(
        asked.matches("Measured the garden.").count(),
        1,
        "not summarised as a message too"
    );
    let rows = store.history(&bench.id).await.unwrap();
    let shown = texts(&rows);
    assert!(
        is_summary(&rows[0]),
        "the head is part of the summary by now"
    );
    assert!(
        shown[0].contains("Build a second shed.") && !shown[0].contains("Measured"),
        "{}",
        shown[0]
    );
    assert_eq!(rows.iter().filter(|row| is_summary(row)).count(), 1);
    assert_eq!(shown.last().map(String::as_str), Some("nailed7"));
}

// AG-23
#[tokio::test]
async fn a_refused_key_leaves_the_history_alone_and_is_not_tried_again_at_once() {
    let scenario = Scenario::new()
        .reply(by("small", error(401)).repeat())
        .reply(by("main", text("painted")).repeat());
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 20).await;
    let before = texts(&store.history(&bench.id).await.unwrap());
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    say(&session, "one");
    let (events, why) = turn(&session).await;
    assert_eq!(why, TurnEnd::Done, "{events:?}");
    let told = |event: &Event| matches!(event, Event::Notice { text } if text.contains("could not be shortened"));
    assert!(events.iter().any(told), "{events:?}");
    let after = texts(&store.history(&bench.id).await.unwrap());
    assert_eq!(after[..before.len()], before);
    let tries = bench.asked("small").len();

    say(&session, "two");
    assert_eq!(turn(&session).await.1, TurnEnd::Done);
    assert_eq!(bench.asked("small").len(), tries, "it rests");
    bench.clock.advance(Duration::from_secs(61));
    say(&session, "three");
    assert_eq!(turn(&session).await.1, TurnEnd::Done);
    assert!(
        bench.asked("small").len() > tries,
        "and is tried again later"
    );
}

// AG-23
#[tokio::test]
async fn an_answer_of_no_use_is_replaced_by_an_outline() {
    let scenario = Scenario::new()
        .reply(by("small", text("")).repeat())
        .reply(by("main", text("painted")).repeat());
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 20).await;
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    say(&session, "and now paint it green");
    let (events, why) = turn(&session).await;
    assert_eq!(why, TurnEnd::Done, "{events:?}");
    assert!(is_compacted(&events), "{events:?}");
    let rows = store.history(&bench.id).await.unwrap();
    let summary = rows
        .iter()
        .find(|row| is_summary(row))
        .and_then(|row| row.content.clone())
        .unwrap();
    assert!(
        summary.contains("made without a model") && summary.contains("saw 3"),
        "{summary}"
    );
    assert!(summary.chars().count() < 10_000);
}

// AG-22
#[tokio::test]
async fn a_provider_that_refuses_the_length_is_asked_again_with_less() {
    let mut refusal = error(400);
    refusal.message = Some("This model's maximum context length is 12000 tokens".to_owned());
    let scenario = Scenario::new()
        .reply(by("main", refusal))
        .reply(by("small", text(SUMMARY)))
        .reply(by("main", text("painted")).repeat());
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 12).await;
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    say(&session, "and now paint it green");
    let (events, why) = turn(&session).await;
    assert_eq!(why, TurnEnd::Done, "{events:?}");
    assert!(is_compacted(&events), "{events:?}");
    assert_eq!(bench.asked("main").len(), 2);
}

// AG-22
#[tokio::test]
async fn a_short_conversation_stays_as_it_is() {
    let bench = Bench::new(Scenario::new());
    let store = bench.store();
    bench.seed(&store, 2).await;
    let before = texts(&store.history(&bench.id).await.unwrap());
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    assert!(session.send(Op::Compact));
    let (events, why) = turn(&session).await;
    assert_eq!(why, TurnEnd::Done);
    assert!(
        events.iter().any(
            |event| matches!(event, Event::Notice { text } if text.contains("stays as it is"))
        )
    );
    assert_eq!(texts(&store.history(&bench.id).await.unwrap()), before);
    assert!(bench.server.requests().is_empty());
}

// AG-24
#[tokio::test]
async fn two_processes_do_not_shorten_one_conversation_at_once() {
    let scenario = Scenario::new().reply(
        by("small", text(SUMMARY))
            .delay(Duration::from_millis(400))
            .repeat(),
    );
    let bench = Bench::new(scenario);
    let (store, other) = (bench.store(), bench.store());
    bench.seed(&store, 20).await;
    let engines = [bench.engine(&store, 1), bench.engine(&other, 2)];
    let sessions = engines.each_ref().map(|engine| bench.open(engine));
    for session in &sessions {
        assert!(session.send(Op::Compact));
    }
    let ((one, first), (two, second)) = tokio::join!(turn(&sessions[0]), turn(&sessions[1]));
    assert_eq!((first, second), (TurnEnd::Done, TurnEnd::Done));
    assert!(is_compacted(&one) != is_compacted(&two), "{one:?} {two:?}");
    assert_eq!(bench.asked("small").len(), 1);
    let rows = store.history(&bench.id).await.unwrap();
    assert_eq!(rows.iter().filter(|row| is_summary(row)).count(), 1);
}

#[tokio::test]
async fn a_stop_ends_a_compaction_at_once_and_changes_nothing() {
    let scenario = Scenario::new().reply(
        by("small", text(SUMMARY))
            .delay(Duration::from_secs(60))
            .repeat(),
    );
    let bench = Bench::new(scenario);
    let store = bench.store();
    bench.seed(&store, 20).await;
    let before = texts(&store.history(&bench.id).await.unwrap());
    let engine = bench.engine(&store, 1);
    let session = bench.open(&engine);
    assert!(session.send(Op::Compact));
    while let Some(event) = session.next_event().await {
        if matches!(event, Event::Notice { .. }) {
            break;
        }
    }
    let start = Instant::now();
    assert!(session.send(Op::Interrupt));
    assert_eq!(turn(&session).await.1, TurnEnd::Interrupted);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(texts(&store.history(&bench.id).await.unwrap()), before);
}
