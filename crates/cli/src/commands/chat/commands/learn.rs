//! `/learn …`: a skill of files, pages, or what was just done.

use hermes_agent::EXPLAINED;
use hermes_core::Op;

use super::{Next, Order};
use crate::complaint::{Complaint, Outcome};

const OF_THIS: &str = "Make a skill of what we just did in this conversation.";
const HOW: &str = "First take in all of it: files and folders with the tools for files, pages with those for the web, \
     earlier conversations with session_search. Look with skills_list whether a skill covers it already; if one does, \
     read it and extend it with skill_manage (patch), otherwise write one (create). The skill is for somebody who \
     does this kind of task without having seen the sources: when to use it, the steps that work with their exact \
     commands and values, what goes wrong and how to notice, how to check the result. Long material that is needed \
     word for word goes into files below references/. Leave out what is plain anyway, and every secret. Say at the \
     end what the skill is called and what you were not sure of.";

pub(super) fn learn(order: &Order<'_>) -> Outcome<Next> {
    let wish = match order.argument() {
        Some(sources) => format!("Make a skill of this: {sources}"),
        None if order.conversation.front().has_talked() => OF_THIS.to_owned(),
        None => {
            return Err(Complaint::bad_request(
                "nothing was said yet that a skill could be made of",
            )
            .hint("/learn FILE, /learn ADDRESS, or /learn alone after some work"));
        }
    };
    let op = Op::UserMessage {
        text: format!("{wish}{EXPLAINED}{HOW}"),
        media: Vec::new(),
    };
    Ok(Next::Send(op, None))
}
