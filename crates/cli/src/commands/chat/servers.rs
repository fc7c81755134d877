//! MCP servers while a conversation goes on: their settings are read again when they change.

use std::path::PathBuf;
use std::time::SystemTime;

use hermes_config::{Loaded, UnknownKey};
use hermes_mcp::Reload;

use super::open::Conversation;
use crate::commands::edit::edit;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, one_line, printable};
use crate::typed::Typed;

/// Notices that `config.yaml` was written.
pub(super) struct Watch {
    file: PathBuf,
    seen: Option<SystemTime>,
}

impl Watch {
    pub(super) fn new(context: &Context) -> Outcome<Self> {
        let file = context.home()?.config_file();
        let seen = changed(&file);
        Ok(Self { file, seen })
    }

    /// Applies changed settings of servers before a message, or says how that is done.
    pub(super) async fn look(
        &mut self,
        conversation: &Conversation,
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        let now = changed(&self.file);
        if now == self.seen || conversation.without_settings {
            return Ok(());
        }
        self.seen = now;
        let Some(loaded) = fresh(conversation, context, output)? else {
            return Ok(());
        };
        if !conversation.servers.differ(&loaded.config) {
            return Ok(());
        }
        if loaded.config.mcp.auto_reload_on_config_change {
            let reload = conversation.servers.reload(context, &loaded).await?;
            return say(&reload, output);
        }
        let line = "the settings of MCP servers changed; /reload-mcp applies them";
        Ok(output.line(output.paint(Style::Faint, line))?)
    }
}

fn changed(file: &std::path::Path) -> Option<SystemTime> {
    file.metadata().and_then(|data| data.modified()).ok()
}

/// `/reload-mcp [now|always]`
pub(super) async fn reload(
    conversation: &Conversation,
    how: Option<&str>,
    context: &Context,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    let Some(loaded) = fresh(conversation, context, output)? else {
        return Ok(());
    };
    let mut always = how == Some("always");
    if loaded.config.approvals.mcp_reload_confirm && !always && how != Some("now") {
        lines.set_aside();
        output.line("Other tools change what the model is shown, so it reads the whole conversation anew once.")?;
        output.line("Reload? y = this time, a = always without asking, n = no")?;
        output.flush()?;
        let said = lines.fresh().await.unwrap_or_default();
        match said.trim().to_lowercase().as_str() {
            "y" | "yes" => {}
            "a" | "always" => always = true,
            _ => return Ok(output.line("Nothing was changed.")?),
        }
    }
    finish(conversation, always, loaded, context, output).await
}

/// The same where nobody can be asked in between: the user says `now` or `always`.
pub(super) async fn reload_now(
    conversation: &Conversation,
    how: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let Some(loaded) = fresh(conversation, context, output)? else {
        return Ok(());
    };
    let always = how == Some("always");
    if loaded.config.approvals.mcp_reload_confirm && !always && how != Some("now") {
        output.line("Other tools change what the model is shown, so it reads the whole conversation anew once.")?;
        return Ok(output.line(
            "/reload-mcp now does it, /reload-mcp always does it without asking from now on.",
        )?);
    }
    finish(conversation, always, loaded, context, output).await
}

async fn finish(
    conversation: &Conversation,
    always: bool,
    loaded: Loaded,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    if always {
        let key = "approvals.mcp_reload_confirm";
        edit(context, |settings| {
            settings.set(key, "false", UnknownKey::Refuse)
        })?;
    }
    let reload = conversation.servers.reload(context, &loaded).await?;
    conversation.servers.nudge().await;
    say(&reload, output)
}

/// The settings as they are now; what is wrong with them is said, and the old ones stay.
fn fresh(
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<Loaded>> {
    match context.settings_for(conversation.without_settings) {
        Ok(loaded) => Ok(Some(loaded)),
        Err(complaint) => {
            let cause = printable(&complaint.cause());
            output.line(format!("MCP servers stay as they are: {cause}"))?;
            Ok(None)
        }
    }
}

fn say(reload: &Reload, output: &mut Output) -> Outcome {
    let parts = [
        ("added", &reload.added),
        ("removed", &reload.removed),
        ("changed", &reload.changed),
        ("kept", &reload.kept),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word} {}", names.join(", ")))
        .collect();
    Ok(output.line(match parts.is_empty() {
        true => "There are no MCP servers.".to_owned(),
        false => one_line(&format!("MCP servers: {}", parts.join("; "))),
    })?)
}
