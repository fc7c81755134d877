//! Reading the lists of a server, with an end in sight.

use std::collections::BTreeSet;

use rmcp::model::{ClientRequest, ListToolsRequest};
use serde_json::{Value as Json, json};

use crate::operation::page;
use crate::session::{Patience, Session};
use crate::{Failure, RecoveryPolicy, RemoteTool};

/// Reads all pages of a list and answers with one object that holds every entry under `key`.
pub(crate) async fn all(
    session: &Session,
    key: &str,
    request: fn(Option<String>) -> ClientRequest,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<Json, Failure> {
    let mut entries: Vec<Json> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut cursor = None;
    for number in 1..=policy.list_pages {
        let mut answer = session.ask(request(cursor.take()), patience).await?;
        match answer.get_mut(key).map(Json::take) {
            Some(Json::Array(some)) => entries.extend(some),
            Some(_) | None if number == 1 => {
                return Err(Failure::Protocol {
                    text: format!("the server's list has no {key}"),
                });
            }
            Some(_) | None => break,
        }
        if entries.len() > policy.list_items {
            tracing::warn!(key, most = policy.list_items, "a list is too long and cut");
            entries.truncate(policy.list_items);
            break;
        }
        let next = answer.get("nextCursor").and_then(Json::as_str);
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            break;
        };
        if !seen.insert(next.to_owned()) {
            tracing::warn!(key, "a list leads back to a page it had already");
            break;
        }
        if number == policy.list_pages {
            tracing::warn!(key, most = policy.list_pages, "a list has too many pages");
        }
        cursor = Some(next.to_owned());
    }
    Ok(json!({ key: entries }))
}

/// The tools of a server. An entry that is not one is left out with a warning.
pub(crate) async fn tools(
    session: &Session,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<Vec<RemoteTool>, Failure> {
    let request =
        |cursor| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page(cursor)));
    let answer = all(session, "tools", request, patience, policy).await?;
    let entries = answer.get("tools").and_then(Json::as_array);
    Ok(entries
        .into_iter()
        .flatten()
        .filter_map(RemoteTool::read)
        .collect())
}
