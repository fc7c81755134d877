//! The channels that this home knows: those the gateway noted, and those conversations were held in.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_store::{Listing, SessionFilter, Store};
use serde_json::{Value as Json, json};

use super::conversations::unreadable;

/// Channels that are given.
const MOST_CHANNELS: usize = 1_000;
/// Conversations that are looked at for channels, the latest first.
const MOST_SEARCHED: usize = 1_000;
/// Largest list of the gateway that is read.
const MOST_BYTES: u64 = 4 << 20;

/// Finds channels. What goes wrong is a text for the client.
#[derive(Clone)]
pub(super) struct Channels {
    store: Store,
    /// The gateway's own list.
    directory: PathBuf,
}

/// A place on a platform.
struct Channel {
    platform: String,
    id: String,
    name: String,
    kind: String,
}

impl Channel {
    /// What messages would be sent to.
    fn target(&self) -> String {
        match self.id.as_str() {
            "" => self.platform.clone(),
            id => format!("{}:{id}", self.platform),
        }
    }

    fn to_json(&self) -> Json {
        json!({
            "target": self.target(), "platform": self.platform, "name": self.name,
            "chat_type": self.kind,
        })
    }
}

impl Channels {
    pub(super) fn new(store: Store, directory: PathBuf) -> Self {
        Self { store, directory }
    }

    /// The channels of a platform, or of all; none comes twice.
    pub(super) async fn list(&self, platform: Option<&str>) -> Result<Json, String> {
        let noted = self.noted().await;
        let met = self.met().await?;
        let mut seen = BTreeSet::new();
        let all = noted.iter().chain(&met);
        let wanted = all.filter(|channel| {
            platform.is_none_or(|wanted| wanted.eq_ignore_ascii_case(&channel.platform))
        });
        let channels: Vec<Json> = wanted
            .filter(|channel| seen.insert(channel.target()))
            .take(MOST_CHANNELS)
            .map(Channel::to_json)
            .collect();
        Ok(json!({ "count": channels.len(), "channels": channels }))
    }

    /// Those of the gateway's list. One that cannot be read is none: conversations name channels too.
    async fn noted(&self) -> Vec<Channel> {
        let path = self.directory.clone();
        let read = tokio::task::spawn_blocking(move || {
            let length = std::fs::metadata(&path).ok()?.len();
            let bytes = (length <= MOST_BYTES).then(|| std::fs::read(&path).ok());
            let read = bytes
                .flatten()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if read.is_none() {
                tracing::warn!("{} is no list of channels; it is left out", path.display());
            }
            read
        });
        let directory: Option<Json> = read.await.ok().flatten();
        let platforms = directory.as_ref().and_then(|all| all.get("platforms"));
        let platforms = platforms.and_then(Json::as_object).into_iter().flatten();
        platforms
            .flat_map(|(platform, listed)| {
                let listed = listed.as_array().into_iter().flatten();
                listed.map(move |one| channel(platform, one))
            })
            .collect()
    }

    /// Those of conversations, the latest first.
    async fn met(&self) -> Result<Vec<Channel>, String> {
        let listing = Listing {
            filter: SessionFilter::default(),
            hidden_sources: Vec::new(),
            limit: MOST_SEARCHED,
        };
        let listed = self.store.list(listing).await.map_err(unreadable)?;
        let met = listed.into_iter().filter_map(|one| {
            let session = one.session;
            Some(Channel {
                id: session.chat_id.filter(|id| !id.is_empty())?,
                platform: session.source,
                name: session.display_name.unwrap_or_default(),
                kind: session.chat_type.unwrap_or_default(),
            })
        });
        Ok(met.collect())
    }
}

/// One entry of the gateway's list.
fn channel(platform: &str, entry: &Json) -> Channel {
    let text = |keys: [&str; 2]| {
        let found = keys.into_iter().find_map(|key| match entry.get(key)? {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(number.to_string()),
            _ => None,
        });
        found.unwrap_or_default()
    };
    Channel {
        platform: platform.to_owned(),
        id: text(["id", "chat_id"]),
        name: text(["name", "display_name"]),
        kind: text(["type", "chat_type"]),
    }
}
