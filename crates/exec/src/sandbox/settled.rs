//! What a session opens to its commands, found out once, when the session begins.
//!
//! A link says where a place is, and whoever may write beside it can have put it there. So the links in the names of
//! what is opened are followed once, and only those that no command of the session could have made; from then on such a
//! place goes by its real name, and is passed over as soon as there is a link in that. What is closed is closed
//! under its name and where it led when the session began, and also where it leads now.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use hermes_policy::Confinement;

/// Links followed before they count as a circle.
const MOST_LINKS: usize = 40;

/// The confinement with its places under their real names. What does not exist yet is where its parent leads.
#[must_use]
pub fn settled(mut confinement: Confinement) -> Confinement {
    let links = Links::default();
    let ground = Ground::of(&confinement, &links);
    for opened in [&mut confinement.writable, &mut confinement.exposed] {
        let names = std::mem::take(opened);
        opened.extend(names.iter().filter_map(|name| ground.believed(name)));
    }
    for closed in [
        &mut confinement.protected,
        &mut confinement.sealed,
        &mut confinement.temporary,
        &mut confinement.hidden,
    ] {
        let real = closed
            .iter()
            .filter_map(|name| links.followed(name, |_| true));
        let real: Vec<PathBuf> = real.filter(|real| !closed.contains(real)).collect();
        closed.extend(real);
    }
    confinement
}

/// With files that may be read besides, by a session that has begun.
#[must_use]
pub fn exposing(mut confinement: Confinement, files: &[PathBuf]) -> Confinement {
    let links = Links::default();
    let ground = Ground::of(&confinement, &links);
    let files = files.iter().filter_map(|file| ground.believed(file));
    confinement.exposed.extend(files);
    confinement
}

/// Where commands can make links.
struct Ground<'l> {
    open: Vec<PathBuf>,
    sealed: Vec<PathBuf>,
    links: &'l Links,
}

impl<'l> Ground<'l> {
    fn of(confinement: &Confinement, links: &'l Links) -> Self {
        let both = |names: &[PathBuf]| -> Vec<PathBuf> {
            let real = names
                .iter()
                .filter_map(|name| links.followed(name, |_| true));
            let all = names.iter().cloned().chain(real);
            // The root is never made writable.
            all.filter(|path| path.parent().is_some()).collect()
        };
        Self {
            open: both(&confinement.writable),
            sealed: both(&confinement.sealed),
            links,
        }
    }

    /// Where a name leads, unless a command could have made a link on the way.
    fn believed(&self, name: &Path) -> Option<PathBuf> {
        let real = self.links.followed(name, |directory| {
            self.sealed.iter().any(|sealed| sealed == directory)
                || !self.open.iter().any(|root| directory.starts_with(root))
        });
        if real.is_none() {
            let name = name.display();
            tracing::warn!(%name, "not opened to commands: its name has a link in it that one of them could have made");
        }
        real
    }
}

/// What is a link and where it leads. Looked at once: most places have the beginning of their names in common.
#[derive(Default)]
struct Links(RefCell<HashMap<PathBuf, Option<PathBuf>>>);

impl Links {
    fn target(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.0.borrow().get(path) {
            return known.clone();
        }
        let target = fs::read_link(path).ok();
        self.0.borrow_mut().insert(path.to_owned(), target.clone());
        target
    }

    /// Where a path leads when links are followed in those directories that are believed; nothing when there is another.
    fn followed(&self, path: &Path, believe: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<OsString> {
            let parts = path.components().rev();
            parts.map(|part| part.as_os_str().to_owned()).collect()
        };
        let mut at = PathBuf::new();
        let mut rest = parts(path);
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match Path::new(&part).components().next() {
                Some(Component::Normal(name)) => {
                    let next = at.join(name);
                    let Some(target) = self.target(&next) else {
                        at = next;
                        continue;
                    };
                    links += 1;
                    if links > MOST_LINKS || !believe(&at) {
                        return None;
                    }
                    rest.extend(parts(&target));
                }
                Some(Component::ParentDir) => drop(at.pop()),
                Some(Component::RootDir) => at = PathBuf::from("/"),
                Some(Component::CurDir | Component::Prefix(_)) | None => {}
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use hermes_policy::confine::Surroundings;
    use hermes_policy::{Mode, Network};

    use super::*;

    // EX-68
    #[test]
    fn links_are_followed_where_no_command_could_have_made_them() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        for folder in ["data/cache", "data/home/.hermes", "victim", "work/sub"] {
            fs::create_dir_all(root.join(folder))?;
        }
        symlink(root.join("data/home"), root.join("home"))?;
        symlink("../cache", root.join("data/home/.cache"))?;
        symlink(root.join("victim"), root.join("work/out"))?;
        symlink(root.join("victim"), root.join("work/sub/skills"))?;
        symlink(root.join("victim"), root.join("work/secret"))?;
        let around = Surroundings {
            workspace: root.join("work"),
            scratch: root.join("home/.hermes/own"),
            home: Some(root.join("home")),
            product_home: root.join("home/.hermes"),
            writable: vec![root.join("work/out"), root.join("home/later")],
            hidden: vec![root.join("work/secret")],
            ..Surroundings::default()
        };
        let named = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::On);
        let made = settled(named);
        for opened in [
            "work",
            "data/home/.hermes/own",
            "data/cache",
            "data/home/later",
        ] {
            assert!(made.writable.contains(&root.join(opened)), "{opened}");
        }
        for passed_over in ["victim", "work/out", "home/.cache"] {
            let path = root.join(passed_over);
            assert!(!made.writable.contains(&path), "{passed_over}");
        }
        for hidden in ["home/.ssh", "data/home/.ssh", "work/secret", "victim"] {
            assert!(made.hidden.contains(&root.join(hidden)), "{hidden}");
        }
        assert!(
            made.exposed
                .contains(&root.join("data/home/.hermes/skills"))
        );
        let more = [root.join("work/sub/skills"), root.join("home/token.json")];
        let made = exposing(made, &more);
        assert!(!made.exposed.contains(&root.join("victim")));
        assert!(made.exposed.contains(&root.join("data/home/token.json")));
        assert_eq!(settled(made.clone()), made);
        Ok(())
    }
}
