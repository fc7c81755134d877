//! A title for a conversation that has none, made behind the answer.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Message, Role, SessionId};
use hermes_llm::Route;

use crate::compaction::summary::is_summary;
use crate::engine::Shared;
use crate::helper::Helper;
use crate::turn::Turn;
use crate::typed::typed;

/// Titles are made while the conversation is this young.
const MOST_MESSAGES: usize = 2;
/// Most characters of the question and of the answer that are shown.
const MOST_SHOWN: usize = 500;
/// Most characters of a title.
const LONGEST: usize = 80;

const INSTRUCTIONS: &str = "You name conversations. Answer with a title of three to seven words for the one below: \
     no quotes, no full stop, nothing else.";

/// Starts to make a title, if the conversation wants one. Never delays the answer.
pub(crate) fn give(turn: &Turn<'_>) {
    let around = &turn.around;
    let settings = &around.services.config.auxiliary.title_generation;
    let said: Vec<_> = turn
        .history
        .iter()
        .filter(|entry| entry.message.role == Role::User && !is_summary(&entry.message))
        .collect();
    if !settings.enabled || !around.spec.titles || said.len() > MOST_MESSAGES {
        return;
    }
    let answer = turn
        .history
        .iter()
        .rev()
        .find(|entry| entry.message.role == Role::Assistant);
    let (Some(first), Some(answer)) = (said.first(), answer) else {
        return;
    };
    let cut = |text: String| text.chars().take(MOST_SHOWN).collect::<String>();
    let mut question = format!(
        "Question:\n{}\n\nAnswer:\n{}",
        cut(typed(&first.message.plain_text()).trim_end().to_owned()),
        cut(answer.message.plain_text())
    );
    if !settings.language.is_empty() {
        question.push_str(&format!("\n\nWrite the title in {}.", settings.language));
    }
    let timeout = settings.timeout;
    let work = make(
        around.shared.clone(),
        around.spec.id.clone(),
        around.spec.course.route().clone(),
        question,
        timeout,
    );
    around.shared.behind.spawn(work);
}

async fn make(
    shared: Arc<Shared>,
    session: SessionId,
    main: Arc<Route>,
    question: String,
    timeout: Duration,
) {
    let services = &shared.services;
    match services.store.session(&session).await {
        Ok(Some(row)) if row.title.is_none() => {}
        _ => return,
    }
    let helper = Helper {
        services,
        session: &session,
        task: "title_generation",
        main: &main,
        most_tokens: 500,
        temperature: Some(0.3),
        timeout,
    };
    let question = Message::text(Role::User, question);
    let Ok(text) = helper.ask(INSTRUCTIONS, question, &services.stop).await else {
        return;
    };
    let title = clean(&text);
    if !title.is_empty()
        && let Err(error) = services.store.title_once(&session, &title).await
    {
        tracing::debug!("the title could not be kept: {error}");
    }
}

/// The first line without quotes, labels and full stops.
fn clean(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let line = line.trim();
    let line = line
        .split_once(':')
        .filter(|(label, _)| label.eq_ignore_ascii_case("title"))
        .map_or(line, |(_, rest)| rest);
    let bare = line
        .trim()
        .trim_matches(['"', '\'', '`', '*', '#', '“', '”', '«', '»', ' ']);
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    bare.chars()
        .take(LONGEST)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn titles_are_bare_and_short() {
        for (given, title) in [
            ("\"Fix the build\"", "Fix the build"),
            ("Title: Fix the build.", "Fix the build"),
            ("\n**Fix the build**\nmore", "Fix the build"),
            ("Ratio 3:1 explained", "Ratio 3:1 explained"),
            ("", ""),
        ] {
            assert_eq!(clean(given), title);
        }
        assert_eq!(clean(&"x".repeat(200)).chars().count(), 80);
    }
}
