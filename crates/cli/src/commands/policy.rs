//! `hermes policy`: what commands may do, and what was decided about them.

use std::collections::BTreeSet;

use hermes_config::{ApprovalMode, Config, Variable};
use hermes_exec::isolation;
use hermes_policy::{
    Approvals, Audience, Because, Finding, Judgement, Review, Severity, Standing, Step,
    Surroundings, Verdict, catalogue, decide, judge,
};
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
    let config = context.settings()?.config;
    let found = judge(
        command,
        &Surroundings {
            home: context
                .environment
                .filled(&Variable::HOME)
                .unwrap_or("/")
                .to_owned(),
            product_home: context.home()?.path().display().to_string(),
            cwd: context
                .directory()
                .unwrap_or_default()
                .display()
                .to_string(),
            own_pid: None,
            isolation: isolation(&config.terminal),
        },
    );
    let sudo_password = context
        .environment
        .filled(&Variable::SUDO_PASSWORD)
        .is_some();
    let judgement = settled(found, command, &config, sudo_password);
    if as_json {
        return Ok(output.json(&json!(judgement))?);
    }
    output.line(format!(
        "{}: {}",
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

fn because(judgement: &Judgement) -> &str {
    let hard = |finding: &Finding| finding.severity == Severity::Hard;
    match judgement.verdict {
        Verdict::Ask => "somebody is asked first",
        Verdict::Deny if judgement.findings.iter().any(hard) => "it never runs, whoever allows it",
        Verdict::Allow if judgement.reason.is_empty() => "nothing in it needs asking",
        Verdict::Allow | Verdict::Deny => &judgement.reason,
    }
}

/// What the settings make of a judgement, in a conversation with a person.
fn settled(judgement: Judgement, command: &str, config: &Config, sudo_password: bool) -> Judgement {
    let step = decide(
        &judgement,
        &Standing {
            command,
            mode: match config.approvals.mode {
                ApprovalMode::Manual => Approvals::Manual,
                ApprovalMode::Smart => Approvals::Smart,
                ApprovalMode::Off => Approvals::Off,
            },
            yolo: false,
            audience: Audience::Person,
            deny: &config.approvals.deny,
            allow: &config.command_allowlist,
            granted: &BTreeSet::new(),
            sudo_password,
            review: Review::Open,
        },
    );
    let (verdict, reason) = match step {
        Step::Review | Step::Ask { .. } => (Verdict::Ask, None),
        Step::Run { because } => (Verdict::Allow, allowed(&because)),
        Step::Refuse { .. } if judgement.verdict == Verdict::Deny => (Verdict::Deny, None),
        Step::Refuse { text, .. } => (Verdict::Deny, Some(text)),
    };
    Judgement {
        verdict,
        reason: reason.unwrap_or(judgement.reason),
        ..judgement
    }
}

/// Which setting lets a command run, if one had to.
fn allowed(because: &Because) -> Option<String> {
    match because {
        Because::Listed(entry) => Some(format!("`command_allowlist` allows `{entry}`")),
        Because::Granted => Some("`command_allowlist` allows every category in it".to_owned()),
        Because::ModeOff => Some("`approvals.mode` is off".to_owned()),
        Because::Isolated => Some("`terminal.backend` keeps it away from this machine".to_owned()),
        Because::Harmless | Because::Yolo | Because::Unattended | Because::Reviewed => None,
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
            show(decision.at, context.zone()),
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
