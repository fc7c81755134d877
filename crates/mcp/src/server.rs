//! One configured server, read from the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{McpElicitation, McpSampling, McpServer};

use crate::{RecoveryPolicy, ToolFilter, unresolved};

/// A server by its name and settings. Two that are equal need not be connected anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    name: String,
    settings: McpServer,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A program that is started, spoken to through its pipes.
    Stdio,
    /// An address, spoken to by streamable HTTP.
    Http,
    /// An address of the older kind, with an event stream for answers.
    Sse,
}

impl Kind {
    /// The word for it in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl Server {
    /// A server from its entry, in which variables have been filled in already.
    pub fn new(name: impl Into<String>, settings: McpServer) -> Self {
        Self {
            name: name.into(),
            settings,
        }
    }

    /// Its name in the settings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its entry.
    pub fn settings(&self) -> &McpServer {
        &self.settings
    }

    /// How it is reached.
    pub fn kind(&self) -> Kind {
        let old = self.settings.transport.trim().eq_ignore_ascii_case("sse");
        match self.settings.url.trim() {
            "" => Kind::Stdio,
            _ if old => Kind::Sse,
            _ => Kind::Http,
        }
    }

    /// Whether it wants a login.
    pub fn wants_oauth(&self) -> bool {
        self.settings.auth.trim().eq_ignore_ascii_case("oauth")
    }

    /// What a person can do when the server does not let us in.
    pub fn way_in(&self) -> String {
        let name = &self.name;
        if self.wants_oauth() {
            return format!("run `hermes mcp login {name}`");
        }
        let headers: Vec<&str> = self.settings.headers.keys().map(String::as_str).collect();
        let missing = unresolved(&self.settings);
        match (headers.is_empty(), missing.first()) {
            (_, Some(missing)) => format!(
                "set {}, which {} of mcp_servers.{name} refers to",
                missing.name, missing.place
            ),
            (false, None) => format!(
                "check what mcp_servers.{name}.headers sends as {}",
                headers.join(", ")
            ),
            (true, None) => format!(
                "give mcp_servers.{name} a header, or `auth: oauth` and run `hermes mcp login {name}`"
            ),
        }
    }

    /// Which of its tools are offered.
    pub fn filter(&self) -> ToolFilter {
        ToolFilter::new(self.settings.tools.as_ref())
    }

    /// What it may ask of models.
    pub fn sampling(&self) -> McpSampling {
        self.settings.sampling.clone().unwrap_or_default()
    }

    /// What it may ask of people.
    pub fn elicitation(&self) -> McpElicitation {
        self.settings.elicitation.clone().unwrap_or_default()
    }

    /// After how much time without calls its program is closed.
    pub fn idle_limit(&self) -> Option<Duration> {
        let older = self.settings.lifecycle.as_ref();
        self.limit(
            self.settings.idle_timeout_seconds,
            older.map(|older| older.idle_timeout_seconds),
        )
    }

    /// At what age its program is closed.
    pub fn life_limit(&self) -> Option<Duration> {
        let older = self.settings.lifecycle.as_ref();
        self.limit(
            self.settings.max_lifetime_seconds,
            older.map(|older| older.max_lifetime_seconds),
        )
    }

    fn limit(&self, own: Duration, older: Option<Duration>) -> Option<Duration> {
        let set = |limit: &Duration| !limit.is_zero() && self.kind() == Kind::Stdio;
        Some(own).filter(set).or(older.filter(set))
    }

    /// The policy with this server's own times.
    pub fn policy(&self, general: &RecoveryPolicy) -> RecoveryPolicy {
        let usual = McpServer::default();
        let settings = &self.settings;
        let mut policy = general.clone();
        // Only what was changed counts, so that a general policy with other times is not undone.
        if settings.timeout != usual.timeout {
            policy.call_timeout = settings.timeout;
        }
        if settings.connect_timeout != usual.connect_timeout {
            policy.connect_timeout = settings.connect_timeout;
        }
        if settings.keepalive_interval != usual.keepalive_interval {
            policy.keepalive_interval = settings.keepalive_interval;
        }
        policy.keepalive_interval = policy.keepalive_interval.max(policy.keepalive_floor);
        policy
    }

    /// What people should know about the entry before it is used.
    pub fn warnings(&self) -> Vec<String> {
        let name = &self.name;
        let settings = &self.settings;
        let mut warnings: Vec<String> = unresolved(settings)
            .into_iter()
            .map(|missing| {
                format!(
                    "MCP server {name}: {} refers to {}, which is not set",
                    missing.place, missing.name
                )
            })
            .collect();
        if !settings.url.is_empty() && !settings.command.is_empty() {
            warnings.push(format!(
                "MCP server {name}: both url and command are set; url counts"
            ));
        }
        let refused = settings.headers.keys().filter(|name| is_ours(name));
        warnings.extend(refused.map(|header| {
            format!("MCP server {name}: the header {header} is set by the protocol and left out")
        }));
        warnings.extend(self.filter().notice(name));
        warnings
    }
}

/// Whether a header belongs to the protocol.
pub(crate) fn is_ours(header: &str) -> bool {
    ["accept", "mcp-session-id", "last-event-id"]
        .iter()
        .any(|ours| header.eq_ignore_ascii_case(ours))
}

/// A path of the settings with `~` filled in.
pub(crate) fn expanded(path: &str, user_home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if path == "~" => home.to_owned(),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(change: impl FnOnce(&mut McpServer)) -> Server {
        let mut settings = McpServer::default();
        change(&mut settings);
        Server::new("one", settings)
    }

    #[test]
    fn an_address_counts_before_a_program() {
        let both = server(|settings| {
            settings.url = "http://127.0.0.1:1/mcp".to_owned();
            settings.command = "program".to_owned();
        });
        assert_eq!(both.kind(), Kind::Http);
        assert!(
            both.warnings()
                .iter()
                .any(|text| text.contains("url counts"))
        );
    }

    #[test]
    fn limits_may_stand_in_two_places_and_only_programs_have_them() {
        let own = server(|settings| settings.idle_timeout_seconds = Duration::from_secs(7));
        assert_eq!(own.idle_limit(), Some(Duration::from_secs(7)));
        let older = server(|settings| {
            settings.lifecycle = Some(hermes_config::McpLifecycle {
                idle_timeout_seconds: Duration::from_secs(8),
                max_lifetime_seconds: Duration::ZERO,
            });
        });
        assert_eq!(older.idle_limit(), Some(Duration::from_secs(8)));
        assert_eq!(older.life_limit(), None);
        let remote = server(|settings| {
            settings.url = "http://127.0.0.1:1/".to_owned();
            settings.idle_timeout_seconds = Duration::from_secs(7);
        });
        assert_eq!(remote.idle_limit(), None);
    }

    // MCP-41
    #[test]
    fn a_sign_of_life_is_asked_for_every_five_seconds_at_most() {
        let eager = server(|settings| settings.keepalive_interval = Duration::from_secs(1));
        let policy = eager.policy(&RecoveryPolicy::default());
        assert_eq!(policy.keepalive_interval, Duration::from_secs(5));
        assert_eq!(policy.call_timeout, Duration::from_secs(300));
    }

    #[test]
    fn headers_of_the_protocol_are_named_and_left_out() {
        let server = server(|settings| {
            settings.url = "http://127.0.0.1:1/".to_owned();
            settings
                .headers
                .insert("Mcp-Session-Id".to_owned(), "x".to_owned());
        });
        assert!(
            server
                .warnings()
                .iter()
                .any(|text| text.contains("Mcp-Session-Id"))
        );
    }
}
