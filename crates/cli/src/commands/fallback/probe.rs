//! `hermes fallback test`: one tiny call to each.

use std::sync::Arc;

use hermes_core::{Message, ModelRequest, ModelSettings, Role};
use hermes_llm::resolve;
use hermes_llm::{Ask, CallEnd, CallEvent, CallSink, Caller, Course, Route};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style, one_line};

const QUESTION: &str = "Answer with the one word: ok";
/// Enough for a word, and for models that think first.
const MOST_TOKENS: u32 = 256;

/// How one of them is.
pub(in crate::commands) struct Found {
    label: String,
    pub(in crate::commands) works: bool,
    said: String,
}

pub(super) fn run(
    models: &Models,
    dry_run: bool,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let chain = resolve::fallbacks(&models.request(&Chosen::default()));
    if chain.is_empty() && !as_json {
        return Ok(output
            .line("There are no fallbacks. hermes fallback add MODEL --provider ID adds one.")?);
    }
    let mut all = Vec::new();
    let mut caller = None;
    for (number, next) in (1..).zip(chain) {
        let found = match next {
            Err(error) => Found {
                label: format!("number {number}"),
                works: false,
                said: format!("{error}; {}", error.hint()),
            },
            Ok(next) if dry_run => Found {
                label: next.route.label(),
                works: true,
                said: "can be reached, as far as the settings say".to_owned(),
            },
            Ok(next) => {
                let route = models.known(next);
                let caller = match &caller {
                    Some(caller) => caller,
                    None => caller.insert(Caller {
                        attempts: 1,
                        ..models.caller(&context.store()?)
                    }),
                };
                call(caller, route)?
            }
        };
        if !as_json {
            let mark = if found.works {
                output.paint(Style::Good, "works")
            } else {
                output.paint(Style::Bad, "fails")
            };
            output.line(format!(
                "{mark}  {}: {}",
                found.label,
                one_line(&found.said)
            ))?;
            output.flush()?;
        }
        all.push(found);
    }
    if as_json {
        let all: Vec<Json> = all
            .iter()
            .map(|found| json!({"route": found.label, "works": found.works, "said": found.said}))
            .collect();
        output.json(&all)?;
    }
    if all.iter().all(|found| found.works) {
        Ok(())
    } else {
        Err(Complaint::Code(1))
    }
}

/// Hears nothing: only the end counts.
struct Deaf;

impl CallSink for Deaf {
    async fn event(&mut self, _event: CallEvent) {}
}

/// Asks a route for one word.
pub(in crate::commands) fn call(caller: &Caller, route: Arc<Route>) -> Outcome<Found> {
    let label = route.label();
    let request = ModelRequest {
        model: route.model.clone(),
        conversation: "fallback-test".to_owned(),
        system: "You are being tested.".into(),
        tools: Arc::new([]),
        messages: vec![Arc::new(Message::text(Role::User, QUESTION))],
        settings: ModelSettings {
            max_output_tokens: Some(MOST_TOKENS),
            ..ModelSettings::default()
        },
    };
    let ask = Ask {
        request: &request,
        tokens: 32,
        compactable: false,
        addressed: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let end = runtime.block_on(async {
        let cancel = CancellationToken::new();
        let mut course = Course::new(route, []);
        let mut sink = Deaf;
        let mut call = std::pin::pin!(caller.call(&mut course, &ask, &mut sink, &cancel));
        tokio::select! {
            end = &mut call => Some(end),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    let (works, said) = match end {
        None => return Err(Complaint::Code(130)),
        Some(CallEnd::Answered(_) | CallEnd::Partial(..)) => (true, "answers".to_owned()),
        Some(CallEnd::TooLong(fault)) => (false, fault.message),
        Some(CallEnd::Stopped(_)) => (false, "stopped".to_owned()),
        Some(CallEnd::Failed(failure)) => {
            let status = failure.fault.status.map(|status| format!(" ({status})"));
            let word = failure.fault.reason.word();
            (
                false,
                format!(
                    "{word}{}: {}",
                    status.unwrap_or_default(),
                    failure.fault.message
                ),
            )
        }
    };
    Ok(Found { label, works, said })
}
