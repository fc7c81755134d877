//! `hermes profile list`, `show` and `info`

use std::io;
use std::path::Path;

use hermes_config::{Distribution, DistributionError, EnvFile, EnvName, Home, ProfileError};
use serde_json::json;

use super::Desk;
use super::facts::{Facts, Installed};
use crate::complaint::Outcome;
use crate::output::{Output, Style};
use crate::table::{Table, cut};

const NOTHING: &str = "—";

pub(super) fn list(desk: &Desk<'_>, json: bool, output: &mut Output) -> Outcome {
    let mut profiles = Vec::new();
    for name in desk.profiles.names()? {
        profiles.push(Facts::of(&desk.profiles.existing(&name)?, desk)?);
    }
    if json {
        return Ok(output.json(&profiles)?);
    }
    let mut table = Table::new(["", "Profile", "Model", "Gateway", "Wrapper", "For"]);
    for facts in &profiles {
        let wrapper = facts.wrappers.first().map(Path::new);
        let wrapper = wrapper.and_then(Path::file_name).unwrap_or_default();
        table.row([
            if facts.in_use { "*" } else { "" }.to_owned(),
            facts.name.clone(),
            cut(facts.model.as_deref().unwrap_or(NOTHING), 32),
            facts
                .gateway_pid
                .map_or(NOTHING.to_owned(), |_| "running".to_owned()),
            filled(&wrapper.to_string_lossy()),
            cut(facts.description.as_deref().unwrap_or(NOTHING), 48),
        ]);
    }
    table.print(output)?;
    let active = profiles.iter().find(|facts| facts.active);
    if let Some(active) = active.filter(|facts| !facts.in_use) {
        let text = format!("{} is active; this run uses another one.", active.name);
        output.line(output.paint(Style::Faint, &text))?;
    }
    Ok(())
}

pub(super) fn show(
    desk: &Desk<'_>,
    name: Option<&str>,
    json: bool,
    output: &mut Output,
) -> Outcome {
    let facts = Facts::of(&desk.existing(name)?, desk)?;
    if json {
        return Ok(output.json(&facts)?);
    }
    let state = match (facts.in_use, facts.active) {
        (true, true) => "active and in use",
        (true, false) => "in use",
        (false, true) => "active",
        (false, false) => "not in use",
    };
    row(output, "Profile", &facts.name)?;
    row(output, "Home", &facts.home)?;
    row(output, "State", state)?;
    row(output, "For", facts.description.as_deref().unwrap_or(""))?;
    row(output, "Model", facts.model.as_deref().unwrap_or(""))?;
    let gateway = facts
        .gateway_pid
        .map(|pid| format!("running, process {pid}"));
    row(
        output,
        "Gateway",
        gateway.as_deref().unwrap_or("not running"),
    )?;
    row(output, "Skills", &facts.skills.to_string())?;
    row(output, "Wrapper", &facts.wrappers.join(", "))?;
    if let Some(installed) = &facts.distribution {
        row(output, "Installed", &origin(installed))?;
    }
    Ok(())
}

pub(super) fn info(
    desk: &Desk<'_>,
    name: Option<&str>,
    json: bool,
    output: &mut Output,
) -> Outcome {
    let home = desk.existing(name)?;
    let profile = home.profile().clone();
    let installed = Distribution::read(home.path())?.ok_or(ProfileError::from(
        DistributionError::NotInstalled { profile },
    ))?;
    let missing = missing_variables(&installed, &home)?;
    if json {
        let wanted: Vec<_> = installed
            .env_requires
            .iter()
            .map(|wanted| {
                json!({
                    "name": wanted.name,
                    "description": wanted.description,
                    "required": wanted.required,
                    "default": wanted.default,
                    "set": !missing.contains(&wanted.name),
                })
            })
            .collect();
        return Ok(output.json(&json!({
            "profile": home.profile().as_str(),
            "name": installed.name,
            "version": installed.version,
            "description": installed.description,
            "author": installed.author,
            "license": installed.license,
            "hermes_requires": installed.hermes_requires,
            "source": installed.source,
            "env_requires": wanted,
        }))?);
    }
    row(output, "Profile", home.profile().as_str())?;
    describe(&installed, output)?;
    row(output, "Source", installed.source.as_deref().unwrap_or(""))?;
    if !missing.is_empty() {
        row(output, "Missing keys", &missing.join(", "))?;
    }
    Ok(())
}

/// What a distribution says about itself.
pub(super) fn describe(distribution: &Distribution, output: &mut Output) -> io::Result<()> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    row(output, "Distribution", &distribution.name)?;
    row(output, "Version", &text(&distribution.version))?;
    row(output, "For", &text(&distribution.description))?;
    row(output, "Author", &text(&distribution.author))?;
    row(output, "Licence", &text(&distribution.license))?;
    row(output, "Needs hermes", &text(&distribution.hermes_requires))?;
    for wanted in &distribution.env_requires {
        let need = if wanted.required { "" } else { " (optional)" };
        let about = wanted.description.as_deref().unwrap_or_default();
        row(
            output,
            "Needs key",
            &format!("{}{need} {about}", wanted.name),
        )?;
    }
    Ok(())
}

/// The variables a distribution cannot do without and that `.env` does not have.
pub(super) fn missing_variables(distribution: &Distribution, home: &Home) -> Outcome<Vec<String>> {
    let file = EnvFile::read(&home.env_file()).map_err(ProfileError::from)?;
    let is_set = |name: &str| {
        let name = EnvName::new(name).ok();
        file.as_ref()
            .zip(name)
            .is_some_and(|(file, name)| file.is_filled(&name))
    };
    let wanted = distribution.env_requires.iter();
    Ok(wanted
        .filter(|wanted| wanted.required && !is_set(&wanted.name))
        .map(|wanted| wanted.name.clone())
        .collect())
}

fn row(output: &mut Output, label: &str, value: &str) -> io::Result<()> {
    let label = output.paint(Style::Faint, &format!("{label:<12}"));
    let value: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    output.line(format!("{label} {}", filled(value.trim())))
}

fn filled(text: &str) -> String {
    if text.is_empty() { NOTHING } else { text }.to_owned()
}

fn origin(installed: &Installed) -> String {
    let version = installed.version.as_deref().unwrap_or_default();
    let source = installed.source.as_deref().unwrap_or("an unknown place");
    format!("{} {version} from {source}", installed.name)
}
