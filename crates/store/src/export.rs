//! Conversations written out: for programs, for people, for other tools.
//!
//! One session is in memory at a time. Everything here blocks, since it writes to where the caller
//! says; the database is asked through its readers.

mod document;
mod gather;
mod html;
mod jsonl;
mod mask;
mod time;
mod trace;

use std::collections::HashSet;
use std::io::Write;

use hermes_core::SessionId;
use hermes_secrets::{Redactor, Scope};
use rusqlite::params_from_iter;

use crate::error::StoreError;
use crate::filter::SessionFilter;
use crate::reference_row::MediaForm;
use crate::store::Store;
use crate::worker::Pending;

pub use document::{Document, ManifestEntry, document_name, verify_document};
use gather::Conversation;

/// How an export looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A session a line with everything it holds; can be imported again.
    Jsonl,
    /// What the user said, a message a line.
    UserPrompts,
    /// A Markdown document for each conversation.
    Markdown,
    /// As Markdown, for Quarto.
    Quarto,
    /// One page for a browser.
    Html,
    /// Lines as coding agents log them, for tools that read such logs. Always masked.
    Trace,
}

impl Format {
    /// The word it goes by on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::UserPrompts => "user-prompts",
            Self::Markdown => "md",
            Self::Quarto => "qmd",
            Self::Html => "html",
            Self::Trace => "trace",
        }
    }

    /// The end of a file name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jsonl | Self::UserPrompts | Self::Trace => "jsonl",
            Self::Markdown => "md",
            Self::Quarto => "qmd",
            Self::Html => "html",
        }
    }
}

/// Which messages of a session are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rows {
    /// What is in the conversation.
    #[default]
    Active,
    /// Also what was compacted away or taken back.
    All,
}

/// How far a document reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lineage {
    /// One session.
    #[default]
    Single,
    /// The whole conversation, over all its continuations. For documents and pages only.
    Logical,
}

/// Whether secrets are masked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Masking {
    /// As stored, where values known at the time are masked already.
    #[default]
    AsStored,
    /// Also everything that looks like a secret.
    Full,
}

/// What an export should be like.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    pub format: Format,
    pub rows: Rows,
    pub media: MediaForm,
    pub lineage: Lineage,
    pub masking: Masking,
    /// Does the masking; traces always need it.
    pub redactor: Redactor,
}

impl ExportOptions {
    /// One session at a time, active messages, media by hash, as stored.
    pub fn new(format: Format, redactor: Redactor) -> Self {
        Self {
            format,
            rows: Rows::default(),
            media: MediaForm::default(),
            lineage: Lineage::default(),
            masking: Masking::default(),
            redactor,
        }
    }

    fn scope(&self) -> Option<Scope> {
        match (self.format, self.masking) {
            // Traces are made to be given away.
            (Format::Trace, _) => Some(Scope::Log),
            (_, Masking::Full) => Some(Scope::Chat),
            (_, Masking::AsStored) => None,
        }
    }
}

/// How much an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Sessions, or whole conversations where the lineage is followed.
    pub sessions: usize,
    pub messages: usize,
}

impl Store {
    /// The sessions a filter picks, newest activity first, as `export` takes them.
    pub fn session_ids(&self, filter: SessionFilter) -> Pending<Vec<SessionId>> {
        self.read(move |connection| {
            let (conditions, values) = filter.conditions();
            let sql = format!(
                "SELECT s.id FROM sessions s WHERE {conditions} ORDER BY s.last_active_at DESC, s.id DESC"
            );
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
            rows.map(|id| crate::lineage::session_id(id?)).collect()
        })
    }

    /// Writes sessions one after the other. Blocks.
    ///
    /// One that was deleted meanwhile is left out.
    pub fn export(
        &self,
        sessions: &[SessionId],
        options: &ExportOptions,
        out: &mut dyn Write,
    ) -> Result<Exported, StoreError> {
        let mut done = Exported::default();
        let mut seen = HashSet::new();
        if options.format == Format::Html {
            html::begin(out).map_err(StoreError::Output)?;
        }
        for session in sessions {
            let Some(conversation) = self.gather(session, options)? else {
                continue;
            };
            if !seen.insert(conversation.head().session.id.clone()) {
                continue;
            }
            let text = self.render(&conversation, options)?;
            out.write_all(&text).map_err(StoreError::Output)?;
            done.sessions += 1;
            done.messages += conversation.messages();
        }
        if options.format == Format::Html {
            html::end(out).map_err(StoreError::Output)?;
        }
        out.flush().map_err(StoreError::Output)?;
        Ok(done)
    }

    /// One conversation as a Markdown or Quarto document with its file name. Blocks.
    pub fn document(
        &self,
        session: &SessionId,
        options: &ExportOptions,
    ) -> Result<Document, StoreError> {
        let conversation =
            self.gather(session, options)?
                .ok_or_else(|| StoreError::NoSuchSession {
                    wanted: session.to_string(),
                })?;
        self.write_document(&conversation, options)
    }

    fn write_document(
        &self,
        conversation: &Conversation,
        options: &ExportOptions,
    ) -> Result<Document, StoreError> {
        Document::new(conversation, options, self.blobs(), self.now())
    }

    fn render(
        &self,
        conversation: &Conversation,
        options: &ExportOptions,
    ) -> Result<Vec<u8>, StoreError> {
        let mut out = Vec::new();
        let part = conversation.head();
        let (blobs, media) = (self.blobs(), options.media);
        match options.format {
            Format::Jsonl => jsonl::session(part, blobs, options)?.write(&mut out),
            Format::UserPrompts => jsonl::prompts(part, blobs, media)?.write(&mut out),
            Format::Trace => trace::lines(part, blobs, media)?.write(&mut out),
            Format::Html => out = html::section(conversation, blobs, media)?.into_bytes(),
            Format::Markdown | Format::Quarto => {
                out = self
                    .write_document(conversation, options)?
                    .text
                    .into_bytes();
            }
        }
        Ok(out)
    }
}
