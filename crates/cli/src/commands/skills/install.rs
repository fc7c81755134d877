//! `hermes skills install` and `uninstall`.

use hermes_skills::guard::{Decision, Trust};
use hermes_skills::hub::{Bundle, Choice, Consent, Plan, SkillName, Standing};

use super::ground::Ground;
use super::{Ended, show};
use crate::args::skills::InstallArgs;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};

/// What makes a folder a skill.
const SKILL_FILE: &str = "SKILL.md";

pub(super) fn run(args: &InstallArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    refuse_folder(&args.skill, ground)?;
    let hub = ground.hub()?;
    let choice = Choice {
        name: args.name.as_deref().map(SkillName::new).transpose()?,
        category: args.category.clone(),
    };
    let bundle = ground.wait(async {
        let identifier = hub.resolve(&args.skill).await?;
        hub.fetch(&identifier).await
    })??;
    let wishes = Wishes {
        force: args.force,
        yes: args.yes,
    };
    one(bundle, &choice, wishes, ground, output)
}

/// A skill that lies on this machine needs no hub: it is put where skills are. What is written like a path cannot be
/// anything else.
fn refuse_folder(text: &str, ground: &Ground<'_>) -> Outcome {
    let is_path = text.starts_with(['.', '/', '~']);
    let folder = ground.context.directory().unwrap_or_default().join(text);
    let folder = match folder.ends_with(SKILL_FILE) {
        true => folder.parent().unwrap_or(&folder).to_owned(),
        false => folder,
    };
    if !is_path || !folder.join(SKILL_FILE).is_file() {
        return Ok(());
    }
    // `.` and `..` say nothing about where it is.
    let folder = folder.canonicalize().unwrap_or(folder);
    let above = folder.parent().unwrap_or(&folder);
    let message = format!("{text} is a folder of yours, and skills are installed from elsewhere");
    let hint = format!(
        "cp -r {} {} makes it a skill here; or add {} to skills.external_dirs, where it stays yours to change",
        folder.display(),
        ground.library()?.own().display(),
        above.display(),
    );
    Err(Complaint::bad_request(message).hint(hint))
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
        output.line(format!(
            "Use it with /{}, or let the agent find it.",
            done.name
        ))?;
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
    let installed = hub.installed()?;
    let entry = installed.iter().find(|(other, _)| other == name);
    let changed = entry.is_some_and(|(_, entry)| hub.is_modified(entry));
    let question = match (entry, changed) {
        (Some(_), true) => format!("Remove {name}, which you have changed"),
        (Some(_), false) => format!("Remove {name}"),
        // The refusal says more than a question.
        (None, _) => {
            hub.uninstall(name)?;
            return Ok(Ended::Done);
        }
    };
    if !ground.agreed(&question, yes)? {
        output.line(format!("{name} would be removed."))?;
        return Ok(Ended::NeedsYes);
    }
    let removed = hub.uninstall(name)?;
    output.line(format!("Removed {}.", removed.name))?;
    if let Some(kept) = removed.kept {
        output.line(format!(
            "What you had changed is kept in {}.",
            kept.display()
        ))?;
    }
    Ok(Ended::Done)
}
