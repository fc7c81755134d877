//! Asking a public list about packages: whether one is malware, before a server is started from it, and what else is
//! known against it, when somebody wants to hear it.
//!
//! Only entries about malicious packages block; ordinary advisories do not. Trouble on the way never
//! keeps a server from starting: the list is a net below the user's own choice, not a gate.

mod advisory;
mod package;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use hermes_core::Clock;
use hermes_http::{
    AddressPolicy, BuildError, ClientBuilder, ClientSettings, HttpClient, HttpError, Timeouts,
};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use url::Url;

pub use advisory::{Advisory, Severity};
pub use package::{Ecosystem, Package};

/// Where the list is, unless the caller says otherwise.
pub const OSV_ENDPOINT: &str = "https://api.osv.dev/v1/query";
/// What begins the name of an entry about malware.
const MALWARE: &str = "MAL-";
/// How long one question may take.
const LONGEST_QUERY: Duration = Duration::from_secs(10);
/// How long everything may take.
const LONGEST_CHECK: Duration = Duration::from_secs(12);
/// How long an answer is good.
const KEPT: Duration = Duration::from_secs(24 * 3600);
/// How long it is not asked again about a package after it could not be.
const PAUSE: Duration = Duration::from_secs(300);
/// Most packages such a pause is remembered for.
const MOST_PAUSES: usize = 64;
/// Most pages of an answer that are read.
const MOST_PAGES: usize = 5;
/// Most bytes of one page.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What is known about a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No malware is known, or there is no package to ask about.
    Clean,
    /// It is malware.
    Malware {
        /// The package.
        package: String,
        /// The entries that say so.
        ids: Vec<String>,
    },
    /// Nobody could be asked; the server may start.
    Unknown {
        /// Why.
        why: String,
    },
}

impl Verdict {
    fn or_worse(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Malware { .. }, _) | (_, Self::Clean) => self,
            (Self::Unknown { .. }, Self::Unknown { .. }) => self,
            (Self::Clean | Self::Unknown { .. }, _) => other,
        }
    }
}

/// What the list is asked with.
pub struct OsvParts {
    /// How it is reached.
    pub network: ClientSettings,
    /// Masks what is said about failures.
    pub redactor: RedactorHandle,
    /// Where it is.
    pub endpoint: Url,
    /// Keeps answers for a day.
    pub store: Option<Store>,
    /// Tells how old they are.
    pub clock: Arc<dyn Clock>,
}

/// Why the list was not asked.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error(transparent)]
    Client(#[from] BuildError),
    #[error(transparent)]
    Request(#[from] HttpError),
}

/// Asks the list.
pub struct Osv {
    parts: OsvParts,
    /// Made for the first question. Most servers are no packages or were asked about before, and the first prompt
    /// does not wait for a client nobody uses.
    http: OnceLock<HttpClient>,
    limit: Duration,
    /// Packages nobody could be asked about, since when, and why.
    pauses: Mutex<BTreeMap<String, (Timestamp, String)>>,
}

impl Osv {
    /// Asks nothing yet.
    pub fn new(parts: OsvParts) -> Self {
        Self {
            parts,
            http: OnceLock::new(),
            limit: LONGEST_CHECK,
            pauses: Mutex::default(),
        }
    }

    /// What is known about the packages that a command would fetch and run: the worst of it.
    pub async fn check(&self, command: &str, arguments: &[String]) -> Verdict {
        let packages = Package::all_of(command, arguments);
        let verdicts = join_all(packages.iter().map(|package| self.known(package))).await;
        verdicts.into_iter().fold(Verdict::Clean, Verdict::or_worse)
    }

    async fn known(&self, package: &Package) -> Verdict {
        let name = package.to_string();
        if let Some(why) = self.paused(&name) {
            return Verdict::Unknown { why };
        }
        let verdict = match tokio::time::timeout(self.limit, self.judge(package)).await {
            Ok(verdict) => verdict,
            Err(_) => Verdict::Unknown {
                why: format!("no answer within {} s", self.limit.as_secs()),
            },
        };
        if let Verdict::Unknown { why } = &verdict {
            self.pause(name, why.clone());
        }
        verdict
    }

    /// Why nobody is asked about a package at the moment. A server that dies often is not held up each time.
    fn paused(&self, package: &str) -> Option<String> {
        let now = self.parts.clock.now();
        let mut pauses = self.pauses();
        pauses.retain(|_, (since, _)| now.duration_since(*since).unsigned_abs() < PAUSE);
        pauses.get(package).map(|(_, why)| why.clone())
    }

    fn pause(&self, package: String, why: String) {
        let now = self.parts.clock.now();
        let mut pauses = self.pauses();
        if pauses.len() < MOST_PAUSES {
            pauses.insert(package, (now, why));
        }
    }

    fn pauses(&self) -> MutexGuard<'_, BTreeMap<String, (Timestamp, String)>> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn judge(&self, package: &Package) -> Verdict {
        let name = package.to_string();
        if let Some(kept) = self.kept(&name).await {
            return verdict(&name, kept);
        }
        match self.ask(package).await {
            Ok(ids) => {
                self.keep(&name, &ids).await;
                verdict(&name, ids)
            }
            Err(error) => {
                tracing::debug!(
                    package = name,
                    "the malware list could not be asked: {error}"
                );
                Verdict::Unknown {
                    why: error.to_string(),
                }
            }
        }
    }

    /// Everything that is known against a package, the worst first. Nothing is remembered: whoever asks wants to
    /// know how it is now. The reason when nobody could be asked.
    pub async fn advisories(&self, package: &Package) -> Result<Vec<Advisory>, String> {
        let asked = tokio::time::timeout(self.limit, self.entries(package)).await;
        let entries = match asked {
            Ok(entries) => entries.map_err(|error| error.to_string())?,
            Err(_) => return Err(format!("no answer within {} s", self.limit.as_secs())),
        };
        let mut found: Vec<Advisory> = entries.iter().filter_map(Advisory::read).collect();
        found.sort_by(|one, other| {
            let by_severity = other.severity.cmp(&one.severity);
            by_severity.then_with(|| one.id.cmp(&other.id))
        });
        Ok(found)
    }

    async fn ask(&self, package: &Package) -> Result<Vec<String>, AskError> {
        let entries = self.entries(package).await?;
        let ids = entries.iter().filter_map(|entry| entry.get("id")?.as_str());
        let malware = ids.filter(|id| id.starts_with(MALWARE));
        Ok(malware.map(str::to_owned).collect())
    }

    /// What the list has about a package.
    async fn entries(&self, package: &Package) -> Result<Vec<Json>, AskError> {
        let http = self.http()?;
        let mut entries = Vec::new();
        let mut page = None;
        for _ in 0..MOST_PAGES {
            let mut question = json!({
                "package": { "name": package.name, "ecosystem": package.ecosystem.word() },
                "version": package.version,
                "page_token": page,
            });
            if let Json::Object(fields) = &mut question {
                fields.retain(|_, value| !value.is_null());
            }
            let request = http
                .post(self.parts.endpoint.clone())
                .timeouts(Timeouts {
                    total: LONGEST_QUERY,
                    first_byte: LONGEST_QUERY,
                    ..Timeouts::default()
                })
                .json(&question);
            let mut answer: Json = request
                .send()
                .await?
                .require_success()
                .await?
                .json(MOST_BYTES)
                .await?;
            if let Some(Json::Array(found)) = answer.get_mut("vulns").map(Json::take) {
                entries.extend(found);
            }
            match answer.get("next_page_token").and_then(Json::as_str) {
                Some(next) if !next.is_empty() => page = Some(next.to_owned()),
                Some(_) | None => break,
            }
        }
        Ok(entries)
    }

    fn http(&self) -> Result<&HttpClient, BuildError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let made = ClientBuilder::new(self.parts.network.clone(), AddressPolicy::Any)
            .redactor(self.parts.redactor.clone())
            .build()?;
        Ok(self.http.get_or_init(|| made))
    }

    async fn kept(&self, package: &str) -> Option<Vec<String>> {
        let since = self.parts.clock.now().as_second() as f64 - KEPT.as_secs_f64();
        let kept = self.parts.store.as_ref()?.mcp_verdict(package, since).await;
        serde_json::from_str(&kept.ok()??).ok()
    }

    async fn keep(&self, package: &str, ids: &[String]) {
        if let Some(store) = &self.parts.store
            && let Err(error) = store
                .keep_mcp_verdict(package, json!(ids).to_string())
                .await
        {
            tracing::warn!("what the malware list said could not be kept: {error}");
        }
    }
}

fn verdict(package: &str, ids: Vec<String>) -> Verdict {
    if ids.is_empty() {
        Verdict::Clean
    } else {
        Verdict::Malware {
            package: package.to_owned(),
            ids,
        }
    }
}
