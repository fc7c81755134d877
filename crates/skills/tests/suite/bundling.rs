//! Bundles and the commands of skills.

use std::fs;

use hermes_skills::{BundleError, bundles, commands, create_bundle, delete_bundle};

use super::shelf::{Shelf, locality};

// LN-31
#[test]
fn bundles_are_small_files_that_name_skills() {
    let shelf = Shelf::new();
    let folder = shelf.home().join("skill-bundles");
    assert!(bundles(&folder).is_empty());
    shelf.write(
        "skill-bundles/morning.yaml",
        "name: Morning Round\ndescription: Begin the day\nskills: [mail, calendar]\ninstruction: |\n  First mail,\n  then the rest.\n",
    );
    shelf.write("skill-bundles/plain.yml", "skills: a, b\n");
    shelf.write("skill-bundles/empty.yaml", "skills: []\n");
    shelf.write("skill-bundles/broken.yaml", "skills: [a\n");
    shelf.write("skill-bundles/notes.txt", "skills: [a]\n");
    let found = bundles(&folder);
    let names: Vec<&str> = found.iter().map(|bundle| bundle.name.as_str()).collect();
    assert_eq!(names, ["morning-round", "plain"]);
    assert_eq!(found[0].skills, ["mail", "calendar"]);
    assert_eq!(found[0].instruction, "First mail,\nthen the rest.");
    assert_eq!(found[1].skills, ["a", "b"]);
}

// LN-31
#[test]
fn bundles_can_be_made_and_deleted() {
    let shelf = Shelf::new();
    let folder = shelf.home().join("skill-bundles");
    let skills = ["a".to_owned(), "b: c".to_owned()];
    let file = create_bundle(&folder, "My Bundle", "", &skills, "Do: all").unwrap();
    assert!(file.ends_with("my-bundle.yaml"));
    let found = bundles(&folder);
    assert_eq!(found[0].skills, skills);
    assert_eq!(found[0].instruction, "Do: all");
    let twice = create_bundle(&folder, "my_bundle", "", &skills, "").unwrap_err();
    assert!(matches!(twice, BundleError::Exists { .. }));
    assert!(matches!(
        create_bundle(&folder, "???", "", &skills, ""),
        Err(BundleError::Name { .. })
    ));
    assert!(matches!(
        create_bundle(&folder, "x", "", &[], ""),
        Err(BundleError::Empty)
    ));
    delete_bundle(&folder, "my-bundle").unwrap();
    assert!(!file.exists());
    assert!(matches!(
        delete_bundle(&folder, "my-bundle"),
        Err(BundleError::Unknown { .. })
    ));
    assert!(fs::read_dir(&folder).unwrap().next().is_none());
}

// LN-31
#[test]
fn skills_that_are_of_no_use_here_have_no_command() {
    let mut shelf = Shelf::new();
    shelf.write("skills/x/SKILL.md", "---\nname: Code Review\n---\nx");
    shelf.write("skills/y/SKILL.md", "---\nname: code_review\n---\ny");
    shelf.skill("off", "x", "");
    shelf.skill("on-mac", "x", "platforms: [macos]\n");
    shelf.write("skills/z/SKILL.md", "---\nname: 日本\n---\nz");
    shelf.settings.disabled = vec!["off".to_owned()];
    let catalog = shelf.library().catalog();
    let found = commands(&catalog, &locality(), &shelf.settings, "cli");
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(command, entry)| (command.as_str(), entry.name.as_str()))
        .collect();
    assert_eq!(found, [("code-review", "Code Review")]);
}
