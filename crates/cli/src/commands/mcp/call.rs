//! `hermes mcp call`

use std::convert::Infallible;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::{Asker, FailureKind, SessionId, SystemRandom};
use hermes_mcp::{Answers, Caller, Handle, Operation, Sampler, Shelf, ShelfFolders, Utility, View};
use hermes_store::Store;
use serde_json::{Map, Value as Json, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{probe, runtime, server};
use crate::args::mcp::CallArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, printable};
use crate::servers::{AtTerminal, Elicit, ModelSampler, ScriptedAsker, Wiring};

/// Longest wait for the first connection.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(args: CallArgs, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let name = args.server.as_str();
    let server = server(name, &loaded)?;
    probe::warn(name, server.settings())?;
    let hidden = !server.filter().allows(&args.tool);
    let server = server.changed(|settings| {
        settings.enabled = true;
        // Whoever names a tool wants it, whatever the model is offered.
        if hidden {
            settings.tools = None;
        }
    });
    let store = context.store()?;
    let session = SessionId::generate(&**context.clock(), &SystemRandom);
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let sampler = sampler(context, &store, &session);
    let wiring = Wiring::new(context, &loaded, &store, sampler)?;
    let home = context.home()?.path().to_owned();
    let answers = Answers::new(
        name.to_owned(),
        Some(Utility::ReadResource.word().to_owned()),
        Arc::new(Shelf::new(ShelfFolders::of_home(&home), None)),
        context.redactor.clone(),
    );
    let limit = server.settings().connect_timeout.min(PATIENCE);
    runtime.block_on(async {
        wiring.fleet.apply([server]).await;
        let called = match wiring.fleet.handle(name) {
            Some(handle) => {
                handle.wanted().await;
                let view = handle.wait_for(limit, View::is_settled).await;
                let calls = Calls {
                    handle,
                    answers,
                    session,
                    asker: asker(args.elicit.as_ref()),
                    args: &args,
                };
                calls.make(&view, output).await
            }
            None => Err(
                Complaint::new(FailureKind::Refused, format!("{name} is not started"))
                    .hint(format!("hermes mcp test {name} says why")),
            ),
        };
        wiring.close().await;
        called
    })
}

/// Asks models for the server, when there is one to ask.
fn sampler(context: &Context, store: &Store, session: &SessionId) -> Option<Arc<dyn Sampler>> {
    let models = Arc::new(Models::new(context, context.load().ok()?).ok()?);
    let course = models.course(&Chosen::default()).ok()?.course;
    Some(Arc::new(ModelSampler::new(
        models,
        store.clone(),
        context.clock().clone(),
        course.route().clone(),
        session.clone(),
    )))
}

struct Calls<'a> {
    handle: Handle,
    answers: Answers,
    session: SessionId,
    asker: Arc<dyn Asker>,
    args: &'a CallArgs,
}

/// Who answers the server's questions: what was said beforehand, else whoever sits at the terminal.
fn asker(elicit: Option<&Elicit>) -> Arc<dyn Asker> {
    match elicit {
        Some(how) => Arc::new(ScriptedAsker(how.clone())),
        None if std::io::stdin().is_terminal() => Arc::new(AtTerminal::default()),
        None => Arc::new(ScriptedAsker(Elicit::Decline)),
    }
}

impl Calls<'_> {
    /// Makes the calls; a failed one is an answer too, but not a success.
    async fn make(&self, view: &View, output: &mut Output) -> Outcome {
        let operation = operation(self.args, view)?;
        let asked = operation.asked();
        let mut failures = 0;
        for number in 1..=self.args.repeat {
            let cancel = CancellationToken::new();
            let (progress, said) = watch::channel(String::new());
            let caller = Caller {
                session: self.session.clone(),
                asker: Arc::clone(&self.asker),
                cancel: cancel.clone(),
                progress: Some(progress),
            };
            let started = Instant::now();
            let call = self.handle.call(operation.clone(), caller);
            let answer = tokio::select! {
                answer = call => answer,
                never = show(said) => match never {},
                _ = tokio::signal::ctrl_c() => return Err(Complaint::Code(130)),
            };
            let took = started.elapsed();
            let (content, failed) = match answer {
                Ok(answer) => {
                    let rendered = self.answers.render(asked, answer).await;
                    (rendered.content, rendered.failed)
                }
                Err(trouble) => (self.answers.trouble(&trouble), true),
            };
            failures += u32::from(failed);
            let answer: Json = serde_json::from_str(&content).unwrap_or(Json::String(content));
            let line = json!({
                "call": number,
                "server": self.args.server,
                "tool": self.args.tool,
                "ok": !failed,
                "seconds": took.as_secs_f64(),
                "answer": answer,
            });
            output.line(line.to_string())?;
            output.flush()?;
        }
        match failures {
            0 => Ok(()),
            _ => Err(Complaint::Code(1)),
        }
    }
}

/// Says on the terminal how far the server says it is.
async fn show(mut said: watch::Receiver<String>) -> Infallible {
    while said.changed().await.is_ok() {
        let words = said.borrow_and_update().clone();
        if std::io::stderr().is_terminal() {
            // Nobody misses what a terminal that went away would have shown.
            let _ = writeln!(std::io::stderr(), "{}", printable(&words));
        }
    }
    std::future::pending().await
}

/// What to ask for; a tool of the server counts before one of ours of the same name.
fn operation(args: &CallArgs, view: &View) -> Outcome<Operation> {
    let arguments = args.args.0.clone();
    if let Some(tool) = view
        .catalog
        .tools
        .iter()
        .find(|tool| tool.name == args.tool)
    {
        return Ok(Operation::CallTool {
            name: tool.name.clone(),
            repeatable: tool.is_repeatable(),
            arguments,
        });
    }
    let utility = Utility::ALL.into_iter().find(|one| one.word() == args.tool);
    let text = |key: &str| match arguments.get(key) {
        Some(Json::String(text)) => Ok(text.clone()),
        _ => Err(Complaint::bad_request(format!("{} needs {key}", args.tool))
            .hint(format!("--args '{{\"{key}\": \"…\"}}'"))),
    };
    Ok(match utility {
        Some(Utility::ListResources) => Operation::ListResources,
        Some(Utility::ListPrompts) => Operation::ListPrompts,
        Some(Utility::ReadResource) => Operation::ReadResource { uri: text("uri")? },
        Some(Utility::GetPrompt) => Operation::GetPrompt {
            name: text("name")?,
            arguments: match arguments.get("arguments") {
                Some(Json::Object(map)) => map.clone(),
                _ => Map::new(),
            },
        },
        // A server that is not there says so by itself, with what to do.
        None if !view.is_ready() => Operation::CallTool {
            name: args.tool.clone(),
            repeatable: false,
            arguments,
        },
        None => {
            let names = view.catalog.tools.iter().map(|tool| tool.name.as_str());
            let hint = match hermes_config::nearest(&args.tool, names) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("hermes mcp test {} lists its tools", args.server),
            };
            return Err(Complaint::bad_request(format!(
                "{} has no tool {}",
                args.server, args.tool
            ))
            .hint(hint));
        }
    })
}
