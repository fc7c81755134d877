//! What was refused last. The same is not sent again unless something about it has changed or time has passed.

use hermes_secrets::Secret;

use crate::classify::Fault;
use crate::model::Sending;

/// A request that was refused, and why.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    print: Option<u64>,
    secret: Option<Secret>,
    pub(crate) fault: Fault,
}

impl Refused {
    pub(crate) async fn new(sending: &Sending, fault: Fault) -> Self {
        Self {
            print: sending.print().await,
            secret: sending.secret.clone(),
            fault,
        }
    }

    /// Whether this would be the same request with the same credential.
    pub(crate) async fn repeats(&self, sending: &Sending) -> bool {
        let same_secret = match (&self.secret, &sending.secret) {
            (None, None) => true,
            (Some(refused), Some(secret)) => {
                refused.matches(secret.expose_for_storage("a comparison"))
            }
            (None, Some(_)) | (Some(_), None) => false,
        };
        same_secret && self.print.is_some() && self.print == sending.print().await
    }
}
