//! What the screen asks of the conversation.

use std::cell::Cell as Flag;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use futures_core::future::LocalBoxFuture;
use hermes_core::{Event, Op, SessionId, local_zone};
use hermes_tui::app::Reply;
use hermes_tui::composer::Attachment;
use hermes_tui::composer::complete::{Candidate, Request};
use hermes_tui::composer::history::block;
use hermes_tui::composer::paste::Kept;
use hermes_tui::{Cell, Failure, Host, Level};
use tokio::sync::Mutex;

use super::look::Look;
use super::{complete, notice};
use crate::commands::chat::commands::Place;
use crate::commands::chat::commands::{self, Next, Talk};
use crate::commands::chat::open::Conversation;
use crate::commands::chat::{question, servers};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// A conversation as the screen knows it.
pub(super) struct Desk<'a> {
    conversation: &'a Conversation,
    context: &'a Context,
    look: &'a Look,
    history: PathBuf,
    talk: Mutex<Talk>,
    settings: Mutex<servers::Watch>,
    talked: Flag<bool>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        conversation: &'a Conversation,
        context: &'a Context,
        look: &'a Look,
        history: PathBuf,
    ) -> Outcome<Self> {
        Ok(Self {
            conversation,
            context,
            look,
            history,
            talk: Mutex::new(Talk::new(conversation)),
            settings: Mutex::new(servers::Watch::new(context)?),
            talked: Flag::new(false),
        })
    }

    /// The session to go on with, if anything was said.
    pub(super) fn session_if_talked(self) -> Option<SessionId> {
        self.talked.get().then(|| self.talk.into_inner().session)
    }

    /// Sends a message, and answers what there is to say about that.
    async fn say(&self, text: String, attachments: &[Attachment]) -> Outcome<String> {
        let paths: Vec<PathBuf> = attachments
            .iter()
            .map(|one| PathBuf::from(&one.path))
            .collect();
        let media = question::pictures(&paths, self.conversation.store.blobs())?;
        let mut output = Output::kept();
        let mut settings = self.settings.lock().await;
        settings
            .look(self.conversation, self.context, &mut output)
            .await?;
        self.conversation.servers.offering().await;
        self.talked.set(true);
        self.conversation
            .session
            .send(Op::UserMessage { text, media });
        Ok(output.text())
    }

    /// Carries out a command, and answers what it prints and whether it was the last.
    async fn obey(&self, line: &str) -> Outcome<Reply> {
        let mut output = Output::kept();
        let mut talk = self.talk.lock().await;
        let next = commands::carry_out(
            line,
            Place::Screen,
            self.conversation,
            &mut talk,
            &mut output,
        )
        .await?;
        let mut leave = false;
        match next {
            Next::Nothing => {}
            Next::Leave => leave = true,
            Next::OnScreen("skin", name) => return self.dress(&name),
            Next::OnScreen(name, rest) => {
                return Ok(Reply {
                    own: Some((name, rest)),
                    ..Reply::default()
                });
            }
            Next::Send(op) => {
                self.conversation.session.send(op);
            }
            Next::Message => {
                drop(talk);
                let more = self.say(line.to_owned(), &[]).await?;
                return Ok(shown(&more));
            }
            Next::Reload(how) => {
                servers::reload_now(self.conversation, how.as_deref(), self.context, &mut output)
                    .await?;
            }
        }
        Ok(Reply {
            leave,
            ..shown(&output.text())
        })
    }

    /// Changes the skin, or says which there are.
    fn dress(&self, name: &str) -> Outcome<Reply> {
        if name.is_empty() {
            let names = hermes_tui::Skin::builtin_names().join(", ");
            return Ok(shown(&format!(
                "/skin NAME: {names}, or one of yours in skins/"
            )));
        }
        let theme = self.look.dressed(name, self.context)?;
        Ok(Reply {
            theme: Some(Box::new(theme)),
            ..Reply::default()
        })
    }
}

fn shown(text: &str) -> Reply {
    let text = text.trim_end();
    Reply {
        cells: match text.is_empty() {
            true => Vec::new(),
            false => vec![notice(Level::Info, text)],
        },
        ..Reply::default()
    }
}

fn refused(complaint: &Complaint) -> Reply {
    Reply {
        cells: vec![Cell::Failure(Failure {
            message: complaint.cause(),
            next: None,
        })],
        ..Reply::default()
    }
}

impl Host for Desk<'_> {
    fn send(&self, op: Op) {
        self.conversation.session.send(op);
    }

    fn message(&self, text: String, attachments: Vec<Attachment>) -> LocalBoxFuture<'_, Reply> {
        Box::pin(async move {
            match self.say(text, &attachments).await {
                Ok(said) => shown(&said),
                Err(complaint) => refused(&complaint),
            }
        })
    }

    fn next_event(&self) -> LocalBoxFuture<'_, Option<Event>> {
        Box::pin(async {
            let event = self.conversation.session.next_event().await;
            if let (Some(event), Ok(mut talk)) = (&event, self.talk.try_lock()) {
                talk.hear(event);
            }
            event
        })
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
        let directory = self.conversation.directory.clone();
        Box::pin(async move {
            let found =
                tokio::task::spawn_blocking(move || complete::candidates(&request, &directory));
            found.await.unwrap_or_default()
        })
    }

    fn keep(&self, paste: &Kept) {
        let kept = self.context.home().and_then(|home| {
            let path = home.path().join(&paste.path);
            home.create(path.parent().unwrap_or(home.path()))?;
            Ok(std::fs::write(path, paste.content.as_bytes())?)
        });
        if let Err(complaint) = kept {
            tracing::warn!("a paste was not saved: {}", complaint.cause());
        }
    }

    fn remember(&self, line: &str) {
        let now = self.context.clock.now().to_zoned(local_zone());
        let stamp = now.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.history)
            .and_then(|mut file| file.write_all(&block(line, &stamp)));
        if let Err(error) = written {
            tracing::warn!(%error, "the history was not written");
        }
    }

    fn look(&self, path: &str) -> Option<Attachment> {
        let full = self.conversation.directory.join(path);
        (full.is_file() && question::is_picture(&full)).then(|| Attachment {
            label: Path::new(path)
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path: full.display().to_string(),
        })
    }

    fn edit(&self, text: String) -> LocalBoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let environment = &self.context.environment;
            let editor = ["VISUAL", "EDITOR"]
                .iter()
                .find_map(|name| environment.filled(name))
                .unwrap_or("vi")
                .to_owned();
            let edited = tokio::task::spawn_blocking(move || edited(&editor, &text));
            edited.await.ok().and_then(Result::ok).flatten()
        })
    }
}

/// Runs an editor on a text. Nothing when it failed.
fn edited(editor: &str, text: &str) -> std::io::Result<Option<String>> {
    let mut file = tempfile::Builder::new().suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    let mut words = editor.split_whitespace();
    let status = std::process::Command::new(words.next().unwrap_or("vi"))
        .args(words)
        .arg(file.path())
        .status()?;
    match status.success() {
        true => Ok(Some(std::fs::read_to_string(file.path())?)),
        false => Ok(None),
    }
}
