//! Commands that concern the screen. What a line means is for the host to say.

use std::time::Duration;

use hermes_core::Op;

use super::busy::WhileBusy;
use super::{App, Effect};
use crate::cells::{Cell, Level, User};
use crate::composer::Message;

impl App {
    pub(super) fn command(&mut self, message: Message, effects: &mut Vec<Effect>) {
        effects.push(Effect::Remember(message.written));
        effects.push(Effect::Command(message.text.trim().to_owned()));
    }

    /// Carries out a command of our own, by its name in the registry.
    pub(super) fn own_command(
        &mut self,
        name: &str,
        rest: &str,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        match name {
            "redraw" => effects.push(Effect::Repaint),
            "prompt" => effects.push(Effect::Edit(self.composer.expanded())),
            "queue" if !rest.is_empty() => {
                self.waiting.push_back((rest.to_owned(), Vec::new()));
                self.send_waiting(now, effects);
            }
            "steer" if !rest.is_empty() => {
                let text = rest.to_owned();
                self.show(&Cell::User(User::new(text.clone())));
                effects.push(Effect::Send(Op::Steer { text }));
            }
            "busy" => match rest.parse::<WhileBusy>() {
                Ok(mode) => {
                    self.settings.busy = mode;
                    self.notice(Level::Good, mode.hint());
                }
                Err(()) => self.notice(Level::Info, "/busy interrupt, queue or steer"),
            },
            "reasoning" if matches!(rest, "show" | "hide") => {
                self.settings.show_reasoning = rest == "show";
                self.notice(Level::Good, format!("thoughts: {rest}"));
            }
            "verbose" => {
                self.settings.show_usage = !self.settings.show_usage;
                let word = if self.settings.show_usage {
                    "shown"
                } else {
                    "hidden"
                };
                self.notice(Level::Good, format!("tokens and time of turns are {word}"));
            }
            _ => self.notice(
                Level::Info,
                format!("/{name} needs more than that; see /help"),
            ),
        }
    }
}
