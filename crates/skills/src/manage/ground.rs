//! The skills as a change finds them: as they lie on the disk, or as changes that wait for a yes would leave them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::apply::candidate;
use super::{ManageError, Objection, Plan, Target};
use crate::catalog::CatalogEntry;
use crate::conditions::Conditions;
use crate::library::Library;
use crate::view::ViewError;

/// What changes are planned on.
pub struct Ground<'a> {
    pub(super) library: &'a Library,
    /// Files as they would be; nothing where one would be gone.
    drafts: BTreeMap<PathBuf, Option<String>>,
    /// Skills there would be.
    new: Vec<CatalogEntry>,
}

impl Library {
    /// The skills as they lie on the disk, to plan changes on.
    pub fn ground(&self) -> Ground<'_> {
        Ground {
            library: self,
            drafts: BTreeMap::new(),
            new: Vec::new(),
        }
    }
}

impl Ground<'_> {
    /// Counts a change as made that is not. One that puts a skill away does not count: what is planned for that skill
    /// is planned for what is there.
    pub fn add(&mut self, plan: &Plan) {
        match plan.target {
            Target::New => self.new.push(self.made(plan)),
            Target::Kept => {}
            Target::Archived { .. } => return,
        }
        for change in &plan.changes {
            let (path, text) = (change.path.clone(), change.after.clone());
            self.drafts.insert(path, text);
        }
    }

    fn made(&self, plan: &Plan) -> CatalogEntry {
        let own = self.library.own();
        let above = plan.directory.parent().unwrap_or(&own);
        let category = above.strip_prefix(&own).unwrap_or(Path::new(""));
        CatalogEntry {
            name: plan.name.clone(),
            description: String::new(),
            category: category.display().to_string(),
            directory: plan.directory.clone(),
            external: false,
            tags: Vec::new(),
            conditions: Conditions::default(),
        }
    }

    /// The skill a name stands for.
    pub fn entry(&self, name: &str) -> Result<CatalogEntry, ViewError> {
        let mut new = self.new.iter();
        match new.find(|entry| entry.name == name || entry.full_name() == name) {
            Some(entry) => Ok(entry.clone()),
            None => self.library.entry(name),
        }
    }

    /// What speaks against the skill that a change would leave.
    pub fn objection(&self, plan: &Plan) -> Result<Option<Objection>, ManageError> {
        match &plan.target {
            Target::New | Target::Kept => self.library.guard(&candidate(plan, &self.drafts)),
            Target::Archived { .. } => Ok(None),
        }
    }

    pub(super) fn new_ones(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.new.iter()
    }

    pub(super) fn is_new(&self, entry: &CatalogEntry) -> bool {
        let mut new = self.new.iter();
        new.any(|new| new.directory == entry.directory)
    }

    /// What a file would say, where a change that waits is about it.
    pub(super) fn draft(&self, path: &Path) -> Option<Option<&str>> {
        self.drafts.get(path).map(Option::as_deref)
    }
}
