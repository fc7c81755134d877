//! `hermes security audit`: what is known against the packages that MCP servers are started from.

use hermes_config::Loaded;
use hermes_core::FailureKind;
use hermes_mcp::{Advisory, Package, Server, Severity};
use serde_json::{Value as Json, json};

use crate::args::security::{AuditArgs, Level, SecurityArgs, SecurityCommand};
use crate::commands::chat::runtime;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::network;
use crate::output::{Output, Style, one_line};
use crate::servers::osv;
use crate::table::{Table, cut};

/// Widest summary that is shown.
const WIDEST: usize = 70;

pub(crate) fn run(args: SecurityArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command {
        SecurityCommand::Audit(args) => audit(&args, context, output),
    }
}

/// A package of a server.
struct Use {
    server: String,
    package: Package,
}

/// What came of one question.
struct Asked {
    used: Use,
    found: Result<Vec<Advisory>, String>,
}

fn audit(args: &AuditArgs, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let uses = match args.skip_mcp {
        true => Vec::new(),
        false => uses(&loaded),
    };
    let (pinned, open): (Vec<Use>, Vec<Use>) = uses
        .into_iter()
        .partition(|one| one.package.version.is_some());
    let asked = ask(pinned, context, &loaded)?;
    match args.json {
        true => output.json(&as_json(&asked, &open))?,
        false => show(args, &asked, &open, output)?,
    }
    output.flush()?;
    judge(args.fail_on, &asked)
}

/// The packages of all entries, of those that are switched off as well.
fn uses(loaded: &Loaded) -> Vec<Use> {
    let servers = Server::configured(loaded).into_iter();
    let uses = servers.flat_map(|server| {
        let settings = server.settings();
        // An address counts before a program.
        let packages = match settings.url.trim().is_empty() {
            true => Package::all_of(&settings.command, &settings.args),
            false => Vec::new(),
        };
        let server = server.name().to_owned();
        packages.into_iter().map(move |package| Use {
            server: server.clone(),
            package,
        })
    });
    uses.collect()
}

fn ask(pinned: Vec<Use>, context: &Context, loaded: &Loaded) -> Outcome<Vec<Asked>> {
    if pinned.is_empty() {
        return Ok(Vec::new());
    }
    let network = network::announced(loaded, context)?;
    let osv = osv(context, loaded, network, None)?;
    runtime()?.block_on(async {
        let mut asked = Vec::new();
        for used in pinned {
            let found = osv.advisories(&used.package).await;
            asked.push(Asked { used, found });
        }
        Ok(asked)
    })
}

fn as_json(asked: &[Asked], open: &[Use]) -> Json {
    let about = |used: &Use| {
        json!({
            "server": used.server,
            "ecosystem": used.package.ecosystem.word(),
            "package": used.package.name,
            "version": used.package.version,
        })
    };
    let packages = asked.iter().map(|one| {
        let mut row = about(&one.used);
        match &one.found {
            Ok(found) => row["advisories"] = json!(found),
            Err(why) => row["error"] = json!(why),
        }
        row
    });
    json!({
        "packages": packages.collect::<Vec<_>>(),
        "unpinned": open.iter().map(about).collect::<Vec<_>>(),
    })
}

fn show(args: &AuditArgs, asked: &[Asked], open: &[Use], output: &mut Output) -> Outcome {
    if args.skip_mcp {
        let line = "MCP servers were left out; this program itself fetches no packages.";
        return Ok(output.line(line)?);
    }
    if asked.is_empty() && open.is_empty() {
        return Ok(output.line("No MCP server is started from a package.")?);
    }
    let mut table = Table::new(["SERVER", "PACKAGE", "SEVERITY", "ADVISORY", "ABOUT"]);
    let mut count = 0;
    for one in asked {
        for advisory in one.found.iter().flatten() {
            count += 1;
            table.row([
                one.used.server.clone(),
                one_line(&one.used.package.to_string()),
                advisory.severity.word().to_owned(),
                one_line(&advisory.id),
                cut(&one_line(&advisory.summary), WIDEST),
            ]);
        }
    }
    match count {
        0 => {
            let line = format!(
                "{} pinned, nothing is known against them",
                packages(asked.len())
            );
            output.line(output.paint(Style::Good, &line))?;
        }
        _ => table.print(output)?,
    }
    for one in asked {
        if let Err(why) = &one.found {
            let (server, package) = (&one.used.server, one.used.package.to_string());
            output.line(format!(
                "{server}: nobody could be asked about {}: {}",
                one_line(&package),
                one_line(why)
            ))?;
        }
    }
    for used in open {
        output.line(format!(
            "{}: {} is fetched in whatever version is newest; name one to have it looked up",
            used.server,
            one_line(&used.package.to_string())
        ))?;
    }
    Ok(())
}

fn packages(count: usize) -> String {
    match count {
        1 => "1 package is".to_owned(),
        count => format!("{count} packages are"),
    }
}

/// Whether that is a success.
fn judge(fail_on: Option<Level>, asked: &[Asked]) -> Outcome {
    if asked.iter().any(|one| one.found.is_err()) {
        return Err(Complaint::new(
            FailureKind::Unavailable,
            "not everything could be looked up",
        )
        .hint("try again, or set OSV_ENDPOINT to a list that can be reached"));
    }
    let Some(level) = fail_on.map(least) else {
        return Ok(());
    };
    let advisories = asked.iter().flat_map(|one| one.found.iter().flatten());
    match advisories.filter(|one| one.severity >= level).count() {
        0 => Ok(()),
        count => Err(Complaint::new(
            FailureKind::Refused,
            format!("{count} of them at {} or above", level.word()),
        )
        .hint("name another version in the entry of the server")),
    }
}

fn least(level: Level) -> Severity {
    match level {
        Level::Low => Severity::Low,
        Level::Moderate => Severity::Moderate,
        Level::High => Severity::High,
        Level::Critical => Severity::Critical,
    }
}
