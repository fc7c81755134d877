//! Commands, as the screen has them carried out.

use std::io::Write as _;

use hermes_config::UnknownKey;
use hermes_core::{Op, SessionId};
use hermes_tui::app::{Called, Opened, Reply};
use hermes_tui::{Form, Heading, Level, News};

use super::super::asks::{asked, help};
use super::super::look::Look;
use super::super::{banner, notice, to_clipboard};
use super::{Desk, shown};
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::chat::commands::{self, Next, Opening, Place};
use crate::commands::chat::conversation::still_waiting;
use crate::commands::edit::edit;
use crate::complaint::Outcome;
use crate::output::Output;

impl Desk<'_> {
    /// Carries out a command.
    pub(in crate::commands::chat::screen) async fn obey(&self, line: &str) -> Outcome<Reply> {
        let mut held = Held {
            desk: self,
            before: self.conversation.front().id(),
            carried_out: false,
        };
        let reply = self.carry_out(line).await;
        held.carried_out = true;
        reply
    }

    /// A command was given up after it had put another conversation in front: that is shown all the same.
    fn show_front(&self) {
        let front = self.conversation.front();
        let text = format!("This is {}; /resume shows what was said.", front.id());
        let opened = Opened {
            standing: self.bar.now(self.conversation),
            session: Some(front.id()),
            directory: front.directory.display().to_string(),
            greeting: vec![notice(Level::Info, &text)],
            running: front.under_way().map(Box::new),
            ..Opened::default()
        };
        self.put(News::Reply(Reply {
            opened: Some(Box::new(opened)),
            ..Reply::default()
        }));
    }

    async fn carry_out(&self, line: &str) -> Outcome<Reply> {
        // What was said before comes first, and what is said next belongs to what the command leaves in front.
        let turn = self.settings.lock().await;
        let mut output = Output::kept_in(Some(self.columns()));
        let next = commands::carry_out(
            line,
            Place::Screen,
            self.conversation,
            self.context,
            &mut output,
        )
        .await?;
        drop(turn);
        self.bar.expect_change();
        let mut reply = shown(&output.text());
        match next {
            Next::Nothing => {}
            Next::Leave => reply.leave = true,
            Next::OnScreen("skin", rest) => return self.dress(&rest),
            Next::OnScreen("help", _) => {
                let title = self.words().help_header;
                reply.asks = Some(Box::new(help(&title)));
            }
            Next::OnScreen(name, rest) => reply.own = Some((name, rest)),
            // It is a message: it goes where messages go, with what is attached.
            Next::Send(
                Op::UseSkills {
                    skills,
                    instruction,
                    text,
                    ..
                },
                _,
            ) => {
                reply.asked = Some(line.to_owned());
                reply.skills = Some(Box::new(Called {
                    names: skills,
                    instruction,
                    text,
                }));
            }
            Next::Send(op, draft) => {
                self.conversation.send(op);
                reply.draft = draft;
            }
            Next::Message => reply.message = Some(line.to_owned()),
            Next::Ask(ask) => reply.asks = Some(Box::new(asked(ask))),
            Next::Opened(opening) => reply.opened = Some(Box::new(self.moved(opening).await?)),
            Next::Copy(text) => {
                let mut out = std::io::stdout();
                out.write_all(to_clipboard(&text).as_bytes())?;
                out.flush()?;
            }
        }
        Ok(reply)
    }

    /// What is shown when another conversation is in front.
    async fn moved(&self, opening: Opening) -> Outcome<Opened> {
        let conversation = self.conversation;
        let id = conversation.front().id();
        let mut opened = self.at_first().await?;
        match opening {
            Opening::Fresh { cleared } => {
                if cleared {
                    opened.heading = Some(Box::new(Heading {
                        banner: banner::of(conversation, self.context),
                        form: Form::Compact,
                        cleared: true,
                    }));
                }
                let text = format!("This is a new conversation: {id}");
                opened.greeting.push(notice(Level::Good, &text));
            }
            Opening::Branch => {
                let text = format!("This is the copy: {id}");
                opened.greeting.push(notice(Level::Good, &text));
            }
            Opening::Earlier(arrived) => {
                let running = arrived.running;
                let asked = running
                    .as_ref()
                    .and_then(|running| running.asked.as_deref());
                self.look_back(&arrived.recap, asked, &mut opened).await?;
                opened.running = running.map(Box::new);
                opened.waiting = self.waited(&arrived.waited);
                let told = still_waiting(arrived.waited.len());
                opened
                    .greeting
                    .extend(told.map(|told| notice(Level::Info, &told)));
                let note = arrived.note.map(|note| notice(Level::Info, &note));
                opened.greeting.extend(note);
            }
        }
        let working = conversation.away.count();
        if working > 0 {
            let text = match working {
                1 => "Another conversation works on; /sessions shows it.".to_owned(),
                more => format!("{more} other conversations work on; /sessions shows them."),
            };
            opened.greeting.push(notice(Level::Info, &text));
        }
        Ok(opened)
    }

    /// Changes the skin, or offers those there are.
    fn dress(&self, rest: &str) -> Outcome<Reply> {
        let for_good = rest.split_whitespace().any(|word| word == "--save");
        let name = rest.split_whitespace().find(|word| *word != "--save");
        let Some(name) = name else {
            let entries = Look::names(self.context).into_iter().map(|name| Entry {
                picked: name == self.skin.borrow().0,
                line: format!("/skin {name}"),
                cells: vec![name.clone(), Look::about(&name, self.context)],
                also: String::new(),
            });
            let list = List {
                title: "Look like; /skin NAME --save keeps it".to_owned(),
                columns: vec![("Skin", false), ("What it looks like", false)],
                entries: entries.collect(),
            };
            let asks = Some(Box::new(asked(Ask::One(list))));
            return Ok(Reply {
                asks,
                ..Reply::default()
            });
        };
        let theme = self.look.dressed(name, self.context)?;
        if for_good {
            edit(self.context, |settings| {
                settings.set("display.skin", name, UnknownKey::Refuse)
            })?;
        }
        self.skin.replace((name.to_owned(), theme.clone()));
        Ok(Reply {
            theme: Some(Box::new(theme)),
            ..Reply::default()
        })
    }
}

/// Lets the session in front be heard again, however a command ends: whatever is in front then, the reply says so.
struct Held<'d, 'a> {
    desk: &'d Desk<'a>,
    before: SessionId,
    carried_out: bool,
}

impl Drop for Held<'_, '_> {
    fn drop(&mut self) {
        let conversation = self.desk.conversation;
        if !self.carried_out && conversation.front().id() != self.before {
            self.desk.show_front();
        }
        conversation.release();
    }
}
