//! One configured server, read from the settings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{
    Fault, Loaded, McpElicitation, McpSampling, McpSandbox, McpServer, McpTrust, Problem,
};

use crate::{RecoveryPolicy, ToolFilter, unresolved};

/// A server by its name and settings. Two that are equal need not be connected anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    name: String,
    settings: McpServer,
    /// What cannot be used of its entry.
    flaws: Vec<Flaw>,
}

/// A value of an entry that cannot be used, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Flaw {
    /// The default counts.
    Forgiven(String),
    /// The server is not used.
    Fatal(String),
}

impl Flaw {
    fn of(problem: &Problem) -> Option<Self> {
        // What was found instead may be a secret in the wrong place.
        let Fault::NotAccepted { expected, .. } = &problem.fault else {
            return None;
        };
        let key = &problem.key;
        Some(match McpServer::forgives(key) {
            true => Self::Forgiven(format!("{key} must be {expected}; its default is used")),
            false => Self::Fatal(format!("{key} must be {expected}")),
        })
    }
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
            flaws: Vec::new(),
        }
    }

    /// All servers of the settings, those too whose entries cannot be used.
    pub fn configured(loaded: &Loaded) -> Vec<Self> {
        let named = loaded.config.mcp_servers.keys().map(String::as_str);
        let faulty = loaded.problems.iter();
        let faulty = faulty.filter(|problem| problem.fault.is_error());
        let names: BTreeSet<&str> = named.chain(faulty.filter_map(Problem::server)).collect();
        let servers = names.into_iter();
        servers
            .map(|name| Self::in_settings(name, loaded))
            .collect()
    }

    /// A server by its name in the settings.
    pub fn in_settings(name: &str, loaded: &Loaded) -> Self {
        let entry = loaded.config.mcp_servers.get(name).cloned();
        let problems = loaded.problems.iter();
        let problems = problems.filter(|problem| problem.server() == Some(name));
        Self {
            flaws: problems.filter_map(Flaw::of).collect(),
            ..Self::new(name, entry.unwrap_or_default())
        }
    }

    /// The same server with other settings.
    pub fn changed(mut self, change: impl FnOnce(&mut McpServer)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Why it must not be used, if so; `blocked` are texts no entry may have.
    pub(crate) fn refusal(&self, blocked: &[String]) -> Option<String> {
        let fatal = self.flaws.iter().find_map(|flaw| match flaw {
            Flaw::Fatal(what) => Some(what),
            Flaw::Forgiven(_) => None,
        });
        if let Some(what) = fatal {
            return Some(format!("its entry cannot be used: {what}"));
        }
        let found = self.settings.suspicions(blocked);
        let reasons: Vec<String> = found.iter().map(ToString::to_string).collect();
        (!reasons.is_empty()).then(|| format!("the entry is suspicious: {}", reasons.join("; ")))
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

    /// What its program may touch. One that is not trusted is confined unless its settings say otherwise.
    pub fn sandbox(&self) -> McpSandbox {
        self.settings.sandbox.unwrap_or(match self.settings.trust {
            McpTrust::Trusted => McpSandbox::Off,
            McpTrust::Untrusted => McpSandbox::WorkspaceWrite,
        })
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
        let forgiven = self.flaws.iter().filter_map(|flaw| match flaw {
            Flaw::Forgiven(what) => Some(format!("MCP server {name}: {what}")),
            Flaw::Fatal(_) => None,
        });
        let missing = unresolved(settings).into_iter().map(|missing| {
            format!(
                "MCP server {name}: {} refers to {}, which is not set",
                missing.place, missing.name
            )
        });
        let mut warnings: Vec<String> = forgiven.chain(missing).collect();
        let transport = settings.transport.trim();
        let known = [
            "",
            "http",
            "streamable-http",
            "streamable_http",
            "streamablehttp",
            "sse",
            "stdio",
        ];
        if !known
            .iter()
            .any(|word| transport.eq_ignore_ascii_case(word))
        {
            warnings.push(format!(
                "MCP server {name}: there is no transport {transport}; it is reached by {}",
                self.kind().word()
            ));
        }
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
