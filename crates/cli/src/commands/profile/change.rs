//! `hermes profile use`, `delete`, `describe`, `alias` and `rename`

use hermes_config::{Home, ProfileError, ProfileName};

use super::{Desk, notes, parse};
use crate::args::profile::DescribeArgs;
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

pub(super) fn activate(desk: &Desk<'_>, name: &str, output: &mut Output) -> Outcome {
    let home = desk.profiles.activate(&parse(name)?)?;
    output.line(format!(
        "Profile {} is active now, home {}",
        home.profile(),
        home.path().display()
    ))?;
    // HERMES_HOME may be stronger than the choice that was just made.
    if let Ok(next) = Home::resolve(None, &desk.context.environment)
        && next.path() != home.path()
    {
        let text = format!(
            "HERMES_HOME points to profile {}; while it does, that one is used",
            next.profile()
        );
        notes::line(&text, output)?;
    }
    Ok(())
}

pub(super) fn delete(desk: &Desk<'_>, name: &str, yes: bool, output: &mut Output) -> Outcome {
    let name = parse(name)?;
    let home = desk.profiles.check_delete(&name)?;
    if !yes {
        ask::confirm(&format!(
            "delete profile {name} and everything in {}",
            home.path().display()
        ))?;
    }
    let was_active = desk.profiles.active()?.as_ref() == Some(&name);
    let left = desk.profiles.delete(&name, &desk.wrappers)?;
    output.line(format!("Deleted profile {name}"))?;
    if was_active {
        output.line("Profile default is active now")?;
    }
    Ok(notes::print(&left, output)?)
}

pub(super) fn describe(desk: &Desk<'_>, args: &DescribeArgs, output: &mut Output) -> Outcome {
    if args.auto || args.all || args.overwrite {
        return Err(Complaint::bad_request(
            "automatic descriptions need a model and come with the engine",
        )
        .hint("hermes profile describe NAME --text \"what it is for\""));
    }
    let home = desk.existing(args.name.as_deref())?;
    let name = home.profile();
    match &args.text {
        Some(text) => {
            desk.profiles.describe(&home, text)?;
            let done = if text.trim().is_empty() {
                format!("Profile {name} has no description now")
            } else {
                format!("Described profile {name}")
            };
            output.line(done)?;
        }
        None => match desk.profiles.description(&home)? {
            Some(text) => output.line(text)?,
            None => output.line(format!(
                "Profile {name} has no description; --text gives it one"
            ))?,
        },
    }
    Ok(())
}

pub(super) fn write_alias(
    desk: &Desk<'_>,
    name: &str,
    alias: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let home = desk.existing(Some(name))?;
    let path = desk
        .wrappers
        .write(alias.unwrap_or(home.profile().as_str()), &home)?;
    output.line(format!(
        "{} runs profile {}",
        path.display(),
        home.profile()
    ))?;
    if !desk.wrappers.are_on_path() {
        notes::line("its directory is not on PATH", output)?;
    }
    Ok(())
}

pub(super) fn remove_alias(
    desk: &Desk<'_>,
    name: &str,
    alias: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let home = desk.existing(Some(name))?;
    let path = desk
        .wrappers
        .remove(alias.unwrap_or(home.profile().as_str()), &home)?;
    Ok(output.line(format!("Removed {}", path.display()))?)
}

pub(super) fn rename(desk: &Desk<'_>, old: &str, new: &str, output: &mut Output) -> Outcome {
    let old = parse(old)?;
    let new = ProfileName::for_creation(new).map_err(ProfileError::from)?;
    let made = desk.profiles.rename(&old, &new, &desk.wrappers)?;
    output.line(format!(
        "Profile {old} is called {new} now, home {}",
        made.home.path().display()
    ))?;
    Ok(notes::print(&made.notes, output)?)
}
