//! The MCP servers of a conversation. They are started behind the prompt, their tools join those of this
//! program, and who is missing is told.

mod asker;
mod grounds;
mod person;
mod posted;
mod sampler;
mod told;
mod wiring;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_agent::{Audience, SessionFacts, ToolSource, toolsets};
use hermes_config::{Config, KeyPath, Layer, Loaded};
use hermes_core::Tool;
use hermes_mcp::{
    Change, Fleet, Reload, Restated, Sampler, Server, Status, StatusWord, reads_like,
};
use hermes_store::Store;
use hermes_tools::Person;
use jiff::tz::TimeZone;

use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::Hands;
use crate::output::one_line;
use crate::when;

pub(crate) use asker::{Elicit, ScriptedAsker};
use grounds::Grounds;
pub(crate) use person::AtTerminal;
use posted::Posting;
pub(crate) use posted::{Running, running};
pub(crate) use sampler::ModelSampler;
use told::{Away, Standing, Told};
pub(crate) use wiring::{Wiring, logins, osv};

/// Longest wait of a question that is asked once for a server never seen before.
const ONCE: Duration = Duration::from_secs(30);

/// The tools of this program and of the servers.
pub(crate) struct Servers {
    hands: Arc<Hands>,
    store: Store,
    sampler: Arc<ModelSampler>,
    /// Whether servers are used at all.
    allowed: bool,
    /// Made when there is a server, and anew when what it stands on changes.
    wired: Mutex<Option<Wired>>,
    /// Held while settings are applied.
    applying: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// A wiring and what it was made from.
#[derive(Clone)]
struct Wired {
    wiring: Arc<Wiring>,
    grounds: Grounds,
    #[expect(dead_code, reason = "held for its drop")]
    posting: Arc<Posting>,
}

#[derive(Default)]
struct State {
    /// As applied last.
    config: Config,
    /// The servers of those settings.
    servers: Vec<Server>,
    /// What each session knows about them.
    told: Told,
    /// The changes of tools that were told last.
    restated: BTreeMap<String, Arc<Restated>>,
    /// Whether the first message has waited for servers.
    waited: bool,
    /// Whether somebody set how long that is.
    limited: bool,
}

impl Servers {
    pub(crate) fn new(
        hands: Arc<Hands>,
        store: Store,
        sampler: Arc<ModelSampler>,
        allowed: bool,
    ) -> Self {
        Self {
            hands,
            store,
            sampler,
            allowed,
            wired: Mutex::default(),
            applying: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Makes the servers what the settings say. Nothing waits for a connection.
    pub(crate) async fn apply(&self, context: &Context, loaded: &Loaded) -> Outcome<Reload> {
        let servers = Server::configured(loaded);
        {
            let mut state = self.state();
            state.config = loaded.config.clone();
            state.limited = is_written("mcp_discovery_timeout", loaded);
            state.servers.clone_from(&servers);
        }
        let _alone = self.applying.lock().await;
        let before = self.wired();
        if !self.allowed || (servers.is_empty() && before.is_none()) {
            return Ok(Reload::default());
        }
        let grounds = Grounds::of(loaded);
        match before {
            Some(wired) if wired.grounds == grounds => Ok(wired.wiring.fleet.apply(servers).await),
            before => {
                let sampler: Arc<dyn Sampler> = self.sampler.clone();
                let made = Wiring::new(context, loaded, &self.store, Some(sampler))?;
                let wiring = Arc::new(made);
                let had = match before {
                    Some(old) => {
                        let had = old.wiring.fleet.status();
                        // A server is never there twice.
                        old.wiring.close().await;
                        had.into_iter().map(|status| status.name).collect()
                    }
                    None => BTreeSet::new(),
                };
                let fleet = wiring.fleet.clone();
                *self.wired_mut() = Some(Wired {
                    posting: Arc::new(Posting::start(context.home()?.path(), fleet)),
                    wiring: wiring.clone(),
                    grounds,
                });
                let reload = anew(had, wiring.fleet.apply(servers).await);
                for gone in &reload.removed {
                    wiring.memory.forget(gone).await?;
                }
                Ok(reload)
            }
        }
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
            state.told.add(line);
        }
        Ok(reload)
    }

    /// Whether the settings name other servers than are in use, or describe them differently.
    pub(crate) fn differ(&self, loaded: &Loaded) -> bool {
        let stands = |wired: Wired| wired.grounds == Grounds::of(loaded);
        self.allowed
            && (self.state().servers != Server::configured(loaded)
                || !self.wired().is_none_or(stands))
    }

    /// Tries those again that are down.
    pub(crate) async fn nudge(&self) {
        if let Some(fleet) = self.fleet() {
            fleet.nudge().await;
        }
    }

    /// How each of them is.
    pub(crate) fn status(&self) -> Vec<Status> {
        self.fleet().map(|fleet| fleet.status()).unwrap_or_default()
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        let wired = self.wired_mut().take();
        if let Some(wired) = wired {
            wired.wiring.close().await;
        }
    }

    /// The servers that a session misses.
    fn away(&self, fleet: &Fleet, chosen: &toolsets::Chosen) -> BTreeMap<String, Away> {
        let statuses = fleet.status();
        let status = |name: &str| statuses.iter().find(|status| status.name == name);
        fleet
            .unavailable()
            .into_iter()
            .filter(|one| chosen.has_server(&one.server))
            // Tools that are remembered are offered: a call waits for the connection.
            .filter(|one| {
                one.partly || status(&one.server).is_none_or(|status| !is_on_its_way(status))
            })
            .map(|one| {
                let away = Away {
                    partly: one.partly,
                    why: one_line(&one.why),
                    again: status(&one.server)
                        .and_then(|status| again(status, self.sampler.clock().zone()))
                        .unwrap_or_default(),
                };
                (one.server, away)
            })
            .collect()
    }

    fn fleet(&self) -> Option<Fleet> {
        self.wired().map(|wired| wired.wiring.fleet.clone())
    }

    fn wired(&self) -> Option<Wired> {
        self.wired_mut().clone()
    }

    fn wired_mut(&self) -> MutexGuard<'_, Option<Wired>> {
        self.wired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSource for Servers {
    /// Lets servers whose tools are not known from an earlier run come up before the first message, for as long as the
    /// settings allow. A question that is asked once has no later turn for a server to join: it waits as long as they
    /// take to connect, unless somebody set how long.
    fn ready<'a>(&'a self, audience: Audience<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let (chosen, limit, limited) = {
                let mut state = self.state();
                if std::mem::replace(&mut state.waited, true) {
                    return;
                }
                let chosen = toolsets::chosen(&state.config, audience.surface, audience.toolsets);
                (chosen, state.config.mcp_discovery_timeout, state.limited)
            };
            let Some(fleet) = self.fleet() else {
                return;
            };
            fleet
                .offering(limit, |server| chosen.has_server(server.name()))
                .await;
            if !audience.lasting && !limited {
                // One that failed already has had its time: it is told to be away, not waited for.
                fleet
                    .first_try(ONCE, |server| chosen.has_server(server.name()))
                    .await;
            }
        })
    }

    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let mut tools = self.hands.tools(facts);
        if let Some(fleet) = self.fleet() {
            self.sampler.uses(facts.session, facts.route);
            let chosen = toolsets::chosen(&self.state().config, facts.surface, facts.toolsets);
            tools.extend(fleet.tools_of(|server| chosen.has_server(server)));
        }
        tools
    }

    fn equip<'a>(
        &'a self,
        names: &'a [String],
        audience: Audience<'a>,
        person: Person<'a>,
    ) -> BoxFuture<'a, Vec<String>> {
        self.hands.equip(names, audience, person)
    }

    fn remarks(&self, facts: &SessionFacts<'_>) -> Vec<String> {
        let mut remarks = self.hands.remarks(facts);
        let Some(fleet) = self.fleet() else {
            // It hears of the first server that is added.
            self.state().told.meet(facts.session);
            return remarks;
        };
        let mut state = self.state();
        let chosen = toolsets::chosen(&state.config, facts.surface, facts.toolsets);
        let statuses = fleet.status();
        let status = |name: &str| statuses.iter().find(|status| status.name == name);
        let away = self.away(&fleet, &chosen);
        let standing = |name: &str| match status(name).filter(|_| chosen.has_server(name)) {
            None => Standing::NotWanted,
            Some(status) => standing(status),
        };
        // Before what is new, so that it is new to this session too.
        state.told.meet(facts.session);
        let changes = fleet.restated().into_iter();
        for change in changes.filter(|change| chosen.has_server(&change.server)) {
            state.restate(change, &fleet);
        }
        remarks.extend(state.told.tell(facts.session, away, standing));
        remarks
    }

    fn absent(&self, name: &str, audience: Audience<'_>) -> Option<String> {
        let fleet = self.fleet()?;
        let chosen = {
            let state = self.state();
            toolsets::chosen(&state.config, audience.surface, audience.toolsets)
        };
        let away = self.away(&fleet, &chosen).into_iter();
        let (server, Away { why, again, .. }) = away
            .filter(|(server, away)| !away.partly && reads_like(name, server))
            .max_by_key(|(server, _)| server.len())?;
        Some(format!(
            "MCP server {server} is not connected, so the call was not made: {why}{again}"
        ))
    }
}

impl State {
    /// Tells once that tools of a server describe themselves differently than before.
    fn restate(&mut self, change: Change, fleet: &Fleet) {
        let (server, restated) = (&change.server, &change.restated);
        if self.restated.get(server) == Some(restated) {
            return;
        }
        self.restated.insert(server.clone(), Arc::clone(restated));
        self.told.add(change.told.clone());
        fleet.accept(change);
    }
}

/// What was done to servers that were all made anew, for somebody who had these before.
fn anew(mut had: BTreeSet<String>, made: Reload) -> Reload {
    let (changed, added) = made.added.into_iter().partition(|name| had.remove(name));
    Reload {
        added,
        changed,
        removed: had.into_iter().collect(),
        kept: Vec::new(),
    }
}

/// Whether a setting has another origin than our defaults.
fn is_written(key: &str, loaded: &Loaded) -> bool {
    let node = KeyPath::parse(key).and_then(|key| loaded.tree.at(&key));
    node.is_some_and(|node| node.origin.layer != Layer::Default)
}

/// How a server is that nobody counts as away.
fn standing(status: &Status) -> Standing {
    match status.status {
        StatusWord::Connected | StatusWord::Recycled => Standing::There,
        StatusWord::Disabled => Standing::NotWanted,
        StatusWord::Connecting
        | StatusWord::Failed
        | StatusWord::Parked
        | StatusWord::NeedsAuth
        | StatusWord::Configured => Standing::OnItsWay,
    }
}

fn is_on_its_way(status: &Status) -> bool {
    status.status == StatusWord::Connecting && status.tools > 0
}

/// When a server is tried again, as the end of a sentence.
pub(crate) fn again(status: &Status, zone: &TimeZone) -> Option<String> {
    let at: jiff::Timestamp = status.next_retry.as_deref()?.parse().ok()?;
    let at = when::show(at.as_duration().as_secs_f64(), zone);
    Some(format!("; it is tried again at {at}"))
}
