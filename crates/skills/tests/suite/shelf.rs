//! A home with skills in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{Environment, Skills};
use hermes_core::{Clock, ManualClock, SystemClock};
use hermes_skills::{
    Bare, Catalog, Circumstances, Library, LibraryOptions, Locality, Shipped, System, index, roots,
};
use tempfile::TempDir;

/// A home, and a clock some time after everything in it was written.
pub(super) struct Shelf {
    pub(super) folder: TempDir,
    pub(super) clock: Arc<ManualClock>,
    pub(super) settings: Skills,
    pub(super) shipped: Shipped,
}

impl Shelf {
    pub(super) fn new() -> Self {
        let later = SystemClock.now() + Duration::from_secs(60);
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::new(later)),
            settings: Skills::default(),
            shipped: Shipped::Nothing,
        }
    }

    pub(super) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn skills(&self) -> PathBuf {
        self.home().join("skills")
    }

    /// Writes a file below the home.
    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Makes everything old: what changes from here on has another time, however soon it does.
    pub(super) fn age(&self) {
        let then = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        aged(self.home(), then);
    }

    /// Adds a skill; `fields` are further lines of its head.
    pub(super) fn skill(&self, place: &str, description: &str, fields: &str) -> PathBuf {
        let name = place.rsplit('/').next().unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: \"{description}\"\n{fields}---\n\n# {name}\n\nDo {name}.\n"
        );
        self.write(&format!("skills/{place}/SKILL.md"), &text)
    }

    pub(super) fn library(&self) -> Library {
        Library::new(LibraryOptions {
            home: self.home().to_owned(),
            roots: roots(
                self.home(),
                &self.settings.external_dirs,
                None,
                &Environment::default(),
            ),
            settings: self.settings.clone(),
            locality: locality(),
            shipped: self.shipped.clone(),
            surroundings: Arc::new(Bare),
            clock: self.clock.clone(),
        })
    }

    /// The part of the prompt, for a conversation with these tools and toolsets.
    pub(super) fn index(&self, tools: &[&str], toolsets: &[&str], first: &str) -> String {
        let catalog = self.library().catalog();
        listed(&catalog, &self.settings, tools, toolsets, first)
    }
}

fn aged(path: &Path, then: std::time::SystemTime) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            aged(&entry.unwrap().path(), then);
        }
    }
    if let Ok(file) = fs::File::open(path) {
        file.set_modified(then).unwrap();
    }
}

pub(super) fn locality() -> Locality {
    Locality {
        system: System::Linux,
        surroundings: Vec::new(),
    }
}

pub(super) fn listed(
    catalog: &Catalog,
    settings: &Skills,
    tools: &[&str],
    toolsets: &[&str],
    first: &str,
) -> String {
    let around = Circumstances {
        locality: &locality(),
        settings,
        surface: "cli",
        tools,
        toolsets,
    };
    index(catalog, &around, first)
}
