//! What a session offers its tools while they run.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{
    Consultation, Event, Message, Notice, Role, SessionId, ToolCall, ToolContext, ToolError,
    ToolHost, ToolOutcome,
};
use hermes_llm::Route;
use hermes_secrets::Scope;

use crate::batch::{Ready, run};
use crate::engine::Shared;
use crate::helper::Helper;
use crate::lane::Lane;
use crate::toolbox::Toolbox;

/// The session behind the calls of one batch.
pub(crate) struct Host {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: SessionId,
    /// The route of the conversation.
    pub(crate) main: Arc<Route>,
    pub(crate) events: Lane<Event>,
    pub(crate) toolbox: Arc<Toolbox>,
}

impl ToolHost for Host {
    fn show<'a>(&'a self, context: &'a ToolContext, chunk: String) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let call = context.call.clone();
            let printed = Event::ToolOutput { call, chunk };
            self.events.send_until(printed, &context.cancel).await;
        })
    }

    fn changed<'a>(&'a self, context: &'a ToolContext, diff: String) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let call = context.call.clone();
            let redactor = self.shared.services.redactor.snapshot();
            let diff = redactor.redact_in(Scope::Log, &diff).into_owned();
            let changed = Event::FileChanged { call, diff };
            self.events.send_until(changed, &context.cancel).await;
        })
    }

    fn tell<'a>(&'a self, context: &'a ToolContext, text: String) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let notice = Event::Notice { text };
            self.events.send_until(notice, &context.cancel).await;
        })
    }

    fn consult<'a>(
        &'a self,
        context: &'a ToolContext,
        question: Consultation,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let helper = Helper {
                services: &self.shared.services,
                session: &self.session,
                task: question.task,
                main: &self.main,
                most_tokens: question.most_tokens,
                temperature: Some(question.temperature),
                timeout: question.limit,
            };
            let asked = Message::text(Role::User, question.question);
            helper
                .ask(&question.system, asked, &context.cancel)
                .await
                .ok()
        })
    }

    fn offered(&self) -> Vec<String> {
        self.toolbox.names().map(str::to_owned).collect()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let Some(tool) = self.toolbox.get(name) else {
                let message = format!("this session has no tool {name}");
                return Err(ToolError::ForModel { message });
            };
            self.toolbox.notice(Notice::Called(name));
            let inner = ToolContext {
                cancel: context.cancel.child_token(),
                deadline: tool.handling().deadline,
                nested: true,
                ..context.clone()
            };
            let ready = Ready {
                asked: name.to_owned(),
                call: ToolCall {
                    id: context.call.clone(),
                    name: name.to_owned(),
                    arguments,
                },
                tool: tool.clone(),
            };
            run::run(&ready, &inner).await
        })
    }
}
