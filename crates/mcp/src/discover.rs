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
    let mut bytes = 0;
    for number in 1..=policy.list_pages {
        let mut answer = session.ask(request(cursor.take()), patience).await?;
        match answer.get_mut(key).map(Json::take) {
            Some(Json::Array(some)) => {
                for entry in some {
                    bytes = size(&entry).saturating_add(bytes);
                    if bytes > policy.list_bytes {
                        let (kept, most) = (entries.len(), policy.list_bytes);
                        tracing::warn!(key, kept, most, "a list has too many bytes and is cut");
                        return Ok(json!({ key: entries }));
                    }
                    entries.push(entry);
                }
            }
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

/// How many bytes an entry takes when it is written.
fn size(entry: &Json) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, entry) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
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
