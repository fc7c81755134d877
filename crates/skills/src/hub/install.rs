//! The one way in: quarantine, scan, policy, and a swap of directories.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, json};

use super::bundle::Bundle;
use super::error::HubError;
use super::file_path::FilePath;
use super::name::{SkillName, check_category};
use super::quarantine::{self, Staged};
use super::shelf;
use super::state::{Event, Locked, Pending, Phase, State};
use super::{Hub, remove};
use crate::catalog::Catalog;
use crate::guard::{Decision, Depth, Report, SCANNER, decide, scan_directory};
use crate::slash::command_name;

/// How a skill is to be called and where it goes.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub name: Option<SkillName>,
    pub category: Option<String>,
}

/// What an install would do: the skill waits in quarantine until it is carried out or dropped.
pub struct Plan {
    pub bundle: Bundle,
    pub report: Report,
    pub decision: Decision,
    /// What it replaces.
    pub standing: Standing,
    /// Where it goes, from the directory of all skills.
    pub install_path: String,
    /// The hash of the files as they came, before a change of the name.
    upstream_hash: String,
    staged: Staged,
}

/// What is there already.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    Fresh,
    Replaces(Box<Locked>),
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub name: String,
    pub path: PathBuf,
    /// Where the files went that had been changed by hand.
    pub kept: Option<PathBuf>,
}

/// Whether the user accepts what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// To what is allowed anyway.
    Usual,
    /// Also to what a person may override.
    Insisting,
}

impl Hub {
    /// Puts a fetched skill into quarantine and looks at it there. `catalog` is what there is: a stranger's skill may
    /// not pass for one of them.
    pub fn plan(
        &self,
        bundle: Bundle,
        choice: &Choice,
        catalog: &Catalog,
    ) -> Result<Plan, HubError> {
        let name = choice.name.clone().unwrap_or_else(|| bundle.name.clone());
        if let Some(entry) = self.state.lock()?.get(name.as_str()) {
            return Err(HubError::Installed {
                name: name.to_string(),
                identifier: entry.identifier,
            });
        }
        let install_path = match &choice.category {
            Some(category) => {
                check_category(category)?;
                format!("{category}/{name}")
            }
            None => name.to_string(),
        };
        if let Some(path) = taken(&self.state.skills().join(&install_path), &name, catalog) {
            let name = name.to_string();
            return Err(HubError::NameTaken { name, path });
        }
        self.quarantined(bundle, name, install_path, Standing::Fresh)
    }

    /// The same for something newer of what is installed. It keeps its name and place.
    pub fn plan_update(&self, bundle: Bundle, name: &str) -> Result<Plan, HubError> {
        let entry = self.state.lock()?.get(name);
        let entry = entry.ok_or_else(|| HubError::NotInstalled {
            name: name.to_owned(),
        })?;
        let install_path = entry.install_path.clone();
        let standing = Standing::Replaces(Box::new(entry));
        self.quarantined(bundle, SkillName::new(name)?, install_path, standing)
    }

    fn quarantined(
        &self,
        bundle: Bundle,
        name: SkillName,
        install_path: String,
        standing: Standing,
    ) -> Result<Plan, HubError> {
        if let Some(path) = bundle.second_skill() {
            return Err(HubError::SecondSkill {
                identifier: bundle.origin.identifier.to_string(),
                path: path.to_string(),
            });
        }
        let upstream_hash = bundle.content_hash();
        // It answers to the name it is installed under and to no other.
        let called = command_name(&bundle.skill().name);
        let bundle = match bundle.name == name && called == command_name(name.as_str()) {
            true => bundle,
            false => bundle.renamed(name)?,
        };
        target(&self.state, &install_path)?;
        let staged = Staged::write(
            &self.state,
            &*self.random,
            bundle.name.as_str(),
            &bundle.files,
        )?;
        let waivers = match &standing {
            Standing::Fresh => &[][..],
            Standing::Replaces(entry) => &entry.waivers,
        };
        let report = scan_directory(staged.path(), Depth::Usual)?.without(waivers);
        let decision = decide(bundle.origin.trust, report.verdict());
        Ok(Plan {
            bundle,
            report,
            decision,
            standing,
            install_path,
            upstream_hash,
            staged,
        })
    }

    /// Carries a plan out, if the policy lets it.
    pub fn install(&self, plan: Plan, consent: Consent) -> Result<Installed, HubError> {
        let allowed = match plan.decision {
            Decision::Allow => true,
            Decision::Ask | Decision::Block { overridable: true } => consent == Consent::Insisting,
            Decision::Block { overridable: false } => false,
        };
        if !allowed {
            return Err(self.refuse(&plan));
        }
        if shelf::read_directory(plan.staged.path()).ok().as_ref() != Some(&plan.bundle.files) {
            let path = plan.staged.path().to_owned();
            return Err(HubError::Raced { path });
        }
        self.swap(plan)
    }

    /// Notes that a plan was not carried out, and says why.
    pub fn refuse(&self, plan: &Plan) -> HubError {
        self.note_plan("BLOCKED", plan, "");
        HubError::Blocked {
            name: plan.bundle.name.to_string(),
            trust: plan.bundle.origin.trust,
            verdict: plan.report.verdict(),
            overridable: plan.decision == Decision::Block { overridable: true },
        }
    }

    fn swap(&self, plan: Plan) -> Result<Installed, HubError> {
        let name = plan.bundle.name.to_string();
        let held = self.state.hold()?;
        let mut lock = self.state.lock()?;
        let unchanged = match (&plan.standing, lock.get(&name)) {
            (Standing::Fresh, None) => true,
            (Standing::Replaces(planned), Some(now)) => **planned == now,
            (Standing::Fresh, Some(_)) | (Standing::Replaces(_), None) => false,
        };
        let target = target(&self.state, &plan.install_path)?;
        let fresh = plan.standing == Standing::Fresh;
        if !unchanged || (fresh && target.exists()) {
            return Err(HubError::Raced { path: target });
        }
        let modified = remove::modified(&plan.standing, &target);
        let aside = format!("{}-old", plan.staged.name());
        let mut entry = self.entry(&plan);
        entry.pending = Some(Pending {
            state: Phase::Installing,
            staged: Some(plan.staged.name()),
            aside: aside.clone(),
            previous: lock.raw(&name).cloned(),
        });
        let before = lock.clone();
        lock.put(&name, &entry);
        self.state.write_lock(&lock, &held)?;
        let aside = self.state.quarantine().join(aside);
        if let Err(error) = exchange(&target, plan.staged.path(), &aside) {
            // Whatever was moved is back; the list says so again.
            self.state.write_lock(&before, &held)?;
            return Err(error);
        }
        entry.pending = None;
        lock.put(&name, &entry);
        self.state.write_lock(&lock, &held)?;
        let action = if fresh { "INSTALL" } else { "UPDATE" };
        self.note_plan(action, &plan, &entry.content_hash);
        let kept = remove::put_away(&self.state, &name, &aside, modified, &held)?;
        Ok(Installed {
            name,
            path: target,
            kept,
        })
    }

    fn entry(&self, plan: &Plan) -> Locked {
        let now = self.clock.now().to_string();
        let Plan {
            bundle,
            report,
            upstream_hash,
            ..
        } = plan;
        let written_hash = bundle.content_hash();
        let mut provenance = Map::new();
        provenance.insert("scanner".to_owned(), json!(SCANNER));
        provenance.insert("content_sha256".to_owned(), json!(written_hash));
        provenance.insert("scanned_at".to_owned(), json!(now));
        let (installed_at, rest) = match &plan.standing {
            Standing::Fresh => (now.clone(), Map::new()),
            Standing::Replaces(before) => (before.installed_at.clone(), before.rest.clone()),
        };
        Locked {
            source: bundle.origin.source.to_string(),
            identifier: bundle.origin.identifier.to_string(),
            trust_level: bundle.origin.trust,
            scan_verdict: report.verdict(),
            installed_hash: (written_hash != *upstream_hash).then_some(written_hash),
            content_hash: upstream_hash.clone(),
            install_path: plan.install_path.clone(),
            files: bundle.files().map(|(path, _)| path.to_string()).collect(),
            metadata: bundle.origin.metadata.clone(),
            scan_provenance: provenance,
            installed_at,
            updated_at: now,
            waivers: report.waivers(),
            pending: None,
            rest,
        }
    }

    fn note_plan(&self, action: &'static str, plan: &Plan, extra: &str) {
        let origin = &plan.bundle.origin;
        self.state.note(&Event {
            action,
            name: plan.bundle.name.as_str(),
            source: &origin.source.to_string(),
            trust: origin.trust.word(),
            verdict: plan.report.verdict().word(),
            extra,
        });
    }
}

/// Puts the new directory where the old one was. On a failure everything is back in its place.
fn exchange(target: &Path, staged: &Path, aside: &Path) -> Result<(), HubError> {
    let parent = target.parent().unwrap_or(target);
    fs::create_dir_all(parent).map_err(HubError::io(parent, "made"))?;
    let replaced = match fs::rename(target, aside) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(HubError::io(target, "moved")(error)),
    };
    if let Err(error) = fs::rename(staged, target) {
        if replaced {
            fs::rename(aside, target).map_err(HubError::io(aside, "moved back"))?;
        }
        return Err(HubError::io(target, "put in place")(error));
    }
    quarantine::sync(parent)
}

/// Where a skill goes. The path comes from a file anybody may have edited, so it is checked, and no link is
/// followed on the way.
pub(super) fn target(state: &State, install_path: &str) -> Result<PathBuf, HubError> {
    let relative = FilePath::new(install_path).map_err(|_| HubError::BadName {
        name: install_path.to_owned(),
    })?;
    let mut path = state.skills().to_owned();
    for part in relative.as_str().split('/') {
        if part.starts_with('.') {
            return Err(HubError::BadName {
                name: install_path.to_owned(),
            });
        }
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink()) {
            return Err(HubError::Link { path });
        }
    }
    Ok(path)
}

/// A skill that would be hidden, overwritten or called instead of one of that name.
fn taken(target: &Path, name: &SkillName, catalog: &Catalog) -> Option<PathBuf> {
    if fs::symlink_metadata(target).is_ok() {
        return Some(target.to_owned());
    }
    let command = command_name(name.as_str());
    let mut entries = catalog.entries.iter();
    let known = entries.find(|entry| {
        command_name(&entry.name) == command || entry.directory_name() == name.as_str()
    });
    known.map(|entry| entry.directory.clone())
}
