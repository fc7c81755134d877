//! The page for people.

use std::io;

use super::facts::{Environment, Import, Jobs, Sessions};
use super::keys::Key;
use super::platforms::Messaging;
use super::{Checks, Report};
use crate::context::Context;
use crate::output::{Output, Style};
use crate::{size, when};

const NOT_SET: &str = "not set";

pub(super) fn print(
    report: &Report,
    all: bool,
    context: &Context,
    output: &mut Output,
) -> io::Result<()> {
    environment(&report.environment, output)?;
    heading("API keys", output)?;
    api_keys(&report.api_keys, all, output)?;
    if let Some(terminal) = &report.terminal {
        heading("Terminal", output)?;
        row("Backend", terminal.backend, output)?;
        if let Some(place) = &terminal.place {
            row("Runs in", place, output)?;
        }
        row("Directory", &terminal.directory, output)?;
        row(
            "Sudo",
            if terminal.sudo {
                "password set"
            } else {
                NOT_SET
            },
            output,
        )?;
    }
    heading("Messaging", output)?;
    messaging(&report.messaging, all, output)?;
    heading("Gateway", output)?;
    let gateway = report
        .gateway
        .pid
        .map(|pid| format!("running, process {pid}"));
    row("State", gateway.as_deref().unwrap_or("not running"), output)?;
    heading("Scheduled jobs", output)?;
    jobs(&report.jobs, output)?;
    heading("Sessions", output)?;
    sessions(&report.sessions, context, output)?;
    match &report.checks {
        Some(checks) => self::checks(checks, output),
        None => Ok(()),
    }
}

fn environment(environment: &Environment, output: &mut Output) -> io::Result<()> {
    let title = output.paint(Style::Strong, "Environment");
    output.line(title)?;
    row("Version", environment.version, output)?;
    row(
        "Home",
        environment.home.as_deref().unwrap_or("none"),
        output,
    )?;
    if let Some(profile) = &environment.profile {
        row("Profile", profile, output)?;
        row(
            ".env file",
            if environment.env_file {
                "there"
            } else {
                "none"
            },
            output,
        )?;
    }
    if let Some(problem) = &environment.problem {
        return problem_row(problem, output);
    }
    row(
        "Model",
        environment.model.as_deref().unwrap_or(NOT_SET),
        output,
    )?;
    row(
        "Provider",
        environment.provider.as_deref().unwrap_or(NOT_SET),
        output,
    )?;
    match environment.settings_errors {
        0 => Ok(()),
        1 => problem_row(
            "1 setting cannot be used; hermes config check names it",
            output,
        ),
        errors => problem_row(
            &format!("{errors} settings cannot be used; hermes config check names them"),
            output,
        ),
    }
}

fn api_keys(keys: &[Key], all: bool, output: &mut Output) -> io::Result<()> {
    for key in keys.iter().filter(|key| key.set || all) {
        let value = key.masked.as_deref().unwrap_or(NOT_SET);
        row(key.provider, &format!("{value:<10} {}", key.name), output)?;
    }
    let missing = keys.iter().filter(|key| !key.set).count();
    if all {
        return Ok(());
    }
    rest("have no key", missing, keys.len(), output)
}

fn messaging(platforms: &[Messaging], all: bool, output: &mut Output) -> io::Result<()> {
    for platform in platforms
        .iter()
        .filter(|platform| platform.configured || all)
    {
        let value = if platform.configured {
            "set up"
        } else {
            "not set up"
        };
        row(platform.label, value, output)?;
    }
    let missing = platforms
        .iter()
        .filter(|platform| !platform.configured)
        .count();
    if all {
        return Ok(());
    }
    rest("are not set up", missing, platforms.len(), output)
}

/// What was left out of a list, and why.
fn rest(why: &str, missing: usize, of: usize, output: &mut Output) -> io::Result<()> {
    let text = match missing {
        0 => return Ok(()),
        _ if missing == of => format!("  all {of} {why}; --all lists them"),
        _ => format!("  {missing} more {why}; --all lists them"),
    };
    output.line(output.paint(Style::Faint, &text))
}

fn jobs(jobs: &Jobs, output: &mut Output) -> io::Result<()> {
    if let Some(problem) = &jobs.problem {
        return problem_row(problem, output);
    }
    let paused = match jobs.paused {
        0 => String::new(),
        paused => format!(", {paused} of them paused"),
    };
    row("Jobs", &format!("{}{paused}", jobs.total), output)
}

fn sessions(sessions: &Sessions, context: &Context, output: &mut Output) -> io::Result<()> {
    if let Some(problem) = &sessions.problem {
        return problem_row(problem, output);
    }
    row("Total", &sessions.total.to_string(), output)?;
    if let Some(last) = sessions.last_active {
        row(
            "Last active",
            &when::since(last, context.clock().as_ref()),
            output,
        )?;
    }
    row("Database", &size::show(sessions.database_bytes), output)?;
    match sessions.import {
        Import::None => Ok(()),
        Import::Done => row("Imported", "all of state.db", output),
        Import::Failed => problem_row("state.db could not be imported", output),
    }
}

fn checks(checks: &Checks, output: &mut Output) -> io::Result<()> {
    heading("Checks", output)?;
    for (label, found) in [
        ("Database", &checks.database),
        ("Settings", &checks.settings),
    ] {
        if found.is_empty() {
            styled_row(label, "nothing is wrong", Style::Good, output)?;
        }
        for finding in found {
            styled_row(label, finding, Style::Bad, output)?;
        }
    }
    Ok(())
}

fn heading(text: &str, output: &mut Output) -> io::Result<()> {
    output.line("")?;
    output.line(output.paint(Style::Strong, text))
}

fn row(label: &str, value: &str, output: &mut Output) -> io::Result<()> {
    output.line(format!("  {label:<20} {}", visible(value)).trim_end())
}

fn styled_row(label: &str, value: &str, style: Style, output: &mut Output) -> io::Result<()> {
    let value = output.paint(style, &visible(value));
    output.line(format!("  {label:<20} {value}"))
}

fn problem_row(problem: &str, output: &mut Output) -> io::Result<()> {
    styled_row("Problem", problem, Style::Bad, output)
}

/// Words of a file must not move the cursor.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
