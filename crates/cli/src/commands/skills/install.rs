//! `hermes skills install` and `uninstall`.

use std::path::{Path, PathBuf};

use hermes_config::Variable;
use hermes_skills::guard::{Decision, Trust};
use hermes_skills::hub::{Bundle, Choice, Consent, Identifier, Plan, SkillName, Standing};

use super::ground::Ground;
use super::{Ended, show};
use crate::args::skills::InstallArgs;
use crate::complaint::Outcome;
use crate::output::{Output, one_line};

pub(super) fn run(args: &InstallArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    let choice = Choice {
        name: args.name.as_deref().map(SkillName::new).transpose()?,
        category: args.category.clone(),
    };
    let bundle = fetched(&args.skill, ground)?;
    let wishes = Wishes {
        force: args.force,
        yes: args.yes,
    };
    one(bundle, &choice, wishes, ground, output)
}

/// A skill by whatever names it. What is written like a path means a folder of this machine and nothing else.
pub(super) fn fetched(skill: &str, ground: &Ground<'_>) -> Outcome<Bundle> {
    let hub = ground.hub()?;
    let bundle = ground.wait(async {
        let identifier = match located(skill, ground) {
            Some(path) => Identifier::folder(&path)?,
            None => hub.resolve(skill).await?,
        };
        hub.fetch(&identifier).await
    })?;
    Ok(bundle?)
}

/// Where a path leads to, from the directory of the user.
fn located(text: &str, ground: &Ground<'_>) -> Option<PathBuf> {
    let text = text.trim();
    let packed = text.ends_with(".zip") && !text.contains("://");
    if !packed && !text.starts_with(['.', '/', '~']) {
        return None;
    }
    let home = ground.context.environment.filled(&Variable::HOME);
    let path = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => ground.context.directory().unwrap_or_default().join(text),
    };
    // `.` and `..` say nothing about where it is.
    Some(path.canonicalize().unwrap_or(path))
}

/// What the user said in advance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wishes {
    pub(super) force: bool,
    pub(super) yes: bool,
}

/// Installs a skill that was fetched.
pub(super) fn one(
    bundle: Bundle,
    choice: &Choice,
    wishes: Wishes,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let library = ground.library()?;
    // Several may be installed one after the other.
    library.forget();
    let plan = ground.hub()?.plan(bundle, choice, &library.catalog())?;
    describe(&plan, output)?;
    let question = format!(
        "Install {} from {}",
        plan.bundle.name, plan.bundle.origin.identifier
    );
    settle(plan, &question, wishes, ground, output)
}

/// Carries a plan out as the policy and the person say.
pub(super) fn settle(
    plan: Plan,
    question: &str,
    wishes: Wishes,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let hub = ground.hub()?;
    let (consent, question) = match plan.decision {
        Decision::Allow => (Consent::Usual, question.to_owned()),
        Decision::Ask => (
            Consent::Insisting,
            format!("{question} although it is dangerous"),
        ),
        Decision::Block { overridable: true } if wishes.force => (
            Consent::Insisting,
            format!("{question} although the guard advises against it"),
        ),
        Decision::Block { .. } => return Err(hub.refuse(&plan).into()),
    };
    // What came with the program needs no second thought.
    let is_ours = plan.bundle.origin.trust == Trust::Builtin && plan.decision == Decision::Allow;
    let fresh = plan.standing == Standing::Fresh;
    output.flush()?;
    let needs_no_yes = is_ours && fresh;
    if !needs_no_yes && !ground.agreed(&question, wishes.yes)? {
        return Ok(Ended::NeedsYes);
    }
    let done = hub.install(plan, consent)?;
    let word = if fresh { "Installed" } else { "Updated" };
    output.line(format!("{word} {} in {}.", done.name, done.path.display()))?;
    if let Some(kept) = done.kept {
        output.line(format!(
            "What you had changed is kept in {}.",
            kept.display()
        ))?;
    }
    if fresh {
        output.line(match hermes_agent::commands::find(&done.name) {
            None => format!("Use it with /{}, or let the agent find it.", done.name),
            Some(_) => format!(
                "Ask for what it is for: /{} is a command of the program.",
                done.name
            ),
        })?;
    }
    Ok(Ended::Done)
}

/// What would be installed.
pub(super) fn describe(plan: &Plan, output: &mut Output) -> Outcome {
    let bundle = &plan.bundle;
    let count = bundle.files().count();
    let bytes: usize = bundle.files().map(|(_, size)| size).sum();
    output.line(format!(
        "{}: {}",
        bundle.name,
        one_line(&bundle.skill().description)
    ))?;
    output.line(format!("from      {}", bundle.origin.identifier))?;
    output.line(format!(
        "files     {count}, {} in all",
        crate::size::show(bytes as u64)
    ))?;
    if !bundle.left_out().is_empty() {
        let left: Vec<String> = bundle.left_out().iter().map(ToString::to_string).collect();
        output.line(format!("left out  {}", one_line(&left.join(", "))))?;
    }
    show::report(&plan.report, bundle.origin.trust, output)
}

pub(super) fn uninstall(
    name: &str,
    yes: bool,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let hub = ground.hub()?;
    let name = hub.installed_as(name)?;
    let installed = hub.installed()?;
    let entry = installed.iter().find(|(other, _)| *other == name);
    let question = match entry.is_some_and(|(_, entry)| hub.is_modified(entry)) {
        true => format!("Remove {name}, which you have changed"),
        false => format!("Remove {name}"),
    };
    if !ground.agreed(&question, yes)? {
        output.line(format!("{name} would be removed."))?;
        return Ok(Ended::NeedsYes);
    }
    let removed = hub.uninstall(&name)?;
    output.line(format!("Removed {}.", removed.name))?;
    if let Some(kept) = removed.kept {
        output.line(format!(
            "What you had changed is kept in {}.",
            kept.display()
        ))?;
    }
    Ok(Ended::Done)
}
