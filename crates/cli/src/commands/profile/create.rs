//! `hermes profile create`

use hermes_config::{BundledSkills, Contents, Home, NewProfile, Note, ProfileError, ProfileName};

use super::{Desk, notes, parse};
use crate::args::profile::CreateArgs;
use crate::complaint::Outcome;
use crate::output::Output;

pub(super) fn create(desk: &Desk<'_>, args: &CreateArgs, output: &mut Output) -> Outcome {
    let source = match &args.clone_from {
        Some(name) => parse(name)?,
        None => desk.home.profile().clone(),
    };
    let contents = if args.clone_all {
        Contents::EverythingOf(source)
    } else if args.clone || args.clone_from.is_some() {
        Contents::SettingsOf(source)
    } else {
        Contents::Fresh
    };
    let name = ProfileName::for_creation(&args.name).map_err(ProfileError::from)?;
    let made = desk.profiles.create(&NewProfile {
        name,
        contents,
        skills: if args.no_skills {
            BundledSkills::Refused
        } else {
            BundledSkills::Wanted
        },
        description: args.description.clone(),
    })?;
    let name = made.home.profile();
    output.line(format!(
        "Made profile {name} at {}",
        made.home.path().display()
    ))?;
    notes::print(&made.notes, output)?;
    if !args.no_alias {
        give_wrapper(desk, &made.home, output)?;
    }
    output.line(format!(
        "hermes profile use {name} makes it the active one."
    ))?;
    Ok(())
}

/// Writes the wrapper of a new profile. The profile is fine without one, so a failure is only noted.
pub(super) fn give_wrapper(desk: &Desk<'_>, home: &Home, output: &mut Output) -> Outcome {
    match desk.wrappers.write(home.profile().as_str(), home) {
        Ok(path) => {
            output.line(format!("{} runs it", path.display()))?;
            if !desk.wrappers.are_on_path() {
                notes::line("its directory is not on PATH", output)?;
            }
        }
        Err(ProfileError::Wrapper(error)) => {
            notes::print(&[Note::NoWrapper(error)], output)?;
        }
        Err(error) => notes::line(&format!("no wrapper: {error}"), output)?,
    }
    Ok(())
}
