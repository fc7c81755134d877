//! Conversations in short, for a model that has not read them: of this one the newest messages as they are and older
//! ones in a line each, of others lines only.

use std::sync::Arc;

use hermes_core::{Message, Role};

use super::due::{Said, called, is_from_user};
use crate::compaction::one_line;
use crate::typed::typed;

/// Messages that stay as they are.
const WHOLE: usize = 24;
/// Characters of an older message of the user.
const OF_USER: usize = 300;
/// Characters of an older answer.
const OF_ANSWER: usize = 200;

/// Lines of other conversations; the newest.
const MOST_LINES: usize = 60;

/// What was said in other conversations, each under a line of its own.
pub(super) fn elsewhere<'s>(said: impl Iterator<Item = &'s Said>) -> Option<String> {
    let told = said.filter_map(|said| Some((said, line_elsewhere(said)?)));
    let told: Vec<(&Said, String)> = told.collect();
    let newest = told.get(told.len().saturating_sub(MOST_LINES)..)?;
    let mut order: Vec<&str> = Vec::new();
    for (said, _) in newest {
        let session = said.row.session.as_str();
        if !order.contains(&session) {
            order.push(session);
        }
    }
    let of_session = |session: &&str| {
        let lines = newest.iter();
        let lines = lines.filter(|(said, _)| said.row.session.as_str() == *session);
        let lines: Vec<&str> = lines.map(|(_, line)| line.as_str()).collect();
        format!("A conversation:\n{}", lines.join("\n"))
    };
    let texts: Vec<String> = order.iter().map(of_session).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn line_elsewhere(said: &Said) -> Option<String> {
    let text = said.message.plain_text();
    match said.message.role {
        Role::User if is_from_user(&said.message) => {
            let text = typed(&text).trim();
            (!text.is_empty()).then(|| format!("User: {}", one_line(text, OF_USER)))
        }
        Role::Assistant => {
            let calls: Vec<&str> = called(&said.message).collect();
            let calls = match calls.is_empty() {
                true => String::new(),
                false => format!(" (calls {})", calls.join(", ")),
            };
            let text = one_line(text.trim(), OF_ANSWER);
            (!text.is_empty() || !calls.is_empty()).then(|| format!("Assistant{calls}: {text}"))
        }
        _ => None,
    }
}

/// The messages that are sent to another model.
pub(super) fn shorten(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let newest = messages.len().saturating_sub(WHOLE);
    // The results of a call never come without it.
    let is_result = |message: &Arc<Message>| message.role == Role::Tool;
    let results = messages
        .iter()
        .skip(newest)
        .take_while(|message| is_result(message));
    let (older, newer) = messages.split_at(newest + results.count());
    if older.is_empty() {
        return newer.to_vec();
    }
    let lines: Vec<String> = older.iter().filter_map(|message| line(message)).collect();
    let note = format!("Earlier in this conversation:\n{}", lines.join("\n"));
    let mut short = vec![Message::text(Role::User, note).into()];
    if newer.first().is_none_or(|first| first.role == Role::User) {
        short.push(Message::text(Role::Assistant, "Noted.").into());
    }
    short.extend(newer.iter().cloned());
    short
}

fn line(message: &Message) -> Option<String> {
    let (who, most) = match message.role {
        Role::User => ("User", OF_USER),
        Role::Assistant => ("Assistant", OF_ANSWER),
        _ => return None,
    };
    let text = message.plain_text();
    let text = text.trim();
    (!text.is_empty()).then(|| format!("{who}: {}", one_line(text, most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_whole_and_older_ones_are_cut() {
        let long = "long ".repeat(200);
        let all: Vec<Arc<Message>> = (0..40)
            .map(|at| match at % 2 {
                0 => Message::text(Role::User, format!("{at} {long}")).into(),
                _ => Message::text(Role::Assistant, format!("{at} {long}")).into(),
            })
            .collect();
        let short = shorten(&all);
        assert_eq!(short.len(), WHOLE + 2);
        let first = short.first().map(|message| message.plain_text());
        assert!(first.is_some_and(|text| text.lines().count() == 17 && text.len() < 6_000));
        assert_eq!(short.last(), all.last());
        assert_eq!(shorten(&all[..4]), all[..4]);
    }

    // AG-27, LN-36
    #[test]
    fn a_long_turn_is_cut_too_and_no_result_comes_without_its_call() {
        let said = |role, at: i32| -> Arc<Message> { Message::text(role, at.to_string()).into() };
        for results in [1, 2, 40] {
            let mut all = vec![said(Role::User, 0)];
            for at in 1..40 {
                all.push(said(Role::Assistant, at));
                all.extend((0..results).map(|_| said(Role::Tool, at)));
            }
            all.push(said(Role::Assistant, 99));
            let short = shorten(&all);
            assert!(short.len() <= WHOLE + 1, "{results}: {}", short.len());
            let roles: Vec<Role> = short.iter().map(|message| message.role).collect();
            assert_eq!(roles[..2], [Role::User, Role::Assistant], "{results}");
            assert_eq!(short.last(), all.last());
        }
    }
}
