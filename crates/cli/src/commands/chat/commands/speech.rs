//! How the agent speaks and how hard it thinks.

use hermes_agent::{effort_level, personality};
use hermes_config::Effort;
use hermes_core::Op;

use super::{Next, Order, Place};
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

/// The levels there are, by their words in the settings.
const LEVELS: [Effort; 8] = [
    Effort::None,
    Effort::Minimal,
    Effort::Low,
    Effort::Medium,
    Effort::High,
    Effort::ExtraHigh,
    Effort::Max,
    Effort::Ultra,
];

/// `/personality [name]`
pub(super) fn personality(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let conversation = order.conversation;
    let config = &conversation.house.models.loaded.config;
    let manner = conversation.manner();
    let now = manner.personality.as_ref();
    let now = now.unwrap_or(&config.display.personality);
    let Some(name) = order.argument() else {
        let none = ("none".to_owned(), "only your own instructions".to_owned());
        let all = std::iter::once(none).chain(personality::all(config));
        let entries = all.map(|(name, about)| Entry {
            picked: name == *now || (name == "none" && now.is_empty()),
            line: format!("/personality {name}"),
            cells: vec![name, about],
            also: String::new(),
        });
        return Ok(Next::Ask(Ask::One(List {
            title: "Speak like".to_owned(),
            columns: vec![("Personality", false), ("What it is like", false)],
            entries: entries.collect(),
        })));
    };
    let name = name.to_lowercase();
    let name = match personality::NONE.contains(&name.as_str()) {
        true => String::new(),
        false => name,
    };
    if !name.is_empty() && personality::text(config, &name).is_none() {
        let all = personality::all(config);
        let names = all.iter().map(|(name, _)| name.as_str());
        let hint = match hermes_config::nearest(&name, names) {
            Some(near) => format!("did you mean /personality {near}?"),
            None => "/personality lists them".to_owned(),
        };
        return Err(Complaint::bad_request(format!("there is no personality {name}")).hint(hint));
    }
    order.keep("display.personality", &name)?;
    output.line(match name.as_str() {
        "" => "From your next message on the agent speaks as it does by itself.".to_owned(),
        name => format!("From your next message on the agent speaks in the manner of {name}."),
    })?;
    let name = Some(name);
    let op = Op::SetPersonality { name: name.clone() };
    conversation.adjust(|manner| manner.personality = name, op);
    Ok(Next::Nothing)
}

fn print_effort(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let config = &conversation.house.models.loaded.config;
    let now = conversation.manner().effort;
    let now = now.or_else(|| effort_level(config.agent.reasoning_effort));
    let known = LEVELS.iter().find(|level| effort_level(**level) == now);
    let word = match (now, known) {
        (Some(_), Some(level)) => level.word(),
        _ => "left to the model",
    };
    let levels: Vec<&str> = LEVELS.iter().map(|level| level.word()).collect();
    output.line(format!("Effort: {word}. Levels: {}.", levels.join(", ")))?;
    Ok(())
}

/// `/reasoning [level|show|hide|full|clamp] [--global]`
pub(super) fn reasoning(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let mut words: Vec<&str> = order.arguments.split_whitespace().collect();
    let before = words.len();
    words.retain(|word| *word != "--global");
    let for_good = words.len() < before;
    let conversation = order.conversation;
    match words.as_slice() {
        [] => {
            print_effort(order, output)?;
            Ok(Next::Nothing)
        }
        [shown @ ("show" | "hide" | "full" | "clamp")] => {
            // Who says how much is to be seen wants to see it.
            let whole = match *shown {
                "full" => Some("true"),
                "clamp" => Some("false"),
                _ => None,
            };
            if for_good {
                let seen = if *shown == "hide" { "false" } else { "true" };
                order.keep("display.show_reasoning", seen)?;
            }
            if let (true, Some(whole)) = (for_good, whole) {
                order.keep("display.reasoning_full", whole)?;
            }
            if order.place == Place::Prompt {
                output
                    .line("Thoughts are shown on the screen only: hermes chat without --plain.")?;
                return Ok(Next::Nothing);
            }
            Ok(Next::OnScreen("reasoning", (*shown).to_owned()))
        }
        [word] => {
            let level = LEVELS.into_iter().find(|level| level.word() == *word);
            let Some(level) = level else {
                let known = LEVELS.iter().map(|level| level.word());
                let hint = match hermes_config::nearest(word, known) {
                    Some(near) => format!("did you mean /reasoning {near}?"),
                    None => "/reasoning lists the levels".to_owned(),
                };
                return Err(Complaint::bad_request(format!("there is no effort {word}")).hint(hint));
            };
            if for_good {
                order.keep("agent.reasoning_effort", level.word())?;
            }
            let effort = effort_level(level);
            conversation.adjust(|manner| manner.effort = effort, Op::SetEffort { effort });
            output.line(format!("The model thinks with effort {word} now."))?;
            Ok(Next::Nothing)
        }
        _ => Err(Complaint::bad_request("that is more than one wish")
            .hint("/reasoning high, /reasoning show, or /reasoning high --global")),
    }
}
