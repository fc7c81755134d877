//! A conversation as a Markdown document that can be checked for changes.

use std::fmt::Write as _;
use std::path::Path;

use hermes_core::{Media, MediaSource, Part as Piece, Role};
use serde::Serialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::gather::{Conversation, Part};
use super::{ExportOptions, Format, time};
use crate::blobs::{Blobs, hex};
use crate::error::StoreError;
use crate::record::Record;
use crate::reference_row::{MediaForm, data_address, is_hash, spaced};

/// The longest part of a file name that comes from a title.
const SLUG: usize = 60;
/// Stands for the hash while it is worked out.
const PENDING: &str = "pending";
/// The writer of the document.
const EXPORTER: &str = "hermes";

/// A Markdown or Quarto document.
///
/// Its last line holds a SHA-256 over the whole text, taken with the word `pending` in the hash's
/// place, so any tool can check it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `<id>-<slug>.<ext>`.
    pub file_name: String,
    pub text: String,
    pub session: String,
    /// The sessions in it, oldest first.
    pub lineage: Vec<String>,
    pub messages: usize,
    pub format: Format,
    /// Seconds since 1970.
    pub exported_at: f64,
}

/// A line of `manifest.jsonl`, which lists the documents of a folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManifestEntry {
    pub exported_at: f64,
    pub format: &'static str,
    pub lineage_session_ids: Vec<String>,
    pub message_count: usize,
    pub path: String,
    pub session_id: String,
    /// Of the finished file.
    pub sha256: String,
}

impl ManifestEntry {
    /// The entry as it stands in the file, with the line's end.
    pub fn line(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{}\n", spaced(&value))
    }
}

impl Document {
    pub(super) fn new(
        conversation: &Conversation,
        options: &ExportOptions,
        blobs: &Blobs,
        now: f64,
    ) -> Result<Self, StoreError> {
        let format = match options.format {
            Format::Quarto => Format::Quarto,
            Format::Markdown
            | Format::Jsonl
            | Format::UserPrompts
            | Format::Html
            | Format::Trace => Format::Markdown,
        };
        let head = &conversation.head().session;
        let mut document = Self {
            file_name: document_name(head.id.as_str(), head.title.as_deref(), format),
            text: String::new(),
            session: head.id.to_string(),
            lineage: conversation
                .parts()
                .map(|part| part.session.id.to_string())
                .collect(),
            messages: conversation.messages(),
            format,
            exported_at: now,
        };
        document.front_matter(conversation);
        document.body(conversation, blobs, options.media)?;
        document.seal();
        Ok(document)
    }

    /// The document's line in a manifest, given where it was written.
    pub fn entry(&self, path: &Path) -> ManifestEntry {
        ManifestEntry {
            exported_at: self.exported_at,
            format: self.format.word(),
            lineage_session_ids: self.lineage.clone(),
            message_count: self.messages,
            path: path.display().to_string(),
            session_id: self.session.clone(),
            sha256: hex(&Sha256::digest(self.text.as_bytes())),
        }
    }

    fn front_matter(&mut self, conversation: &Conversation) {
        let head = &conversation.head().session;
        let moment = |time: Option<f64>| time.map(time::precise).unwrap_or_default();
        // An earlier part of the conversation knows when it began.
        let first = conversation.parts().next().unwrap_or(conversation.head());
        let calls: u64 = conversation
            .parts()
            .map(|part| part.session.tool_call_count)
            .sum();
        let mut fields: Vec<(&str, Json)> = vec![
            ("session_id", head.id.as_str().into()),
            ("title", head.title.clone().into()),
            ("source", head.source.as_str().into()),
            ("created_at", moment(Some(first.session.started_at)).into()),
            ("updated_at", moment(Some(head.last_active_at)).into()),
            ("ended_at", moment(head.ended_at).into()),
            ("model", head.model.clone().into()),
            ("provider", head.billing_provider.clone().into()),
            ("cwd", head.cwd.clone().into()),
            ("archived", head.archived.into()),
            ("message_count", self.messages.into()),
            ("tool_call_count", calls.into()),
        ];
        if conversation.is_chain() {
            fields.push(("lineage_session_ids", self.lineage.clone().into()));
        }
        fields.extend([
            ("format", Json::from(self.format.word())),
            ("exported_at", moment(Some(self.exported_at)).into()),
            ("exporter", EXPORTER.into()),
        ]);
        self.text.push_str("---\n");
        for (name, value) in fields {
            // JSON is YAML on one line, whatever is in the value.
            self.push(format_args!("{name}: {}\n", spaced(&value)));
        }
        self.text.push_str("---\n\n");
    }

    fn body(
        &mut self,
        conversation: &Conversation,
        blobs: &Blobs,
        form: MediaForm,
    ) -> Result<(), StoreError> {
        let head = &conversation.head().session;
        let title = head.title.as_deref().unwrap_or(head.id.as_str());
        self.push(format_args!("# {title}\n\n## Messages\n\n"));
        if self.messages == 0 {
            self.text.push_str("*Nothing was said here.*\n\n");
        }
        for part in conversation.parts() {
            if conversation.is_chain() {
                let Part { session, .. } = part;
                let began = time::precise(session.started_at);
                self.push(format_args!("## Session {} from {began}\n\n", session.id));
            }
            for record in &part.records {
                self.message(record, blobs, form)?;
            }
        }
        Ok(())
    }

    fn message(
        &mut self,
        record: &Record,
        blobs: &Blobs,
        form: MediaForm,
    ) -> Result<(), StoreError> {
        self.push(format_args!("### {}", speaker(record)));
        if let Some(tool) = &record.tool_name {
            self.push(format_args!(" — {tool}"));
        }
        let at = time::precise(record.timestamp);
        self.push(format_args!(" — {at}\n\n"));
        let message = record.to_message();
        let mut calls = Vec::new();
        for piece in &message.parts {
            match piece {
                Piece::Text { text } if message.role == Role::Tool => self.fence("text", text),
                Piece::Text { text } => {
                    let text = text.trim_end();
                    self.push(format_args!("{text}\n\n"));
                }
                Piece::ToolResult { content, .. } => self.fence("text", content),
                Piece::Media(media) => {
                    let line = picture(media, blobs, form)?;
                    self.push(format_args!("{line}\n\n"));
                }
                Piece::ToolCall(call) => calls.push(serde_json::to_value(call).unwrap_or_default()),
                // Thinking is kept in the database; a document is what was said.
                Piece::Reasoning { .. } => {}
            }
        }
        // The stored form says more than the neutral one.
        let calls = record
            .tool_calls
            .clone()
            .or_else(|| (!calls.is_empty()).then_some(Json::Array(calls)));
        if let Some(calls) = calls {
            let text = serde_json::to_string_pretty(&calls).unwrap_or_default();
            self.text.push_str("#### Tool calls\n\n");
            self.fence("json", &text);
        }
        Ok(())
    }

    /// Text as it is, inside a fence that nothing in it can close.
    fn fence(&mut self, language: &str, text: &str) {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let end = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        self.push(format_args!("{fence}{language}\n{text}{end}{fence}\n\n"));
    }

    /// Ends the text with the block it is checked by.
    fn seal(&mut self) {
        let at = time::precise(self.exported_at);
        let (session, messages) = (self.session.clone(), self.messages);
        self.push(format_args!(
            "## Verification\n\n- Session: `{session}`\n- Messages: `{messages}`\n- Exported at: `{at}`\n\
             - SHA-256 of this text with `{PENDING}` for the value: `{PENDING}`\n"
        ));
        let hash = hex(&Sha256::digest(self.text.as_bytes()));
        self.text.truncate(self.text.len() - PENDING.len() - 2);
        self.push(format_args!("{hash}`\n"));
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

/// Whether a document is as it was written.
pub fn verify_document(text: &str) -> bool {
    let Some((before, hash)) = text
        .strip_suffix("`\n")
        .and_then(|text| text.rsplit_once('`'))
    else {
        return false;
    };
    let pending = format!("{before}`{PENDING}`\n");
    is_hash(hash) && hex(&Sha256::digest(pending.as_bytes())) == hash
}

/// The file name of a document: the id, a readable rest of the title, the format's end.
pub fn document_name(session: &str, title: Option<&str>, format: Format) -> String {
    let mut slug = String::new();
    for c in title.unwrap_or_default().to_lowercase().chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    let slug = slug.get(..SLUG).unwrap_or(slug);
    let slug = if slug.is_empty() { "session" } else { slug };
    format!("{session}-{slug}.{}", format.extension())
}

pub(super) fn speaker(record: &Record) -> &str {
    match record.role() {
        Some(Role::System) => "System",
        Some(Role::User) => "User",
        Some(Role::Assistant) => "Assistant",
        Some(Role::Tool) => "Tool",
        None => &record.role,
    }
}

fn picture(media: &Media, blobs: &Blobs, form: MediaForm) -> Result<String, StoreError> {
    let name = media.name.as_deref().unwrap_or(&media.mime);
    let name: String = name
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '\n'))
        .collect();
    Ok(match &media.source {
        MediaSource::Blob(hash) if form == MediaForm::Inline && blobs.contains(hash) => {
            let address = data_address(&media.mime, &blobs.get(hash)?);
            format!("![{name}]({address})")
        }
        MediaSource::Blob(hash) => format!("*[{name}, SHA-256 {hash}]*"),
        MediaSource::Url(url) => format!("*[{name}]* <{url}>"),
    })
}
