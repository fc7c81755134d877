//! What is printed of calls at the prompt: what they do, how long they took and what they changed.

use std::time::{Duration, Instant};

use hermes_config::Config;
use hermes_core::{CallId, Event};
use hermes_tui::app::{Labels, Settings, ToolLines, tool_cell};
use hermes_tui::{Cleaner, clean_line};

use crate::commands::chat::events::first_line;
use crate::commands::chat::hands::shortened;
use crate::complaint::Outcome;
use crate::output::{Output, Style, cleaned};
use crate::table::cut;

/// Characters of what a call does; a screen reader reads all of them.
const WIDEST: usize = 200;
/// Lines that are printed of what a call prints; the model gets all that its tool keeps.
const MOST_LINES: usize = 200;
/// Columns of a line; a longer one is cut.
const LONGEST_LINE: usize = 2_000;
/// Bytes that are held of a line that does not end.
const MOST_HELD: usize = 16 * 1024;

/// The calls of a turn, as the settings say they are shown.
pub(super) struct Calls {
    settings: Settings,
    under_way: Vec<Call>,
    /// The tool that was called last, for those who want to see only others.
    last: Option<String>,
}

/// A call under way.
struct Call {
    id: CallId,
    verb: String,
    since: Instant,
    /// Whether its beginning was printed.
    shown: bool,
    printed: Printed,
    diff: String,
}

impl Calls {
    pub(super) fn new(config: &Config, tools: ToolLines) -> Self {
        let display = &config.display;
        Self {
            settings: Settings {
                tools,
                labels: match display.friendly_tool_labels {
                    true => Labels::Friendly,
                    false => Labels::Names,
                },
                tool_preview: Some(display.tool_preview_length as usize)
                    .filter(|length| *length > 0),
                diffs: display.inline_diffs,
                ..Settings::default()
            },
            under_way: Vec::new(),
            last: None,
        }
    }

    /// Prints what an event says about a call, which is no part of a line that has begun.
    pub(super) fn tell(&mut self, event: &Event, output: &mut Output) -> Outcome {
        match event {
            Event::ToolStarted {
                call,
                name,
                arguments,
            } => self.begun(call, name, arguments, output)?,
            Event::ToolOutput { call, chunk } => {
                let mut calls = self.under_way.iter_mut();
                let known = calls.find(|one| one.id == *call && one.shown);
                if let Some(known) = known
                    && self.settings.tools == ToolLines::Verbose
                {
                    known.printed.push(chunk, output)?;
                }
            }
            Event::FileChanged { call, diff } => {
                let known = self.under_way.iter_mut().find(|one| one.id == *call);
                if let Some(known) = known {
                    known.diff.push_str(diff);
                }
            }
            Event::ToolFinished {
                call,
                failed,
                summary,
            } => self.over(call, *failed, summary, output)?,
            _ => {}
        }
        Ok(())
    }

    fn begun(
        &mut self,
        id: &CallId,
        name: &str,
        arguments: &serde_json::Value,
        output: &mut Output,
    ) -> Outcome {
        let cell = tool_cell(name.to_owned(), arguments, &self.settings);
        let again = self.last.replace(name.to_owned()).as_deref() == Some(name);
        let verbose = self.settings.tools == ToolLines::Verbose;
        let shown = match self.settings.tools {
            ToolLines::Off => false,
            ToolLines::New => !again,
            ToolLines::All | ToolLines::Verbose => true,
        };
        let preview = match verbose {
            true => cleaned(&cell.preview),
            false => cut(&clean_line(&cell.preview), WIDEST),
        };
        let verb = clean_line(&cell.verb);
        if shown {
            let line = format!("┊ {verb} {preview}");
            output.line(output.paint(Style::Faint, line.trim_end()))?;
        }
        self.under_way.push(Call {
            id: id.clone(),
            verb,
            since: Instant::now(),
            shown,
            printed: Printed::default(),
            diff: String::new(),
        });
        Ok(())
    }

    fn over(&mut self, id: &CallId, failed: bool, summary: &str, output: &mut Output) -> Outcome {
        let at = self.under_way.iter().position(|one| one.id == *id);
        let Some(mut call) = at.map(|at| self.under_way.remove(at)) else {
            return Ok(());
        };
        call.printed.end(output)?;
        if call.shown {
            let (verb, took) = (&call.verb, took(call.since.elapsed()));
            let line = match failed {
                true => format!(
                    "┊ failed: {verb}, {took}: {}",
                    clean_line(&first_line(summary))
                ),
                false => format!("┊ done: {verb}, {took}"),
            };
            output.line(output.paint(Style::Faint, &line))?;
        }
        let answered = || {
            let result = serde_json::from_str::<serde_json::Value>(summary).ok()?;
            Some(result.get("diff")?.as_str()?.to_owned())
        };
        let diff = Some(call.diff).filter(|diff| !diff.is_empty());
        match diff.or_else(answered).filter(|_| self.settings.diffs) {
            Some(diff) => Ok(output.line(shortened(&diff))?),
            None => Ok(()),
        }
    }
}

/// What a call prints, line by line: one that is written over, as a progress bar is, is printed as it was left.
#[derive(Default)]
struct Printed {
    cleaner: Cleaner,
    open: String,
    lines: usize,
}

impl Printed {
    fn push(&mut self, chunk: &str, output: &mut Output) -> Outcome {
        // In pieces: nothing of what is too much is held.
        for piece in chunk.split_inclusive('\n') {
            self.cleaner.push(piece, &mut self.open);
            while let Some(end) = self.open.find('\n') {
                let line: String = self.open.drain(..=end).collect();
                self.line(line.trim_end_matches('\n'), output)?;
            }
            if self.open.len() > MOST_HELD {
                self.open = cut(&self.open, LONGEST_LINE);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str, output: &mut Output) -> Outcome {
        self.lines += 1;
        match self.lines > MOST_LINES {
            true => Ok(()),
            false => Ok(output.line(cut(line, LONGEST_LINE))?),
        }
    }

    /// The call is over: what is left, and how much was left out.
    fn end(&mut self, output: &mut Output) -> Outcome {
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            self.line(&open, output)?;
        }
        match self.lines.saturating_sub(MOST_LINES) {
            0 => Ok(()),
            more => Ok(output.line(output.paint(Style::Faint, &format!("… {more} more lines")))?),
        }
    }
}

fn took(time: Duration) -> String {
    match time.as_secs() {
        0..=59 => format!("{:.1}s", time.as_secs_f64()),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(tools: ToolLines, events: &[Event]) -> String {
        let mut calls = Calls::new(&Config::default(), tools);
        let mut output = Output::kept();
        for event in events {
            calls.tell(event, &mut output).unwrap();
        }
        output.text()
    }

    fn call(id: &str, name: &str, command: &str) -> [Event; 3] {
        let call = CallId(id.to_owned());
        [
            Event::ToolStarted {
                call: call.clone(),
                name: name.to_owned(),
                arguments: json!({ "command": command }),
            },
            Event::ToolOutput {
                call: call.clone(),
                chunk: "printed\n".to_owned(),
            },
            Event::ToolFinished {
                call,
                failed: false,
                summary: "{}".to_owned(),
            },
        ]
    }

    // CL-18
    #[test]
    fn as_much_is_printed_of_calls_as_the_settings_say() {
        let events = [
            call("1", "terminal", "ls\x1b[2J"),
            call("2", "terminal", "pwd"),
        ]
        .concat();
        let all = told(ToolLines::All, &events);
        assert!(
            all.starts_with("┊ run ls\n┊ done: run, 0.0s\n┊ run pwd\n"),
            "{all}"
        );
        assert_eq!(told(ToolLines::Off, &events), "");
        let new = told(ToolLines::New, &events);
        assert!(new.contains("ls") && !new.contains("pwd"), "{new}");
        let verbose = told(ToolLines::Verbose, &events);
        assert_eq!(verbose.matches("printed").count(), 2, "{verbose}");
    }

    // CL-18
    #[test]
    fn what_a_call_prints_is_made_harmless_and_has_an_end() {
        let [begun, _, over] = call("1", "terminal", "make");
        let printed = |chunk: &str| Event::ToolOutput {
            call: CallId("1".to_owned()),
            chunk: chunk.to_owned(),
        };
        let (part, rest) = ("10 %\r100", " %\x1b[2");
        let events = [
            begun,
            printed(part),
            printed(rest),
            printed("Jdone\n"),
            printed(&"y\n".repeat(100_000)),
            printed(&"z".repeat(1_000_000)),
            over,
        ];
        let out = told(ToolLines::Verbose, &events);
        assert!(out.contains("\n100 %done\ny\n"), "{}", cut(&out, 200));
        assert_eq!(out.matches("y\n").count(), MOST_LINES - 1);
        assert!(
            out.contains("\n… 99802 more lines\n┊ done: run"),
            "{}",
            out.len()
        );
    }
}
