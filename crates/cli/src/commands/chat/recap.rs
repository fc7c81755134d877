//! What was said before, for a conversation that is taken up again.

use hermes_config::{Display, ResumeDisplay};
use hermes_core::{Role, SessionId};
use hermes_skills::typed_and_added;
use hermes_store::Record;

use super::house::House;
use crate::complaint::Outcome;
use crate::output::{Output, Style, cleaned};

/// Rows that are looked at for the exchanges that are shown.
const MOST_ROWS: u32 = 400;

/// A look back.
#[derive(Debug, Clone)]
pub(super) struct Recap {
    /// The title of the session, or its id.
    pub(super) title: String,
    /// Messages in all.
    pub(super) messages: u64,
    /// What was asked and answered last, oldest first.
    pub(super) exchanges: Vec<Exchange>,
}

/// A question and what came of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    pub(super) asked: String,
    pub(super) answered: String,
    /// The rows between them.
    pub(super) rows: Vec<Record>,
}

/// Looks back at a session, as far as the settings say.
pub(super) async fn of(house: &House, id: &SessionId) -> Outcome<Recap> {
    let display = &house.models.loaded.config.display;
    let row = house.store.session(id).await?;
    let title = row.and_then(|row| row.title);
    let (_, messages) = house.store.last_said(id, 1).await?;
    let exchanges = match display.resume_display {
        ResumeDisplay::Full => exchanges(house.store.last_rows(id, MOST_ROWS).await?, display),
        ResumeDisplay::Minimal => Vec::new(),
    };
    Ok(Recap {
        title: title.unwrap_or_else(|| id.to_string()),
        messages,
        exchanges,
    })
}

fn exchanges(rows: Vec<Record>, display: &Display) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    for record in rows {
        let text = record.to_message().plain_text();
        let text = text.trim();
        match record.role() {
            Some(Role::User) if text.is_empty() => {}
            Some(Role::User) => {
                let typed = typed_and_added(text).0;
                found.push(Exchange {
                    asked: shortened(typed, display.resume_max_user_chars, u32::MAX),
                    ..Exchange::default()
                });
            }
            Some(Role::Assistant | Role::Tool) => {
                let Some(exchange) = found.last_mut() else {
                    continue;
                };
                // The last words of a turn are its answer; a turn that only called tools has none.
                if record.role() == Some(Role::Assistant) && !text.is_empty() {
                    let (most, lines) = (
                        display.resume_max_assistant_chars,
                        display.resume_max_assistant_lines,
                    );
                    exchange.answered = shortened(text, most, lines);
                }
                exchange.rows.push(record);
            }
            Some(Role::System) | None => {}
        }
    }
    if display.resume_skip_tool_only {
        found.retain(|exchange| !exchange.answered.is_empty());
    }
    let most = display.resume_exchanges as usize;
    found.split_off(found.len().saturating_sub(most))
}

fn shortened(text: &str, characters: u32, lines: u32) -> String {
    let whole = text.lines().count();
    let mut kept: String = text
        .lines()
        .take(lines as usize)
        .collect::<Vec<_>>()
        .join("\n");
    let is_cut = whole > lines as usize;
    if kept.chars().count() > characters as usize {
        kept = kept.chars().take(characters as usize).collect();
    } else if !is_cut {
        return kept;
    }
    format!("{}…", kept.trim_end())
}

impl Recap {
    /// Leaves out the last exchange when this began it.
    pub(super) fn leave_out(&mut self, asked: Option<&str>) {
        let Some(asked) = asked else {
            return;
        };
        let same = |exchange: &Exchange| {
            let shown = &exchange.asked;
            let shown = shown.strip_suffix('…').unwrap_or(shown);
            !shown.is_empty() && asked.trim().starts_with(shown.trim_end())
        };
        if self.exchanges.last().is_some_and(same) {
            self.exchanges.pop();
        }
    }

    /// What it is called, and how long it is.
    pub(super) fn heading(&self) -> String {
        match self.messages {
            1 => format!("{} (1 message)", self.title),
            more => format!("{} ({more} messages)", self.title),
        }
    }

    /// Prints it where there is no screen.
    pub(super) fn print(&self, output: &mut Output) -> Outcome {
        let head = format!("↻ {}", cleaned(&self.heading()));
        output.line(output.paint(Style::Strong, &head))?;
        for exchange in &self.exchanges {
            output.line(format!("● {}", indented(&exchange.asked)))?;
            output.line(format!("◆ {}", indented(&exchange.answered)))?;
        }
        Ok(())
    }
}

fn indented(text: &str) -> String {
    cleaned(text).replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-22
    #[test]
    fn long_words_are_cut_by_lines_and_characters() {
        assert_eq!(shortened("short", 300, 3), "short");
        assert_eq!(
            shortened("one\ntwo\nthree\nfour", 300, 3),
            "one\ntwo\nthree…"
        );
        assert_eq!(shortened(&"x".repeat(301), 300, 3).chars().count(), 301);
    }
}
