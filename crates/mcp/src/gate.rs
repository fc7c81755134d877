//! The usual gatekeeper: OAuth where an entry says so, the rules for commands and the malware list for programs.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use hermes_config::McpServer;
use hermes_core::{CallId, Clock};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_policy::{denied_by, judge_program};
use hermes_secrets::{RedactorHandle, Scope, Secret};
use hermes_store::{Decision, DecisionOutcome, Store};
use tokio::sync::OnceCell;

use crate::transport::apply_trust;
use crate::{
    AuthError, Authority, Browser, Gatekeeper, OAuth, OAuthError, OAuthParts, OAuthSettings, Osv,
    Person, Recovery, Refusal, Server, Verdict, clean,
};

/// Most characters of a command line that are kept with a decision.
const MOST_ACTION: usize = 4_000;

/// What logins stand on.
#[derive(Clone)]
pub struct Logins {
    /// How addresses are reached; a server's own certificates are added.
    pub network: ClientSettings,
    /// The home that tokens are kept in.
    pub home: PathBuf,
    /// The home of the user, for `~`.
    pub user_home: Option<PathBuf>,
    /// Tells when tokens end.
    pub clock: Arc<dyn Clock>,
    /// Who can sign in; nobody in the background.
    pub person: Option<(Arc<dyn Person>, Browser)>,
    /// Masks what is said, and learns the tokens.
    pub redactor: RedactorHandle,
}

impl Logins {
    /// The login of a server, for `hermes mcp login` as well as for its connections.
    pub async fn of(&self, server: &Server) -> Result<OAuth, OAuthError> {
        let (entry, home) = (server.settings(), self.user_home.as_deref());
        let settings = OAuthSettings::new(server.name(), entry, home)
            .map_err(|error| OAuthError::NeedsLogin(error.to_string()))?;
        let mut network = self.network.clone();
        apply_trust(entry, &mut network, home)
            .await
            .map_err(OAuthError::NeedsLogin)?;
        // Servers name the addresses of logins, so they must not lead to a cloud's own keys.
        let http = ClientBuilder::new(network, AddressPolicy::PublicAndPrivate)
            .redactor(self.redactor.clone())
            .build()
            .map_err(|error| OAuthError::NeedsLogin(error.to_string()))?;
        OAuth::new(OAuthParts {
            settings,
            http,
            home: self.home.clone(),
            clock: Arc::clone(&self.clock),
            person: self.person.clone(),
        })
    }
}

/// Lets servers in: logins where they are wanted, and no malware.
pub struct Gate {
    /// How people and we ourselves sign in.
    pub logins: Logins,
    /// Where programs would run, for the rules about commands.
    pub around: hermes_policy::Surroundings,
    /// `approvals.deny`: patterns of commands that never run.
    pub deny: Vec<String>,
    /// Where refusals are kept.
    pub decisions: Option<Store>,
    /// The malware list, unless it is not asked.
    pub osv: Option<Osv>,
}

impl Gatekeeper for Gate {
    fn authority(&self, server: &Server) -> Option<Arc<dyn Authority>> {
        server.wants_oauth().then(|| {
            Arc::new(Login {
                logins: self.logins.clone(),
                server: server.clone(),
                made: OnceCell::new(),
            }) as Arc<dyn Authority>
        })
    }

    fn clear<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        async move {
            let settings = server.settings();
            self.judge(server).await?;
            let Some(osv) = &self.osv else {
                return Ok(());
            };
            match osv.check(&settings.command, &settings.args).await {
                Verdict::Clean => Ok(()),
                Verdict::Malware { package, ids } => Err(format!(
                    "{package} is on the list of malicious packages ({})",
                    ids.join(", ")
                )),
                Verdict::Unknown { why } => {
                    let why = clean(&self.logins.redactor.snapshot(), &why);
                    tracing::info!(
                        server = server.name(),
                        "started without a look at the malware list: {why}"
                    );
                    Ok(())
                }
            }
        }
        .boxed()
    }
}

impl Gate {
    /// An entry is the user's own word, so nobody is asked about it. What no command may do no server does either.
    async fn judge(&self, server: &Server) -> Result<(), String> {
        let McpServer { command, args, .. } = server.settings();
        let mut argv = vec![command.clone()];
        argv.extend(args.iter().cloned());
        let line = argv.join(" ");
        let judged = judge_program(&argv, &self.around);
        let denied = denied_by(&self.deny, &judged, &line);
        let (by, why) = match (judged.verdict, denied) {
            (hermes_policy::Verdict::Deny, _) => (
                "rule: built-in limit".to_owned(),
                format!(
                    "its command line is refused like any command that {}; mend `command` and `args` of the entry",
                    judged.reason
                ),
            ),
            (hermes_policy::Verdict::Allow | hermes_policy::Verdict::Ask, Some(pattern)) => (
                format!("rule: {pattern}"),
                format!(
                    "its command line is refused like any command: `approvals.deny` forbids `{pattern}`; change that \
                     or the entry"
                ),
            ),
            (hermes_policy::Verdict::Allow | hermes_policy::Verdict::Ask, None) => return Ok(()),
        };
        self.write_down(server.name(), &line, judged.categories, by, &why)
            .await;
        Err(why)
    }

    async fn write_down(
        &self,
        server: &str,
        line: &str,
        categories: Vec<String>,
        decided_by: String,
        why: &str,
    ) {
        let Some(store) = &self.decisions else {
            return;
        };
        let redactor = self.logins.redactor.snapshot();
        let action = redactor.redact_in(Scope::Chat, line);
        let decision = Decision {
            session: String::new(),
            call: CallId(String::new()),
            at: self.logins.clock.now().as_duration().as_secs_f64(),
            tool: "mcp".to_owned(),
            action: action.chars().take(MOST_ACTION).collect(),
            place: format!("mcp {server}"),
            categories,
            outcome: DecisionOutcome::Refused,
            decided_by,
            reason: why.to_owned(),
        };
        if let Err(error) = store.record_decision(decision).await {
            tracing::warn!(server, %error, "a refusal could not be written down");
        }
    }
}

/// The login of one server, made when it is first needed because it reads files.
struct Login {
    logins: Logins,
    server: Server,
    made: OnceCell<OAuth>,
}

impl Login {
    async fn oauth(&self) -> Result<&OAuth, AuthError> {
        let made = self.made.get_or_try_init(|| self.logins.of(&self.server));
        made.await.map_err(|error| AuthError::from(&error))
    }
}

impl Authority for Login {
    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, AuthError>> {
        async move { self.oauth().await?.bearer().await }.boxed()
    }

    fn recover<'a>(&'a self, refusal: Refusal<'a>) -> BoxFuture<'a, Recovery> {
        async move {
            match self.oauth().await {
                Ok(oauth) => oauth.recover(refusal).await,
                Err(AuthError::NeedsLogin { why }) => Recovery::NeedsLogin { why },
                Err(AuthError::Later { why }) => Recovery::Later { why },
            }
        }
        .boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        async move {
            match self.oauth().await {
                Ok(oauth) => oauth.changed().await,
                // Only other settings help, and with them comes another authority.
                Err(_) => std::future::pending().await,
            }
        }
        .boxed()
    }
}
