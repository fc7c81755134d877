//! Profiles that somebody publishes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hermes_config::{ConfigFile, Distribution, Payload, ProfileError};

use super::{CANARY, Root, listing, name, put};

fn distribution(top: &Path, version: &str) {
    put(
        &top.join("distribution.yaml"),
        format!(
            "# theirs\nname: bot\nversion: {version}\ndescription: A bot\nhermes_requires: '>=0.0.1'\n\
             env_requires:\n  - name: ACME_KEY\n    description: from acme\n  - name: MODE\n    required: false\n    default: fast\n"
        ),
    );
    put(&top.join("SOUL.md"), format!("soul {version}"));
    put(&top.join("config.yaml"), format!("model: acme/{version}\n"));
    put(&top.join("skills/one/SKILL.md"), format!("one {version}"));
    put(&top.join("skills/two/SKILL.md"), format!("two {version}"));
    put(&top.join(".git/config"), "x");
    for users in [
        ".env",
        "auth.json",
        "memories/MEMORY.md",
        "sessions/s.json",
        "state.db",
        "README.md",
    ] {
        put(&top.join(users), CANARY);
    }
}

// CL-11
#[test]
fn a_distribution_brings_its_own_files_and_nothing_of_the_users() {
    let root = Root::new();
    let source = root.directory.path().join("dist");
    distribution(&source, "1.0");
    let payload = Payload::read(&source).unwrap();
    assert_eq!(payload.contents(), ["SOUL.md", "config.yaml", "skills"]);
    let made = root
        .profiles
        .install(&payload, &name("bot"), "the source")
        .unwrap();
    let home = made.home.path();
    assert_eq!(
        fs::read_to_string(home.join("SOUL.md")).unwrap(),
        "soul 1.0"
    );
    let example = fs::read_to_string(home.join(".env.EXAMPLE")).unwrap();
    assert_eq!(
        example,
        "# required: from acme\nACME_KEY=\n\n# optional: \nMODE=fast\n"
    );
    let recorded = Distribution::read(home).unwrap().unwrap();
    assert_eq!(recorded.source.as_deref(), Some("the source"));
    assert_eq!(recorded.version.as_deref(), Some("1.0"));
    for path in listing(home) {
        let text = fs::read_to_string(home.join(&path)).unwrap_or_default();
        assert!(!text.contains(CANARY), "{path}");
    }
}

// CL-11
#[test]
fn an_update_keeps_what_the_user_made() {
    let root = Root::new();
    let source = root.directory.path().join("dist");
    distribution(&source, "1.0");
    let payload = Payload::read(&source).unwrap();
    let home = root
        .profiles
        .install(&payload, &name("bot"), "s")
        .unwrap()
        .home;
    let at = |path: &str| home.path().join(path);
    put(&at("skills/one/SKILL.md"), "one, better");
    put(&at("skills/mine/SKILL.md"), "mine");
    put(&at("config.yaml"), "model: mine\n");
    put(&at("memories/MEMORY.md"), "mine");

    fs::remove_dir_all(&source).unwrap();
    distribution(&source, "2.0");
    fs::remove_dir_all(source.join("skills/two")).unwrap();
    put(&source.join("skills/three/SKILL.md"), "three");
    let payload = Payload::read(&source).unwrap();
    root.profiles
        .update(&payload, &name("bot"), "s", ConfigFile::Kept)
        .unwrap();
    let read = |path: &str| fs::read_to_string(at(path)).ok();
    for (path, expected) in [
        ("SOUL.md", Some("soul 2.0")),
        ("SOUL.md.bak", None),
        ("skills/one/SKILL.md", Some("one 2.0")),
        ("skills/one/SKILL.md.bak", Some("one, better")),
        ("skills/two/SKILL.md", None),
        ("skills/three/SKILL.md", Some("three")),
        ("skills/mine/SKILL.md", Some("mine")),
        ("config.yaml", Some("model: mine\n")),
        ("memories/MEMORY.md", Some("mine")),
    ] {
        assert_eq!(read(path).as_deref(), expected, "{path}");
    }
    let version = Distribution::read(home.path()).unwrap().unwrap().version;
    assert_eq!(version.as_deref(), Some("2.0"));

    root.profiles
        .update(&payload, &name("bot"), "s", ConfigFile::Replaced)
        .unwrap();
    assert_eq!(read("config.yaml").as_deref(), Some("model: acme/2.0\n"));
    assert_eq!(read("config.yaml.bak").as_deref(), Some("model: mine\n"));
    assert!(
        !listing(home.path())
            .iter()
            .any(|path| path.starts_with(".staged"))
    );
}

#[test]
fn an_update_that_fails_takes_everything_back() {
    let root = Root::new();
    let source = root.directory.path().join("dist");
    distribution(&source, "1.0");
    let payload = Payload::read(&source).unwrap();
    let home = root
        .profiles
        .install(&payload, &name("bot"), "s")
        .unwrap()
        .home;
    // The last skill cannot be replaced: its directory leads elsewhere.
    let elsewhere = root.directory.path().join("elsewhere");
    put(&elsewhere.join("SKILL.md"), "not ours");
    fs::remove_dir_all(home.path().join("skills/two")).unwrap();
    symlink(&elsewhere, home.path().join("skills/two")).unwrap();
    put(&home.path().join("skills/one/SKILL.md"), "one, better");
    let contents = |top: &Path| -> Vec<_> {
        let files = listing(top).into_iter();
        files
            .map(|path| (fs::read(top.join(&path)).ok(), path))
            .collect()
    };
    let before = contents(home.path());
    distribution(&source, "2.0");
    let payload = Payload::read(&source).unwrap();
    let result = root
        .profiles
        .update(&payload, &name("bot"), "s", ConfigFile::Replaced);
    assert!(
        matches!(result, Err(ProfileError::Disk { .. })),
        "{result:?}"
    );
    assert_eq!(contents(home.path()), before);
    assert_eq!(
        fs::read_to_string(elsewhere.join("SKILL.md")).unwrap(),
        "not ours"
    );
}

#[test]
fn a_distribution_with_a_link_or_a_path_out_is_refused() {
    let root = Root::new();
    let source = root.directory.path().join("dist");
    distribution(&source, "1.0");
    symlink("/etc/passwd", source.join("skills/one/link")).unwrap();
    assert!(matches!(
        Payload::read(&source),
        Err(ProfileError::Distribution(_))
    ));
    fs::remove_file(source.join("skills/one/link")).unwrap();
    for owned in ["../x", "/etc", "a\\b", "."] {
        put(
            &source.join("distribution.yaml"),
            format!("name: bot\ndistribution_owned: ['{owned}']\n"),
        );
        let result = Payload::read(&source);
        assert!(
            matches!(result, Err(ProfileError::Distribution(_))),
            "{owned}"
        );
    }
    // Naming what belongs to the user does not make it the distribution's.
    put(
        &source.join("distribution.yaml"),
        "name: bot\ndistribution_owned: [memories, .env, SOUL.md, shell-hooks-allowlist.json]\n",
    );
    put(&source.join("shell-hooks-allowlist.json"), "{}");
    assert_eq!(Payload::read(&source).unwrap().contents(), ["SOUL.md"]);
}

#[test]
fn required_versions_are_read_loosely() {
    let root = Root::new();
    let accepts = |wanted: &str| {
        let top = root.directory.path().join("dist");
        put(
            &top.join("distribution.yaml"),
            format!("name: a\nhermes_requires: \"{wanted}\"\n"),
        );
        Distribution::read(&top).unwrap().unwrap().accepts("1.2.3")
    };
    for wanted in [
        ">=1.2", "1.2.3", ">=1,<2", "==1.2.3", "^1.0", "~=1.2", "v1", "!=1.0",
    ] {
        assert!(accepts(wanted), "{wanted}");
    }
    for wanted in [
        ">=1.3", "<1.2.3", ">=2", "==1.2", "^2.0", "whatever", ">1.2.3",
    ] {
        assert!(!accepts(wanted), "{wanted}");
    }
}
