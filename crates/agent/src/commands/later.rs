//! Commands that are known and not carried out yet: what each will do.

/// Sorted by name; each sentence goes on after the name of the command.
const LATER: &[(&str, &str)] = &[
    ("blueprint", "will set up a schedule from a template"),
    ("browser", "will let the agent use a browser you have open"),
    (
        "codex-runtime",
        "will let Codex run the turns of its models",
    ),
    ("cron", "will show and change what is done on a schedule"),
    (
        "goal",
        "will keep the agent working until a goal is reached",
    ),
    (
        "handoff",
        "will move a conversation to a messaging platform",
    ),
    ("hatch", "will give you a companion on the screen"),
    ("journey", "will look back at what was learned over time"),
    ("kanban", "will work with the board of tasks"),
    ("moa", "will have several models answer and one sum it up"),
    ("pet", "will keep a companion on the screen"),
    (
        "platforms",
        "will show the messaging platforms and their state",
    ),
    ("plugins", "will list plugins and what they add"),
    ("subgoal", "will add to what the goal asks for"),
    ("subscription", "will show your subscription"),
    (
        "suggestions",
        "will propose what could be done for you regularly",
    ),
    ("topup", "will add credit to your account"),
    ("update", "will bring Hermes up to date"),
    ("voice", "will let you speak and be spoken to"),
];

/// What a command will do that this version lacks, to follow its name in a sentence.
pub fn later(name: &str) -> Option<&'static str> {
    let found = LATER.binary_search_by_key(&name, |(name, _)| name);
    found
        .ok()
        .and_then(|at| LATER.get(at))
        .map(|(_, will)| *will)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::find;

    #[test]
    fn what_comes_later_is_sorted_and_known() {
        assert!(LATER.is_sorted_by_key(|(name, _)| *name));
        for (name, will) in LATER {
            assert!(find(name).is_some(), "{name}");
            assert!(will.starts_with("will ") && !will.ends_with('.'), "{name}");
            assert_eq!(later(name), Some(*will));
        }
        assert_eq!(later("new"), None);
    }
}
