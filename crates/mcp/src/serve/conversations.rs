//! Conversations as other programs read them.

use hermes_core::{Media, MediaSource, MessageId, Part, SessionId};
use hermes_store::{Listing, Record, Session, SessionFilter, Store, StoreError};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

/// Longest text of a message, in characters.
const MOST_TEXT: usize = 2_000;
/// Conversations that a search looks at, the latest first.
const MOST_SEARCHED: usize = 1_000;
/// Conversations nobody had: the work of scripts.
const HIDDEN: &str = "tool";

/// The conversations of the store. What goes wrong is a text for the client.
#[derive(Clone)]
pub(super) struct Conversations {
    store: Store,
}

impl Conversations {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    pub(super) async fn list(
        &self,
        platform: Option<String>,
        search: Option<String>,
        limit: u64,
    ) -> Result<Json, String> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let listing = Listing {
            filter: SessionFilter {
                source: platform,
                ..SessionFilter::default()
            },
            hidden_sources: vec![HIDDEN.to_owned()],
            limit: if search.is_some() {
                MOST_SEARCHED
            } else {
                limit
            },
        };
        let search = search.map(|text| text.to_lowercase());
        let listed = self.store.list(listing).await.map_err(unreadable)?;
        let conversations: Vec<Json> = listed
            .iter()
            .filter(|one| {
                let session = &one.session;
                let texts = [
                    session.title.as_deref(),
                    session.display_name.as_deref(),
                    Some(one.preview.as_str()),
                    Some(one.root.as_str()),
                ];
                search.as_deref().is_none_or(|wanted| {
                    let mut texts = texts.into_iter().flatten();
                    texts.any(|text| text.to_lowercase().contains(wanted))
                })
            })
            .take(limit)
            .map(|one| {
                let mut entry = entry(&one.session, &one.root);
                if let Some(entry) = entry.as_object_mut() {
                    entry.insert("preview".to_owned(), json!(one.preview));
                }
                entry
            })
            .collect();
        Ok(json!({ "count": conversations.len(), "conversations": conversations }))
    }

    pub(super) async fn get(&self, key: &str) -> Result<Json, String> {
        let chain = self.chain(key).await?;
        let (Some(root), Some(tip)) = (chain.first(), chain.last()) else {
            return Err(absent(key));
        };
        let session = self.store.session(tip).await.map_err(unreadable)?;
        let session = session.ok_or_else(|| absent(key))?;
        let mut conversation = entry(&session, root);
        if let Some(more) = conversation.as_object_mut() {
            let usage = &session.usage;
            more.extend([
                ("chat_id".to_owned(), json!(session.chat_id)),
                ("thread_id".to_owned(), json!(session.thread_id)),
                ("created_at".to_owned(), json!(time(session.started_at))),
                ("model".to_owned(), json!(session.model)),
                ("message_count".to_owned(), json!(session.message_count)),
                ("input_tokens".to_owned(), json!(usage.input_tokens)),
                ("output_tokens".to_owned(), json!(usage.output_tokens)),
                (
                    "total_tokens".to_owned(),
                    json!(usage.input_tokens + usage.output_tokens),
                ),
            ]);
        }
        Ok(conversation)
    }

    pub(super) async fn messages(&self, key: &str, limit: u64) -> Result<Json, String> {
        let chain = self.chain(key).await?;
        // A continuation begins with what it carries on, so its predecessors would say it twice.
        let (Some(root), Some(tip)) = (chain.first(), chain.last()) else {
            return Err(absent(key));
        };
        let most = u32::try_from(limit).unwrap_or(u32::MAX);
        let (said, total) = self.store.last_said(tip, most).await.map_err(unreadable)?;
        let messages: Vec<Json> = said.iter().map(message).collect();
        Ok(json!({
            "session_key": root, "count": messages.len(), "total_in_session": total,
            "messages": messages,
        }))
    }

    pub(super) async fn attachments(&self, key: &str, id: &str) -> Result<Json, String> {
        let chain = self.chain(key).await?;
        let number = id.parse().ok().map(MessageId);
        let record = match number {
            Some(number) => self.store.record(number).await.map_err(unreadable)?,
            None => None,
        };
        let record = record
            .filter(|record| chain.contains(&record.session))
            .ok_or_else(|| format!("there is no message `{id}` in this conversation"))?;
        let attachments: Vec<Json> = media(&record)
            .iter()
            .map(|one| self.attachment(one))
            .collect();
        Ok(json!({ "message_id": id, "count": attachments.len(), "attachments": attachments }))
    }

    fn attachment(&self, media: &Media) -> Json {
        let kind = media.mime.split('/').next().unwrap_or_default();
        let mut attachment = json!({ "type": kind, "mime": media.mime, "name": media.name });
        let place = match &media.source {
            MediaSource::Url(url) => ("url", json!(url)),
            MediaSource::Blob(hash) => ("path", json!(self.store.blobs().path(hash))),
        };
        if let Some(attachment) = attachment.as_object_mut() {
            attachment.insert(place.0.to_owned(), place.1);
        }
        attachment
    }

    /// The sessions of a conversation, oldest first.
    async fn chain(&self, key: &str) -> Result<Vec<SessionId>, String> {
        let session = SessionId::try_from(key.to_owned()).map_err(|_| absent(key))?;
        let known = self.store.session(&session).await.map_err(unreadable)?;
        known.ok_or_else(|| absent(key))?;
        self.store.lineage(&session).await.map_err(unreadable)
    }
}

fn absent(key: &str) -> String {
    format!("there is no conversation `{key}`")
}

pub(super) fn unreadable(error: StoreError) -> String {
    tracing::warn!("a conversation cannot be read: {error}");
    format!("the conversations cannot be read: {error}")
}

fn entry(session: &Session, root: &SessionId) -> Json {
    json!({
        "session_key": root, "session_id": session.id, "platform": session.source,
        "chat_type": session.chat_type, "title": session.title,
        "display_name": session.display_name, "user_id": session.user_id,
        "updated_at": time(session.last_active_at),
    })
}

fn message(record: &Record) -> Json {
    let text = record.content.as_deref().unwrap_or_default();
    json!({
        "id": record.id.to_string(), "role": record.role, "content": cut(text, MOST_TEXT),
        "cut": text.chars().nth(MOST_TEXT).is_some(), "timestamp": record.timestamp,
        "attachments": media(record).len(),
    })
}

fn media(record: &Record) -> Vec<Media> {
    let parts = record.to_message().parts.into_iter();
    parts
        .filter_map(|part| match part {
            Part::Media(media) => Some(media),
            Part::Text { .. }
            | Part::Reasoning { .. }
            | Part::ToolCall(_)
            | Part::ToolResult { .. } => None,
        })
        .collect()
}

/// The first characters of a text.
pub(super) fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// Seconds since 1970 as people and programs read them.
pub(super) fn time(seconds: f64) -> Option<String> {
    // Milliseconds are all that is told; the cast saturates.
    let time = Timestamp::from_millisecond((seconds * 1_000.0) as i64).ok()?;
    Some(time.to_string())
}
