//! The web as this program reaches it: for messages that refer to it, and for the tools.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use futures_core::future::BoxFuture;
use hermes_agent::Pages;
use hermes_config::Loaded;
use hermes_http::{AddressPolicy, BuildError, ClientBuilder, ClientSettings};
use hermes_secrets::RedactorHandle;
use hermes_tools::{WebReach, WebServices};
use hermes_web::{Extractor, Job, PageReader, Sites, choose};

use crate::complaint::Outcome;
use crate::context::Context;
use crate::network;

/// Reads pages. What it takes is made when the first page is asked for.
pub(crate) struct Web {
    settings: ClientSettings,
    addresses: AddressPolicy,
    redactor: RedactorHandle,
    sites: Sites,
    reader: OnceLock<PageReader>,
    reach: OnceLock<Arc<WebReach>>,
    /// Follows the list of blocked sites in the settings, where these are used at all.
    followed: Option<Followed>,
}

/// The settings that the list of sites came from.
struct Followed {
    context: Context,
    seen: Mutex<Option<SystemTime>>,
}

/// Whether changes of the settings count while this runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    Followed,
    /// The run was told to leave the settings out.
    LeftOut,
}

impl Web {
    pub(crate) fn new(context: &Context, loaded: &Loaded, changes: Changes) -> Outcome<Self> {
        let security = &loaded.config.security;
        let home = context.home()?;
        let seen = changed(&home.config_file());
        Ok(Self {
            settings: network::settings(loaded, context)?,
            addresses: match security.allow_private_urls {
                true => AddressPolicy::PublicAndPrivate,
                false => AddressPolicy::Public,
            },
            redactor: context.redactor.clone(),
            sites: Sites::new(&security.website_blocklist, home.path()),
            reader: OnceLock::new(),
            reach: OnceLock::new(),
            followed: (changes == Changes::Followed).then(|| Followed {
                context: context.clone(),
                seen: Mutex::new(seen),
            }),
        })
    }

    fn reader(&self) -> Result<&PageReader, BuildError> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        let http = ClientBuilder::new(self.settings.clone(), self.addresses.clone())
            .redactor(self.redactor.clone())
            .build()?;
        Ok(self
            .reader
            .get_or_init(|| PageReader::new(http, self.sites.clone())))
    }

    /// What the tools for the web need. Nothing is connected yet.
    pub(crate) fn services(self: &Arc<Self>, loaded: &Loaded, cache: &Path) -> WebServices {
        let variable = |name: &str| loaded.environment.filled_named(name).map(str::to_owned);
        let settings = &loaded.config.web;
        let web = self.clone();
        WebServices {
            search: choose(settings, Job::Search, &variable),
            extract: choose(settings, Job::Extract, &variable),
            reach: Box::new(move || {
                let web = web.clone();
                Box::pin(async move {
                    web.look().await;
                    web.reach().map_err(|error| error.to_string())
                })
            }),
            page_limit: settings.extract_char_limit as usize,
            kept: cache.join("web"),
        }
    }

    fn reach(&self) -> Result<Arc<WebReach>, BuildError> {
        if let Some(reach) = self.reach.get() {
            return Ok(reach.clone());
        }
        let services = ClientBuilder::new(self.settings.clone(), AddressPolicy::Any)
            .redactor(self.redactor.clone())
            .build()?;
        let reach = WebReach {
            extractor: Extractor {
                services: services.clone(),
                pages: self.reader()?.clone(),
                redactor: self.redactor.clone(),
            },
            services,
        };
        Ok(self.reach.get_or_init(|| Arc::new(reach)).clone())
    }

    /// Takes over a list of sites that was changed since. Settings that cannot be read leave it as it is.
    async fn look(&self) {
        let Some(followed) = &self.followed else {
            return;
        };
        let Ok(home) = followed.context.home() else {
            return;
        };
        let now = changed(&home.config_file());
        let before = {
            let mut seen = followed.seen.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *seen, now)
        };
        if now == before {
            return;
        }
        let context = followed.context.clone();
        let loaded = tokio::task::spawn_blocking(move || context.load()).await;
        match loaded {
            Ok(Ok(loaded)) => {
                let list = &loaded.config.security.website_blocklist;
                self.sites.follow(list, home.path());
            }
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(
                    "the settings changed and cannot be read; blocked websites stay as they were"
                );
            }
        }
    }
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|data| data.modified()).ok()
}

impl Pages for Web {
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            self.look().await;
            let reader = self.reader().map_err(|error| error.to_string())?;
            reader.read(url).await.map_err(|error| error.to_string())
        })
    }
}
