//! Profiles against the listings and cases recorded from the reference, and against people who mean harm.

mod archives;
mod distributions;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hermes_config::{
    BundledSkills, Contents, Environment, Home, NewProfile, Note, ProfileError, ProfileName,
    Profiles, Renamed, Wrappers, can_be_wrapper,
};
use tempfile::TempDir;

use super::support::{json, recorded};

const CANARY: &str = "CANARY-5up3r-s3cr3t";

struct Root {
    directory: TempDir,
    profiles: Profiles,
}

impl Root {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("root");
        fs::create_dir(&root).unwrap();
        let profiles = Profiles::of(&Home::of_root(root));
        Self {
            directory,
            profiles,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        put(&self.path().join(relative), text);
    }

    fn create(&self, profile: &str, contents: Contents) -> (PathBuf, Vec<Note>) {
        let made = self
            .profiles
            .create(&NewProfile {
                name: name(profile),
                contents,
                skills: BundledSkills::Wanted,
                description: None,
            })
            .unwrap();
        (made.home.path().to_owned(), made.notes)
    }

    fn wrappers(&self) -> Wrappers {
        let home = self.directory.path().join("user");
        let home = home.to_str().unwrap().to_owned();
        let environment = Environment::from_iter([("HOME", home.as_str())]);
        Wrappers::new(&environment, PathBuf::from("/opt/it's/hermes"))
    }

    /// Nothing half-made is left behind, and no profile but these is there.
    #[track_caller]
    fn holds_only(&self, expected: &[&str]) {
        let entries = fs::read_dir(self.path().join("profiles"));
        let names: BTreeSet<String> = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(
            names,
            expected.iter().map(|name| (*name).to_owned()).collect()
        );
    }
}

fn name(text: &str) -> ProfileName {
    ProfileName::new(text).unwrap()
}

fn put(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn lines(file: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(recorded("profile").join(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Files, links and empty directories below a directory, as the recorded listings have them.
fn listing(top: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        let is_directory = path.is_dir() && !path.is_symlink();
        let children: Vec<_> = if is_directory {
            fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect()
        } else {
            Vec::new()
        };
        if children.is_empty() {
            let relative = path.strip_prefix(top).unwrap();
            found.insert(relative.to_str().unwrap().to_owned());
        }
        open.extend(children);
    }
    found
}

/// Makes what a recorded listing names, every file with a canary in it.
fn furnish(top: &Path, list: &str) {
    for line in lines(list) {
        let path = top.join(&line);
        match line.as_str() {
            "cron/output" | "image_cache" | "profiles" | "sessions" => {
                fs::create_dir_all(path).unwrap();
            }
            "link" => symlink("SOUL.md", path).unwrap(),
            "config.yaml" => put(&path, "model: acme/one\n"),
            _ => put(&path, format!("{line} {CANARY}\n")),
        }
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

// CL-11
#[test]
fn names_are_judged_like_the_reference_does() {
    let cases = json(&recorded("profile/names.json"));
    for (text, expected) in cases.as_object().unwrap() {
        let parsed = ProfileName::new(text);
        let valid = parsed.as_ref().is_ok_and(|name| {
            name.is_default() || ProfileName::for_creation(name.as_str()).is_ok()
        });
        assert_eq!(valid, expected["valid"].as_bool().unwrap(), "{text:?}");
        if let Some(canonical) = expected["canonical"].as_str() {
            assert_eq!(parsed.unwrap().as_str(), canonical);
        }
        if let Some(collides) = expected["alias_collision"].as_bool() {
            assert_eq!(can_be_wrapper(text), !collides, "{text:?}");
        }
    }
    let rules = json(&recorded("profile/rules.json"));
    for list in ["subcommand_names", "reserved_names"] {
        for reserved in rules[list].as_array().unwrap() {
            assert!(!can_be_wrapper(reserved.as_str().unwrap()), "{reserved}");
        }
    }
}

// CL-11
#[test]
fn a_new_profile_has_what_the_reference_makes() {
    let root = Root::new();
    let (plain, notes) = root.create("plain", Contents::Fresh);
    assert_eq!(listing(&plain), lines("create_plain.txt"));
    assert!(notes.is_empty());
    assert_eq!(mode(&plain), 0o700);
    assert_eq!(mode(&plain.join("memories")), 0o700);
    assert_eq!(mode(&plain.join(".env")), 0o600);
    let made = root.profiles.create(&NewProfile {
        name: name("noskills"),
        contents: Contents::Fresh,
        skills: BundledSkills::Refused,
        description: None,
    });
    let made = made.unwrap();
    assert_eq!(listing(made.home.path()), lines("create_noskills.txt"));
    root.holds_only(&["noskills", "plain"]);
}

// CL-11
#[test]
fn clones_take_what_the_reference_takes() {
    let root = Root::new();
    furnish(&root.path(), "source_home.txt");
    // Ours, and not to be cloned either.
    for ours in [
        "hermes.db",
        "hermes.db-wal",
        "blobs/ab/cd",
        "gateway.lock",
        "active_profile",
    ] {
        root.write(ours, "x");
    }
    let (cloned, _) = root.create("cloned", Contents::SettingsOf(ProfileName::default()));
    let mut expected = lines("create_cloned.txt");
    // The reference makes these when it first runs.
    for lazy in [
        "audio_cache",
        "hooks",
        "image_cache",
        "logs/curator",
        "pairing",
    ] {
        assert!(expected.remove(lazy));
    }
    expected.insert("logs".to_owned());
    assert_eq!(listing(&cloned), expected);

    let (all, _) = root.create("all", Contents::EverythingOf(ProfileName::default()));
    assert_eq!(listing(&all), lines("create_all.txt"));
    assert_eq!(mode(&all.join(".env")), 0o600);
    assert_eq!(
        fs::read(all.join("custom.txt")).unwrap(),
        fs::read(root.path().join("custom.txt")).unwrap()
    );
    root.holds_only(&["all", "cloned"]);
}

#[test]
fn links_are_copied_only_when_they_stay_inside() {
    let root = Root::new();
    root.write("skills/mine/SKILL.md", "x");
    root.write("memories/MEMORY.md", "x");
    put(&root.directory.path().join("outside/secret"), CANARY);
    let skills = root.path().join("skills");
    symlink("mine/SKILL.md", skills.join("inside")).unwrap();
    symlink("../memories", skills.join("up-inside")).unwrap();
    symlink("../../outside", skills.join("out")).unwrap();
    symlink(
        root.directory.path().join("outside/secret"),
        skills.join("absolute"),
    )
    .unwrap();
    symlink(skills.join("mine"), skills.join("absolute-inside")).unwrap();
    symlink("out/secret", skills.join("through-another")).unwrap();
    symlink("nowhere", skills.join("dangling")).unwrap();
    symlink("../outside/secret", root.path().join("SOUL.md")).unwrap();
    for (profile, contents) in [
        ("a", Contents::SettingsOf(ProfileName::default())),
        ("b", Contents::EverythingOf(ProfileName::default())),
    ] {
        let (copy, notes) = root.create(profile, contents);
        let links: BTreeSet<_> = listing(&copy.join("skills"));
        let expected = ["inside", "mine/SKILL.md", "up-inside"];
        assert_eq!(
            links,
            expected.iter().map(|&name| name.to_owned()).collect()
        );
        let left: BTreeSet<_> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(left.len(), 6, "{left:?}");
        assert!(!copy.join("SOUL.md").is_symlink());
    }
}

#[test]
fn a_failed_clone_leaves_nothing() {
    let root = Root::new();
    let result = root.profiles.create(&NewProfile {
        name: name("new"),
        contents: Contents::EverythingOf(name("nosuch")),
        skills: BundledSkills::Wanted,
        description: None,
    });
    assert!(matches!(result, Err(ProfileError::Missing { .. })));
    root.create("new", Contents::Fresh);
    let again = root.profiles.create(&NewProfile {
        name: name("new"),
        contents: Contents::Fresh,
        skills: BundledSkills::Wanted,
        description: None,
    });
    assert!(matches!(again, Err(ProfileError::Exists { .. })));
    root.holds_only(&["new"]);
}

#[test]
fn a_description_is_stored_without_touching_the_rest() {
    let root = Root::new();
    let (home, _) = root.create("work", Contents::Fresh);
    put(&home.join("profile.yaml"), "# mine\nother: 1 # kept\n");
    let home = root.profiles.existing(&name("work")).unwrap();
    root.profiles.describe(&home, "for: work #1").unwrap();
    let text = fs::read_to_string(home.path().join("profile.yaml")).unwrap();
    assert!(text.starts_with("# mine\nother: 1 # kept\n"), "{text}");
    let stored = root.profiles.description(&home).unwrap();
    assert_eq!(stored.as_deref(), Some("for: work #1"));
    root.profiles.describe(&home, "").unwrap();
    assert_eq!(root.profiles.description(&home).unwrap(), None);
}

#[test]
fn a_running_gateway_keeps_its_profile_in_place() {
    let root = Root::new();
    let (home, _) = root.create("work", Contents::Fresh);
    let own = std::process::id();
    for text in [
        own.to_string(),
        format!("{own}\n"),
        format!("{{\"pid\": {own}}}"),
    ] {
        put(&home.join("gateway.pid"), text);
        let deleted = root.profiles.delete(&name("work"), &root.wrappers());
        assert!(matches!(deleted, Err(ProfileError::GatewayRunning { .. })));
        let renamed = root
            .profiles
            .rename(&name("work"), &name("play"), &root.wrappers());
        assert!(matches!(renamed, Err(ProfileError::GatewayRunning { .. })));
        assert!(home.is_dir());
    }
    for text in ["", "nonsense", "-1", "0", "{}", "2147483647"] {
        put(&home.join("gateway.pid"), text);
        let home = root.profiles.existing(&name("work")).unwrap();
        assert_eq!(root.profiles.running_gateway(&home), None, "{text}");
    }
    root.profiles
        .delete(&name("work"), &root.wrappers())
        .unwrap();
    root.holds_only(&[]);
}

#[test]
fn deleting_a_linked_profile_leaves_what_it_links_to() {
    let root = Root::new();
    let elsewhere = root.directory.path().join("elsewhere");
    put(&elsewhere.join("config.yaml"), "");
    fs::create_dir(root.path().join("profiles")).unwrap();
    symlink(&elsewhere, root.path().join("profiles/work")).unwrap();
    root.profiles
        .delete(&name("work"), &root.wrappers())
        .unwrap();
    assert!(elsewhere.join("config.yaml").is_file());
    root.holds_only(&[]);
}

#[test]
fn a_directory_that_cannot_be_a_profile_is_not_listed() {
    let root = Root::new();
    for directory in ["Work", "a b", ".hidden", "ok"] {
        put(&root.path().join("profiles").join(directory).join("x"), "");
    }
    assert_eq!(
        root.profiles.names().unwrap(),
        [ProfileName::default(), name("ok")]
    );
}

#[test]
fn a_failure_does_not_even_leave_the_directory_of_the_profiles() {
    let root = Root::new();
    let archive = root.directory.path().join("a.tar.gz");
    put(&archive, "no archive");
    let import = root.profiles.import(&archive, &Renamed::AsPacked);
    assert!(matches!(import, Err(ProfileError::Archive(_))));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn what_a_crashed_process_left_is_swept() {
    let root = Root::new();
    put(
        &root
            .path()
            .join("profiles/.staged-2147483647-0/profile/.env"),
        CANARY,
    );
    let names = root.profiles.names().unwrap();
    assert_eq!(names, [ProfileName::default()]);
    root.create("work", Contents::Fresh);
    root.holds_only(&["work"]);
}

// CL-38
#[test]
fn wrappers_are_written_replaced_and_removed_only_when_they_are_ours() {
    let root = Root::new();
    root.create("work", Contents::Fresh);
    let home = root.profiles.existing(&name("work")).unwrap();
    let wrappers = root.wrappers();
    let path = wrappers.write("work", &home).unwrap();
    assert_eq!(mode(&path), 0o755);
    assert_eq!(
        wrappers.write("work", &home).unwrap(),
        path,
        "writing again is fine"
    );
    assert_eq!(wrappers.of(&home), std::slice::from_ref(&path));

    // The same name in another root is somebody else's.
    let other = Root::new();
    other.create("work", Contents::Fresh);
    let others = other.profiles.existing(&name("work")).unwrap();
    let taken = wrappers.write("work", &others);
    assert!(matches!(taken, Err(ProfileError::Wrapper(_))));
    assert!(wrappers.of(&others).is_empty());

    put(&path, "#!/bin/sh\nexec mine\n");
    for result in [
        wrappers.write("work", &home),
        wrappers.remove("work", &home),
    ] {
        assert!(matches!(result, Err(ProfileError::Wrapper(_))));
    }
    root.profiles.delete(&name("work"), &wrappers).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "#!/bin/sh\nexec mine\n");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert!(matches!(
        wrappers.write("work", &home),
        Err(ProfileError::Wrapper(_))
    ));
    for refused in ["chat", "hermes", "../evil", "a b", ""] {
        assert!(wrappers.write(refused, &home).is_err(), "{refused:?}");
    }
}
