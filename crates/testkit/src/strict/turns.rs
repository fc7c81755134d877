//! The order of turns where a conversation is one of two sides.

use serde_json::Value;

use super::checker::Checker;

/// Requires that the two sides alternate and that the user begins and has the last word.
pub(super) fn alternate(checker: &mut Checker<'_>, messages: &[(String, &Value)], model: &str) {
    let mut previous = None;
    for (place, message) in messages {
        let role = &message["role"];
        checker.word(&format!("{place}.role"), role, &["user", model]);
        match previous {
            None => checker.require(
                role == "user",
                place,
                "the first message must be the user's",
            ),
            Some(previous) => checker.require(
                role != previous,
                place,
                format_args!("{role} follows itself"),
            ),
        }
        previous = Some(role);
    }
    let ends_with_user = previous.is_none_or(|role| role == "user");
    let place = messages.last().map_or("messages", |(place, _)| place);
    checker.require(ends_with_user, place, "the last message must be the user's");
}

/// Requires exactly one of the kinds of content in a block, and returns which.
pub(super) fn only_kind<'k>(
    checker: &mut Checker<'_>,
    place: &str,
    block: &Value,
    kinds: &[&'k str],
) -> Option<&'k str> {
    let mut present = kinds.iter().filter(|kind| block.get(**kind).is_some());
    let kind = present.next().copied();
    let single = kind.is_some() && present.next().is_none();
    checker.require(
        single,
        place,
        format_args!("must be exactly one of {kinds:?}"),
    );
    kind
}
