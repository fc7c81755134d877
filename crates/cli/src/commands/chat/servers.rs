//! MCP servers while a conversation goes on: their settings are read again when they change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hermes_config::Loaded;
use hermes_mcp::Reload;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::ask::Ask;
use super::commands::{Next, Order};
use super::conversation::Conversation;
use crate::commands::mcp::status;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style, one_line, printable};
use crate::servers::Servers;

/// How often it is looked whether the settings have changed while nobody writes anything.
const EVERY: Duration = Duration::from_secs(5);

/// Notices that `config.yaml` was written, and applies what it says about servers.
pub(super) struct Watch {
    seen: Arc<Mutex<Seen>>,
    /// Looks every now and then.
    ticking: JoinHandle<()>,
}

impl Watch {
    /// Must be made inside a runtime.
    pub(super) fn new(conversation: &Conversation, context: &Context) -> Outcome<Self> {
        let file = context.home()?.config_file();
        let house = &conversation.house;
        let seen = Arc::new(Mutex::new(Seen {
            at: changed(&file),
            file,
            servers: house.servers.clone(),
            without_settings: house.without_settings,
            context: context.clone(),
        }));
        let (ticked, models) = (Arc::clone(&seen), house.models.clone());
        let ticking = tokio::runtime::Handle::current().spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                let said = ticked.lock().await.look().await;
                // A complaint is made once more before the next message.
                if let Ok(Some(line)) = said {
                    models.listener.say(&line);
                }
            }
        });
        Ok(Self { seen, ticking })
    }

    /// Applies changed settings of servers before a message, or says how that is done.
    pub(super) async fn look(&self, output: &mut Output) -> Outcome {
        match self.seen.lock().await.look().await? {
            Some(line) => Ok(output.line(output.paint(Style::Faint, &line))?),
            None => Ok(()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ticking.abort();
    }
}

/// The settings as they were applied last.
struct Seen {
    file: PathBuf,
    at: Option<SystemTime>,
    servers: Arc<Servers>,
    without_settings: bool,
    context: Context,
}

impl Seen {
    /// Applies what changed since; answers what there is to say about it.
    async fn look(&mut self) -> Outcome<Option<String>> {
        let now = changed(&self.file);
        if now == self.at || self.without_settings {
            return Ok(None);
        }
        self.at = now;
        let loaded = match self.context.settings_again(self.without_settings) {
            Ok(loaded) => loaded,
            Err(complaint) => return Ok(Some(unchanged(&complaint))),
        };
        if !self.servers.differ(&loaded) {
            return Ok(None);
        }
        if loaded.config.mcp.auto_reload_on_config_change {
            let reload = self.servers.reload(&self.context, &loaded).await?;
            return Ok(Some(summary(&reload)));
        }
        let line = "the settings of MCP servers changed; /reload-mcp applies them";
        Ok(Some(line.to_owned()))
    }
}

fn changed(file: &std::path::Path) -> Option<SystemTime> {
    file.metadata().and_then(|data| data.modified()).ok()
}

/// `/reload-mcp [now|always]`
pub(super) async fn reload(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let Some(loaded) = fresh(order.conversation, order.context, output)? else {
        return Ok(Next::Nothing);
    };
    let how = order.arguments.as_str();
    if loaded.config.approvals.mcp_reload_confirm && !matches!(how, "now" | "always") {
        return Ok(Next::Ask(Ask::Confirm {
            title: "Reload".to_owned(),
            text: "Other tools change what the model is shown, so it reads the whole conversation anew once."
                .to_owned(),
            yes: "/reload-mcp now".to_owned(),
            always: Some("/reload-mcp always".to_owned()),
        }));
    }
    finish(order, how == "always", loaded, output).await?;
    Ok(Next::Nothing)
}

/// `/mcp`
pub(super) fn page(order: &Order<'_>, output: &mut Output) -> Outcome {
    let house = &order.conversation.house;
    let mut statuses = house.servers.status();
    // Those the servers began with, and those they were read again with.
    status::mask(&mut statuses, &house.models.loaded);
    if let Ok(loaded) = order.context.settings_again(house.without_settings) {
        status::mask(&mut statuses, &loaded);
    }
    if statuses.is_empty() {
        output.line("There are no MCP servers; hermes mcp add sets one up.")?;
        return Ok(());
    }
    status::show(&statuses, output)
}

async fn finish(order: &Order<'_>, always: bool, loaded: Loaded, output: &mut Output) -> Outcome {
    if always {
        order.keep("approvals.mcp_reload_confirm", "false")?;
    }
    let servers = &order.conversation.house.servers;
    let reload = servers.reload(order.context, &loaded).await?;
    servers.nudge().await;
    Ok(output.line(summary(&reload))?)
}

/// The settings as they are now; what is wrong with them is said, and the old ones stay.
fn fresh(
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<Loaded>> {
    match context.settings_again(conversation.house.without_settings) {
        Ok(loaded) => Ok(Some(loaded)),
        Err(complaint) => {
            output.line(unchanged(&complaint))?;
            Ok(None)
        }
    }
}

/// What is said about settings that cannot be used.
fn unchanged(complaint: &Complaint) -> String {
    format!(
        "MCP servers stay as they are: {}",
        printable(&complaint.cause())
    )
}

fn summary(reload: &Reload) -> String {
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
    match parts.is_empty() {
        true => "There are no MCP servers.".to_owned(),
        false => one_line(&format!("MCP servers: {}", parts.join("; "))),
    }
}
