//! A redactor that learns new values while the program runs.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Redactor, Secret};

/// Rotating tokens must not grow the list for ever; the oldest value is forgotten first.
const MAX_SECRETS: usize = 1024;

/// Shared by everything that writes text; a value added through one clone is masked by all of them.
#[derive(Clone, Debug, Default)]
pub struct RedactorHandle {
    shared: Arc<RwLock<Redactor>>,
}

impl RedactorHandle {
    /// Starts with the values known so far.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self {
            shared: Arc::new(RwLock::new(Redactor::new(secrets))),
        }
    }

    /// The redactor as it is now; take a new one for each text.
    pub fn snapshot(&self) -> Redactor {
        self.shared
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Masks this value from now on. Adding a known value costs a look and no rebuild.
    pub fn add(&self, secret: &Secret) {
        if knows(&self.snapshot(), secret) {
            return;
        }
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        if knows(&shared, secret) {
            return;
        }
        let mut secrets: VecDeque<Secret> = shared.known().secrets().iter().cloned().collect();
        if secrets.len() >= MAX_SECRETS {
            secrets.pop_front();
        }
        secrets.push_back(secret.clone());
        *shared = Redactor::new(secrets);
    }
}

fn knows(redactor: &Redactor, secret: &Secret) -> bool {
    redactor.known().secrets().iter().any(|known| {
        known.name() == secret.name()
            && known.expose_for_redaction() == secret.expose_for_redaction()
    })
}
