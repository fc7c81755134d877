//! Writing down what was heard about credentials, behind the calls.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde_json::json;

use super::document::{AuthDocument, Row};
use super::file::Home;
use super::pool::{Credential, Kept};
use super::ring::{Key, Shared};
use super::row;
use super::standing::{Standing, is_forgotten};

/// What was heard about one credential since it was last written down.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    standing: Option<Standing>,
    requests: u64,
    fingerprint: String,
    label: String,
    kept: Kept,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            standing: None,
            requests: 0,
            fingerprint: String::new(),
            label: String::new(),
            kept: Kept::Outside,
        }
    }
}

impl Outcome {
    /// Adds one call.
    pub(super) fn add(&mut self, credential: &Credential, standing: Option<Standing>) {
        if self.fingerprint != credential.fingerprint {
            self.standing = None;
        }
        self.standing = standing.or(self.standing);
        self.requests += 1;
        self.fingerprint.clone_from(&credential.fingerprint);
        self.label.clone_from(&credential.label);
        self.kept = credential.kept;
    }

    /// How the credential stands is known better from elsewhere.
    pub(super) fn forget_standing(&mut self) {
        self.standing = None;
    }

    /// Shows it on a credential as the file has it.
    pub(super) fn overlay(&self, credential: &mut Credential) {
        if self.fingerprint == credential.fingerprint {
            credential.standing = self.standing.unwrap_or(credential.standing);
            credential.requests += self.requests;
        }
    }

    /// Writes it down; says whether there was a place for it.
    fn write(&self, provider: &str, id: &str, document: &mut AuthDocument) -> bool {
        if self.kept == Kept::In(Home::Root) {
            return false;
        }
        if self.kept == Kept::Outside && document.row(provider, id).is_none() {
            // That a key works is no reason to write about it.
            if self
                .standing
                .is_none_or(|standing| standing == Standing::Good)
            {
                return false;
            }
            document.push(provider, self.row(id));
        }
        let Some(row) = document.row_mut(provider, id) else {
            // It was removed meanwhile: there is nothing left to know about it.
            return true;
        };
        let fingerprint = match self.kept {
            Kept::Outside => row::text(row, "secret_fingerprint").map(str::to_owned),
            Kept::In(_) => row::text(row, "access_token").map(row::fingerprint),
        };
        let same = fingerprint.as_deref() == Some(&self.fingerprint);
        if !same && self.kept == Kept::Outside {
            row.insert("secret_fingerprint".to_owned(), json!(self.fingerprint));
            row.shift_remove("access_token");
            row.insert("request_count".to_owned(), json!(0));
        }
        // About a token that was replaced meanwhile only the number of calls is of use.
        if let Some(standing) = self.standing
            && (same || self.kept == Kept::Outside)
        {
            standing.write(row);
        }
        let before = row.get("request_count").and_then(serde_json::Value::as_u64);
        let requests = before.unwrap_or(0).saturating_add(self.requests);
        row.insert("request_count".to_owned(), json!(requests));
        true
    }

    /// The row of a key that is kept elsewhere.
    fn row(&self, id: &str) -> Row {
        let fields = [
            ("id", json!(row::fingerprint(id).replace("sha256:", ""))),
            ("label", json!(self.label)),
            ("auth_type", json!("api_key")),
            ("priority", json!(0)),
            ("source", json!(id)),
            ("secret_fingerprint", json!(self.fingerprint)),
        ];
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl Shared {
    /// Writes down everything that was heard and has a place.
    pub(super) fn save(&self) {
        let _saving = self.saving();
        let heard: Vec<(Key, Outcome)> = {
            let state = self.state();
            let outcomes = state.outcomes.iter();
            outcomes
                .map(|(key, outcome)| (key.clone(), outcome.clone()))
                .collect()
        };
        // Counting alone makes no file: without one there is nothing to count in.
        let worth = heard.iter().any(|(_, outcome)| {
            outcome.kept == Kept::In(Home::Own)
                || outcome.kept == Kept::Outside && outcome.standing.is_some()
        });
        if !worth {
            return;
        }
        let now = self.now();
        let written = self.parts.file.change(|document| {
            let mut written = Vec::new();
            for ((provider, id), outcome) in &heard {
                if outcome.write(provider, id, document) {
                    written.push((provider.clone(), id.clone()));
                    document.retain(provider, |row| !is_forgotten(row, now));
                }
            }
            written
        });
        match written {
            Ok(written) => self.forget(&heard, &written),
            Err(error) => tracing::warn!("how credentials stand could not be kept: {error}"),
        }
    }

    /// Takes away what is written, and keeps what was heard meanwhile.
    fn forget(&self, heard: &[(Key, Outcome)], written: &[Key]) {
        let mut state = self.state();
        state.saves += 1;
        for (key, old) in heard.iter().filter(|(key, _)| written.contains(key)) {
            let Some(outcome) = state.outcomes.get_mut(key) else {
                continue;
            };
            outcome.requests = outcome.requests.saturating_sub(old.requests);
            if outcome.standing == old.standing {
                outcome.standing = None;
            }
            if outcome.standing.is_none() && outcome.requests == 0 {
                state.outcomes.remove(key);
            }
        }
    }
}

/// The thread that writes. Wake-ups that come while it writes become one.
pub(super) struct Writer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        let (wake, woken): (_, Receiver<()>) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                while woken.recv().is_ok() {
                    shared.save();
                }
            });
        match thread {
            Ok(thread) => Self {
                wake: Some(wake),
                thread: Some(thread),
            },
            Err(error) => {
                tracing::warn!("credentials are written at the end only: {error}");
                Self {
                    wake: None,
                    thread: None,
                }
            }
        }
    }

    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // When it is full, a wake-up is on its way already.
            let _ = wake.try_send(());
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}
