//! What counts as a skill, and what is remembered of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use hermes_skills::{Catalog, Found, ViewError};

use super::shelf::Shelf;

fn names(catalog: &Catalog) -> Vec<String> {
    catalog
        .entries
        .iter()
        .map(hermes_skills::CatalogEntry::full_name)
        .collect()
}

// LN-28
#[test]
fn skills_lie_in_categories_or_beside_them_and_nowhere_else() {
    let shelf = Shelf::new();
    shelf.skill("plain", "no category", "");
    shelf.skill("office/report", "in one", "");
    shelf.skill("office/mail/reply", "in two", "");
    shelf.write(
        "skills/office/DESCRIPTION.md",
        "---\ndescription: Work with\n  papers\n---\n",
    );
    for hidden in [
        ".git",
        ".github",
        ".hub",
        ".archive",
        ".venv",
        "venv",
        "node_modules",
        "site-packages",
        "__pycache__",
        ".tox",
        ".nox",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
    ] {
        shelf.skill(&format!("{hidden}/lost"), "never seen", "");
    }
    for support in ["references", "templates", "scripts", "assets"] {
        shelf.skill(&format!("plain/{support}/inner"), "no skill", "");
    }
    shelf.skill("plain/nested", "a skill below a skill", "");
    let catalog = shelf.library().catalog();
    assert_eq!(
        names(&catalog),
        [
            "plain",
            "office/report",
            "office/mail/reply",
            "plain/nested"
        ]
    );
    assert_eq!(catalog.categories["office"], "Work with papers");
    let tops: Vec<Option<&str>> = catalog
        .entries
        .iter()
        .map(|one| one.top_category())
        .collect();
    assert_eq!(tops, [None, Some("office"), Some("office"), Some("plain")]);
}

// LN-28
#[test]
fn links_are_followed_and_cannot_lead_in_circles() {
    let shelf = Shelf::new();
    shelf.skill("a/one", "first", "");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir_all(elsewhere.path().join("two")).unwrap();
    fs::write(elsewhere.path().join("two/SKILL.md"), "Text of two").unwrap();
    symlink(elsewhere.path(), shelf.skills().join("linked")).unwrap();
    symlink(shelf.skills(), shelf.skills().join("a/round")).unwrap();
    let catalog = shelf.library().catalog();
    assert_eq!(names(&catalog), ["a/one", "linked/two"]);
}

// LN-28
#[test]
fn a_local_skill_hides_an_external_one_of_its_name() {
    let mut shelf = Shelf::new();
    shelf.skill("office/report", "mine", "");
    shelf.write("team/report/SKILL.md", "---\nname: report\n---\ntheirs");
    shelf.write("team/other/SKILL.md", "---\nname: other\n---\ntheirs");
    shelf.write("more/other/SKILL.md", "---\nname: other\n---\nlater");
    shelf.settings.external_dirs = ["team", "more", "absent"].map(str::to_owned).to_vec();
    let library = shelf.library();
    let catalog = library.catalog();
    assert_eq!(names(&catalog), ["other", "office/report"]);
    let Found::One(report) = catalog.find("report") else {
        panic!("{:?}", catalog.find("report"));
    };
    assert!(!report.external && library.is_own(report));
    let Found::One(other) = catalog.find("other") else {
        panic!("{:?}", catalog.find("other"));
    };
    assert!(other.external && !library.is_own(other));
    assert_eq!(other.description, "theirs");
}

// LN-28
#[test]
fn a_name_that_is_there_twice_needs_its_category() {
    let shelf = Shelf::new();
    shelf.skill("a/same", "one", "");
    shelf.skill("b/same", "two", "");
    shelf.write("skills/dir-name/SKILL.md", "---\nname: other-name\n---\nx");
    let catalog = shelf.library().catalog();
    assert!(matches!(catalog.find("same"), Found::Several(both) if both.len() == 2));
    assert!(matches!(catalog.find("b/same"), Found::One(one) if one.description == "two"));
    assert!(matches!(catalog.find("dir-name"), Found::One(one) if one.name == "other-name"));
    assert_eq!(catalog.find("nothing"), Found::Nothing);
}

#[test]
fn what_was_seen_is_remembered_until_something_changes() {
    let shelf = Shelf::new();
    let file = shelf.skill("a/one", "first", "");
    shelf.skill("a/two", "second", "");
    shelf.age();
    assert_eq!(shelf.library().catalog().entries.len(), 2);
    let snapshot = shelf.home().join(".skills_prompt_snapshot.json");
    let written = fs::read_to_string(&snapshot).unwrap();
    let json: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(json["version"], 2);
    // What it says is believed as long as files and directories look the same.
    fs::write(&snapshot, written.replace("\"first\"", "\"told\"")).unwrap();
    assert_eq!(shelf.library().catalog().entries[0].description, "told");
    // A changed file is read again, another one is not.
    fs::write(&file, "---\nname: one\ndescription: changed\n---\nx").unwrap();
    shelf.clock.advance(Duration::from_secs(3600));
    let library = shelf.library();
    assert_eq!(library.catalog().entries[0].description, "changed");
    // A new directory is seen, and a skill that is gone is not.
    shelf.skill("b/three", "third", "");
    fs::remove_dir_all(shelf.skills().join("a/two")).unwrap();
    shelf.clock.advance(Duration::from_secs(3600));
    assert_eq!(names(&library.catalog()), ["a/one", "b/three"]);
    for broken in ["", "{}", "{\"version\": 2}", "nonsense"] {
        fs::write(&snapshot, broken).unwrap();
        assert_eq!(names(&shelf.library().catalog()), ["a/one", "b/three"]);
    }
}

#[test]
fn what_changed_a_moment_ago_is_not_trusted() {
    let shelf = Shelf::new();
    shelf.skill("a/one", "first", "");
    let mut fresh = shelf;
    fresh.clock = std::sync::Arc::new(hermes_core::ManualClock::new(hermes_core::Clock::now(
        &hermes_core::SystemClock,
    )));
    assert_eq!(fresh.library().catalog().entries.len(), 1);
    assert!(!fresh.home().join(".skills_prompt_snapshot.json").exists());
}

// LN-26
#[test]
fn an_unreadable_or_huge_skill_costs_only_itself() {
    let shelf = Shelf::new();
    shelf.skill("good", "fine", "");
    shelf.write("skills/huge/SKILL.md", &"x".repeat(2 * 1024 * 1024));
    fs::create_dir_all(shelf.skills().join("odd/SKILL.md")).unwrap();
    let bytes = shelf.write("skills/latin/SKILL.md", "x");
    fs::write(bytes, b"---\nname: latin\n---\ncaf\xe9").unwrap();
    let bytes = shelf.write("skills/picture/SKILL.md", "x");
    fs::write(bytes, b"\x89PNG\r\n\x1a\n\xff\xfe\x00").unwrap();
    let library = shelf.library();
    assert_eq!(names(&library.catalog()), ["good", "latin"]);
    // It is not there for the model, and people are told why.
    let left: Vec<_> = library.left_out();
    let expected = [("huge", "larger than"), ("picture", "is no text")];
    assert_eq!(left.len(), expected.len(), "{left:?}");
    for (left, (name, why)) in left.iter().zip(expected) {
        assert_eq!(left.name(), name);
        assert!(left.why.contains(why), "{left:?}");
        let error = library.view(name, "cli").unwrap_err();
        assert!(matches!(error, ViewError::Unreadable { .. }), "{error}");
    }
    let empty = Shelf::new();
    assert!(empty.library().catalog().entries.is_empty());
    assert!(!empty.skills().exists(), "looking makes nothing");
}
