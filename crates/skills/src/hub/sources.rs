//! The ten places skills come from, behind one seam, and the folders of this machine.

mod browse_sh;
mod clawhub;
mod folder;
mod github;
mod index;
mod listing;
mod lobehub;
mod marketplace;
mod official;
mod skills_sh;
mod url_file;
mod well_known;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_config::SkillsHub;
use hermes_core::Clock;
use hermes_http::BaseUrl;
use hermes_secrets::Origin as NetOrigin;
use serde::{Serialize, Serializer};

use super::bundle::Bundle;
use super::error::{HubError, SourceError};
use super::identifier::Identifier;
use super::search::Query;
use super::shelf::Shelf;
use super::state::State;
use super::web::Web;

pub use github::{AppLogin, GithubLogin};
pub(super) use github::{Github, default_taps};
pub use listing::Listing;
pub(super) use listing::{Harvest, matches};

/// The name of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceName {
    Official,
    HermesIndex,
    SkillsSh,
    WellKnown,
    Url,
    Github,
    Clawhub,
    Marketplace,
    Lobehub,
    BrowseSh,
    /// A folder of this machine, where nothing is looked for.
    Folder,
}

impl SourceName {
    /// All that are looked through, the first ones counting first.
    pub const ALL: [Self; 10] = [
        Self::Official,
        Self::HermesIndex,
        Self::SkillsSh,
        Self::WellKnown,
        Self::Url,
        Self::Github,
        Self::Clawhub,
        Self::Marketplace,
        Self::Lobehub,
        Self::BrowseSh,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Official => "official",
            Self::HermesIndex => "hermes-index",
            Self::SkillsSh => "skills-sh",
            Self::WellKnown => "well-known",
            Self::Url => "url",
            Self::Github => "github",
            Self::Clawhub => "clawhub",
            Self::Marketplace => "claude-marketplace",
            Self::Lobehub => "lobehub",
            Self::BrowseSh => "browse-sh",
            Self::Folder => "folder",
        }
    }

    /// Whether what it gives comes from GitHub.
    pub fn is_github(self) -> bool {
        match self {
            Self::Github | Self::SkillsSh | Self::Marketplace => true,
            Self::Official
            | Self::HermesIndex
            | Self::WellKnown
            | Self::Url
            | Self::Clawhub
            | Self::Lobehub
            | Self::BrowseSh
            | Self::Folder => false,
        }
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for SourceName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl FromStr for SourceName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let known = Self::ALL.into_iter().find(|name| name.word() == text);
        known.ok_or(())
    }
}

/// A place skills come from.
///
/// The hub calls `search` for all places at once and `fetch` for the one an identifier names. Both only ask:
/// nothing but the cache is written. A future may be dropped at any time; whoever calls decides about retries.
pub(super) trait Source: Send + Sync {
    fn name(&self) -> SourceName;

    /// What it has for the words of a query.
    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>>;

    /// One skill with its files. An identifier of another place is not found here.
    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>>;
}

/// All places that are switched on.
pub(super) struct Sources {
    all: Vec<Arc<dyn Source>>,
    github: Arc<Github>,
}

impl Sources {
    pub(super) fn new(
        settings: &SkillsHub,
        mut web: Web,
        login: GithubLogin,
        shelf: Shelf,
        state: State,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HubError> {
        let addresses = Addresses::read(settings, &mut web)?;
        let life = settings.cache_ttl;
        let common = Common { web, state, life };
        let github = Arc::new(Github::new(common.clone(), addresses.github, login, clock));
        let marketplaces = settings.marketplaces.clone();
        let mut all: Vec<Arc<dyn Source>> = vec![Arc::new(official::Official::new(shelf))];
        if let Some(url) = addresses.index {
            let index = index::Index::new(common.clone(), url, settings.search_timeout);
            all.push(Arc::new(index));
        }
        if let Some(base) = addresses.skills_sh {
            let source = skills_sh::SkillsSh::new(common.clone(), base, github.clone());
            all.push(Arc::new(source));
        }
        all.push(Arc::new(well_known::WellKnown::new(common.clone())));
        all.push(Arc::new(url_file::UrlFile::new(common.clone())));
        all.push(github.clone());
        if let Some(base) = addresses.clawhub {
            all.push(Arc::new(clawhub::Clawhub::new(common.clone(), base)));
        }
        if !marketplaces.is_empty() {
            let source = marketplace::Marketplace::new(github.clone(), &marketplaces);
            all.push(Arc::new(source));
        }
        if let Some(base) = addresses.lobehub {
            all.push(Arc::new(lobehub::Lobehub::new(common.clone(), base)));
        }
        if let Some(base) = addresses.browse_sh {
            all.push(Arc::new(browse_sh::BrowseSh::new(common, base)));
        }
        Ok(Self { all, github })
    }

    pub(super) fn all(&self) -> &[Arc<dyn Source>] {
        &self.all
    }

    pub(super) fn github(&self) -> &Github {
        &self.github
    }

    pub(super) async fn fetch(&self, identifier: &Identifier) -> Result<Bundle, HubError> {
        let wanted = identifier.source();
        if let Identifier::Folder { path } = identifier {
            return folder::fetch(path, identifier);
        }
        match self.all.iter().find(|source| source.name() == wanted) {
            Some(source) => source.fetch(identifier).await,
            None => Err(HubError::of_source(wanted, identifier)(SourceError::Off)),
        }
    }
}

/// What every place on the network needs.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) web: Web,
    pub(super) state: State,
    /// How long a list is used again.
    pub(super) life: std::time::Duration,
}

/// Where the places are; `None` for one that is switched off.
struct Addresses {
    index: Option<BaseUrl>,
    skills_sh: Option<BaseUrl>,
    github: BaseUrl,
    clawhub: Option<BaseUrl>,
    lobehub: Option<BaseUrl>,
    browse_sh: Option<BaseUrl>,
}

impl Addresses {
    /// Addresses the user changed may be in the user's own network.
    fn read(settings: &SkillsHub, web: &mut Web) -> Result<Self, HubError> {
        let usual = SkillsHub::default();
        let mut read = |setting, text: &str, usual: &str| -> Result<Option<BaseUrl>, HubError> {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let bad = || HubError::BadSetting { setting };
            let url: url::Url = text.trim().parse().map_err(|_| bad())?;
            let origin = NetOrigin::of(&url).map_err(|_| bad())?;
            if text != usual {
                web.trust(origin);
            }
            Ok(Some(BaseUrl::from(url)))
        };
        const GITHUB: &str = "skills.hub.github_url";
        Ok(Self {
            index: read(
                "skills.hub.index_url",
                &settings.index_url,
                &usual.index_url,
            )?,
            skills_sh: read(
                "skills.hub.skills_sh_url",
                &settings.skills_sh_url,
                &usual.skills_sh_url,
            )?,
            github: read(GITHUB, &settings.github_url, &usual.github_url)?
                .ok_or(HubError::BadSetting { setting: GITHUB })?,
            clawhub: read(
                "skills.hub.clawhub_url",
                &settings.clawhub_url,
                &usual.clawhub_url,
            )?,
            lobehub: read(
                "skills.hub.lobehub_url",
                &settings.lobehub_url,
                &usual.lobehub_url,
            )?,
            browse_sh: read(
                "skills.hub.browse_sh_url",
                &settings.browse_sh_url,
                &usual.browse_sh_url,
            )?,
        })
    }
}

/// Joins parts to a path in which every part stays one.
pub(super) fn path_of<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    const KEPT: &str = "-_.~!$'()*,:@+&=";
    let encode = |part: &str| -> String {
        part.bytes()
            .map(|byte| {
                let character = char::from(byte);
                if byte.is_ascii_alphanumeric() || KEPT.contains(character) {
                    character.to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect()
    };
    let parts: Vec<String> = parts.into_iter().map(encode).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_stays_one() {
        assert_eq!(path_of(["a b", "c/d", "é?#"]), "a%20b/c%2Fd/%C3%A9%3F%23");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in SourceName::ALL {
            assert_eq!(name.word().parse(), Ok(name));
        }
        assert_eq!("nowhere".parse::<SourceName>(), Err(()));
    }
}
