//! What is said at the end.

use super::conversation::Conversation;
use super::profile;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, one_line};

/// Rows that are counted.
const MOST_ROWS: u32 = 10_000;

/// What there is to say about a conversation that was left.
pub(super) struct Farewell {
    lines: Vec<String>,
    facts: String,
    /// Messages that were not said yet.
    waiting: usize,
}

/// Looks at the conversation before the store is closed. Nothing when nothing was said, or it is to be forgotten.
pub(super) async fn of(
    conversation: &Conversation,
    context: &Context,
) -> Outcome<Option<Farewell>> {
    let front = conversation.front();
    let (store, id) = (&conversation.house.store, front.id());
    if conversation.forgotten.get() {
        store.delete_session(&id).await?;
        return Ok(None);
    }
    if conversation.put_back.borrow().is_some() {
        // Whether it will be there is not known yet.
        return Ok(None);
    }
    let row = match front.has_talked() {
        true => store.session(&id).await?,
        false => None,
    };
    let Some(row) = row else { return Ok(None) };
    let profile = profile(context).map_or_else(String::new, |name| format!(" -p {name}"));
    let mut lines = vec![format!("hermes{profile} chat --resume {id}")];
    lines.extend(row.title.map(|title| {
        let title = one_line(&title).replace('\'', "'\\''");
        format!("hermes{profile} chat --resume '{title}'")
    }));
    let (said, _) = store.last_said(&id, MOST_ROWS).await?;
    let yours = said.iter().filter(|record| record.role == "user").count();
    let seconds = (conversation.house.clock.now().as_duration() - conversation.began.as_duration())
        .as_secs_f64();
    let facts = format!(
        "{} messages, {yours} of them yours, {} tool calls, {}",
        row.message_count,
        row.tool_call_count,
        span(seconds)
    );
    let waiting = store.waiting(&id).await?.len();
    Ok(Some(Farewell {
        lines,
        facts,
        waiting,
    }))
}

impl Farewell {
    pub(super) fn print(&self, output: &mut Output) -> Outcome {
        for (at, line) in self.lines.iter().enumerate() {
            let before = if at == 0 {
                "Go on with:"
            } else {
                "        or:"
            };
            output.line(format!("{before} {line}"))?;
        }
        match self.waiting {
            0 => {}
            1 => output.line("One message was not said yet; it is when you go on.")?,
            more => output.line(format!(
                "{more} messages were not said yet; they are when you go on."
            ))?,
        }
        Ok(output.line(output.paint(Style::Faint, &self.facts))?)
    }
}

fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
