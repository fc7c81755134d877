//! What the screen asks of the conversation.

mod obey;
mod waiting;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;

use hermes_config::UnknownKey;
use hermes_core::{Event, Op};
use hermes_tui::app::{Mode, Opened, Outgoing, Reply, Settings, reading_columns};
use hermes_tui::{
    Background, Cell, Exchange, Failure, Form, Heading, Level, News, Recap, Theme, Words,
};
use tokio::sync::{Mutex, Notify, mpsc};

use super::bar::Bar;
use super::complete::Completions;
use super::look::Look;
use super::told::aside;
use super::{banner, notice, past};
use crate::commands::chat::conversation::{Conversation, Heard};
use crate::commands::chat::{footer, question, recap, servers};
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// In fewer rows there is only a short banner.
const FULL_BANNER: u16 = 24;
/// Columns of the mark in front of what a command says.
const MARK: usize = 2;
/// The hint about messages while the agent works, as it is remembered to have been shown.
pub(super) const BUSY_HINT: &str = "busy_input";

/// A conversation as the screen knows it.
pub(super) struct Desk<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) context: &'a Context,
    look: &'a Look,
    /// The skin in use, and what it looks like here.
    skin: RefCell<(String, Theme)>,
    /// How the screen was set up.
    shown: Settings,
    pub(super) history: PathBuf,
    settings: Mutex<servers::Watch>,
    pub(super) bar: Bar,
    pub(super) completions: Completions,
    /// News of our own, and what wakes whoever waits for them.
    own: RefCell<VecDeque<News>>,
    nudge: Notify,
    /// What servers nearby say while they load a model.
    said: Mutex<mpsc::Receiver<String>>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        conversation: &'a Conversation,
        context: &'a Context,
        look: &'a Look,
        shown: Settings,
        history: PathBuf,
    ) -> Outcome<Self> {
        Ok(Self {
            conversation,
            context,
            look,
            skin: RefCell::new((
                conversation.house.models.loaded.config.display.skin.clone(),
                look.theme.clone(),
            )),
            shown,
            history,
            settings: Mutex::new(servers::Watch::new(conversation, context)?),
            bar: Bar::new(),
            completions: Completions::default(),
            own: RefCell::default(),
            nudge: Notify::new(),
            said: Mutex::new(conversation.house.models.listener.listen()),
        })
    }

    /// What the skin in use says at the end and above the help.
    pub(super) fn words(&self) -> Words {
        self.skin.borrow().1.words.clone()
    }

    /// Carries a command out before anything is typed.
    pub(super) async fn begin_with(&self, line: &str) -> Outcome {
        let reply = self.obey(line).await?;
        self.put(News::Reply(reply));
        Ok(())
    }

    /// What is shown at first.
    pub(super) async fn opened(&self) -> Outcome<Opened> {
        let rows = size().1;
        let compact = self.conversation.house.models.loaded.config.display.compact;
        let form = match compact || rows < FULL_BANNER {
            true => Form::Compact,
            false => Form::Full,
        };
        let banner = banner::of(self.conversation, self.context);
        let heading = Heading {
            banner,
            form,
            cleared: false,
        };
        let mut opened = Opened {
            heading: Some(Box::new(heading)),
            greeting: super::greeting(self.conversation),
            waiting: self.waited(&self.conversation.waited),
            ..self.at_first().await?
        };
        let fault = self.look.fault.as_deref();
        opened
            .greeting
            .extend(fault.map(|fault| notice(Level::Warn, fault)));
        if let Some(recap) = &self.conversation.recap {
            self.look_back(recap, None, &mut opened).await?;
        }
        Ok(opened)
    }

    /// Columns for what a command says: it stands behind a mark, and maybe beside the list of sessions.
    fn columns(&self) -> usize {
        let columns = reading_columns(self.shown.mode, size().0);
        usize::from(columns).saturating_sub(MARK).max(1)
    }

    /// How the session in front stands.
    async fn at_first(&self) -> Outcome<Opened> {
        let front = self.conversation.front();
        let used = match front.has_talked() {
            true => past::size(&self.conversation.house.store, &front.id()).await?,
            false => 0,
        };
        Ok(Opened {
            standing: self.bar.now(self.conversation),
            session: Some(front.id()),
            directory: front.directory.display().to_string(),
            used,
            ..Opened::default()
        })
    }

    /// Shows what was said before: all of it where it can be scrolled, else the end.
    async fn look_back(
        &self,
        recap: &recap::Recap,
        asked: Option<&str>,
        opened: &mut Opened,
    ) -> Outcome {
        match self.shown.mode {
            Mode::Inline => {
                let cell = recap_cell(recap, &self.shown);
                opened.greeting.push(cell);
            }
            Mode::Full => {
                let id = self.conversation.front().id();
                let store = &self.conversation.house.store;
                let directory = &opened.directory;
                opened.before = past::of(store, &id, asked, directory, &self.shown).await?;
            }
        }
        Ok(())
    }

    /// The terminal told what its text stands on.
    pub(super) fn stand_on(&self, background: Background) -> Option<Theme> {
        if !self.look.stand_on(background) {
            return None;
        }
        let name = self.skin.borrow().0.clone();
        let theme = self.look.shown(&name, self.context).0;
        self.skin.borrow_mut().1 = theme.clone();
        Some(theme)
    }

    /// Says something to the session.
    pub(super) fn tell(&self, op: Op) {
        self.conversation.send(op);
    }

    /// Keeps in mind that it was said what messages do while the agent works.
    pub(super) fn keep_hinted(&self) {
        let key = format!("onboarding.seen.{BUSY_HINT}");
        let kept = edit(self.context, |settings| {
            settings.set(&key, "true", UnknownKey::Refuse)
        });
        if let Err(complaint) = kept {
            tracing::debug!("a hint will be shown again: {}", complaint.cause());
        }
    }

    fn put(&self, news: News) {
        self.own.borrow_mut().push_back(news);
        self.nudge.notify_one();
    }

    /// Sends a message to the session in front, and answers what there is to say about that. What was written behind a
    /// command that opens another session is for that one.
    pub(super) async fn say(&self, message: &Outgoing) -> Outcome<Reply> {
        let settings = self.settings.lock().await;
        let unkept = match message.rows.is_empty() {
            true => Some(self.op_of(message)?),
            false => None,
        };
        let mut output = Output::kept();
        settings.look(&mut output).await?;
        match unkept {
            Some(unkept) => self.conversation.send(unkept),
            None if self.conversation.take_up(message.rows.clone()) => {}
            None => {
                return Err(Complaint::bad_request(
                    "this message does not wait any more",
                ));
            }
        }
        Ok(shown(&output.text()))
    }

    /// The picture a path names, or why there is none.
    pub(super) fn picture(&self, path: &str) -> Result<PathBuf, String> {
        let directory = &self.conversation.front().directory;
        question::picture(path, directory, &self.context.environment)
    }

    /// What is new; nothing when the session in front is over.
    pub(super) async fn news(&self) -> Option<News> {
        loop {
            if let Some(news) = self.own.borrow_mut().pop_front() {
                return Some(news);
            }
            self.bar.refresh(self.conversation).await;
            let mut processes = self.conversation.house.hands.news();
            let said = async { self.said.lock().await.recv().await };
            let heard = tokio::select! {
                biased;
                () = self.nudge.notified() => continue,
                Some(text) = said => return Some(News::Event(Event::Notice { text })),
                text = self.conversation.house.importing.next() => {
                    return Some(News::Event(Event::Notice { text }));
                }
                heard = self.conversation.next() => heard?,
                Ok(()) = processes.changed() => {
                    self.bar.expect_change();
                    continue;
                }
            };
            match heard {
                Heard::Front(event) => return Some(self.front_says(event)),
                Heard::Aside(news) => return Some(aside(news)),
            }
        }
    }

    fn front_says(&self, event: Event) -> News {
        if matches!(
            event,
            Event::ToolFinished { .. } | Event::Usage { .. } | Event::TurnFinished { .. }
        ) {
            self.bar.expect_change();
        }
        if let Event::TurnFinished { why, .. } = &event
            && let Some(line) = footer::below(why, self.conversation, self.context)
        {
            // It comes behind the end of the turn.
            let cells = vec![notice(Level::Info, &line)];
            self.put(News::Reply(Reply {
                cells,
                ..Reply::default()
            }));
        }
        News::Event(event)
    }
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().unwrap_or((80, 24))
}

fn recap_cell(recap: &recap::Recap, settings: &Settings) -> Cell {
    let exchanges = recap.exchanges.iter().map(|one| Exchange {
        asked: one.asked.clone(),
        steps: past::steps(&one.rows, settings),
        answered: one.answered.clone(),
    });
    Cell::Recap(Recap {
        title: recap.heading(),
        exchanges: exchanges.collect(),
    })
}

pub(super) fn shown(text: &str) -> Reply {
    let text = text.trim_end();
    Reply {
        cells: match text.is_empty() {
            true => Vec::new(),
            false => vec![notice(Level::Info, text)],
        },
        ..Reply::default()
    }
}

/// What failed, and what can be done about it.
pub(super) fn refused(complaint: &Complaint) -> Reply {
    Reply {
        cells: vec![Cell::Failure(failure(complaint))],
        ..Reply::default()
    }
}

pub(super) fn failure(complaint: &Complaint) -> Failure {
    let next = match complaint {
        Complaint::Failed(failure) => failure.hint.clone(),
        Complaint::ReaderGone | Complaint::Parser(_) | Complaint::Code(_) => None,
    };
    Failure {
        message: complaint.cause(),
        next: next.or_else(|| Some("hermes logs may say more, /help lists commands".to_owned())),
    }
}
