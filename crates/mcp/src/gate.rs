//! The usual gatekeeper: OAuth where an entry says so, the malware list for programs.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use hermes_core::Clock;
use hermes_http::HttpClient;
use hermes_secrets::RedactorHandle;

use crate::{
    Authority, Browser, Gatekeeper, OAuth, OAuthError, OAuthParts, OAuthSettings, Osv, Person,
    Server, Verdict, clean,
};

/// What the gatekeeper is handed.
pub struct Gate {
    /// Makes the requests of logins. It may reach private addresses, but no cloud metadata.
    pub http: HttpClient,
    /// The home that tokens are kept in.
    pub home: PathBuf,
    /// The home of the user, for `~`.
    pub user_home: Option<PathBuf>,
    /// Tells when tokens end.
    pub clock: Arc<dyn Clock>,
    /// Who can sign in; nobody in the background.
    pub person: Option<(Arc<dyn Person>, Browser)>,
    /// The malware list, unless it is not asked.
    pub osv: Option<Osv>,
    /// Masks what is said about an entry.
    pub redactor: RedactorHandle,
}

impl Gate {
    /// The login of a server, for `hermes mcp login` as well as for its connections.
    pub fn oauth(&self, server: &Server) -> Result<OAuth, OAuthError> {
        let home = self.user_home.as_deref();
        let settings = OAuthSettings::new(server.name(), server.settings(), home)
            .map_err(|error| OAuthError::NeedsLogin(error.to_string()))?;
        OAuth::new(OAuthParts {
            settings,
            http: self.http.clone(),
            home: self.home.clone(),
            clock: Arc::clone(&self.clock),
            person: self.person.clone(),
        })
    }
}

impl Gatekeeper for Gate {
    fn authority(&self, server: &Server) -> Option<Arc<dyn Authority>> {
        if !server.wants_oauth() {
            return None;
        }
        match self.oauth(server) {
            Ok(oauth) => Some(Arc::new(oauth)),
            Err(error) => Some(Arc::new(Unusable(error.to_string()))),
        }
    }

    fn clear<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        async move {
            let Some(osv) = &self.osv else {
                return Ok(());
            };
            let settings = server.settings();
            match osv.check(&settings.command, &settings.args).await {
                Verdict::Clean => Ok(()),
                Verdict::Malware { package, ids } => Err(format!(
                    "{package} is on the list of malicious packages ({})",
                    ids.join(", ")
                )),
                Verdict::Unknown { why } => {
                    let why = clean(&self.redactor.snapshot(), &why);
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

/// Stands for a login whose settings cannot be used, and says so to whoever asks.
struct Unusable(String);

impl Authority for Unusable {
    fn bearer(&self) -> BoxFuture<'_, Result<Option<hermes_secrets::Secret>, crate::AuthError>> {
        let why = self.0.clone();
        async move { Err(crate::AuthError::NeedsLogin { why }) }.boxed()
    }

    fn recover<'a>(&'a self, _refusal: crate::Refusal<'a>) -> BoxFuture<'a, crate::Recovery> {
        let why = self.0.clone();
        async move { crate::Recovery::NeedsLogin { why } }.boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        // Only other settings help, and with them comes another authority.
        std::future::pending().boxed()
    }
}
