//! Which home is used. CL-11.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hermes_config::{
    ChosenBy, Environment, Home, HomeError, ProfileName, ProfileNameError, extract_profile_flag,
};
use tempfile::TempDir;

use super::support::{json, recorded};

fn name(text: &str) -> ProfileName {
    ProfileName::new(text).unwrap()
}

fn user(directory: &Path, more: &[(&str, &str)]) -> Environment {
    let mut pairs = vec![("HOME", directory.to_str().unwrap())];
    pairs.extend(more);
    pairs.into_iter().collect()
}

// CL-11
#[test]
fn the_more_explicit_choice_wins() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join(".hermes");
    for profile in ["flagged", "pinned", "sticky"] {
        fs::create_dir_all(root.join("profiles").join(profile)).unwrap();
    }
    let pinned = root.join("profiles/pinned");
    let pinned = [("HERMES_HOME", pinned.to_str().unwrap())];
    let profile_of = |flag: Option<&str>, more: &[(&str, &str)]| {
        let flag = flag.map(name);
        let home = Home::resolve(flag.as_ref(), &user(directory.path(), more)).unwrap();
        assert_eq!(home.root(), root);
        home.profile().to_string()
    };

    assert_eq!(profile_of(None, &[]), "default");
    fs::write(root.join("active_profile"), "sticky\n").unwrap();
    assert_eq!(profile_of(None, &[]), "sticky");
    assert_eq!(
        profile_of(None, &[("HERMES_HOME", root.to_str().unwrap())]),
        "sticky"
    );
    assert_eq!(profile_of(None, &pinned), "pinned");
    assert_eq!(profile_of(Some("flagged"), &pinned), "flagged");
    assert_eq!(profile_of(Some("default"), &pinned), "default");
    assert_eq!(profile_of(None, &[("HERMES_HOME", "~/.hermes")]), "sticky");
}

// CL-11
#[test]
fn another_root_has_its_own_profiles() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("elsewhere");
    let environment = user(directory.path(), &[("HERMES_HOME", root.to_str().unwrap())]);
    let home = Home::resolve(None, &environment).unwrap();
    assert_eq!((home.root(), home.path()), (root.as_path(), root.as_path()));
    assert!(!root.exists(), "looking for a home made one");
    home.create(&home.logs_dir()).unwrap();
    let mode = fs::metadata(home.logs_dir()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
}

// CL-11
#[test]
fn a_named_profile_without_a_home_is_an_error() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join(".hermes");
    fs::create_dir_all(&root).unwrap();
    let chosen_by = |flag: Option<&str>, more: &[(&str, &str)]| {
        let flag = flag.map(name);
        match Home::resolve(flag.as_ref(), &user(directory.path(), more)) {
            Err(error @ HomeError::MissingProfile { chosen_by, .. }) => {
                assert!(!error.hint().is_empty());
                chosen_by
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(chosen_by(Some("gone"), &[]), ChosenBy::Flag);
    let gone = root.join("profiles/gone");
    let gone = [("HERMES_HOME", gone.to_str().unwrap())];
    assert_eq!(chosen_by(None, &gone), ChosenBy::Environment);
    fs::write(root.join("active_profile"), "gone").unwrap();
    assert_eq!(chosen_by(None, &[]), ChosenBy::ActiveProfile);
    assert!(!root.join("profiles").exists());

    fs::write(root.join("active_profile"), "../up").unwrap();
    let bad = Home::resolve(None, &user(directory.path(), &[]));
    assert!(matches!(bad, Err(HomeError::BadActiveProfile { .. })));
    assert!(matches!(
        Home::resolve(None, &Environment::default()),
        Err(HomeError::Nowhere)
    ));
}

// CL-11
#[test]
fn recorded_names_are_judged_alike() {
    for (text, wanted) in json(&recorded("profile/names.json")).as_object().unwrap() {
        let judged = match ProfileName::new(text) {
            Ok(name) if name.is_default() => Ok(name),
            Ok(_) => ProfileName::for_creation(text),
            Err(error) => Err(error),
        };
        assert_eq!(judged.is_ok(), wanted["valid"] == true, "{text:?}");
        if let (Ok(name), Some(canonical)) = (judged, wanted["canonical"].as_str()) {
            assert_eq!(name.as_str(), canonical);
        }
    }
    assert!(matches!(
        ProfileName::for_creation("default"),
        Err(ProfileNameError::Reserved { .. })
    ));
}

#[track_caller]
fn check_flag(line: &str, profile: Option<&str>, rest: &str) {
    let arguments = line.split_whitespace().map(OsString::from);
    let (found, left) = extract_profile_flag(arguments);
    let left: Vec<_> = left.iter().map(|word| word.to_str().unwrap()).collect();
    assert_eq!(
        (
            found.as_ref().map(ProfileName::as_str),
            left.join(" ").as_str()
        ),
        (profile, rest)
    );
}

// CL-11
#[test]
fn the_profile_flag_is_found_anywhere_but_not_in_the_arguments_of_others() {
    check_flag("-p work chat", Some("work"), "chat");
    check_flag("chat -q hi --profile work", Some("work"), "chat -q hi");
    check_flag("chat --profile=work -v", Some("work"), "chat -v");
    check_flag("chat -- -p work", None, "chat -- -p work");
    check_flag("mcp add x --args -p work", None, "mcp add x --args -p work");
    check_flag(
        "-p work mcp add x --args -p y",
        Some("work"),
        "mcp add x --args -p y",
    );
    check_flag("chat --args -p work", Some("work"), "chat --args");
    check_flag("-p Not/Valid chat", None, "-p Not/Valid chat");
    check_flag("chat -p", None, "chat -p");
}

// CL-11
#[test]
fn the_active_profile_can_be_changed_and_listed() {
    let directory = TempDir::new().unwrap();
    let home = Home::of_root(directory.path().join("root"));
    fs::create_dir_all(home.profiles_dir().join("work")).unwrap();
    fs::create_dir_all(home.profiles_dir().join("Not Valid")).unwrap();
    home.activate(&name("work")).unwrap();
    let root = home.root().to_str().unwrap().to_owned();
    let found = Home::resolve(None, &user(directory.path(), &[("HERMES_HOME", &root)])).unwrap();
    assert_eq!(found.profile().as_str(), "work");
    let names: Vec<_> = found
        .profiles()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["default", "work"]);
}
