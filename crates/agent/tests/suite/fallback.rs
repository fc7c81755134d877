//! A model that takes over for another: what it is told, and when the other one is asked again.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Event, ManualClock};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text};

use super::fixture::{Done, Fixture, say};

/// A conversation whose model is limited at first, and another model to turn to.
fn limited() -> (Fixture, Arc<ManualClock>) {
    let scenario = Scenario::new()
        .reply(Step::new(error(429)).when_model("scripted"))
        .reply(
            Step::new(text("From the preferred."))
                .when_model("scripted")
                .repeat(),
        )
        .reply(
            Step::new(text("From the other."))
                .when_model("spare")
                .repeat(),
        );
    let mut fixture = Fixture::new(scenario);
    let clock = Arc::new(ManualClock::new("2026-01-01T12:00:00Z".parse().unwrap()));
    fixture.clock = clock.clone();
    fixture.attempts = 1;
    fixture.fallbacks = vec![fixture.route_to(&fixture.server, "spare")];
    (fixture, clock)
}

/// Who was asked, with the system text.
fn asked(server: &ModelServer) -> Vec<(String, String)> {
    let requests = server.requests();
    let asked = requests.iter().map(|request| {
        let body = request.expect_json();
        let system = body["messages"][0]["content"].as_str().unwrap();
        (
            body["model"].as_str().unwrap().to_owned(),
            system.to_owned(),
        )
    });
    asked.collect()
}

fn changed_to(done: &Done) -> Vec<&str> {
    let events = done.events.iter();
    events
        .filter_map(|event| match event {
            Event::RouteChanged { model, .. } => Some(model.as_str()),
            _ => None,
        })
        .collect()
}

// AG-14
#[tokio::test]
async fn a_later_turn_asks_the_preferred_model_again_once_its_rest_is_over() {
    let (fixture, clock) = limited();
    let session = fixture.open();
    let mut told = Vec::new();
    for wait in [0, 30, 31] {
        clock.advance(Duration::from_secs(wait));
        let done = say(&session, "tell me").await;
        let to = changed_to(&done).join(" ");
        told.push((done.text, to));
    }
    let expected = [
        ("From the other.", "spare"),
        ("From the other.", ""),
        ("From the preferred.", "scripted"),
    ];
    let expected = expected.map(|(text, to)| (text.to_owned(), to.to_owned()));
    assert_eq!(told, expected);
    let models: Vec<String> = asked(&fixture.server)
        .into_iter()
        .map(|(model, _)| model)
        .collect();
    assert_eq!(models, ["scripted", "spare", "spare", "scripted"]);
}

// AG-3, AG-14: only the lines with its name change, and the preferred model finds its own prompt again.
#[tokio::test]
async fn a_model_that_takes_over_is_told_its_own_name_in_the_same_prompt() {
    let (fixture, clock) = limited();
    let memories = fixture.folder.path().join("memories");
    fs::create_dir_all(&memories).unwrap();
    let session = fixture.open();
    for (wait, remembered) in [
        (0, "Likes tea."),
        (30, "Likes coffee."),
        (31, "Likes milk."),
    ] {
        clock.advance(Duration::from_secs(wait));
        say(&session, "tell me").await;
        fs::write(memories.join("USER.md"), remembered).unwrap();
    }
    let asked = asked(&fixture.server);
    let [(_, first), (_, taken_over), (_, later), (_, again)] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    assert!(
        first.ends_with("\nModel: scripted\nProvider: lab"),
        "{first}"
    );
    let renamed = first.replace("\nModel: scripted\n", "\nModel: spare\n");
    assert_eq!(taken_over, &renamed);
    assert_eq!(later, &renamed);
    assert_eq!(again, first);
}
