//! Commands that concern the screen; all others are the conversation's.

use std::time::Duration;

use hermes_core::Op;

use super::busy::WhileBusy;
use super::{App, Effect, Tag};
use crate::cells::{Cell, Level, User};
use crate::composer::Message;
use crate::panels::{Help, Panel};

impl App {
    pub(super) fn command(&mut self, message: Message, now: Duration, effects: &mut Vec<Effect>) {
        effects.push(Effect::Remember(message.written.clone()));
        let line = message.text.trim().to_owned();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let rest = rest.trim();
        match word.to_lowercase().as_str() {
            "/quit" | "/exit" => effects.push(Effect::Leave),
            "/redraw" => effects.push(Effect::Repaint),
            "/keys" => {
                self.panels
                    .push(Tag::Shown, Panel::Help(Help::new("Keys", Vec::new())), None);
                self.asked_at = None;
            }
            "/queue" | "/q" if !rest.is_empty() => {
                self.waiting
                    .push_back((rest.to_owned(), message.attachments));
                self.send_waiting(now, effects);
            }
            "/steer" if !rest.is_empty() => {
                let text = rest.to_owned();
                self.show(&Cell::User(User::new(text.clone())));
                effects.push(Effect::Send(Op::Steer { text }));
            }
            "/busy" => match rest.parse::<WhileBusy>() {
                Ok(mode) => {
                    self.settings.busy = mode;
                    self.notice(Level::Good, mode.hint());
                }
                Err(()) => self.notice(Level::Info, "/busy interrupt, queue or steer"),
            },
            "/reasoning" if matches!(rest, "show" | "hide") => {
                self.settings.show_reasoning = rest == "show";
                self.notice(Level::Good, format!("thoughts: {rest}"));
            }
            "/verbose" => {
                self.settings.show_usage = !self.settings.show_usage;
                let word = if self.settings.show_usage {
                    "shown"
                } else {
                    "hidden"
                };
                self.notice(Level::Good, format!("tokens and time of turns are {word}"));
            }
            _ => {
                self.show(&Cell::User(User::new(line.clone())));
                effects.push(Effect::Command(line));
            }
        }
    }
}
