//! The sites the user does not want visited.

use std::path::{Path, PathBuf};

use hermes_config::WebsiteBlocklist;
use hermes_policy::Blocklist;

/// Where the list of sites stands. The files are read anew for every page: they are small, and a page is not.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    enabled: bool,
    domains: Vec<String>,
    files: Vec<PathBuf>,
}

impl Sites {
    /// The list of the settings; files are named from the home.
    pub fn new(settings: &WebsiteBlocklist, home: &Path) -> Self {
        Self {
            enabled: settings.enabled,
            domains: settings.domains.clone(),
            files: settings
                .shared_files
                .iter()
                .map(|file| home.join(file))
                .collect(),
        }
    }

    /// The list as it is now. A file that cannot be read blocks nothing, and is named in the log.
    pub(crate) async fn blocklist(&self) -> Blocklist {
        let mut list = Blocklist::default();
        if !self.enabled {
            return list;
        }
        list.add_domains(self.domains.iter().map(String::as_str));
        for file in &self.files {
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
