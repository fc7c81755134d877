//! The desk as the screen sees it.

use std::path::Path;

use futures_core::future::LocalBoxFuture;
use hermes_config::Variable;
use hermes_core::{InboxId, Op};
use hermes_store::Listed;
use hermes_tui::app::{Outgoing, Reply};
use hermes_tui::composer::Attachment;
use hermes_tui::composer::complete::{Candidate, Request};
use hermes_tui::composer::paste::Kept;
use hermes_tui::{Background, Failure, Host, News, SessionRow, Standing, Theme};

use super::desk::{Desk, failure, refused};
use super::{clipboard, files};
use crate::commands::chat::commands::sessions;
use crate::when;

impl Host for Desk<'_> {
    fn send(&self, op: Op) {
        self.tell(op);
    }

    fn message(&self, message: Outgoing) -> LocalBoxFuture<'_, Reply> {
        Box::pin(async move {
            match self.say(&message).await {
                Ok(reply) => reply,
                Err(complaint) => Reply {
                    unsent: Some(Box::new(message)),
                    ..refused(&complaint)
                },
            }
        })
    }

    fn line_up(&self, message: Outgoing) -> LocalBoxFuture<'_, Result<InboxId, Failure>> {
        Box::pin(async move {
            let kept = self.keep_waiting(&message).await;
            kept.map_err(|complaint| failure(&complaint))
        })
    }

    fn withdraw(&self, rows: Vec<InboxId>) {
        self.conversation.withdraw(rows);
    }

    fn remark(&self, text: String) -> LocalBoxFuture<'_, Option<Failure>> {
        Box::pin(async move {
            let made = self.make_remark(text).await;
            made.err().map(|complaint| failure(&complaint))
        })
    }

    fn explained(&self) {
        self.keep_hinted();
    }

    fn next_news(&self) -> LocalBoxFuture<'_, Option<News>> {
        Box::pin(self.news())
    }

    fn standing(&self) -> Standing {
        self.bar.now(self.conversation)
    }

    fn command(&self, line: String) -> LocalBoxFuture<'_, Reply> {
        Box::pin(async move {
            let reply = match self.obey(&line).await {
                Ok(reply) => reply,
                Err(complaint) => refused(&complaint),
            };
            Reply {
                asked: Some(line),
                ..reply
            }
        })
    }

    fn complete(&self, request: Request) -> LocalBoxFuture<'_, Vec<Candidate>> {
        Box::pin(async move {
            let (conversation, context) = (self.conversation, self.context);
            self.completions.find(request, conversation, context).await
        })
    }

    fn keep(&self, paste: &Kept) {
        files::keep(self.context, &paste.path, paste.content.as_bytes());
    }

    fn remember(&self, line: &str) {
        files::remember(&self.history, line, self.context);
    }

    fn look(&self, path: &str) -> Result<Attachment, Failure> {
        let full = self.picture(path).map_err(|why| Failure {
            message: why,
            next: Some("/image PATH takes a PNG, JPEG, GIF or WebP file".to_owned()),
        })?;
        let name = full.file_name().unwrap_or_default();
        Ok(Attachment {
            label: name.to_string_lossy().into_owned(),
            path: full.display().to_string(),
        })
    }

    fn clipboard(&self) -> LocalBoxFuture<'_, Result<Attachment, Failure>> {
        Box::pin(async {
            let search = self
                .context
                .environment
                .get(&Variable::PATH)
                .unwrap_or_default();
            let bytes = clipboard::picture(search).await.map_err(|why| Failure {
                message: why.told(),
                next: Some(why.hint().to_owned()),
            })?;
            let name = format!(
                "clip_{}.png",
                files::stamp(self.context, "%Y%m%d_%H%M%S%3f")
            );
            let path = Path::new("images").join(&name);
            let path = files::keep(self.context, path, &bytes).ok_or_else(|| Failure {
                message: "the picture on the clipboard could not be saved".to_owned(),
                next: Some("hermes logs says why".to_owned()),
            })?;
            Ok(Attachment {
                label: name,
                path: path.display().to_string(),
            })
        })
    }

    fn sessions(&self) -> LocalBoxFuture<'_, Vec<SessionRow>> {
        Box::pin(async {
            let conversation = self.conversation;
            let front = conversation.front();
            let found = sessions::listed(conversation).await.unwrap_or_default();
            let row = |one: Listed| SessionRow {
                busy: (one.session.id == front.id() && front.is_busy())
                    || conversation.away.has(&one.session.id),
                id: one.session.id.to_string(),
                title: one.session.title.unwrap_or(one.preview),
                when: when::since(one.session.last_active_at, &**self.context.clock()),
                messages: one.session.message_count,
            };
            found.into_iter().map(row).collect()
        })
    }

    fn ground(&self, background: Background) -> Option<Theme> {
        self.stand_on(background)
    }

    fn edit(&self, text: String) -> LocalBoxFuture<'_, Result<Option<String>, Failure>> {
        Box::pin(files::edit(text, self.context))
    }
}
