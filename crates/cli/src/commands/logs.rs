//! `hermes logs`

mod backwards;
mod filter;
mod follow;
mod list;
mod record;
mod tail;

use std::io::Write;
use std::path::{Path, PathBuf};

use hermes_core::{Failure, FailureKind};

use crate::args::logs::{LogChoice, LogsArgs};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;
use filter::Filter;
use record::{Form, Grouping};

pub(crate) fn run(args: &LogsArgs, context: &Context, output: &mut Output) -> Outcome {
    let folder = context.home()?.logs_dir();
    let Some(log) = Log::of(args.log_name, &folder) else {
        return list::list(args, context, output);
    };
    let filter = Filter::new(args, context)?;
    let form = match args.json {
        true => Form::Json(context.zone()),
        false => Form::Text,
    };
    let found = tail::tail(&log, &filter, args.lines).map_err(unreadable(&log.path))?;
    if found.end.is_none() {
        if !args.follow {
            return Err(Complaint::new(
                FailureKind::NotFound,
                format!("there is no {}", log.path.display()),
            )
            .hint("nothing was logged there yet; hermes logs list shows what there is"));
        }
        writeln!(std::io::stderr(), "waiting for {}", log.path.display())?;
    }
    for record in &found.records {
        form.print(record, output)?;
    }
    output.flush()?;
    if args.follow {
        follow::follow(&log, found.end, &filter, form, output)?;
    }
    Ok(())
}

/// One log: its current file, and how its lines belong together.
struct Log {
    path: PathBuf,
    grouping: Grouping,
}

impl Log {
    fn of(choice: LogChoice, folder: &Path) -> Option<Self> {
        let (name, grouping) = match choice {
            LogChoice::Agent => ("agent.log", Grouping::Records),
            LogChoice::Errors => ("errors.log", Grouping::Records),
            LogChoice::Gateway => ("gateway.log", Grouping::Records),
            LogChoice::Gui => ("gui.log", Grouping::Records),
            LogChoice::Desktop => ("desktop.log", Grouping::Records),
            // What servers print to standard error has no form of its own.
            LogChoice::Mcp => ("mcp-stderr.log", Grouping::Lines),
            LogChoice::List => return None,
        };
        Some(Self {
            path: folder.join(name),
            grouping,
        })
    }

    /// The current file and the older ones, newest first.
    fn files(&self) -> Vec<PathBuf> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!("{name}.");
        let entries = self.path.parent().map(std::fs::read_dir);
        let mut numbered: Vec<(u32, PathBuf)> = entries
            .into_iter()
            .flatten()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let number = name.to_str()?.strip_prefix(&prefix)?.parse().ok()?;
                Some((number, entry.path()))
            })
            .collect();
        numbered.sort();
        let older = numbered.into_iter().map(|(_, path)| path);
        std::iter::once(self.path.clone()).chain(older).collect()
    }
}

/// An error of reading, which must not be taken for one of printing.
fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> Complaint {
    let message = format!("{} could not be read", path.display());
    move |error| Complaint::Failed(Failure::new(FailureKind::Unavailable, message).because(error))
}
