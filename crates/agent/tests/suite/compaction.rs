//! Long conversations: shortened, kept legal, and left alone when that cannot be done well.

mod ahead;
mod counted;
pub(crate) mod long;

use std::cell::Cell;
use std::time::Duration;

use hermes_core::{Event, Message, Op, Role, TurnEnd};
use hermes_store::{SearchFilter, SearchOrder, Visibility};
use hermes_testkit::model_server::{Gate, Scenario, Step, bytes, error, text};

use super::fixture::{Fixture, finish, finish_watching, learn, notices, say};
use long::{
    MAIN, SMALL, STEPS, SUMMARY, SUMS_UP, add, asked, by, is_compacted, is_summary, long, texts,
    work,
};

// AG-22
#[tokio::test]
async fn a_long_conversation_is_shortened_before_the_next_call() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)))
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 20);
    let session = fixture.open();
    let done = say(&session, "and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(is_compacted(&done.events), "{done:?}");

    let rows = fixture.rows();
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
    let sent = asked(&fixture, MAIN);
    let body = sent[0].expect_json().to_string();
    assert!(
        body.contains("Build a shed.")
            && body.contains("paint the shed")
            && !body.contains("plank0")
    );
    assert!(sent[0].violations.is_empty(), "{:?}", sent[0].violations);

    let found = fixture
        .store
        .search("plank0", SearchFilter::default(), SearchOrder::Relevance, 5)
        .await
        .unwrap();
    assert_eq!(found.len(), 1, "what was replaced is still found");
    let all = fixture.store.all_records(&Fixture::id()).await.unwrap();
    assert!(
        all.iter()
            .any(|row| row.visibility == Visibility::Compacted)
    );
    let summarised = asked(&fixture, SMALL)[0].expect_json().to_string();
    assert!(summarised.contains("saw 3") && summarised.contains("plank12 wood"));
}

// AG-22
#[tokio::test]
async fn a_second_summary_brings_the_first_up_to_date() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)))
        .reply(by(SMALL, text("## Goal\nBuild a second shed.")));
    let (fixture, _) = long(scenario, 20);
    let session = fixture.open();
    assert!(session.send(Op::Compact { focus: None }));
    assert!(is_compacted(&finish(&session).await.events));
    let more: Vec<Message> = (0..8)
        .flat_map(|n| {
            let asked = Message::text(Role::User, format!("shingle{n} {}", "roof ".repeat(800)));
            [asked, Message::text(Role::Assistant, format!("nailed{n}"))]
        })
        .collect();
    add(&fixture, &more);
    assert!(session.send(Op::Compact { focus: None }));
    assert!(is_compacted(&finish(&session).await.events));

    let asked = asked(&fixture, SMALL)[1].expect_json().to_string();
    assert!(
        asked.contains("<earlier_summary>") && asked.contains("Measured the garden."),
        "{asked}"
    );
    assert_eq!(
        asked.matches("Measured the garden.").count(),
        1,
        "not summarised as a message too"
    );
    let rows = fixture.rows();
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
async fn the_conversations_own_model_sums_up_when_the_one_set_for_it_fails() {
    let broken = || by(SMALL, text(SUMMARY)).close_after(0);
    for failing in [
        by(SMALL, error(401)),
        by(SMALL, error(404)),
        by(SMALL, text("")),
        broken(),
    ] {
        let scenario = Scenario::new()
            .reply(failing.repeat())
            .reply(by(MAIN, text(SUMMARY)).when_system(SUMS_UP))
            .reply(by(MAIN, text("painted")).repeat());
        let (fixture, _) = long(scenario, 20);
        let done = fixture.ask("and now paint it green").await;
        assert_eq!(done.why, TurnEnd::Done, "{done:?}");
        assert!(is_compacted(&done.events), "{done:?}");
        let told = notices(&done);
        let is_told = |text: &&str| text.contains("lab/scripted is asked instead");
        assert!(told.iter().any(is_told), "{told:?}");
        let rows = fixture.rows();
        let summary = rows.iter().find(|row| is_summary(row)).unwrap();
        let summary = summary.content.as_deref().unwrap_or_default();
        assert!(summary.contains("Measured the garden."), "{summary}");
    }
}

// AG-23
#[tokio::test]
async fn a_refused_key_leaves_the_history_alone_and_is_not_tried_again_at_once() {
    let scenario = Scenario::new()
        .reply(by(SMALL, error(401)).repeat())
        .reply(by(MAIN, error(401)).when_system(SUMS_UP).repeat())
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, clock) = long(scenario, 20);
    let before = texts(&fixture.rows());
    let session = fixture.open();
    let done = say(&session, "one").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    let told = |event: &Event| matches!(event, Event::Notice { text } if text.contains("could not be shortened"));
    assert!(done.events.iter().any(told), "{done:?}");
    let after = texts(&fixture.rows());
    assert_eq!(after[..before.len()], before);
    let tries = asked(&fixture, SMALL).len();

    assert_eq!(say(&session, "two").await.why, TurnEnd::Done);
    assert_eq!(asked(&fixture, SMALL).len(), tries, "it rests");
    clock.advance(Duration::from_secs(61));
    assert_eq!(say(&session, "three").await.why, TurnEnd::Done);
    assert!(
        asked(&fixture, SMALL).len() > tries,
        "and is tried again later"
    );
}

// AG-23
#[tokio::test]
async fn how_long_it_rests_depends_on_what_failed() {
    let page = || {
        let page = bytes("<!doctype html><html><body>Not here</body></html>");
        page.status(404).content_type("text/html")
    };
    type Failing<'a> = &'a dyn Fn(&str) -> Step;
    let cases: [(Failing<'_>, u64); 3] = [
        (&|model| by(model, text(SUMMARY)).close_after(0), 30),
        (&|model| by(model, error(401)), 60),
        (&|model| by(model, page()), 600),
    ];
    for (failing, rest) in cases {
        let scenario = Scenario::new()
            .reply(failing(SMALL).repeat())
            .reply(failing(MAIN).when_system(SUMS_UP).repeat())
            .reply(by(MAIN, text("painted")).repeat());
        let (fixture, clock) = long(scenario, 20);
        let session = fixture.open();
        assert_eq!(say(&session, "one").await.why, TurnEnd::Done);
        let tries = asked(&fixture, SMALL).len();
        assert!(tries > 0, "it was tried");
        clock.advance(Duration::from_secs(rest - 1));
        assert_eq!(say(&session, "two").await.why, TurnEnd::Done);
        assert_eq!(asked(&fixture, SMALL).len(), tries, "after {rest} s");
        clock.advance(Duration::from_secs(1));
        assert_eq!(say(&session, "three").await.why, TurnEnd::Done);
        assert!(asked(&fixture, SMALL).len() > tries, "after {rest} s");
    }
}

// AG-23
#[tokio::test]
async fn a_summary_whose_connection_breaks_leaves_the_history_alone() {
    let broken = by(SMALL, text(SUMMARY)).close_after(0);
    let scenario = Scenario::new()
        .reply(broken.repeat())
        .reply(
            by(MAIN, text(SUMMARY))
                .when_system(SUMS_UP)
                .close_after(0)
                .repeat(),
        )
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 20);
    let before = texts(&fixture.rows());
    let done = fixture.ask("and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    let told = notices(&done);
    let is_told = |text: &&str| text.contains("could not be shortened");
    assert!(told.iter().any(is_told), "{told:?}");
    assert!(!asked(&fixture, SMALL).is_empty(), "it was tried");
    let after = texts(&fixture.rows());
    assert_eq!(after[..before.len()], before);
    assert_eq!(after[before.len()..], ["and now paint it green", "painted"]);
}

// AG-23
#[tokio::test]
async fn what_is_too_long_to_be_summarised_is_shown_by_half_and_then_outlined() {
    let mut refusal = error(400);
    refusal.message = Some("This model's maximum context length is 9000 tokens".to_owned());
    let scenario = Scenario::new()
        .reply(by(SMALL, refusal.clone()).repeat())
        .reply(by(MAIN, refusal).when_system(SUMS_UP).repeat())
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 20);
    let done = fixture.ask("and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(is_compacted(&done.events), "{done:?}");
    let sizes: Vec<usize> = asked(&fixture, SMALL)
        .iter()
        .map(|request| request.body.len())
        .collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
    assert!(sizes[1] < sizes[0], "{sizes:?}");
    let rows = fixture.rows();
    let summary = rows.iter().find(|row| is_summary(row)).unwrap();
    let summary = summary.content.as_deref().unwrap_or_default();
    assert!(summary.contains("made without a model"), "{summary}");
}

// AG-23
#[tokio::test]
async fn an_answer_of_no_use_is_replaced_by_an_outline() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text("")).repeat())
        .reply(by(MAIN, text("")).when_system(SUMS_UP).repeat())
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 20);
    let session = fixture.open();
    let done = say(&session, "and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(is_compacted(&done.events), "{done:?}");
    let rows = fixture.rows();
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

// AG-13, AG-22
#[tokio::test]
async fn a_provider_that_refuses_the_length_is_asked_again_with_less() {
    let mut refusal = error(400);
    refusal.message = Some("This model's maximum context length is 12000 tokens".to_owned());
    let scenario = Scenario::new()
        .reply(by(MAIN, refusal))
        .reply(by(SMALL, text(SUMMARY)))
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 12);
    let session = fixture.open();
    let done = say(&session, "and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(is_compacted(&done.events), "{done:?}");
    let sizes: Vec<usize> = asked(&fixture, MAIN)
        .iter()
        .map(|request| request.body.len())
        .collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes[1] < 12_000 * 4 && sizes[1] < sizes[0], "{sizes:?}");
}

// AG-22
#[tokio::test]
async fn a_short_conversation_stays_as_it_is() {
    let (fixture, _) = long(Scenario::new(), 2);
    let before = texts(&fixture.rows());
    let session = fixture.open();
    assert!(session.send(Op::Compact { focus: None }));
    let done = finish(&session).await;
    assert_eq!(done.why, TurnEnd::Done);
    assert!(
        done.events.iter().any(
            |event| matches!(event, Event::Notice { text } if text.contains("stays as it is"))
        )
    );
    assert_eq!(texts(&fixture.rows()), before);
    assert!(fixture.server.requests().is_empty());
}

// AG-22, AG-43
#[tokio::test]
async fn the_user_says_what_the_summary_should_dwell_on() {
    let scenario = Scenario::new().reply(by(SMALL, text(SUMMARY)));
    let (fixture, _) = long(scenario, 20);
    let session = fixture.open();
    let focus = Some("the colour of the roof".to_owned());
    assert!(session.send(Op::Compact { focus }));
    assert!(is_compacted(&finish(&session).await.events));
    let asked = asked(&fixture, SMALL)[0].expect_json().to_string();
    assert!(asked.contains("the colour of the roof"), "{asked}");
    assert!(!asked.contains("asked for lately"));
}

// AG-22, AG-43
#[tokio::test]
async fn a_conversation_goes_on_in_a_new_session_if_the_settings_say_so() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)).repeat())
        .reply(by(MAIN, text("painted")).repeat());
    let (mut fixture, _) = long(scenario, 20);
    fixture.config.compression.in_place = false;
    let before = texts(&fixture.rows());
    let session = fixture.open();
    let done = say(&session, "and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    let new = done.events.iter().find_map(|event| match event {
        Event::SessionChanged { session } => Some(session.clone()),
        _ => None,
    });
    let new = new.expect("it says so");
    let old = texts(&fixture.rows());
    assert_eq!(old[..before.len()], before, "the old one keeps its rows");
    assert_eq!(
        old.last().map(String::as_str),
        Some("and now paint it green")
    );
    let rows = fixture.store.history(&new).await.unwrap();
    assert_eq!(rows.iter().filter(|row| is_summary(row)).count(), 1);
    assert_eq!(texts(&rows).last().map(String::as_str), Some("painted"));
    // The next message belongs to the new one, and so does a conversation that is resumed.
    assert_eq!(say(&session, "and the door").await.text, "painted");
    let rows = fixture.store.history(&new).await.unwrap();
    assert_eq!(texts(&rows)[rows.len() - 2], "and the door");
    let tip = fixture.store.resolve(Fixture::id().as_str()).await.unwrap();
    assert_eq!(tip, new);
}

// AG-24
#[tokio::test]
async fn two_processes_do_not_shorten_one_conversation_at_once() {
    let gate = Gate::new();
    let summary = by(SMALL, text(SUMMARY)).held(&gate).repeat();
    let (fixture, _) = long(Scenario::new().reply(summary), 20);
    let other = fixture.other_store();
    let engines = [fixture.engine(), fixture.engine_over(&other, 2)];
    let sessions = engines.each_ref().map(|engine| engine.open(fixture.spec()));
    for session in &sessions {
        assert!(session.send(Op::Compact { focus: None }));
    }
    let opened = Cell::new(false);
    // One of them waits for its summary, and the other for the one.
    let watched = sessions.each_ref().map(|session| {
        finish_watching(session, async |done| {
            let waits = |text: &&str| text.contains("is working in this conversation");
            if notices(done).iter().any(waits) && !opened.replace(true) {
                assert_eq!(asked(&fixture, SMALL).len(), 1, "both shorten it");
                gate.open();
            }
        })
    });
    let [one, two] = watched;
    let (one, two) = tokio::join!(one, two);
    assert_eq!((&one.why, &two.why), (&TurnEnd::Done, &TurnEnd::Done));
    // Who waited goes on from what the other made of it.
    let sizes = |done: &super::fixture::Done| {
        done.events.iter().find_map(|event| match event {
            Event::Compacted { before, after } => Some((*before, *after)),
            _ => None,
        })
    };
    let mut sizes = [&one, &two].map(|done| sizes(done).unwrap_or_default());
    sizes.sort();
    let [(again, _), (_, first)] = sizes;
    assert!(again == first || again == 0, "{one:?} {two:?}");
    let rows = fixture.rows();
    assert_eq!(rows.iter().filter(|row| is_summary(row)).count(), 1);
}

// AG-24, AG-34: whoever was killed while shortening keeps a conversation without room waiting, not failing.
#[tokio::test]
async fn a_lease_that_was_left_behind_is_waited_for_when_there_is_no_room() {
    let mut refusal = error(400);
    refusal.message = Some("This model's maximum context length is 12000 tokens".to_owned());
    let scenario = Scenario::new()
        .reply(by(MAIN, refusal))
        .reply(by(SMALL, text(SUMMARY)))
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 12);
    let name = format!("compaction:{}", Fixture::id());
    let left = Duration::from_secs(600);
    let taken = fixture.store.take_lease(&name, "who died", left).await;
    assert!(taken.unwrap());
    let session = fixture.open();
    assert!(session.send(Op::UserMessage {
        text: "and now paint it green".to_owned(),
        media: Vec::new(),
    }));
    let mut over = false;
    let done = finish_watching(&session, async |done| {
        let waits = |text: &&str| text.contains("waiting for it");
        if !over && notices(done).iter().any(waits) {
            over = true;
            // It runs out at this moment.
            let taken = fixture.store.take_lease(&name, "who died", Duration::ZERO);
            assert!(taken.await.unwrap());
        }
    })
    .await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert!(is_compacted(&done.events), "{done:?}");
    let told = notices(&done);
    assert!(
        told.iter().any(|text| text.contains("waiting for it")),
        "{told:?}"
    );
    assert_eq!(done.text, "painted");
    let free = fixture.store.take_lease(&name, "next", left).await;
    assert!(free.unwrap(), "it is given back");
}

// AG-35: neither what is summed up nor the summary holds a secret that is known.
#[tokio::test]
async fn a_known_secret_is_in_no_summary() {
    let canary = "canary-7f3a9b2c4d5e6f70";
    let told = format!("{SUMMARY}\nThe key of the shed is {canary}.");
    let scenario = Scenario::new()
        .reply(by(SMALL, text(told)))
        .reply(by(MAIN, text("painted")).repeat());
    let (fixture, _) = long(scenario, 20);
    // It was said before anybody knew that it is a secret, and long ago.
    let mut later = vec![
        Message::text(Role::User, format!("the key is {canary}")),
        Message::text(Role::Assistant, "noted"),
        Message::text(Role::User, "go on"),
    ];
    later.extend(work(20..28));
    later.push(Message::text(Role::Assistant, "the roof stands"));
    add(&fixture, &later);
    learn(&fixture, canary);
    let done = fixture.ask("and now paint it green").await;
    assert!(is_compacted(&done.events), "{done:?}");
    let rows = fixture.rows();
    let summary = rows.iter().find(|row| is_summary(row)).unwrap();
    let summary = summary.content.as_deref().unwrap_or_default();
    assert!(summary.contains("The key of the shed is"), "{summary}");
    assert!(!summary.contains(canary), "{summary}");
    for request in asked(&fixture, SMALL) {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(body.contains("the key is"), "{body}");
        assert!(!body.contains(canary), "{body}");
    }
}
