//! Commands of skills, run as the session's own.

use std::path::Path;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::ToolContext;
use serde_json::{Value as Json, json};

use super::InlineShell;

/// The tool that runs commands.
const TERMINAL: &str = "terminal";
/// How that tool says that a command took too long, and that it did not run.
const TIMED_OUT: i64 = 124;
const NOT_RUN: i64 = -1;

/// Runs the commands of a skill with the session's terminal, under the same rules as those of the model. A
/// session that was offered no terminal runs none.
#[derive(Clone, Copy)]
pub struct SessionShell<'c> {
    pub context: &'c ToolContext,
}

impl InlineShell for SessionShell<'_> {
    fn run<'a>(
        &'a self,
        command: &'a str,
        directory: &'a Path,
        limit: Duration,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let arguments = json!({
                // What it changes in the shell is not meant for the next command.
                "command": format!("( {command}\n)"),
                "workdir": directory.display().to_string(),
                "timeout": limit.as_secs().max(1),
            });
            let host = &self.context.host;
            let outcome = host.call(TERMINAL, arguments, self.context).await;
            let said = outcome.map_err(|error| error.to_string())?.content;
            let answer: Json = serde_json::from_str(&said).unwrap_or_default();
            let field = |key: &str| answer.get(key).and_then(Json::as_str);
            let output = field("output").unwrap_or_default().to_owned();
            match (
                field("error"),
                answer.get("exit_code").and_then(Json::as_i64),
            ) {
                (Some(why), Some(NOT_RUN)) => Err(why.to_owned()),
                (_, Some(TIMED_OUT)) => Err(format!("no end within {} s", limit.as_secs())),
                _ => Ok(output),
            }
        })
    }
}
