//! Faults of the program itself: a call or a turn ends with them, and the conversation goes on.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_agent::Pages;
use hermes_core::{Beside, ToolOutcome, TurnEnd};
use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use serde_json::json;

use super::fixture::{Fixture, Scripted, learn, say};

const SECRET: &str = "lab-key-of-the-garden-shed";

async fn break_down() -> ToolOutcome {
    panic!("the shed fell down on {SECRET}")
}

fn refused(fixture: &Fixture) -> Vec<String> {
    let requests = fixture.requests().into_iter();
    requests.flat_map(|request| request.violations).collect()
}

// AG-7: alone and beside others, which end as they would have.
#[tokio::test]
async fn a_tool_that_breaks_down_is_a_result_and_the_turn_goes_on() {
    for beside in [Beside::Nothing, Beside::Anything] {
        let both = tool_call("break", json!({"n": 1})).and_tool_call("look", json!({"n": 2}));
        let scenario = Scenario::new().reply(both).reply(text("It broke."));
        let fixture = Fixture::new(scenario)
            .tool(Scripted::new("break", |_, _| Box::pin(break_down())).beside(beside))
            .tool(Scripted::saying("look", "a tree").beside(beside));
        learn(&fixture, SECRET);
        let done = fixture.ask("go").await;
        assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "It broke."));
        let texts = fixture.texts();
        let told = &texts[2].1;
        assert!(
            told.contains("the shed fell down") && told.contains("not known whether"),
            "{told}"
        );
        assert!(!told.contains(SECRET), "{told}");
        assert_eq!(texts[3].1, "a tree");
        assert!(refused(&fixture).is_empty(), "{:?}", refused(&fixture));
    }
}

/// A web that takes the program down.
struct BreakingWeb;

impl Pages for BreakingWeb {
    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(tear())
    }
}

async fn tear() -> Result<String, String> {
    panic!("the web tore on {SECRET}")
}

// AG-34: the end of such a turn is heard, what was typed is kept, and the same session answers again.
#[tokio::test]
async fn a_turn_that_breaks_down_says_so_and_the_next_one_works() {
    let scenario = Scenario::new().reply(Step::new(text("Here again.")).repeat());
    let mut fixture = Fixture::new(scenario);
    fixture.pages = Arc::new(BreakingWeb);
    learn(&fixture, SECRET);
    let session = fixture.open();
    let typed = "read @url:https://example.org/x please";
    let done = say(&session, typed).await;
    let TurnEnd::Failed { message, hint } = &done.why else {
        panic!("{done:?}");
    };
    assert!(message.contains("the web tore"), "{message}");
    assert!(!message.contains(SECRET), "{message}");
    assert!(hint.is_some(), "{done:?}");
    assert_eq!(fixture.texts()[0].1, typed);
    let again = say(&session, "again").await;
    assert_eq!(again.text, "Here again.", "{again:?}");
    assert!(refused(&fixture).is_empty(), "{:?}", refused(&fixture));
}
