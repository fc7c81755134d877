//! The surroundings of a call, where nobody can be asked.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Asker, CallId, Consultation, Origin, Question, Reply, RunMode, SessionId,
    ToolContext, ToolError, ToolHost, ToolOutcome, TurnId,
};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            }
        })
    }
}

impl ToolHost for Nobody {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        Vec::new()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        _: Json,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            Err(ToolError::ForModel {
                message: format!("no {name} here"),
            })
        })
    }
}

/// A call's surroundings.
pub(super) fn context(session: &str, directory: &Path) -> ToolContext {
    ToolContext {
        session: SessionId::try_from(session.to_owned()).unwrap(),
        turn: TurnId(1),
        call: CallId("call".to_owned()),
        directory: directory.to_owned(),
        cancel: CancellationToken::new(),
        deadline: Duration::from_secs(60),
        asker: Arc::new(Nobody),
        mode: RunMode::Off,
        attended: true,
        lasting: true,
        origin: Origin::Conversation,
        nested: false,
        host: Arc::new(Nobody),
    }
}
