//! The device flow: the user confirms a code in a browser, on any machine.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::Clock;
use hermes_http::{AuthScheme, HttpClient};
use hermes_secrets::Secret;
use jiff::Timestamp;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::flow::{Flow, is_private};
use super::token::{Granted, OAuthError, Tokens, answer, for_server, request};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// How long a code lives when the provider does not say.
const USUAL_LIFE: Duration = Duration::from_secs(600);
/// No code lives longer.
const LONGEST_LIFE: Duration = Duration::from_secs(3_600);
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// Logs in to one provider.
#[derive(Clone)]
pub struct DeviceLogin {
    /// Makes the requests.
    pub http: HttpClient,
    /// The provider's flow.
    pub flow: Flow,
    /// Tells when a code has expired.
    pub clock: Arc<dyn Clock>,
}

/// A code that waits to be confirmed.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    /// What the user types in, or compares.
    pub user_code: String,
    /// Where.
    pub verification_uri: Url,
    /// The same with the code in it, when the provider offers that.
    pub verification_uri_complete: Option<Url>,
    /// How long to wait between two polls; grows when the provider asks for it.
    pub interval: Duration,
    /// When the code is no longer good.
    pub expires_at: Timestamp,
    device_code: Secret,
}

/// What a poll found.
#[derive(Debug, Clone)]
pub enum Poll {
    /// Nobody has confirmed the code yet.
    Pending,
    /// The same, and the code's interval has grown.
    SlowDown,
    /// The user said no.
    Denied,
    /// The code is no longer good.
    Expired,
    /// The user said yes.
    Granted(Granted),
}

impl DeviceLogin {
    /// Asks for a code.
    pub async fn start(&self) -> Result<DeviceCode, OAuthError> {
        #[derive(Deserialize)]
        struct Started {
            device_code: String,
            user_code: String,
            #[serde(alias = "verification_url")]
            verification_uri: String,
            verification_uri_complete: Option<String>,
            expires_in: Option<f64>,
            interval: Option<f64>,
        }
        let mut fields = vec![("client_id", self.flow.client_id.as_str())];
        fields.extend(self.flow.scope.as_deref().map(|scope| ("scope", scope)));
        let request = request(&self.http, &self.flow, &self.flow.device_url).form(fields);
        let started: Started = answer(request, None).await?;
        let duration = |seconds| Duration::try_from_secs_f64(seconds).ok();
        let life = started.expires_in.and_then(duration).unwrap_or(USUAL_LIFE);
        Ok(DeviceCode {
            user_code: started.user_code,
            verification_uri: page(&started.verification_uri)?,
            // A convenience: without it the user types the code.
            verification_uri_complete: started
                .verification_uri_complete
                .and_then(|address| page(&address).ok()),
            interval: started
                .interval
                .and_then(duration)
                .unwrap_or(self.flow.interval)
                .clamp(SHORTEST_INTERVAL, self.flow.longest_interval),
            expires_at: self
                .clock
                .now()
                .checked_add(life.min(LONGEST_LIFE))
                .map_err(|_| OAuthError::BadAnswer("expires_in"))?,
            device_code: for_server(&self.flow, "device_code", started.device_code)?,
        })
    }

    /// Asks once whether the code was confirmed.
    pub async fn poll(&self, code: &mut DeviceCode) -> Result<Poll, OAuthError> {
        if self.clock.now() >= code.expires_at {
            return Ok(Poll::Expired);
        }
        let request = request(&self.http, &self.flow, &self.flow.token_url)
            .form([
                ("grant_type", GRANT),
                ("client_id", self.flow.client_id.as_str()),
            ])
            .auth(
                &code.device_code,
                AuthScheme::FormField("device_code".to_owned()),
            );
        let refused = match answer::<Tokens>(request, Some(&code.device_code)).await {
            Ok(tokens) => {
                return tokens
                    .granted(&self.flow, self.clock.now())
                    .map(Poll::Granted);
            }
            Err(error) => error,
        };
        let OAuthError::Refused { code: word, .. } = &refused else {
            return Err(refused);
        };
        match word.as_str() {
            "authorization_pending" => Ok(Poll::Pending),
            "slow_down" => {
                self.slow_down(code);
                Ok(Poll::SlowDown)
            }
            "access_denied" => Ok(Poll::Denied),
            "expired_token" => Ok(Poll::Expired),
            _ => Err(refused),
        }
    }

    /// Polls until the user has decided, the code has expired or the token is cancelled. A network
    /// that fails for a while only slows the polling down.
    pub async fn finish(
        &self,
        mut code: DeviceCode,
        cancel: &CancellationToken,
    ) -> Result<Granted, OAuthError> {
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(OAuthError::Cancelled),
                () = tokio::time::sleep(code.interval) => {}
            }
            let polled = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(OAuthError::Cancelled),
                polled = self.poll(&mut code) => polled,
            };
            match polled {
                Ok(Poll::Pending | Poll::SlowDown) => {}
                Ok(Poll::Granted(granted)) => return Ok(granted),
                Ok(Poll::Denied) => return Err(OAuthError::Denied),
                Ok(Poll::Expired) => return Err(OAuthError::Expired),
                Err(error) if error.is_transient() => self.slow_down(&mut code),
                Err(error) => return Err(error),
            }
        }
    }

    fn slow_down(&self, code: &mut DeviceCode) {
        code.interval = (code.interval + self.flow.slow_down).min(self.flow.longest_interval);
    }
}

/// An address that is safe to open in a browser.
fn page(address: &str) -> Result<Url, OAuthError> {
    Url::parse(address)
        .ok()
        .filter(is_private)
        .ok_or(OAuthError::BadAnswer("verification_uri"))
}
