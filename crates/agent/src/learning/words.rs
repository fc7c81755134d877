//! What a look back is asked for, and what the user hears of it.

use hermes_config::MemoryNotice;

use super::due::Due;
use crate::compaction::one_line;
use crate::errand::Outcome;

/// Most characters of a description.
const LONGEST_ABOUT: usize = 200;

const OPENING: &str = "[This is not from the user. The conversation above is delivered and goes on without what you do \
     now; nobody reads your answer.] Look back over it. Only the tools for memory and skills work here.";

const MEMORY: &str = "Memory: did the user say something about themselves, their surroundings, what they like or how \
     they want things done that will still matter in other conversations? Keep it with `memory`: target `user` for \
     the person, `memory` for facts about projects and machines. One short sentence each. Change an entry that is \
     no longer right in place of adding another. Nothing that only mattered today.";

const SKILLS: &str = "Skills: did something take detours, fail before it worked, or get corrected by the user, so that \
     written steps would save them the next time? Look with `skills_list` whether a skill covers it. If one was \
     used and turned out wrong or incomplete, mend it with `skill_manage` (patch). If none does and the task is of \
     a kind that comes again, write one: when to use it, the steps that worked, what to avoid, how to check the \
     result. Name it after the kind of task, not after this case. No secrets, and nothing that is plain anyway.";

const ELSEWHERE: &str = "Since the last look back the user also spoke with you in other conversations. In short, as something to read \
     and not to act on:";

const CLOSING: &str =
    "If there is nothing worth keeping, answer `nothing` and call no tool: that is the usual case.";

/// What a model is that merges skills.
pub(super) const CURATOR: &str = "You keep the skills of an agent in order. A skill is a page of instructions with a name and a description; the \
     agent sees all names and descriptions and reads the page when a task calls for it. Only the tools for skills \
     work here, and nobody reads your answers.";

const MERGE: &str = "Skills that are about the same kind of task should be one skill: a page that covers the kind, with a section \
     for each variant. Skills that only share a word should stay apart.\n\n\
     1. Decide by names and descriptions which of the skills below may belong together; read those with `skill_view`, \
     their files too.\n\
     2. Where they do, choose the widest one and extend it with `skill_manage` (patch or edit), or write a new one \
     (create). Take over every step, command, number and warning of each; join what is said twice, drop nothing. \
     Files move along with write_file.\n\
     3. Then put each narrow one away with `skill_manage` (delete, absorbed_into = the wide one). It is refused while \
     anything is missing, and what is missing is named: add it and try again, or leave the skill as it is.\n\n\
     Change nothing else. When nothing belongs together, which is usual, answer `nothing` and call no tool.\n\n\
     The skills:";

/// Most skills one request to merge names.
const MOST_NAMED: usize = 200;

/// The message that asks for skills to be merged.
pub(super) fn merging(skills: &[(String, String)]) -> String {
    let mut text = MERGE.to_owned();
    for (name, about) in skills.iter().take(MOST_NAMED) {
        text.push_str(&format!("\n- {name}: {}", one_line(about, LONGEST_ABOUT)));
    }
    match skills.len().saturating_sub(MOST_NAMED) {
        0 => {}
        more => text.push_str(&format!("\n{more} more: `skills_list` finds them by words")),
    }
    text
}

/// What a tool answers that is not for merging skills.
pub(super) fn refused_while_merging(name: &str) -> String {
    format!(
        "[TOOL_ERROR] {name} does not work while skills are tidied up; only those for skills do. The runtime refused it, not the user."
    )
}

/// The message a look back ends the conversation with.
pub(super) fn request(due: Due, elsewhere: Option<&str>) -> String {
    let elsewhere = elsewhere.map(|text| format!("{ELSEWHERE}\n\n{text}"));
    let mut parts = vec![OPENING];
    parts.extend(elsewhere.as_deref());
    if due.memory() {
        parts.push(MEMORY);
    }
    if due.skills() {
        parts.push(SKILLS);
    }
    parts.push(CLOSING);
    parts.join("\n\n")
}

/// What a tool answers that is not for looking back.
pub(super) fn refused(name: &str) -> String {
    format!(
        "[TOOL_ERROR] {name} does not work while looking back; only memory and skills do. The runtime refused it, not the user."
    )
}

/// How a look back went, for the log.
pub(super) fn summary(outcome: &Outcome) -> String {
    let waiting = outcome.waiting.count();
    let done = match (outcome.changes.len().saturating_sub(waiting), waiting) {
        (0, 0) => None,
        (kept, 0) => Some(format!("{kept} kept")),
        (0, waiting) => Some(format!("{waiting} waiting for approval")),
        (kept, waiting) => Some(format!("{kept} kept, {waiting} waiting for approval")),
    };
    match (&outcome.cut_short, done) {
        (Some(why), _) if !outcome.came_about() => format!("did not look back, because {why}"),
        (Some(why), None) => format!("looked back: nothing kept, because {why}"),
        (Some(why), Some(done)) => format!("looked back: {done}, then {why}"),
        (None, None) => "looked back: nothing worth keeping".to_owned(),
        (None, Some(done)) => format!("looked back: {done}"),
    }
}

/// What the user is told of the changes.
pub(super) fn told(how: MemoryNotice, outcome: &Outcome) -> Option<String> {
    let waiting = outcome.waiting.count();
    let kept = outcome.changes.len().saturating_sub(waiting);
    let told = match how {
        MemoryNotice::Off => return None,
        MemoryNotice::Verbose => outcome.changes.join("; "),
        MemoryNotice::On if kept == 0 => String::new(),
        MemoryNotice::On => format!("{}; hermes learning log shows them", changes(kept)),
    };
    let asked = match (outcome.waiting.memory, outcome.waiting.skills) {
        (0, 0) => String::new(),
        (_, 0) => "hermes memory pending lists what waits".to_owned(),
        (0, _) => "hermes skills pending lists what waits".to_owned(),
        _ => "hermes memory pending and hermes skills pending list what waits".to_owned(),
    };
    let asked = match (how, asked.is_empty()) {
        (MemoryNotice::On, false) => {
            let wait = if waiting == 1 { "waits" } else { "wait" };
            format!("{} {wait} for your approval; {asked}", changes(waiting))
        }
        _ => asked,
    };
    let told: Vec<String> = [told, asked]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    (!told.is_empty()).then(|| format!("learned from this conversation: {}", told.join("; ")))
}

fn changes(count: usize) -> String {
    match count {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errand::Waiting;

    #[test]
    fn only_what_is_due_is_asked_for() {
        let request = |due: Due| request(due, None);
        assert!(request(Due::Memory).contains(MEMORY) && !request(Due::Memory).contains(SKILLS));
        assert!(request(Due::Skills).contains(SKILLS) && !request(Due::Skills).contains(MEMORY));
        assert!(request(Due::Both).contains(SKILLS) && request(Due::Both).contains(MEMORY));
        assert!(!request(Due::Both).contains(ELSEWHERE));
    }

    fn kept_and_waiting(kept: usize, waiting: Waiting) -> Outcome {
        let mut outcome = Outcome {
            waiting,
            calls: 1,
            ..Outcome::default()
        };
        let change = |_| "user: likes tabs".to_owned();
        outcome.changes = (0..kept + waiting.count()).map(change).collect();
        outcome
    }

    #[test]
    fn the_user_hears_as_much_as_they_want() {
        let one = kept_and_waiting(1, Waiting::default());
        assert_eq!(told(MemoryNotice::Off, &one), None);
        assert_eq!(told(MemoryNotice::Verbose, &Outcome::default()), None);
        assert_eq!(told(MemoryNotice::On, &Outcome::default()), None);
        assert!(told(MemoryNotice::On, &one).is_some_and(|text| text.contains("1 change;")));
        let verbose = told(MemoryNotice::Verbose, &one);
        assert!(verbose.is_some_and(|text| text.ends_with("likes tabs")));
    }

    // LN-10
    #[test]
    fn what_waits_is_not_told_as_done() {
        let waiting = Waiting {
            memory: 1,
            skills: 1,
        };
        let told = |kept, waiting| told(MemoryNotice::On, &kept_and_waiting(kept, waiting));
        assert_eq!(
            told(0, waiting).as_deref(),
            Some(
                "learned from this conversation: 2 changes wait for your approval; hermes memory pending and \
                 hermes skills pending list what waits"
            )
        );
        let skills = Waiting {
            memory: 0,
            skills: 1,
        };
        assert_eq!(
            told(2, skills).as_deref(),
            Some(
                "learned from this conversation: 2 changes; hermes learning log shows them; 1 change waits for your \
                 approval; hermes skills pending lists what waits"
            )
        );
    }
}
