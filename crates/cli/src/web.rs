//! The web as this program reaches it for messages that refer to it.

use std::sync::OnceLock;

use futures_core::future::BoxFuture;
use hermes_agent::Pages;
use hermes_config::Loaded;
use hermes_http::{AddressPolicy, BuildError, ClientBuilder, ClientSettings};
use hermes_secrets::RedactorHandle;
use hermes_web::{PageReader, Sites};

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
}

impl Web {
    pub(crate) fn new(context: &Context, loaded: &Loaded) -> Outcome<Self> {
        let security = &loaded.config.security;
        Ok(Self {
            settings: network::settings(loaded)?,
            addresses: match security.allow_private_urls {
                true => AddressPolicy::PublicAndPrivate,
                false => AddressPolicy::Public,
            },
            redactor: context.redactor.clone(),
            sites: Sites::new(&security.website_blocklist, context.home()?.path()),
            reader: OnceLock::new(),
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
}

impl Pages for Web {
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let reader = self.reader().map_err(|error| error.to_string())?;
            reader.read(url).await.map_err(|error| error.to_string())
        })
    }
}
