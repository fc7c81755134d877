//! Who we are at GitHub. Without a key it answers too, only less often.

use std::sync::Arc;

use hermes_core::Clock;
use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::app::{self, AppLogin};
use crate::hub::error::SourceError;
use crate::hub::web::Web;

/// A token that ends sooner than this is replaced.
const SPARE_SECONDS: i64 = 120;

/// How to get a key.
#[derive(Debug, Clone, Default)]
pub enum GithubLogin {
    #[default]
    Anonymous,
    /// A token of the user's, not bound to an origin yet.
    Token(Secret),
    /// A GitHub App.
    App(AppLogin),
}

/// Keys, bound to the one address of GitHub that is in use.
pub(super) struct Keys {
    login: Login,
    base: BaseUrl,
    web: Web,
    clock: Arc<dyn Clock>,
    /// The token of the app, and until when it is good.
    lent: Mutex<Option<(Secret, Timestamp)>>,
}

enum Login {
    None,
    Bound(Secret),
    App(AppLogin),
}

impl Keys {
    pub(super) fn new(login: GithubLogin, base: &BaseUrl, web: Web, clock: Arc<dyn Clock>) -> Self {
        let login = match login {
            GithubLogin::Anonymous => Login::None,
            GithubLogin::Token(token) => {
                let value = token.expose_for_storage("the same secret, bound to its origin");
                bound(token.name().as_str(), value, base).map_or(Login::None, Login::Bound)
            }
            GithubLogin::App(app) => Login::App(app),
        };
        Self {
            login,
            base: base.clone(),
            web,
            clock,
            lent: Mutex::new(None),
        }
    }

    pub(super) async fn get(&self) -> Result<Option<Secret>, SourceError> {
        let app = match &self.login {
            Login::None => return Ok(None),
            Login::Bound(token) => return Ok(Some(token.clone())),
            Login::App(app) => app,
        };
        let mut lent = self.lent.lock().await;
        let now = self.clock.now();
        if let Some((token, until)) = &*lent
            && until.as_second().saturating_sub(now.as_second()) > SPARE_SECONDS
        {
            return Ok(Some(token.clone()));
        }
        let fresh = app::token(app, &self.base, &self.web, now).await?;
        *lent = Some(fresh.clone());
        Ok(Some(fresh.0))
    }
}

/// A value as a secret that only GitHub sees.
pub(super) fn bound(name: &str, value: &str, base: &BaseUrl) -> Option<Secret> {
    let name = SecretName::new(name).ok()?;
    let origin = base.origin().ok()?;
    Secret::new(name, value.to_owned(), [origin.into()]).ok()
}
