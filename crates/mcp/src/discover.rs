//! Reading the lists of a server, with an end in sight.

use std::collections::BTreeSet;
use std::fmt;

use rmcp::model::{ClientRequest, ListToolsRequest};
use serde_json::Value as Json;

use crate::operation::page;
use crate::session::{Patience, Session};
use crate::{Catalog, Failure, RecoveryPolicy, RemoteTool, Server};

/// The entries of a list.
pub(crate) struct Found {
    pub(crate) entries: Vec<Json>,
    /// Which limit it was cut at.
    pub(crate) cut: Option<Cut>,
}

/// The limit that a list was cut at. Its words follow "the list".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Bytes(usize),
    Entries(usize),
    /// What is not wanted counts here too, because nobody knows before a page is read.
    Pages(usize),
    /// What stands behind the page it leads back to is never reached.
    Loop,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(most) => write!(formatter, "is longer than {most} bytes"),
            Self::Entries(most) => write!(formatter, "has more than {most} entries"),
            Self::Pages(most) => write!(formatter, "has more than {most} pages"),
            Self::Loop => formatter.write_str("leads back to a page it had already"),
        }
    }
}

/// Reads a list, whose entries are below `key`, all of it in the time of one answer. Entries nobody `wants`
/// count for nothing.
pub(crate) async fn all(
    session: &Session,
    key: &str,
    request: fn(Option<String>) -> ClientRequest,
    wants: impl Fn(&Json) -> bool,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<Found, Failure> {
    tokio::select! {
        biased;
        found = pages(session, key, request, wants, patience, policy) => found,
        () = patience.over() => Err(Failure::timeout(patience.limit)),
    }
}

async fn pages(
    session: &Session,
    key: &str,
    request: fn(Option<String>) -> ClientRequest,
    wants: impl Fn(&Json) -> bool,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<Found, Failure> {
    let mut found = Found {
        entries: Vec::new(),
        cut: None,
    };
    let mut seen = BTreeSet::new();
    let mut cursor = None;
    let mut bytes: usize = 0;
    for number in 1..=policy.list_pages {
        let mut answer = session.ask(request(cursor.take()), patience).await?;
        let page = match answer.get_mut(key).map(Json::take) {
            Some(Json::Array(page)) => page,
            Some(_) | None if number == 1 => {
                return Err(Failure::Protocol {
                    text: format!("the server's list has no {key}"),
                });
            }
            Some(_) | None => break,
        };
        for entry in page.into_iter().filter(&wants) {
            bytes = size(&entry).saturating_add(bytes);
            found.cut = match () {
                () if bytes > policy.list_bytes => Some(Cut::Bytes(policy.list_bytes)),
                () if found.entries.len() >= policy.list_items => {
                    Some(Cut::Entries(policy.list_items))
                }
                () => None,
            };
            if found.cut.is_some() {
                return Ok(found);
            }
            found.entries.push(entry);
        }
        let next = answer.get("nextCursor").and_then(Json::as_str);
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            break;
        };
        if !seen.insert(next.to_owned()) {
            found.cut = Some(Cut::Loop);
            break;
        }
        if number == policy.list_pages {
            found.cut = Some(Cut::Pages(policy.list_pages));
        }
        cursor = Some(next.to_owned());
    }
    Ok(found)
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

/// Reads the tools of a server into its catalogue, those that its settings offer. An entry that is not a tool
/// is left out with a warning.
pub(crate) async fn tools(
    session: &Session,
    server: &Server,
    catalog: &mut Catalog,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<(), Failure> {
    let request =
        |cursor| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page(cursor)));
    let filter = server.filter();
    let wants = |entry: &Json| {
        let name = entry.get("name").and_then(Json::as_str);
        name.is_none_or(|name| filter.allows(name))
    };
    let found = all(session, "tools", request, wants, patience, policy).await?;
    let mut names = BTreeSet::new();
    let tools = found.entries.iter().filter_map(RemoteTool::read);
    catalog.tools = tools
        // A list that leads back repeats itself; the first of a name counts.
        .filter(|tool| names.insert(tool.name.clone()))
        .map(|tool| RemoteTool {
            needs_task: tool.needs_task && catalog.tasks,
            ..tool
        })
        .collect();
    catalog.cut = found.cut.map(|limit| {
        let (name, kept) = (server.name(), catalog.tools.len());
        let first = format!("the most that is read: only the first {kept} are there");
        let rest = match limit {
            Cut::Bytes(_) | Cut::Entries(_) => {
                format!("{first}; name those you need in mcp_servers.{name}.tools.include")
            }
            Cut::Pages(_) => format!("{first}; those on later pages are out of reach"),
            Cut::Loop => "where reading ends: tools behind it are out of reach".to_owned(),
        };
        let cut = format!("its list of tools {limit}, {rest}");
        tracing::warn!(server = name, "{cut}");
        cut
    });
    Ok(())
}
