//! Messages through Amazon Bedrock. The path names the model and says whether the answer streams, and the body
//! says what headers say elsewhere.

use serde_json::{Map, Value as Json, json};

const VERSION: &str = "bedrock-2023-05-31";

/// The body as Bedrock wants it.
pub(in crate::wire) fn body(body: Json, betas: &[&str]) -> Json {
    let mut whole = Map::new();
    whole.insert("anthropic_version".to_owned(), json!(VERSION));
    if !betas.is_empty() {
        whole.insert("anthropic_beta".to_owned(), json!(betas));
    }
    if let Json::Object(fields) = body {
        let said_elsewhere = |key: &str| matches!(key, "model" | "stream");
        whole.extend(fields.into_iter().filter(|(key, _)| !said_elsewhere(key)));
    }
    Json::Object(whole)
}
