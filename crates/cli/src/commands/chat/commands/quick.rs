//! Commands of the user's own: a line of the shell, or another name for a command.

use std::path::Path;
use std::time::Duration;

use hermes_config::{Config, QuickAction, Variable};
use hermes_core::{CallId, FailureKind};
use hermes_exec::{Backend as _, Capture, Ending, Exit, Input, Launch, RunId};
use hermes_policy::{Isolation, Judgement, Surroundings, Verdict, denied_by, judge};
use hermes_secrets::Scope;
use hermes_store::{Decision, DecisionOutcome, StoreError};
use tokio::io::AsyncReadExt as _;

use crate::commands::chat::conversation::Conversation;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::{environment, this_machine};
use crate::output::{Output, printable};

/// How long one may run.
const LIMIT: Duration = Duration::from_secs(30);
/// How long what it leaves behind may still print once it has ended.
const REST: Duration = Duration::from_millis(200);
/// Bytes of its output that are shown.
const MOST_SHOWN: usize = 16_000;

/// Runs one, or answers the line it stands for.
pub(super) async fn run(
    name: &str,
    arguments: &str,
    directory: &Path,
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<String>> {
    let config = &conversation.house.models.loaded.config;
    let Some(own) = config.quick_commands.get(name) else {
        return Ok(None);
    };
    let key = format!("quick_commands.{name}");
    match own.r#type {
        QuickAction::Alias => {
            let target = own.target.trim().trim_start_matches('/');
            if target.is_empty() {
                return Err(empty(&key, "target"));
            }
            Ok(Some(format!("/{target} {arguments}").trim_end().to_owned()))
        }
        QuickAction::Exec => {
            let command = own.command.trim();
            if command.is_empty() {
                return Err(empty(&key, "command"));
            }
            let quick = Quick { name, command };
            let text = execute(&quick, directory, conversation, context).await?;
            let redactor = context.redactor.snapshot();
            let text = redactor.redact_in(Scope::Code, &text);
            output.line(printable(text.trim_end()))?;
            Ok(None)
        }
    }
}

/// A command with the name it was called by.
struct Quick<'a> {
    name: &'a str,
    command: &'a str,
}

fn empty(key: &str, part: &str) -> Complaint {
    Complaint::new(FailureKind::BadInput, format!("{key} has no {part}"))
        .hint(format!("hermes config set {key}.{part} …"))
}

/// Runs a line of the shell on this machine, with what only we should know left out of its environment.
async fn execute(
    quick: &Quick<'_>,
    directory: &Path,
    conversation: &Conversation,
    context: &Context,
) -> Outcome<String> {
    let house = &conversation.house;
    let config = &house.models.loaded.config;
    let home = context.home()?;
    let judgement = judge(
        quick.command,
        &Surroundings {
            home: context
                .environment
                .filled(&Variable::HOME)
                .unwrap_or("/")
                .to_owned(),
            product_home: home.path().display().to_string(),
            cwd: directory.display().to_string(),
            own_pid: None,
            isolation: Isolation::None,
        },
    );
    let refusal = refusal(quick.command, config, &judgement);
    if refusal.is_some() || !judgement.categories.is_empty() {
        let written = write(quick, &judgement, refusal.as_ref(), conversation, context);
        written.await?;
    }
    if let Some(refusal) = refusal {
        return Err(refusal.complaint);
    }
    let machine = this_machine(context, config, home, &house.random);
    let ran = ran(
        &machine.backend,
        quick.command,
        directory,
        environment(context, config, home),
        house.random.next_u64(),
    );
    let text = ran.await;
    machine.close().await?;
    text
}

/// Why a command never runs.
struct Refusal {
    /// The rule, as the log names it.
    rule: String,
    complaint: Complaint,
}

fn refusal(command: &str, config: &Config, judgement: &Judgement) -> Option<Refusal> {
    if judgement.verdict == Verdict::Deny {
        return Some(Refusal {
            rule: "built-in limit".to_owned(),
            complaint: Complaint::bad_request("that never runs, whoever allows it")
                .hint(format!("hermes policy check '{command}' says why")),
        });
    }
    let pattern = denied_by(&config.approvals.deny, judgement, command)?;
    let words = format!("that never runs: `{pattern}` in approvals.deny covers it");
    Some(Refusal {
        rule: pattern.to_owned(),
        complaint: Complaint::bad_request(words).hint("hermes config get approvals.deny"),
    })
}

/// Writes down what becomes of it: who types the name of a command of their own says yes to it.
async fn write(
    quick: &Quick<'_>,
    judgement: &Judgement,
    refusal: Option<&Refusal>,
    conversation: &Conversation,
    context: &Context,
) -> Result<(), StoreError> {
    let redactor = context.redactor.snapshot();
    let decision = Decision {
        session: conversation.front().id().to_string(),
        call: CallId(String::new()),
        at: conversation.house.clock.now().as_duration().as_secs_f64(),
        tool: format!("/{}", quick.name),
        action: redactor.redact_in(Scope::Code, quick.command).into_owned(),
        place: "local".to_owned(),
        categories: judgement.categories.clone(),
        outcome: match refusal {
            Some(_) => DecisionOutcome::Refused,
            None => DecisionOutcome::Once,
        },
        decided_by: match refusal {
            Some(refusal) => format!("rule: {}", refusal.rule),
            None => "user".to_owned(),
        },
        reason: judgement.reason.clone(),
    };
    conversation.house.store.record_decision(decision).await
}

async fn ran(
    machine: &hermes_exec::LocalBackend,
    command: &str,
    directory: &Path,
    environment: Vec<(String, String)>,
    number: u64,
) -> Outcome<String> {
    let mut process = machine
        .spawn(Launch {
            id: RunId::new(format!("quick{number:016x}")),
            argv: ["/bin/sh", "-c", command].map(str::to_owned).into(),
            directory: Some(directory.to_owned()),
            environment,
            input: Input::None,
            confinement: None,
        })
        .await?;
    let mut captured = Capture::new(MOST_SHOWN);
    let deadline = tokio::time::Instant::now() + LIMIT;
    let mut buffer = vec![0; 8192];
    let exit = loop {
        tokio::select! {
            exit = &mut process.exit => break Some(exit?),
            read = process.output.read(&mut buffer) => match read {
                Ok(0) | Err(_) => break tokio::time::timeout_at(deadline, &mut process.exit).await.ok().transpose()?,
                Ok(count) => captured.push(buffer.get(..count).unwrap_or_default()),
            },
            () = tokio::time::sleep_until(deadline) => break None,
        }
    };
    if exit.is_some() {
        let rest = async {
            while let Ok(count @ 1..) = process.output.read(&mut buffer).await {
                captured.push(buffer.get(..count).unwrap_or_default());
            }
        };
        let _ = tokio::time::timeout(REST, rest).await;
    }
    process.control.end(Ending::Kill).await?;
    let mut text = captured.finish().text;
    match exit {
        Some(Exit::Code(0)) => {}
        Some(Exit::Code(code)) => text.push_str(&format!("\n[ended with {code}]")),
        Some(Exit::Signal(signal)) => text.push_str(&format!("\n[ended by signal {signal}]")),
        None => text.push_str(&format!("\n[stopped after {} s]", LIMIT.as_secs())),
    }
    Ok(text)
}
