//! Which records are shown.

use jiff::{SignedDuration, Timestamp, Zoned};

use super::record::Record;
use crate::args::logs::{Component, LevelChoice, LogsArgs};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::logging::line::Level;
use crate::when;

/// Local times jump when summer ends, and processes write side by side: records may be this much out
/// of order.
const DISORDER: SignedDuration = SignedDuration::from_hours(2);

/// Everything that must hold for a record to be shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    level: Option<Level>,
    session: Option<String>,
    /// In the time zone the log is written in.
    since: Option<Zoned>,
    component: Option<Component>,
}

impl Filter {
    pub(super) fn new(args: &LogsArgs, context: &Context) -> Outcome<Self> {
        let level = args.level.map(|level| match level {
            LevelChoice::Debug => Level::Debug,
            LevelChoice::Info => Level::Info,
            LevelChoice::Warning => Level::Warning,
            LevelChoice::Error => Level::Error,
            LevelChoice::Critical => Level::Critical,
        });
        let since = args
            .since
            .as_deref()
            .map(|text| since(text, context))
            .transpose()?
            .map(|moment| moment.to_zoned(context.zone().clone()));
        Ok(Self {
            level,
            session: args.session.clone(),
            since,
            component: args.component,
        })
    }

    /// A line without form says nothing about level, session or time, so any filter leaves it out.
    pub(super) fn lets_through(&self, record: &Record) -> bool {
        let Some(header) = &record.header else {
            return self.is_open();
        };
        let session = header.session.as_deref().unwrap_or_default();
        self.level.is_none_or(|least| header.level >= least)
            && self
                .session
                .as_deref()
                .is_none_or(|wanted| session.contains(wanted))
            && self
                .component
                .is_none_or(|component| belongs_to(&header.logger, component))
            && self.since.as_ref().is_none_or(|since| {
                let moment = header.moment(since.time_zone());
                moment.is_some_and(|moment| moment >= since.timestamp())
            })
    }

    /// Whether nothing before this record can pass.
    pub(super) fn is_past(&self, record: &Record) -> bool {
        let Some((since, header)) = self.since.as_ref().zip(record.header.as_ref()) else {
            return false;
        };
        let moment = header.moment(since.time_zone());
        moment.is_some_and(|moment| moment.duration_until(since.timestamp()) > DISORDER)
    }

    fn is_open(&self) -> bool {
        self.level.is_none()
            && self.session.is_none()
            && self.since.is_none()
            && self.component.is_none()
    }
}

fn since(text: &str, context: &Context) -> Outcome<Timestamp> {
    let now = context.clock().now();
    let seconds = text.trim().strip_suffix('s').map(str::trim);
    if let Some(seconds) = seconds.and_then(|count| count.parse::<u32>().ok()) {
        let moment = now.checked_sub(SignedDuration::from_secs(seconds.into()));
        return Ok(moment.unwrap_or(Timestamp::MIN));
    }
    let moment = when::parse(text, context.clock().as_ref())?;
    Ok(Timestamp::from_millisecond((moment * 1_000.0) as i64).unwrap_or(Timestamp::MIN))
}

/// Whether a logger is part of a component, in the names of this program and of the reference.
fn belongs_to(logger: &str, component: Component) -> bool {
    let parts: &[&str] = match component {
        Component::Gateway => &["gateway", "platforms", "hermes_plugins"],
        Component::Agent => &[
            "agent",
            "llm",
            "memory",
            "skills",
            "store",
            "run_agent",
            "model_tools",
            "batch_runner",
        ],
        Component::Tools => &["tools", "exec", "policy", "mcp", "browser", "web", "media"],
        Component::Cli => &["cli", "tui", "hermes_cli"],
        Component::Cron => &["cron"],
        Component::Gui => &[
            "gui",
            "server",
            "hermes_cli.web_server",
            "hermes_cli.pty_bridge",
            "tui_gateway",
            "uvicorn",
        ],
    };
    parts.iter().any(|part| {
        logger
            .strip_prefix(part)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_a_whole_word_of_the_logger() {
        let check = |logger, component, expected| {
            assert_eq!(belongs_to(logger, component), expected, "{logger}");
        };
        check("gateway.run", Component::Gateway, true);
        check("gateway_voice", Component::Gateway, false);
        check("run_agent", Component::Agent, true);
        check("hermes_cli.web_server", Component::Gui, true);
        check("cli.commands.backup", Component::Cli, true);
        check("cron.scheduler", Component::Tools, false);
    }
}
