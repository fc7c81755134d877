//! The store of facts, and what the reference had in its own.

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use serde_json::json;

use super::external::of_role;
use crate::suite::chat::with_model;

const SCHEMA: &str = "CREATE TABLE facts (fact_id INTEGER PRIMARY KEY, content TEXT, category TEXT, tags TEXT, \
    trust_score REAL, retrieval_count INTEGER, helpful_count INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP); \
    CREATE TABLE entities (entity_id INTEGER PRIMARY KEY, name TEXT); \
    CREATE TABLE fact_entities (fact_id INTEGER, entity_id INTEGER); \
    INSERT INTO facts (content, trust_score) VALUES ('Ana drinks Lapsang.', 0.9);";

// LN-39
#[test]
fn facts_of_the_reference_come_along_and_what_is_removed_stays_away() {
    let list = json!({"action": "list"});
    let remove = json!({"action": "remove", "fact_id": 1});
    let scenario = Scenario::new()
        .reply(text("Lapsang it is."))
        .reply(tool_call("fact_store", remove))
        .reply(text("gone"))
        .reply(tool_call("fact_store", list))
        .reply(text("none"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}memory: {{provider: holographic}}\n");
    program.home.write_config(&config).unwrap();
    let make = format!("sqlite3 \"$HERMES_HOME/memory_store.db\" \"{SCHEMA}\"");
    program.shell(&make).ok();
    let file = program.home.path().join("memory_store.db");
    let before = std::fs::read(&file).unwrap();

    program
        .run(&["chat", "-q", "Which lapsang does Ana drink?"])
        .ok();
    let asked = server.requests()[0].expect_json().to_string();
    assert!(asked.contains("trust 0.90] Ana drinks Lapsang."), "{asked}");
    program.run(&["chat", "-q", "Forget it."]).ok();
    program.run(&["chat", "-q", "What is left?"]).ok();
    let listed = of_role(server.requests().last().unwrap().expect_json(), "tool").join("");
    assert!(
        listed.contains("count") && !listed.contains("Lapsang"),
        "{listed}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), before, "it is never written");
}
