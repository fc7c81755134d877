//! Programs that are started outside the sandbox: only those that no confined command can have put there.

use std::path::{Path, PathBuf};

use hermes_config::{Config, Home, Variable, program_in};
use hermes_policy::{Confinement, Mode, Network};

use super::places::{UserFolders, surroundings};
use crate::context::Context;

/// The folders of our own `PATH` that commands may not write. A virtual environment in the workspace is none of
/// them: a command could have put anything there under the name of `git` or `bwrap`.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    folders: Vec<PathBuf>,
    /// What commands may write, without links.
    open: Vec<PathBuf>,
}

impl Trusted {
    /// What the settings leave of the `PATH`.
    pub(crate) fn new(context: &Context, config: &Config, home: &Home) -> Self {
        let user = UserFolders::of(context);
        let here = context.directory().unwrap_or_default();
        let named = super::kits::expanded(&config.terminal.cwd, user.home.as_deref());
        let workspaces = [here.clone(), here.join(named)];
        let mut open = Vec::new();
        for workspace in &workspaces {
            let around = surroundings(config, workspace, user.temporary.clone(), &user, home, &[]);
            let made = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::Off);
            let real = made.writable.iter().map(|place| real(place));
            // The root is never made writable, so that nobody is left without programs there.
            open.extend(real.filter(|place| place.parent().is_some()));
        }
        let path = context
            .environment
            .filled(&Variable::PATH)
            .unwrap_or_default();
        let folders = std::env::split_paths(path)
            .filter(|folder| folder.is_absolute() && !within(&open, folder))
            .collect();
        Self { folders, open }
    }

    /// A program by its name.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let found = program_in(self.folders.iter().cloned(), name)?;
        // A link may lead back to where commands write.
        (!within(&self.open, &found)).then_some(found)
    }

    /// The folders.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// An environment whose `PATH` leads only to them.
    pub(crate) fn environment(&self, given: &[(String, String)]) -> Vec<(String, String)> {
        let path = std::env::join_paths(&self.folders).unwrap_or_default();
        let others = given.iter().filter(|(name, _)| name != "PATH").cloned();
        others
            .chain([("PATH".to_owned(), path.to_string_lossy().into_owned())])
            .collect()
    }
}

fn within(places: &[PathBuf], path: &Path) -> bool {
    let path = real(path);
    places.iter().any(|place| path.starts_with(place))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
