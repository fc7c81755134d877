//! What the sandbox of commands means for the file tools: they go no further than a command could.

use std::path::{Path, PathBuf};

use crate::confine::{Confinement, Mode, PROFILES};
use crate::guards::{Guard, guards};
use crate::paths::{each, surroundings};
use crate::{FileRules, Names, PathRefusal};

/// A change that only a person can allow, because it leaves the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    /// The file lies outside what commands may write; a yes may cover its directory.
    Outside {
        /// The file.
        file: PathBuf,
        /// Where it is.
        directory: PathBuf,
    },
    /// Programs outside the sandbox run or believe what is in the file; a yes covers this once.
    Guarded(PathBuf),
}

/// What a confinement says about one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Write,
    Read,
    Nothing,
}

impl Confinement {
    /// Whether a file tool may read a file: not what is hidden from commands.
    pub fn may_read(&self, names: Names<'_>) -> Result<(), PathRefusal> {
        each(names, |path, _| match self.access(path) {
            Access::Nothing => Err(PathRefusal::Hidden(path.to_owned(), self.mode)),
            Access::Read | Access::Write => Ok(()),
        })
    }

    /// Whether a file tool may write a file, or what a person has to be asked about first.
    pub fn may_write(
        &self,
        names: Names<'_>,
        rules: &FileRules,
    ) -> Result<Option<Leaving>, PathRefusal> {
        // Another profile's file may be changed where a person says so, without being shown.
        each(names, |path, _| match self.deepest(path) {
            Some((place, Access::Nothing)) if !is_home(place, rules) => {
                Err(PathRefusal::Hidden(path.to_owned(), self.mode))
            }
            _ => Ok(()),
        })?;
        let inside = self.access(names.real) == Access::Write;
        if self.mode == Mode::ReadOnly && !inside {
            return Err(PathRefusal::ReadOnly(names.real.to_owned()));
        }
        let around = surroundings(rules);
        let guarded = each(names, |path, text| {
            let run_later = |guard: &Guard| match guard {
                Guard::ShellStart | Guard::Persistence | Guard::Hook => true,
                Guard::System
                | Guard::Ssh
                | Guard::Credential
                | Guard::Product
                | Guard::Project => false,
            };
            match guards(text, &around).iter().any(run_later) || self.is_protected(path) {
                true => Err(path.to_owned()),
                false => Ok(()),
            }
        });
        let file = names.real.to_owned();
        Ok(match (guarded, inside) {
            (Err(path), _) => Some(Leaving::Guarded(path)),
            (Ok(()), true) => None,
            (Ok(()), false) => Some(Leaving::Outside {
                directory: file.parent().unwrap_or(Path::new("/")).to_owned(),
                file,
            }),
        })
    }

    /// A place that may be written inside a protected one is not protected itself.
    fn is_protected(&self, path: &Path) -> bool {
        let inner = |place: &PathBuf| {
            let mut roots = self.writable.iter().filter(|root| root.starts_with(place));
            roots.any(|root| path.starts_with(root))
        };
        let mut places = self.protected.iter();
        places.any(|place| path.starts_with(place) && !inner(place))
    }

    fn access(&self, path: &Path) -> Access {
        self.deepest(path)
            .map_or(Access::Read, |(_, access)| access)
    }

    /// Of the places that contain a path the deepest one counts, and of equals the strictest.
    fn deepest(&self, path: &Path) -> Option<(&Path, Access)> {
        let hidden = self.hidden.iter().map(|place| (place, Access::Nothing));
        let exposed = self.exposed.iter().map(|place| (place, Access::Read));
        let protected = self.protected.iter().map(|place| (place, Access::Read));
        let writable = self.writable.iter().map(|place| (place, Access::Write));
        let all = hidden.chain(exposed).chain(protected).chain(writable);
        let containing = all.filter(|(place, _)| path.starts_with(place));
        containing
            .max_by_key(|(place, access)| (place.components().count(), *access))
            .map(|(place, access)| (place.as_path(), access))
    }
}

/// Whether a place is the home of a profile, or holds those of all.
fn is_home(place: &Path, rules: &FileRules) -> bool {
    let mut homes = rules.profiles.iter().chain([&rules.product_home]);
    homes.any(|home| place == home || place == home.join(PROFILES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confine::Surroundings;

    fn confined(mode: Mode) -> Confinement {
        let around = Surroundings {
            workspace: "/home/ada/work".into(),
            scratch: "/tmp/own".into(),
            temporary: vec!["/tmp".into()],
            home: Some("/home/ada".into()),
            product_home: "/home/ada/.hermes".into(),
            writable: vec!["/srv/shared".into()],
            hidden: vec!["/srv/secret".into()],
        };
        Confinement::for_files(mode, &around)
    }

    fn names(path: &Path) -> Names<'_> {
        Names {
            real: path,
            hops: &[],
        }
    }

    fn rules() -> FileRules {
        FileRules {
            home: "/home/ada".into(),
            product_home: "/home/ada/.hermes".into(),
            ..FileRules::default()
        }
    }

    // EX-68
    #[test]
    fn hidden_files_are_not_read_in_any_spelling() {
        for mode in [Mode::ReadOnly, Mode::WorkspaceWrite] {
            let confined = confined(mode);
            for path in [
                "/home/ada/.aws/credentials",
                "/home/ada/.netrc",
                "/home/ada/.kube/config",
                "/home/ada/work/../.ssh/id_rsa",
                "/srv/secret/x",
            ] {
                let read = confined.may_read(names(Path::new(path)));
                assert!(matches!(read, Err(PathRefusal::Hidden(..))), "{path}");
                let write = confined.may_write(names(Path::new(path)), &rules());
                assert!(write.is_err(), "{path}");
            }
            let link = [PathBuf::from("/home/ada/.netrc")];
            let linked = Names {
                real: Path::new("/mnt/x"),
                hops: &link,
            };
            assert!(confined.may_read(linked).is_err());
            for path in [
                "/home/ada/work/a",
                "/etc/hostname",
                "/home/ada/.hermes/SOUL.md",
            ] {
                assert_eq!(confined.may_read(names(Path::new(path))), Ok(()), "{path}");
            }
        }
    }

    // EX-68
    #[test]
    fn writes_stay_inside_or_need_a_person() {
        let confined = confined(Mode::WorkspaceWrite);
        let write = |path: &str| confined.may_write(names(Path::new(path)), &rules());
        for path in ["/home/ada/work/a/b", "/tmp/x", "/srv/shared/x"] {
            assert_eq!(write(path), Ok(None), "{path}");
        }
        for path in ["/home/ada/other/a", "/opt/x", "/home/ada/.hermes/skills/a"] {
            let leaving = write(path).unwrap();
            assert!(matches!(leaving, Some(Leaving::Outside { .. })), "{path}");
        }
        for path in [
            "/home/ada/.bashrc",
            "/home/ada/.config/autostart/x.desktop",
            "/home/ada/work/.git/hooks/pre-commit",
            "/home/ada/work/sub/.git/hooks/pre-commit",
            "/home/ada/work/.git/config",
            "/home/ada/work/.hermes/x",
        ] {
            let leaving = write(path).unwrap();
            assert!(matches!(leaving, Some(Leaving::Guarded(_))), "{path}");
        }
    }

    // EX-68
    #[test]
    fn other_profiles_are_no_more_open_than_to_commands() {
        let root = "/home/ada/.hermes";
        for (own, closed) in [
            (root.to_owned(), vec!["profiles/other/memories/MEMORY.md"]),
            (
                format!("{root}/profiles/work"),
                vec![
                    "memories/MEMORY.md",
                    "cache/requests/1.json",
                    "logs/agent.log",
                    "profiles",
                    "profiles/other/skills/s/SKILL.md",
                ],
            ),
        ] {
            let around = Surroundings {
                workspace: "/home/ada/work".into(),
                scratch: "/tmp/own".into(),
                home: Some("/home/ada".into()),
                product_home: own.clone().into(),
                hidden: vec![format!("{own}/cache/shells").into()],
                ..Surroundings::default()
            };
            let confined = Confinement::for_files(Mode::WorkspaceWrite, &around);
            let rules = FileRules {
                home: "/home/ada".into(),
                product_home: own.clone().into(),
                profiles: vec![root.into(), format!("{root}/profiles/other").into()],
                ..FileRules::default()
            };
            for path in closed {
                let path = Path::new(root).join(path);
                let read = confined.may_read(names(&path));
                assert!(
                    matches!(read, Err(PathRefusal::Hidden(..))),
                    "{own} {path:?}"
                );
                // Whether it may be written at all, other rules say; here a person is asked.
                let write = confined.may_write(names(&path), &rules);
                assert!(
                    matches!(write, Ok(Some(Leaving::Outside { .. }))),
                    "{write:?}"
                );
            }
            for path in ["memories/MEMORY.md", "skills/s/SKILL.md", "SOUL.md"] {
                let path = Path::new(&own).join(path);
                assert_eq!(confined.may_read(names(&path)), Ok(()), "{path:?}");
            }
            let shells = Path::new(&own).join("cache/shells/x");
            assert!(confined.may_write(names(&shells), &rules).is_err());
        }
    }

    // EX-68, EX-47
    #[test]
    fn our_own_home_needs_a_person_wherever_it_lies() {
        for (home, workspace) in [
            ("/tmp/h", "/home/ada/work"),
            ("/home/ada/work/state", "/home/ada/work"),
            ("/srv/shared/h", "/home/ada/work"),
        ] {
            let around = Surroundings {
                workspace: workspace.into(),
                scratch: PathBuf::from(home).join("cache/own"),
                temporary: vec!["/tmp".into()],
                home: Some("/home/ada".into()),
                product_home: home.into(),
                writable: vec!["/srv/shared".into()],
                hidden: Vec::new(),
            };
            let confined = Confinement::for_files(Mode::WorkspaceWrite, &around);
            let rules = FileRules {
                home: "/home/ada".into(),
                product_home: home.into(),
                ..FileRules::default()
            };
            let write = |path: &str| {
                let path = PathBuf::from(home).join(path);
                confined.may_write(names(&path), &rules).unwrap()
            };
            for path in ["hooks/a.sh", "bin/x", "SOUL.md", "cache/edits/1.json"] {
                let leaving = write(path);
                assert!(
                    matches!(leaving, Some(Leaving::Guarded(_))),
                    "{home} {path}"
                );
            }
            assert_eq!(write("cache/own/x"), None, "{home}");
            let beside = PathBuf::from(workspace).join("a");
            assert_eq!(confined.may_write(names(&beside), &rules), Ok(None));
        }
        // Who works inside it is asked about what lies beside the work only.
        let around = Surroundings {
            workspace: "/tmp/h/notes".into(),
            temporary: vec!["/tmp".into()],
            product_home: "/tmp/h".into(),
            scratch: "/tmp/own".into(),
            ..Surroundings::default()
        };
        let confined = Confinement::for_files(Mode::WorkspaceWrite, &around);
        let write = |path: &str| {
            confined
                .may_write(names(Path::new(path)), &rules())
                .unwrap()
        };
        assert_eq!(write("/tmp/h/notes/a.md"), None);
        assert!(matches!(write("/tmp/h/hooks/x"), Some(Leaving::Guarded(_))));
    }

    // EX-68
    #[test]
    fn reading_only_writes_nothing_but_its_own_directory() {
        let confined = confined(Mode::ReadOnly);
        let write = |path: &str| confined.may_write(names(Path::new(path)), &rules());
        for path in ["/home/ada/work/a", "/tmp/x", "/srv/shared/x"] {
            assert!(
                matches!(write(path), Err(PathRefusal::ReadOnly(_))),
                "{path}"
            );
        }
        assert_eq!(write("/tmp/own/x"), Ok(None));
    }
}
