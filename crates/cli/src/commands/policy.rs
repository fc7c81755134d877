//! `hermes policy`: what commands may do, and what was decided about them.

use hermes_policy::{Isolation, Judgement, Severity, Surroundings, Verdict, catalogue, judge};
use serde_json::json;

use crate::args::policy::{PolicyArgs, PolicyCommand};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};
use crate::table::Table;
use crate::when::show;

pub(crate) fn run(args: PolicyArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command {
        PolicyCommand::Check { json, command } => check(&command.join(" "), json, context, output),
        PolicyCommand::Rules { json } => rules(json, output),
        PolicyCommand::Log {
            session,
            limit,
            json,
        } => log(session.as_deref(), limit, json, context, output),
    }
}

fn check(command: &str, as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let judgement = judge(
        command,
        &Surroundings {
            home: context.environment.filled("HOME").unwrap_or("/").to_owned(),
            product_home: context.home()?.path().display().to_string(),
            cwd: context
                .directory()
                .unwrap_or_default()
                .display()
                .to_string(),
            own_pid: None,
            isolation: Isolation::None,
        },
    );
    if as_json {
        return Ok(output.json(&json!(judgement))?);
    }
    output.line(format!(
        "{}{}",
        word(judgement.verdict),
        because(&judgement)
    ))?;
    for finding in &judgement.findings {
        let part = command
            .get(finding.span.start..finding.span.end)
            .unwrap_or(command);
        output.line(format!(
            "  {}: it {} ({})",
            finding.category,
            finding.reason,
            one_line(part)
        ))?;
    }
    Ok(())
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn because(judgement: &Judgement) -> &'static str {
    match judgement.verdict {
        Verdict::Allow => ": nothing in it needs asking",
        Verdict::Ask => ": somebody is asked first",
        Verdict::Deny => ": it never runs, whoever allows it",
    }
}

fn rules(as_json: bool, output: &mut Output) -> Outcome {
    let rules = catalogue();
    if as_json {
        return Ok(output.json(&json!({ "rules": rules }))?);
    }
    let mut table = Table::new(["CATEGORY", "THEN", "A COMMAND THAT"]);
    for rule in rules {
        let then = match rule.severity {
            Severity::Ask => "ask",
            Severity::Hard => "deny",
        };
        table.row([
            rule.category.to_owned(),
            then.to_owned(),
            rule.reason.to_owned(),
        ]);
    }
    Ok(table.print(output)?)
}

fn log(
    session: Option<&str>,
    limit: u32,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let store = context.store()?;
    let session = session.map(|name| store.resolve(name).wait()).transpose()?;
    let decisions = store.decisions(session.as_ref(), limit).wait()?;
    if as_json {
        return Ok(output.json(&json!({ "decisions": decisions }))?);
    }
    let mut table = Table::new(["WHEN", "OUTCOME", "BY", "CATEGORIES", "WHAT"]);
    for decision in decisions {
        table.row([
            show(decision.at),
            json!(decision.outcome)
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            decision.decided_by,
            decision.categories.join(", "),
            one_line(&decision.action).chars().take(80).collect(),
        ]);
    }
    Ok(table.print(output)?)
}
