//! The sites the user does not want visited.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use hermes_config::WebsiteBlocklist;
use hermes_policy::Blocklist;

/// Where the list of sites stands. The files are read anew for every page: they are small, and a page is not. Copies
/// share what `follow` brings.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    listed: Arc<RwLock<Listed>>,
}

#[derive(Debug, Clone, Default)]
struct Listed {
    enabled: bool,
    domains: Vec<String>,
    files: Vec<PathBuf>,
}

impl Sites {
    /// The list of the settings; files are named from the home.
    pub fn new(settings: &WebsiteBlocklist, home: &Path) -> Self {
        let sites = Self::default();
        sites.follow(settings, home);
        sites
    }

    /// Takes over settings that changed, for every page that is read from now on.
    pub fn follow(&self, settings: &WebsiteBlocklist, home: &Path) {
        let files = settings.shared_files.iter();
        let listed = Listed {
            enabled: settings.enabled,
            domains: settings.domains.clone(),
            files: files.map(|file| home.join(file)).collect(),
        };
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = listed;
    }

    fn listed(&self) -> Listed {
        let listed = self.listed.read();
        listed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The list as it is now. A file that cannot be read blocks nothing, and is named in the log.
    pub(crate) async fn blocklist(&self) -> Blocklist {
        let Listed {
            enabled,
            domains,
            files,
        } = self.listed();
        let mut list = Blocklist::default();
        if !enabled {
            return list;
        }
        list.add_domains(domains.iter().map(String::as_str));
        for file in &files {
            match tokio::fs::read_to_string(file).await {
                Ok(text) => list.add_file(&text, &file.display().to_string()),
                Err(error) => {
                    tracing::warn!("the list of blocked websites {}: {error}", file.display());
                }
            }
        }
        for entry in &list.rejected {
            tracing::warn!("not a website that can be blocked: {entry}");
        }
        list
    }
}
