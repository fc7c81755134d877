//! The MCP servers of a conversation. They are started behind the prompt, their tools join those of this
//! program, and who is missing is told.

mod asker;
mod person;
mod sampler;
mod wiring;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hermes_agent::{SessionFacts, ToolSource, toolsets};
use hermes_config::{Config, Loaded};
use hermes_core::Tool;
use hermes_mcp::{Fleet, Reload, Sampler, Status, StatusWord};
use hermes_store::Store;

use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::Hands;
use crate::output::one_line;
use crate::when;

pub(crate) use asker::{Elicit, ScriptedAsker};
pub(crate) use person::AtTerminal;
pub(crate) use sampler::ModelSampler;
pub(crate) use wiring::{Wiring, logins};

/// The tools of this program and of the servers.
pub(crate) struct Servers {
    hands: Arc<Hands>,
    store: Store,
    sampler: Arc<dyn Sampler>,
    /// Whether servers are used at all.
    allowed: bool,
    /// Made when there is a server.
    wiring: OnceLock<Wiring>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// As applied last.
    config: Config,
    /// The servers the conversation knows to be away, and why.
    away: BTreeMap<String, String>,
    /// What is told with the next message.
    news: Vec<String>,
    /// Whether the first message has waited for servers.
    waited: bool,
}

impl Servers {
    pub(crate) fn new(
        hands: Arc<Hands>,
        store: Store,
        sampler: Arc<dyn Sampler>,
        allowed: bool,
    ) -> Self {
        Self {
            hands,
            store,
            sampler,
            allowed,
            wiring: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Makes the servers what the settings say. Nothing waits for a connection.
    pub(crate) async fn apply(&self, context: &Context, loaded: &Loaded) -> Outcome<Reload> {
        let servers = &loaded.config.mcp_servers;
        self.state().config = loaded.config.clone();
        if !self.allowed || (servers.is_empty() && self.wiring.get().is_none()) {
            return Ok(Reload::default());
        }
        if self.wiring.get().is_none() {
            let sampler = Some(self.sampler.clone());
            let made = Wiring::new(context, loaded, &self.store, sampler)?;
            // Only one conversation applies settings, so nobody was faster.
            let _ = self.wiring.set(made);
        }
        let Some(fleet) = self.fleet() else {
            return Ok(Reload::default());
        };
        Ok(fleet.apply(servers).await)
    }

    /// As `apply` while a conversation runs: what changed is told with the next message.
    pub(crate) async fn reload(&self, context: &Context, loaded: &Loaded) -> Outcome<Reload> {
        let reload = self.apply(context, loaded).await?;
        let parts = [
            ("added", &reload.added),
            ("removed", &reload.removed),
            ("changed", &reload.changed),
        ];
        let mut state = self.state();
        for (word, names) in parts.into_iter().filter(|(_, names)| !names.is_empty()) {
            let line = format!("MCP servers {word}: {}", names.join(", "));
            state.news.push(line);
        }
        for gone in &reload.removed {
            state.away.remove(gone);
        }
        Ok(reload)
    }

    /// Whether the settings name other servers than are in use, or describe them differently.
    pub(crate) fn differ(&self, config: &Config) -> bool {
        self.allowed && self.state().config.mcp_servers != config.mcp_servers
    }

    /// Lets servers whose tools are not known from an earlier run come up before the first message, for as
    /// long as the settings allow.
    pub(crate) async fn offering(&self) {
        let limit = {
            let mut state = self.state();
            if std::mem::replace(&mut state.waited, true) {
                return;
            }
            state.config.mcp_discovery_timeout
        };
        if let Some(fleet) = self.fleet() {
            fleet.offering(limit).await;
        }
    }

    /// Tries those again that are down.
    pub(crate) async fn nudge(&self) {
        if let Some(fleet) = self.fleet() {
            fleet.nudge().await;
        }
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        if let Some(wiring) = self.wiring.get() {
            wiring.close().await;
        }
    }

    fn fleet(&self) -> Option<&Fleet> {
        self.wiring.get().map(|wiring| &wiring.fleet)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSource for Servers {
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.hands.tools(facts);
        if let Some(fleet) = self.fleet() {
            let chosen = toolsets::chosen(&self.state().config, facts.surface, facts.toolsets);
            tools.extend(fleet.tools_of(|server| chosen.has_server(server)));
        }
        tools
    }

    fn remarks(&self, facts: &SessionFacts<'_>) -> Vec<String> {
        let Some(fleet) = self.fleet() else {
            return Vec::new();
        };
        let mut state = self.state();
        let chosen = toolsets::chosen(&state.config, facts.surface, facts.toolsets);
        let statuses = fleet.status();
        let status = |name: &str| statuses.iter().find(|status| status.name == name);
        let away: BTreeMap<String, String> = fleet
            .unavailable()
            .into_iter()
            .filter(|one| chosen.has_server(&one.server))
            // Tools that are remembered are offered: a call waits for the connection.
            .filter(|one| status(&one.server).is_none_or(|status| !is_on_its_way(status)))
            .map(|one| (one.server, one.why))
            .collect();
        let mut remarks = std::mem::take(&mut state.news);
        for (server, why) in &away {
            if state.away.get(server) != Some(why) {
                let again = status(server).and_then(again).unwrap_or_default();
                let line = format!("MCP server {server} is unavailable: {why}{again}");
                remarks.push(one_line(&line));
            }
        }
        for server in state.away.keys().filter(|name| !away.contains_key(*name)) {
            remarks.push(format!("MCP server {server} is available again"));
        }
        state.away = away;
        remarks
    }
}

fn is_on_its_way(status: &Status) -> bool {
    status.status == StatusWord::Connecting && status.tools > 0
}

/// When a server is tried again, as the end of a sentence.
fn again(status: &Status) -> Option<String> {
    let at: jiff::Timestamp = status.next_retry.as_deref()?.parse().ok()?;
    let at = when::show(at.as_duration().as_secs_f64());
    Some(format!("; it is tried again at {at}"))
}
