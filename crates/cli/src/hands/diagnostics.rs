//! Language servers, from the settings.

use std::sync::Arc;

use hermes_config::{Config, InstallStrategy, Value, WaitMode};
use hermes_tools::{Diagnostics, Extent, LanguageServers, LspSettings, OwnServer, Workplace};
use serde::Deserialize;

use super::Hands;
use super::places::found;

/// What the settings say about one server.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    command: Vec<String>,
    extensions: Vec<String>,
    disabled: bool,
}

/// The servers, when they are wanted. None is started yet.
pub(super) fn servers(
    config: &Config,
    environment: &[(String, String)],
) -> Option<LanguageServers> {
    let lsp = &config.lsp;
    if !lsp.enabled {
        return None;
    }
    let mut own = Vec::new();
    let mut off = Vec::new();
    for (name, value) in &lsp.servers {
        let Some(entry) = read(value) else {
            tracing::warn!(server = name, "`lsp.servers` is not understood here");
            continue;
        };
        if entry.disabled {
            off.push(name.clone());
        } else if !entry.command.is_empty() {
            own.push(OwnServer {
                name: name.clone(),
                command: entry.command,
                extensions: entry
                    .extensions
                    .iter()
                    .map(|end| end.trim_start_matches('.').to_owned())
                    .collect(),
            });
        }
    }
    let environment = environment.to_vec();
    Some(LanguageServers::new(LspSettings {
        wait: lsp.wait_timeout,
        extent: match lsp.wait_mode {
            WaitMode::Document => Extent::Document,
            WaitMode::Full => Extent::Project,
        },
        tell_missing: lsp.install_strategy == InstallStrategy::Manual,
        own,
        off,
        find: Arc::new(move |program| found(program, &environment)),
    }))
}

fn read(value: &Value) -> Option<Entry> {
    serde_json::from_value(value.to_json()).ok()
}

impl Hands {
    pub(super) fn diagnostics(&self, place: &Arc<Workplace>, here: bool) -> Option<Diagnostics> {
        let servers = self.language_servers.clone().filter(|_| here)?;
        Some(Diagnostics {
            servers,
            place: place.clone(),
        })
    }
}
