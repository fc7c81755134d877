//! One page that needs nothing else: no scripts, no links to load, every text escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use hermes_core::{Media, MediaSource, Part as Piece, Role, ToolCall};

use super::document::speaker;
use super::gather::Conversation;
use super::time;
use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::record::{Record, Session};
use crate::reference_row::{MediaForm, data_address};

const STYLE: &str = include_str!("page.css");

/// Picture types a browser shows without running anything in them.
const SHOWN: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
];

pub(super) fn begin(out: &mut dyn Write) -> io::Result<()> {
    // The policy holds even if some text should slip through unescaped.
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Hermes conversations</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</main>\n</body>\n</html>\n")
}

pub(super) fn section(
    conversation: &Conversation,
    blobs: &Blobs,
    form: MediaForm,
) -> Result<String, StoreError> {
    let mut page = Page {
        html: String::new(),
        blobs,
        form,
    };
    page.heading(&conversation.head().session, conversation.messages());
    for part in conversation.parts() {
        if conversation.is_chain() {
            page.line("h2", "segment", part.session.id.as_str());
        }
        for record in &part.records {
            page.message(record)?;
        }
    }
    page.html.push_str("</article>\n");
    Ok(page.html)
}

struct Page<'b> {
    html: String,
    blobs: &'b Blobs,
    form: MediaForm,
}

impl Page<'_> {
    fn heading(&mut self, session: &Session, messages: usize) {
        let title = session.title.as_deref().unwrap_or(session.id.as_str());
        self.html.push_str("<article>\n<header>\n");
        self.line("h1", "title", title);
        let facts = [
            Some(session.id.to_string()),
            Some(session.source.clone()),
            session.model.clone(),
            Some(time::short(session.started_at)),
            Some(format!("{messages} messages")),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        self.line("p", "facts", &facts.join(" · "));
        self.html.push_str("</header>\n");
    }

    fn message(&mut self, record: &Record) -> Result<(), StoreError> {
        let message = record.to_message();
        let class = match record.role() {
            Some(Role::User) => "user",
            Some(Role::Assistant) => "assistant",
            Some(Role::Tool) => "tool",
            Some(Role::System) | None => "other",
        };
        self.push(format_args!(
            "<section class=\"message {class}\">\n<p class=\"who\"><b>"
        ));
        self.text(speaker(record));
        self.html.push_str("</b> <time>");
        self.text(&time::short(record.timestamp));
        self.html.push_str("</time></p>\n");
        for piece in &message.parts {
            match piece {
                Piece::Text { text } if message.role == Role::Tool => {
                    self.folded("result", record.tool_name.as_deref().unwrap_or(""), text);
                }
                Piece::Text { text } => self.prose(text),
                Piece::Reasoning { text } => self.folded("thinking", "", text),
                Piece::Media(media) => self.media(media)?,
                Piece::ToolCall(ToolCall {
                    name, arguments, ..
                }) => {
                    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
                    self.folded("call", name, &text);
                }
                Piece::ToolResult { name, content, .. } => self.folded("result", name, content),
            }
        }
        self.html.push_str("</section>\n");
        Ok(())
    }

    fn folded(&mut self, what: &str, name: &str, text: &str) {
        self.push(format_args!(
            "<details class=\"{what}\"><summary>{what} <code>"
        ));
        self.text(name);
        self.html.push_str("</code></summary><pre>");
        self.text(text);
        self.html.push_str("</pre></details>\n");
    }

    /// Paragraphs, with fenced code set apart.
    fn prose(&mut self, text: &str) {
        let mut paragraph = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let behind = line.trim_start_matches('`');
            let fence = line.strip_suffix(behind).unwrap_or_default();
            if fence.len() >= 3 {
                self.paragraph(&mut paragraph);
                let code: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| !line.trim_end().starts_with(fence))
                    .collect();
                self.line("pre", "code", &code.join("\n"));
            } else if line.trim().is_empty() {
                self.paragraph(&mut paragraph);
            } else {
                paragraph.push_str(line);
                paragraph.push('\n');
            }
        }
        self.paragraph(&mut paragraph);
    }

    fn paragraph(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.line("p", "prose", text.trim_end());
            text.clear();
        }
    }

    fn media(&mut self, media: &Media) -> Result<(), StoreError> {
        let name = media.name.as_deref().unwrap_or(&media.mime);
        match &media.source {
            MediaSource::Blob(hash)
                if self.form == MediaForm::Inline
                    && SHOWN.contains(&&*media.mime)
                    && self.blobs.contains(hash) =>
            {
                let address = data_address(&media.mime, &self.blobs.get(hash)?);
                self.push(format_args!("<img src=\"{address}\" alt=\""));
                self.text(name);
                self.html.push_str("\">\n");
            }
            MediaSource::Blob(hash) => self.line("p", "media", &format!("{name} · {hash}")),
            // Shown, never loaded.
            MediaSource::Url(url) => self.line("p", "media", &format!("{name} · {url}")),
        }
        Ok(())
    }

    fn line(&mut self, tag: &str, class: &str, text: &str) {
        self.push(format_args!("<{tag} class=\"{class}\">"));
        self.text(text);
        self.push(format_args!("</{tag}>\n"));
    }

    /// Adds a text from outside, safe in an element and in a quoted attribute.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                '\n' | '\t' => self.html.push(c),
                // Control characters and overrides of the writing direction could hide things.
                c if c.is_control() || matches!(c as u32, 0x202a..=0x202e | 0x2066..=0x2069) => {
                    self.html.push('\u{fffd}');
                }
                c => self.html.push(c),
            }
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.html.write_fmt(text);
    }
}
