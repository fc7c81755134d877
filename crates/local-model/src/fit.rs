//! Making a conversation fit the window: the oldest turns go first.

use hermes_core::Role;

use crate::ChatMessage;

/// Turns are dropped in steps of this many, so that the beginning of the prompt stays the same for a few
/// turns and need not be read again each time.
const STEP: usize = 4;

/// Where a conversation may be cut, from keeping everything to keeping the last question only.
///
/// Each cut is the number of messages after the system prompt that are left out. A turn begins with a
/// user's message, so that no answer stays without its question.
pub(crate) fn cuts(messages: &[ChatMessage]) -> Vec<usize> {
    let rest = messages
        .iter()
        .filter(|message| message.role != Role::System);
    let mut starts: Vec<usize> = rest
        .enumerate()
        .filter(|(_, message)| message.role == Role::User)
        .map(|(index, _)| index)
        .filter(|index| *index > 0)
        .collect();
    let last = starts.pop();
    let steps = starts.into_iter().skip(STEP - 1).step_by(STEP);
    std::iter::once(0).chain(steps).chain(last).collect()
}

/// The conversation without the first `cut` messages after the system prompt.
pub(crate) fn cut_at(messages: &[ChatMessage], cut: usize) -> impl Iterator<Item = &ChatMessage> {
    let mut left = cut;
    messages.iter().filter(move |message| {
        let dropped = message.role != Role::System && left > 0;
        left -= usize::from(dropped);
        !dropped
    })
}

#[cfg(test)]
mod tests {
    use super::{cut_at, cuts};
    use crate::ChatMessage;
    use hermes_core::Role;

    fn conversation(turns: usize) -> Vec<ChatMessage> {
        let system = ChatMessage::new(Role::System, "s");
        let turns = (0..turns).flat_map(|turn| {
            [(Role::User, 'q'), (Role::Assistant, 'a')]
                .map(|(role, letter)| ChatMessage::new(role, format!("{letter}{turn}")))
        });
        let mut all: Vec<_> = std::iter::once(system).chain(turns).collect();
        all.pop();
        all
    }

    #[test]
    fn the_system_prompt_and_the_last_question_always_stay() {
        for turns in 1..20 {
            let messages = conversation(turns);
            for cut in cuts(&messages) {
                let kept: Vec<_> = cut_at(&messages, cut)
                    .map(|kept| kept.content.as_str())
                    .collect();
                assert_eq!(kept.first(), Some(&"s"));
                assert_eq!(
                    kept.last().copied(),
                    Some(format!("q{}", turns - 1).as_str())
                );
                assert!(kept.get(1).is_some_and(|first| first.starts_with('q')));
            }
        }
    }

    #[test]
    fn turns_go_a_few_at_a_time() {
        assert_eq!(cuts(&conversation(12)), [0, 8, 16, 22]);
        assert_eq!(cuts(&conversation(1)), [0]);
        assert_eq!(cuts(&conversation(2)), [0, 2]);
    }
}
