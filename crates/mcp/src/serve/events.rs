//! What happens while the server runs: a short memory with cursors, fed by looking at the store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use hermes_core::MessageId;
use hermes_store::{Permission, Record, Store, StoreError, Watch};
use serde_json::{Value as Json, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::ServeError;
use super::conversations::cut;
use super::permissions::{conversation, word};

/// Events that are remembered.
const MOST_EVENTS: usize = 1_000;
/// How often the store is asked whether anything was committed.
const INTERVAL: Duration = Duration::from_millis(200);
/// Most rows of one look.
const PAGE: u32 = 200;
/// Longest text of an event, in characters.
const MOST_TEXT: usize = 500;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    cursor: u64,
    kind: &'static str,
    session_key: String,
    session_id: String,
    data: Json,
}

impl Event {
    /// What was said; its cursor is given by the memory.
    fn said(record: &Record, root: &str) -> Self {
        Self {
            cursor: 0,
            kind: "message",
            session_key: root.to_owned(),
            session_id: record.session.to_string(),
            data: json!({
                "message_id": record.id.to_string(),
                "role": record.role,
                "content": cut(record.content.as_deref().unwrap_or_default(), MOST_TEXT),
                "timestamp": record.timestamp,
            }),
        }
    }

    /// Something about a question that waits for a yes.
    fn approval(kind: &'static str, asked: &Permission, root: &str, more: (&str, Json)) -> Self {
        let (name, value) = more;
        Self {
            cursor: 0,
            kind,
            session_key: root.to_owned(),
            session_id: asked.session.clone(),
            data: json!({
                "approval_id": asked.id.to_string(),
                "content": cut(&asked.action, MOST_TEXT),
                name: value,
            }),
        }
    }

    fn is_of(&self, session: Option<&str>) -> bool {
        session.is_none_or(|wanted| wanted == self.session_key || wanted == self.session_id)
    }

    /// The event as clients read it.
    pub(super) fn to_json(&self) -> Json {
        let mut event = json!({
            "cursor": self.cursor, "type": self.kind,
            "session_key": self.session_key, "session_id": self.session_id,
        });
        if let (Some(event), Json::Object(data)) = (event.as_object_mut(), &self.data) {
            event.extend(data.clone());
        }
        event
    }
}

/// The memory: the newest events, and how many there ever were.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: VecDeque<Event>,
    last: u64,
}

/// The writing end; the follower is its only owner.
pub(super) type Feed = watch::Sender<Queue>;

/// The reading end.
#[derive(Clone)]
pub(super) struct Events(watch::Receiver<Queue>);

/// What a look at the events gave.
pub(super) struct Found {
    pub(super) events: Vec<Event>,
    /// Where to go on.
    pub(super) next: u64,
    /// How many events after the cursor were forgotten already.
    pub(super) missed: u64,
}

/// An empty memory.
pub(super) fn queue() -> (Feed, Events) {
    let (feed, events) = watch::channel(Queue::default());
    (feed, Events(events))
}

impl Queue {
    fn push(&mut self, event: Event) {
        self.last += 1;
        self.events.push_back(Event {
            cursor: self.last,
            ..event
        });
        while self.events.len() > MOST_EVENTS {
            self.events.pop_front();
        }
    }

    fn after(&self, cursor: u64, session: Option<&str>, most: usize) -> Found {
        let later = self.events.iter().filter(|event| event.cursor > cursor);
        let events: Vec<Event> = later
            .filter(|event| event.is_of(session))
            .take(most)
            .cloned()
            .collect();
        let oldest = self
            .events
            .front()
            .map_or(self.last, |event| event.cursor - 1);
        Found {
            next: events.last().map_or(cursor, |event| event.cursor),
            missed: oldest.saturating_sub(cursor),
            events,
        }
    }
}

impl Events {
    /// What is remembered after a cursor.
    pub(super) fn poll(&self, cursor: u64, session: Option<&str>, most: usize) -> Found {
        self.0.borrow().after(cursor, session, most)
    }

    /// The next event after a cursor, or nothing when the time is up.
    pub(super) async fn wait(
        &self,
        cursor: u64,
        session: Option<&str>,
        limit: Duration,
    ) -> Option<Event> {
        let mut queue = self.0.clone();
        let found = tokio::time::timeout(
            limit,
            queue.wait_for(|queue| !queue.after(cursor, session, 1).events.is_empty()),
        )
        .await
        .ok()?
        .ok()?;
        found.after(cursor, session, 1).events.pop()
    }
}

/// Feeds the memory until it is stopped.
pub(super) async fn follow(
    store: &Store,
    feed: Feed,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    let watching = store.clone();
    let opened = tokio::task::spawn_blocking(move || watching.watch()).await;
    let mut watch = opened.map_err(|error| ServeError::Broken(error.to_string()))??;
    let mut seen = store.newest_message().await?;
    let mut waiting = Waiting::default();
    // What waits for a yes already is told first.
    let mut due = true;
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let (back, changed) = look(watch).await?;
        watch = back;
        match changed {
            Ok(changed) => due |= changed,
            Err(error) => tracing::warn!("new messages cannot be looked for: {error}"),
        }
        let mut again = false;
        // A question whose process was killed ends by itself, which nobody commits.
        if (due || !waiting.0.is_empty())
            && let Err(error) = waiting.look(store, &feed).await
        {
            tracing::warn!("open approvals cannot be read: {error}");
            again = true;
        }
        if due && let Err(error) = feed_new(store, &feed, &mut seen).await {
            tracing::warn!("new messages cannot be read: {error}");
            again = true;
        }
        due = again;
    }
}

/// Questions that waited for a yes when they were last looked at, with their conversations.
#[derive(Default)]
struct Waiting(BTreeMap<i64, (Permission, String)>);

impl Waiting {
    /// Tells what is asked now, and what became of what was.
    async fn look(&mut self, store: &Store, feed: &Feed) -> Result<(), StoreError> {
        let open = store.open_permissions().await?;
        let is_open = |id: &i64| open.iter().any(|asked| asked.id == *id);
        let over: Vec<i64> = self.0.keys().copied().filter(|id| !is_open(id)).collect();
        for id in over {
            let row = store.permission(id).await?;
            if row.as_ref().is_some_and(|row| row.is_waited_for) {
                // Somebody answered, and the session has not heard it: that decides nothing yet.
                continue;
            }
            let decision = row.and_then(|row| row.outcome);
            if let Some((asked, root)) = self.0.remove(&id) {
                let decision = ("decision", json!(decision.map_or("expired", word)));
                let event = Event::approval("approval_resolved", &asked, &root, decision);
                feed.send_modify(|queue| queue.push(event));
            }
        }
        for asked in open {
            if let Entry::Vacant(free) = self.0.entry(asked.id) {
                let root = conversation(store, &asked).await;
                let reasons = ("reasons", json!(asked.reasons));
                let event = Event::approval("approval_requested", &asked, &root, reasons);
                feed.send_modify(|queue| queue.push(event));
                free.insert((asked, root));
            }
        }
        Ok(())
    }
}

async fn look(mut watch: Watch) -> Result<(Watch, Result<bool, StoreError>), ServeError> {
    let looked = tokio::task::spawn_blocking(move || {
        let changed = watch.changed();
        (watch, changed)
    });
    looked
        .await
        .map_err(|error| ServeError::Broken(error.to_string()))
}

async fn feed_new(store: &Store, feed: &Feed, seen: &mut MessageId) -> Result<(), StoreError> {
    loop {
        let said = store.said_after(*seen, PAGE).await?;
        for record in &said {
            let chain = store.lineage(&record.session).await?;
            let root = chain.first().unwrap_or(&record.session);
            feed.send_modify(|queue| queue.push(Event::said(record, root.as_str())));
            *seen = record.id;
        }
        if said.len() < PAGE as usize {
            return Ok(());
        }
    }
}
