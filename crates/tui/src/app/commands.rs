//! Commands that concern the screen. What a line means is for the host to say.

use std::time::Duration;

use super::busy::WhileBusy;
use super::{App, Effect, Mouse, Outgoing, Sections, StatusBar, Then, ToolLines};
use crate::cells::Level;
use crate::composer::Message;
use crate::panels::{Confirmation, Verdict};

impl Then {
    /// The commands that an answer stands for.
    pub(super) fn lines(self, verdict: &Verdict) -> Vec<String> {
        let places: &[usize] = match verdict {
            Verdict::Picked(places) => places,
            Verdict::Confirm(Confirmation::Once) => &[0],
            Verdict::Confirm(Confirmation::Always) => &[1],
            _ => return Vec::new(),
        };
        let of = |lines: &[String]| -> Vec<String> {
            let found = places.iter().filter_map(|place| lines.get(*place));
            found.cloned().collect()
        };
        match self {
            Self::Each(lines) => of(&lines),
            Self::All { command, names } => vec![format!("{command} {}", of(&names).join(" "))],
        }
    }
}

impl App {
    pub(super) fn command(&mut self, message: Message, effects: &mut Vec<Effect>) {
        effects.push(Effect::Remember(message.written));
        // They belong to a message; this may turn out to be one.
        for picture in message.attachments {
            self.composer.attach(picture);
        }
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
            "paste" => effects.push(Effect::Clipboard),
            "image" if !rest.is_empty() => effects.push(Effect::Look {
                path: rest.to_owned(),
                text: None,
            }),
            "queue" if !rest.is_empty() => {
                let message = Outgoing {
                    text: rest.to_owned(),
                    attachments: Vec::new(),
                    instead: false,
                    skills: None,
                    rows: Vec::new(),
                };
                self.line_up(message, now, effects);
            }
            "steer" if !rest.is_empty() => effects.push(Effect::Remark(rest.to_owned())),
            "busy" => match rest.parse::<WhileBusy>() {
                Ok(mode) => {
                    self.settings.busy = mode;
                    self.notice(Level::Good, mode.hint());
                }
                Err(()) => self.notice(Level::Info, "/busy interrupt, queue or steer"),
            },
            "statusbar" => {
                self.settings.status = match self.settings.status {
                    StatusBar::Off => StatusBar::Bottom,
                    StatusBar::Top | StatusBar::Bottom => StatusBar::Off,
                };
            }
            "indicator" => match rest.parse() {
                Ok(indicator) => self.settings.indicator = indicator,
                Err(()) => self.notice(Level::Info, "/indicator kaomoji, emoji, unicode or ascii"),
            },
            "details" => self.details(rest),
            "mouse" => self.use_mouse(rest, effects),
            "timestamps" => self.show_times(rest),
            "reasoning" => self.show_thoughts(rest),
            "verbose" => {
                self.settings.tools = self.settings.tools.next();
                self.settings.show_usage = self.settings.tools == ToolLines::Verbose;
                self.notice(Level::Good, self.settings.tools.told());
            }
            _ => self.notice(
                Level::Info,
                format!("/{name} needs more than that; see /help"),
            ),
        }
    }

    /// `/reasoning show|hide|full|clamp`.
    fn show_thoughts(&mut self, rest: &str) {
        let Some(thoughts) = self.settings.thoughts.after(rest) else {
            return self.notice(Level::Info, "/reasoning show, hide, full or clamp");
        };
        self.settings.thoughts = thoughts;
        self.settings.sections.thinking = thoughts.details();
        self.look_again();
        self.notice(Level::Good, thoughts.told());
    }

    /// `/details [SECTION] hidden|collapsed|expanded`.
    fn details(&mut self, rest: &str) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let changed = match words.as_slice() {
            [all] => all.parse().map(|details| {
                self.settings.sections = Sections::all(details);
            }),
            [name, word] => match (self.settings.sections.named(name), word.parse()) {
                (Some(section), Ok(details)) => {
                    *section = details;
                    Ok(())
                }
                _ => Err(()),
            },
            _ => Err(()),
        };
        if changed.is_err() {
            let usage =
                "/details [thinking|tools|subagents|activity] hidden, collapsed or expanded";
            return self.notice(Level::Info, usage);
        }
        self.look_again();
        let Sections {
            thinking,
            tools,
            subagents,
            activity,
        } = self.settings.sections;
        let told = format!(
            "details: thinking {}, tools {}, subagents {}, activity {}",
            thinking.word(),
            tools.word(),
            subagents.word(),
            activity.word()
        );
        self.notice(Level::Good, told);
    }

    /// `/mouse off|wheel|buttons|all`.
    fn use_mouse(&mut self, rest: &str, effects: &mut Vec<Effect>) {
        match rest.parse::<Mouse>() {
            Ok(mouse) => {
                self.settings.mouse = mouse;
                self.notice(Level::Good, format!("the mouse: {rest}"));
                effects.push(Effect::Retake);
            }
            Err(()) => self.notice(Level::Info, "/mouse off, wheel, buttons or all"),
        }
    }

    /// `/timestamps [on|off]`.
    fn show_times(&mut self, rest: &str) {
        let shown = match rest {
            "on" => true,
            "off" => false,
            _ => !self.settings.timestamps,
        };
        self.settings.timestamps = shown;
        self.look_again();
        let word = if shown { "shown" } else { "hidden" };
        self.notice(Level::Good, format!("times of messages are {word}"));
    }

    /// Everything that was said is shown as the settings have it now.
    fn look_again(&mut self) {
        let sections = self.settings.sections;
        let shown = self.settings.timestamps;
        let stamps = self.settings.stamps.clone().filter(|_| shown);
        if let Some(transcript) = self.transcript() {
            transcript.change(|look| {
                look.sections = sections;
                look.stamps = stamps;
            });
        }
    }
}
