//! What is printed of calls at the prompt: what they do, how long they took and what they changed.

use std::io::Write;
use std::time::{Duration, Instant};

use hermes_config::{Config, ToolProgress};
use hermes_core::{CallId, Event};
use hermes_tui::app::{Labels, Settings, ToolLines, tool_cell};

use crate::commands::chat::events::first_line;
use crate::commands::chat::hands::shortened;
use crate::complaint::Outcome;
use crate::output::{Output, Style, one_line, printable};
use crate::table::cut;

/// Characters of what a call does; a screen reader reads all of them.
const WIDEST: usize = 200;

/// The calls of a turn, as the settings say they are shown.
pub(super) struct Calls {
    settings: Settings,
    under_way: Vec<Call>,
    /// The tool that was called last, for those who want to see only others.
    last: Option<String>,
    /// Whether what a call printed stopped in the middle of a line.
    pub(super) mid_line: bool,
}

/// A call under way.
struct Call {
    id: CallId,
    verb: String,
    since: Instant,
    /// Whether its beginning was printed.
    shown: bool,
    diff: String,
}

impl Calls {
    pub(super) fn new(config: &Config) -> Self {
        let display = &config.display;
        Self {
            settings: Settings {
                tools: match display.tool_progress {
                    ToolProgress::All => ToolLines::All,
                    ToolProgress::New => ToolLines::New,
                    ToolProgress::Verbose => ToolLines::Verbose,
                    ToolProgress::Log | ToolProgress::Off => ToolLines::Off,
                },
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
            mid_line: false,
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
                let told = self
                    .under_way
                    .iter()
                    .any(|one| one.id == *call && one.shown);
                if told && self.settings.tools == ToolLines::Verbose && !chunk.is_empty() {
                    write!(output, "{}", printable(chunk))?;
                    self.mid_line = !chunk.ends_with('\n');
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
            true => printable(&cell.preview),
            false => cut(&one_line(&cell.preview), WIDEST),
        };
        let verb = one_line(&cell.verb);
        if shown {
            let line = format!("┊ {verb} {preview}");
            output.line(output.paint(Style::Faint, line.trim_end()))?;
        }
        self.under_way.push(Call {
            id: id.clone(),
            verb,
            since: Instant::now(),
            shown,
            diff: String::new(),
        });
        Ok(())
    }

    fn over(&mut self, id: &CallId, failed: bool, summary: &str, output: &mut Output) -> Outcome {
        let at = self.under_way.iter().position(|one| one.id == *id);
        let Some(call) = at.map(|at| self.under_way.remove(at)) else {
            return Ok(());
        };
        if call.shown {
            let (verb, took) = (&call.verb, took(call.since.elapsed()));
            let line = match failed {
                true => format!(
                    "┊ failed: {verb}, {took}: {}",
                    one_line(&first_line(summary))
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

    fn told(config: &str, events: &[Event]) -> String {
        let mut settings = Config::default();
        settings.display.tool_progress = match config {
            "off" => ToolProgress::Off,
            "new" => ToolProgress::New,
            "verbose" => ToolProgress::Verbose,
            _ => ToolProgress::All,
        };
        let (mut calls, mut output) = (Calls::new(&settings), Output::kept());
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
        let all = told("all", &events);
        assert!(
            all.starts_with("┊ run ls [2J\n┊ done: run, 0.0s\n┊ run pwd\n"),
            "{all}"
        );
        assert_eq!(told("off", &events), "");
        let new = told("new", &events);
        assert!(new.contains("ls") && !new.contains("pwd"), "{new}");
        let verbose = told("verbose", &events);
        assert_eq!(verbose.matches("printed").count(), 2, "{verbose}");
    }
}
