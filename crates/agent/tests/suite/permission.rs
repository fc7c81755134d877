//! What is remembered only with a person's yes, through the engine: asked of whatever front end listens, answered by
//! it, and then written, refused or left waiting.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hermes_agent::Session;
use hermes_core::{
    Answer, Decider, Event, Op, Question, QuestionId, QuestionKind, Reach, SeededRandom,
    SystemClock, TurnEnd,
};
use hermes_memory::{Memory, MemoryOptions};
use hermes_secrets::RedactorHandle;
use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use hermes_tools::{
    Marks, MemoryCaller, MemoryServices, MemoryTool, Staging, Subsystem, approve_memory,
};
use serde_json::{Value as Json, json};

use super::fixture::{Fixture, apart, finish, say};
use super::questions::results;

/// An engine whose model wants to remember a line for each message, and what its tool of memory stands on.
fn wanting(patience: Duration) -> (Fixture, Arc<MemoryServices>) {
    let lines = ["one", "two"].into_iter();
    let scenario = lines.fold(Scenario::new(), |scenario, number| {
        let line = format!("Line {number}.");
        let call = json!({"target": "memory", "action": "add", "content": line});
        let wish = Step::new(tool_call("memory", call)).when_last(format!("remember {number}"));
        scenario.reply(wish.repeat())
    });
    let mut fixture = Fixture::new(scenario.reply(Step::new(text("so be it")).repeat()));
    fixture.attended = true;
    let services = Arc::new(MemoryServices {
        memory: Arc::new(Memory::new(MemoryOptions {
            directory: fixture.folder.path().join("memories"),
            settings: (&fixture.config.memory).into(),
            store: fixture.store.clone(),
            clock: fixture.clock.clone(),
        })),
        staging: Staging {
            folder: fixture.folder.path().join("pending"),
            clock: Arc::new(SystemClock),
            random: Arc::new(SeededRandom::new(7)),
        },
        redactor: RedactorHandle::default(),
        approval: AtomicBool::new(true),
        patience,
        sessions: Marks::default(),
        external: None,
    });
    let caller = MemoryCaller {
        may_ask: true,
        surface: "cli".to_owned(),
        user: None,
    };
    let tool = MemoryTool::new(services.clone(), caller);
    (fixture.tool(tool), services)
}

fn kept(fixture: &Fixture) -> String {
    let file = fixture.folder.path().join("memories/MEMORY.md");
    std::fs::read_to_string(file).unwrap_or_default()
}

fn told(fixture: &Fixture) -> Json {
    serde_json::from_str(results(fixture).last().unwrap()).unwrap()
}

/// Says something and answers the question that comes of it. Nothing is written before the answer.
async fn answered(fixture: &Fixture, session: &Session, said: &str, answer: Answer) {
    let before = kept(fixture);
    let text = said.to_owned();
    let media = Vec::new();
    assert!(session.send(Op::UserMessage { text, media }));
    let question = asked(session, said).await;
    assert_eq!(kept(fixture), before);
    assert!(session.send(Op::Answer { question, answer }));
    assert_eq!(finish(session).await.why, TurnEnd::Done);
}

/// The question whether a line may be remembered, as a front end sees it.
async fn asked(session: &Session, said: &str) -> QuestionId {
    loop {
        let event = session.next_event().await.expect("the session goes on");
        let Event::Ask(Question { id, kind, .. }) = event else {
            continue;
        };
        let QuestionKind::Approval {
            action,
            reach,
            decider,
            ..
        } = kind
        else {
            panic!("this is no question about a change: {kind:?}");
        };
        let number = said.trim_start_matches("remember ");
        assert_eq!(action, format!("MEMORY.md: add “Line {number}.”"));
        assert_eq!((reach, decider), (Reach::Session, Decider::Person));
        return id;
    }
}

// LN-10
#[tokio::test]
async fn a_front_end_is_asked_and_its_answer_decides() {
    let (fixture, services) = wanting(Duration::from_secs(60));
    let session = fixture.open();
    let no = Answer::Deny {
        reason: Some("that is private".to_owned()),
    };
    answered(&fixture, &session, "remember one", no).await;
    assert_eq!(kept(&fixture), "");
    let refused = told(&fixture);
    assert_eq!(
        (&refused["success"], &refused["done"]),
        (&json!(false), &json!(true))
    );
    let why = refused["error"].as_str().unwrap();
    assert!(why.contains("that is private"), "{why}");
    let waiting = services.staging.list(Subsystem::Memory);
    assert!(waiting.is_empty(), "a no leaves nothing behind");

    answered(&fixture, &session, "remember one", Answer::AllowOnce).await;
    assert_eq!(kept(&fixture), "Line one.");
    assert_eq!(told(&fixture)["success"], true);
    answered(&fixture, &session, "remember two", Answer::AllowSession).await;
    assert_eq!(kept(&fixture), "Line one.\n§\nLine two.");

    // For this session that was a yes to the like of it: nobody is asked again.
    apart(|| {
        services
            .memory
            .reset(hermes_memory::Target::Memory)
            .map(drop)
            .unwrap()
    });
    let done = say(&session, "remember one").await;
    let asks = done
        .events
        .iter()
        .any(|event| matches!(event, Event::Ask(_)));
    assert!(!asks, "{:?}", done.events);
    assert_eq!(kept(&fixture), "Line one.");
}

// LN-10
#[tokio::test]
async fn what_nobody_answered_waits_and_is_written_when_it_is_approved() {
    // Asked and not answered in time, or nobody there at all.
    for (attended, patience) in [
        (true, Duration::from_millis(50)),
        (false, Duration::from_secs(60)),
    ] {
        let (mut fixture, services) = wanting(patience);
        fixture.attended = attended;
        let session = fixture.open();
        let done = say(&session, "remember one").await;
        let asks = done
            .events
            .iter()
            .any(|event| matches!(event, Event::Ask(_)));
        assert_eq!(asks, attended);
        assert_eq!(kept(&fixture), "");
        let staged = told(&fixture);
        assert_eq!(
            (&staged["success"], &staged["staged"]),
            (&json!(true), &json!(true))
        );
        let id = staged["pending_id"].as_str().unwrap();
        let waiting = services.staging.get(Subsystem::Memory, id).unwrap();
        apart(|| approve_memory(&services.memory, None, &services.staging, &waiting).unwrap());
        assert_eq!(kept(&fixture), "Line one.");
        assert!(services.staging.list(Subsystem::Memory).is_empty());
    }
}
