//! Skills in a conversation: called for by name, listed, and changes of them let through.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hermes_core::Op;
use hermes_skills::{Bundle, CatalogEntry, NO_CATEGORY, best, bundles, commands, unusable};
use hermes_tools::SkillServices;

use super::{Next, Order, aside};
use crate::commands::chat::conversation::Conversation;
use crate::commands::skills::pending::{self, Decision};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::bundles_at;
use crate::output::{Output, printable};

/// Where these conversations take place.
const SURFACE: &str = "cli";
/// Most skills of one list.
const MOST_LISTED: usize = 200;

/// What can be called for by a slash: commands of skills with the names they stand for, and bundles.
#[derive(Debug, Clone, Default)]
pub(in crate::commands::chat) struct Callable {
    pub(in crate::commands::chat) skills: Vec<Skill>,
    pub(in crate::commands::chat) bundles: Vec<Bundle>,
}

/// A skill as a command.
#[derive(Debug, Clone)]
pub(in crate::commands::chat) struct Skill {
    pub(in crate::commands::chat) command: String,
    /// The name that means this one and no other.
    name: String,
    pub(in crate::commands::chat) about: String,
}

impl Callable {
    /// Looks at the disk, on a thread that may wait.
    pub(in crate::commands::chat) async fn find(
        conversation: &Conversation,
        context: &Context,
    ) -> Self {
        let library = conversation.house.hands.skills().library.clone();
        let found = aside::run(context, move |context| {
            let catalog = library.catalog();
            let (locality, settings) = (library.locality(), library.settings());
            let skills = commands(&catalog, locality, settings, SURFACE);
            Ok(Self {
                skills: skills
                    .into_iter()
                    .map(|(command, entry)| Skill {
                        command,
                        name: entry.full_name(),
                        about: entry.description.clone(),
                    })
                    .collect(),
                bundles: bundles(&bundles_at(context, context.home()?)),
            })
        });
        found.await.unwrap_or_default()
    }

    pub(super) fn skill_commands(&self) -> Vec<String> {
        self.skills
            .iter()
            .map(|skill| skill.command.clone())
            .collect()
    }

    pub(super) fn bundle_names(&self) -> Vec<String> {
        self.bundles
            .iter()
            .map(|bundle| bundle.name.clone())
            .collect()
    }

    /// What is sent for skills called for by their commands.
    pub(super) fn skills(&self, called: &[&str], text: &str) -> Next {
        let named = |command: &&str| self.skills.iter().find(|skill| skill.command == *command);
        let skills = called.iter().filter_map(named);
        let skills = skills.map(|skill| skill.name.clone()).collect();
        send(skills, String::new(), text)
    }

    /// What is sent for a bundle.
    pub(super) fn bundle(&self, name: &str, text: &str) -> Next {
        match self.bundles.iter().find(|bundle| bundle.name == name) {
            Some(bundle) => send(bundle.skills.clone(), bundle.instruction.clone(), text),
            None => Next::Nothing,
        }
    }
}

fn send(skills: Vec<String>, instruction: String, text: &str) -> Next {
    let text = text.to_owned();
    let op = Op::UseSkills {
        skills,
        instruction,
        text,
        media: Vec::new(),
    };
    Next::Send(op, None)
}

/// `/reload-skills`
pub(super) async fn reload(order: &Order<'_>, output: &mut Output) -> Outcome {
    let library = order.conversation.house.hands.skills().library.clone();
    let told = aside::run(order.context, move |_| {
        let before = library.last_seen();
        library.forget();
        let after = library.catalog();
        let names = |catalog: &hermes_skills::Catalog| -> Vec<String> {
            catalog
                .entries
                .iter()
                .map(CatalogEntry::full_name)
                .collect()
        };
        let (before, after) = (names(&before), names(&after));
        let differing = |these: &[String], those: &[String]| -> Vec<String> {
            these
                .iter()
                .filter(|name| !those.contains(name))
                .cloned()
                .collect()
        };
        let (new, gone) = (differing(&after, &before), differing(&before, &after));
        let mut told = format!("{} skills.", after.len());
        for (list, word) in [(new, "New"), (gone, "Gone")] {
            if !list.is_empty() {
                told.push_str(&format!(" {word}: {}.", list.join(", ")));
            }
        }
        Ok(told)
    });
    Ok(output.line(printable(&told.await?))?)
}

/// `/bundles`
pub(super) async fn list_bundles(order: &Order<'_>, output: &mut Output) -> Outcome {
    let callable = Callable::find(order.conversation, order.context).await;
    if callable.bundles.is_empty() {
        let folder = bundles_at(order.context, order.context.home()?);
        return Ok(output.line(format!(
            "There are no bundles. One is a file in {} with a name and a list of skills.",
            folder.display()
        ))?);
    }
    for bundle in &callable.bundles {
        let line = format!("/{}: {}", bundle.name, bundle.skills.join(", "));
        output.line(printable(&line))?;
        if !bundle.description.is_empty() {
            output.line(format!("  {}", printable(&bundle.description)))?;
        }
    }
    Ok(())
}

/// `/skills [list [CATEGORY]|find WORDS|pending|diff ID|approve ID|all|reject ID|all|approval on|off]`
pub(super) async fn skills(order: &Order<'_>, output: &mut Output) -> Outcome {
    let words: Vec<&str> = order.arguments.split_whitespace().collect();
    let services = order.conversation.house.hands.skills().clone();
    match words.as_slice() {
        [] | ["list"] => list(order, services, None, None, output).await,
        ["list", category] => {
            let category = Some((*category).to_owned());
            list(order, services, category, None, output).await
        }
        ["find", words @ ..] if !words.is_empty() => {
            let query = Some(words.join(" "));
            list(order, services, None, query, output).await
        }
        ["pending"] => pending(order, services, output).await,
        ["diff", id] => decide(order, services, id, Decision::Show, output).await,
        ["approve", id] => decide(order, services, id, Decision::Approve, output).await,
        ["reject", id] => decide(order, services, id, Decision::Reject, output).await,
        ["approval"] => {
            let on = services.approval.load(Ordering::Relaxed);
            Ok(output.line(approval(on))?)
        }
        ["approval", word @ ("on" | "off")] => {
            let on = *word == "on";
            order.keep("skills.write_approval", if on { "true" } else { "false" })?;
            services.approval.store(on, Ordering::Relaxed);
            Ok(output.line(approval(on))?)
        }
        _ => Err(Complaint::bad_request("/skills cannot do that").hint(
            "/skills list, find WORDS, search WORDS, install NAME, pending, diff ID, approve ID, reject ID, approval on or approval off",
        )),
    }
}

fn approval(on: bool) -> &'static str {
    match on {
        true => "You are asked before a skill is changed.",
        false => "Skills are changed without asking you.",
    }
}

async fn list(
    order: &Order<'_>,
    services: Arc<SkillServices>,
    category: Option<String>,
    query: Option<String>,
    output: &mut Output,
) -> Outcome {
    aside::print(order.context, output, move |_, output| {
        let library = &services.library;
        let catalog = library.catalog();
        let usable = catalog.entries.iter().filter(|entry| {
            unusable(entry, library.locality(), library.settings(), SURFACE).is_none()
        });
        let mut shown: Vec<&CatalogEntry> = usable
            .filter(|entry| {
                category
                    .as_deref()
                    .is_none_or(|name| entry.shown_category() == name)
            })
            .collect();
        if let Some(query) = &query {
            shown = best(&shown, query);
        }
        if shown.is_empty() {
            let none = match (&category, &query) {
                (None, None) => "There are no skills; /skills search WORDS looks for some.",
                (Some(_), _) | (None, Some(_)) => "There is no such skill.",
            };
            return Ok(output.line(none)?);
        }
        let mut last = "";
        for entry in shown.iter().take(MOST_LISTED) {
            let category = entry.shown_category();
            if query.is_none() && category != last {
                let about = catalog.categories.get(category).map_or("", String::as_str);
                let head = format!("{category}  {about}");
                output.line(printable(head.trim_end()))?;
            }
            last = category;
            let place = match (&query, category) {
                (Some(_), category) if category != NO_CATEGORY => format!(" ({category})"),
                _ => String::new(),
            };
            let line = format!("  {}{place}: {}", entry.name, entry.description);
            output.line(printable(&line))?;
        }
        match shown.len().saturating_sub(MOST_LISTED) {
            0 => Ok(()),
            more => Ok(output.line(format!("and {more} more; /skills find WORDS finds them"))?),
        }
    })
    .await
}

async fn pending(order: &Order<'_>, services: Arc<SkillServices>, output: &mut Output) -> Outcome {
    aside::print(order.context, output, move |_, output| {
        pending::list(&services.staging, "/skills", output)
    })
    .await
}

async fn decide(
    order: &Order<'_>,
    services: Arc<SkillServices>,
    id: &str,
    decision: Decision,
    output: &mut Output,
) -> Outcome {
    let id = id.to_owned();
    aside::print(order.context, output, move |_, output| {
        pending::decide(&services, &id, decision, output)
    })
    .await
}
