//! `hermes profile install` and `update`

use hermes_config::{
    ConfigFile, Distribution, DistributionError, Home, Made, Note, Payload, ProfileError,
    ProfileName,
};

use super::create::give_wrapper;
use super::git::Source;
use super::{Desk, notes, parse, show};
use crate::args::profile::InstallArgs;
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn install(desk: &Desk<'_>, args: &InstallArgs, output: &mut Output) -> Outcome {
    let source = Source::parse(&args.source)?;
    let staging = desk.profiles.staging()?;
    let payload = Payload::read(&source.fetch(&staging, &desk.context.environment)?)?;
    let name = match &args.name {
        Some(name) => ProfileName::for_creation(name),
        None => Ok(payload
            .manifest
            .profile_name()
            .map_err(ProfileError::from)?),
    };
    let name = name.map_err(ProfileError::from)?;
    let is_there = desk.profiles.existing(&name).is_ok();
    if is_there && !args.force {
        let complaint = Complaint::from(ProfileError::Exists { profile: name });
        return Err(complaint.hint("choose another name with --name, or --force installs over it"));
    }
    present(&payload, output)?;
    if !args.yes {
        ask::confirm(&format!("install it as profile {name}"))?;
    }
    let made = if is_there {
        let config = ConfigFile::Kept;
        desk.profiles
            .update(&payload, &name, source.text(), config)?
    } else {
        desk.profiles.install(&payload, &name, source.text())?
    };
    output.line(format!(
        "Installed profile {name} at {}",
        made.home.path().display()
    ))?;
    finish(&made, &payload, output)?;
    if args.alias {
        give_wrapper(desk, &made.home, output)?;
    }
    Ok(())
}

pub(super) fn update(
    desk: &Desk<'_>,
    name: &str,
    force_config: bool,
    yes: bool,
    output: &mut Output,
) -> Outcome {
    let home = desk.profiles.existing(&parse(name)?)?;
    let source = Source::parse(&recorded_source(&home)?)?;
    let staging = desk.profiles.staging()?;
    let payload = Payload::read(&source.fetch(&staging, &desk.context.environment)?)?;
    present(&payload, output)?;
    if !yes {
        ask::confirm(&format!("update profile {}", home.profile()))?;
    }
    let config = if force_config {
        ConfigFile::Replaced
    } else {
        ConfigFile::Kept
    };
    let made = desk
        .profiles
        .update(&payload, home.profile(), source.text(), config)?;
    output.line(format!("Updated profile {}", home.profile()))?;
    finish(&made, &payload, output)
}

fn recorded_source(home: &Home) -> Result<String, ProfileError> {
    let profile = home.profile().clone();
    let installed = Distribution::read(home.path())?;
    let installed = installed.ok_or_else(|| DistributionError::NotInstalled {
        profile: profile.clone(),
    })?;
    Ok(installed
        .source
        .ok_or(DistributionError::NoSource { profile })?)
}

/// Shows what somebody is about to trust, before they are asked.
fn present(payload: &Payload, output: &mut Output) -> Outcome {
    show::describe(&payload.manifest, output)?;
    output.line(format!("Brings       {}", payload.contents().join(", ")))?;
    if !payload.manifest.accepts(VERSION) {
        let note = Note::WrongVersion {
            wanted: payload.manifest.hermes_requires.clone().unwrap_or_default(),
            ours: VERSION.to_owned(),
        };
        notes::print(&[note], output)?;
    }
    Ok(output.flush()?)
}

fn finish(made: &Made, payload: &Payload, output: &mut Output) -> Outcome {
    notes::print(&made.notes, output)?;
    let missing = show::missing_variables(&payload.manifest, &made.home)?;
    if !missing.is_empty() {
        let text = format!(
            "it needs {} in {}",
            missing.join(", "),
            made.home.env_file().display()
        );
        notes::line(&text, output)?;
    }
    Ok(())
}
