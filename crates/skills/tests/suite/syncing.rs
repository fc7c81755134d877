//! Skills that come with the program: what a newer version does to a home.

use std::fs;
use std::path::PathBuf;

use hermes_skills::{Shipped, SyncReport};
use tempfile::TempDir;

use super::shelf::Shelf;

/// A set of skills as a version of the program has them.
struct Version(TempDir);

impl Version {
    fn new(skills: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (place, says) in skills {
            let directory = folder.path().join(place);
            let name = place.rsplit('/').next().unwrap();
            fs::create_dir_all(directory.join("scripts")).unwrap();
            let text = format!("---\nname: {name}\ndescription: d\n---\n{says}\n");
            fs::write(directory.join("SKILL.md"), text).unwrap();
            fs::write(directory.join("scripts/a.sh"), "#!/bin/sh\n").unwrap();
        }
        let about = folder.path().join("office/DESCRIPTION.md");
        fs::create_dir_all(about.parent().unwrap()).unwrap();
        fs::write(about, "---\ndescription: Papers\n---\n").unwrap();
        Self(folder)
    }

    fn shipped(&self) -> Shipped {
        Shipped::Directory(self.0.path().to_owned())
    }
}

fn says(shelf: &Shelf, place: &str) -> Option<String> {
    let text = fs::read_to_string(shelf.skills().join(place).join("SKILL.md")).ok()?;
    Some(text.rsplit("---\n").next()?.trim().to_owned())
}

fn change(shelf: &Shelf, place: &str, says: &str) {
    let name = place.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: d\n---\n{says}\n");
    shelf.write(&format!("skills/{place}/SKILL.md"), &text);
}

fn names(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// What the owner did between the two versions, and what the second one must leave behind.
struct Situation {
    name: &'static str,
    /// In the first version, if it is there.
    first: Option<&'static str>,
    /// What the owner does.
    owner: fn(&Shelf, &str),
    /// In the second version, if it is there.
    second: Option<&'static str>,
    /// What lies in the home afterwards.
    after: Option<&'static str>,
    /// In which list of the report it is.
    told: fn(&SyncReport) -> &Vec<String>,
}

fn nothing(_: &Shelf, _: &str) {}
fn edits(shelf: &Shelf, place: &str) {
    change(shelf, place, "mine");
}
fn deletes(shelf: &Shelf, place: &str) {
    fs::remove_dir_all(shelf.skills().join(place)).unwrap();
}

const SITUATIONS: [Situation; 8] = [
    Situation {
        name: "new-in-second",
        first: None,
        owner: nothing,
        second: Some("two"),
        after: Some("two"),
        told: |report| &report.copied,
    },
    Situation {
        name: "owner-has-one",
        first: None,
        owner: edits,
        second: Some("two"),
        after: Some("mine"),
        told: |report| &report.kept,
    },
    Situation {
        name: "untouched",
        first: Some("one"),
        owner: nothing,
        second: Some("two"),
        after: Some("two"),
        told: |report| &report.updated,
    },
    Situation {
        name: "edited-and-updated",
        first: Some("one"),
        owner: edits,
        second: Some("two"),
        after: Some("mine"),
        told: |report| &report.conflicts,
    },
    Situation {
        name: "edited-and-the-same",
        first: Some("one"),
        owner: edits,
        second: Some("one"),
        after: Some("mine"),
        told: |report| &report.modified,
    },
    Situation {
        name: "deleted",
        first: Some("one"),
        owner: deletes,
        second: Some("two"),
        after: None,
        told: |report| &report.deleted,
    },
    Situation {
        name: "dropped",
        first: Some("one"),
        owner: nothing,
        second: None,
        after: Some("one"),
        told: |report| &report.dropped,
    },
    Situation {
        name: "suppressed",
        first: None,
        owner: |shelf, _| {
            shelf.write("skills/.curator_suppressed", "suppressed\n");
        },
        second: Some("two"),
        after: None,
        told: |report| &report.skipped,
    },
];

// LN-34
#[test]
fn an_owners_changes_are_carried_over_to_a_newer_one() {
    const PLACE: &str = "office/report";
    let mut shelf = Shelf::new();
    let first = Version::new(&[(PLACE, "a\nb\nc\nd\ne")]);
    shelf.shipped = first.shipped();
    assert_eq!(names(&shelf.library().sync().unwrap().copied), ["report"]);
    change(&shelf, PLACE, "MINE\nb\nc\nd\ne");
    shelf.write("skills/office/report/notes.md", "mine\n");
    let mut meets = |text: &str| {
        let version = Version::new(&[(PLACE, text)]);
        shelf.shipped = version.shipped();
        let report = shelf.library().sync().unwrap();
        let modified = shelf.library().modified().unwrap();
        (report, says(&shelf, PLACE).unwrap(), modified[0].update)
    };
    let (report, said, waits) = meets("a\nb\nc\nd\nNEW");
    assert_eq!(said, "MINE\nb\nc\nd\nNEW");
    assert_eq!(names(&report.merged), ["report"]);
    assert!(report.conflicts.is_empty() && !waits, "{report:?}");
    // The same line is the owner's to decide.
    let (report, said, waits) = meets("theirs\nb\nc\nd\nNEW");
    assert_eq!(said, "MINE\nb\nc\nd\nNEW");
    assert_eq!(names(&report.conflicts), ["report"]);
    assert!(report.merged.is_empty() && waits, "{report:?}");
    // A later version that leaves that line alone can be joined again.
    let (report, said, waits) = meets("a\nb\nC\nd\nNEW");
    assert_eq!(said, "MINE\nb\nC\nd\nNEW");
    assert_eq!(names(&report.merged), ["report"]);
    assert!(!waits, "{report:?}");
    let notes = shelf.skills().join("office/report/notes.md");
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine\n");
}

// LN-34
#[test]
fn two_versions_meet_eight_situations() {
    let mut shelf = Shelf::new();
    let of = |pick: fn(&Situation) -> Option<&'static str>| {
        let skills: Vec<(String, &str)> = SITUATIONS
            .iter()
            .filter_map(|one| Some((format!("office/{}", one.name), pick(one)?)))
            .collect();
        let skills: Vec<(&str, &str)> = skills
            .iter()
            .map(|(name, says)| (name.as_str(), *says))
            .collect();
        Version::new(&skills)
    };
    let first = of(|one| one.first);
    let second = of(|one| one.second);
    shelf.shipped = first.shipped();
    let report = shelf.library().sync().unwrap();
    assert_eq!(report.copied.len(), 5, "{report:?}");
    for one in &SITUATIONS {
        (one.owner)(&shelf, &format!("office/{}", one.name));
    }
    shelf.shipped = second.shipped();
    let report = shelf.library().sync().unwrap();
    for one in &SITUATIONS {
        let place = format!("office/{}", one.name);
        assert_eq!(says(&shelf, &place).as_deref(), one.after, "{}", one.name);
        let told = (one.told)(&report);
        assert!(
            told.contains(&one.name.to_owned()),
            "{}: {report:?}",
            one.name
        );
    }
    assert_eq!(names(&report.updated), ["untouched"]);
    assert_eq!(names(&report.copied), ["new-in-second"]);
    let mut modified = shelf.library().modified().unwrap();
    modified.sort_by(|left, right| left.name.cmp(&right.name));
    let modified: Vec<(&str, bool)> = modified
        .iter()
        .map(|one| (one.name.as_str(), one.update))
        .collect();
    assert_eq!(
        modified,
        [("edited-and-the-same", false), ("edited-and-updated", true)]
    );
    // Nothing is left to do.
    let again = shelf.library().sync().unwrap();
    assert!(again.copied.is_empty() && again.updated.is_empty() && again.dropped.is_empty());
    assert_eq!(
        again.conflicts, report.conflicts,
        "told until it is settled"
    );
}

// LN-34
#[test]
fn skills_come_in_when_they_are_first_needed_and_not_again() {
    let mut shelf = Shelf::new();
    let version = Version::new(&[("office/report", "one")]);
    shelf.shipped = version.shipped();
    let library = shelf.library();
    assert!(!shelf.skills().exists(), "a library alone does nothing");
    let catalog = library.catalog();
    assert_eq!(catalog.entries.len(), 1);
    assert_eq!(catalog.categories["office"], "Papers");
    let script = shelf.skills().join("office/report/scripts/a.sh");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(script).unwrap().permissions());
    assert_eq!(mode & 0o100, 0o100, "scripts can be run");
    let manifest = fs::read_to_string(shelf.skills().join(".bundled_manifest")).unwrap();
    let (name, hash) = manifest.trim().split_once(':').unwrap();
    assert_eq!((name, hash.len()), ("report", 32));
    // The same version does not look again; an owner who deletes everything is left alone.
    fs::remove_dir_all(shelf.skills().join("office")).unwrap();
    fs::write(shelf.skills().join(".bundled_manifest"), "").unwrap();
    assert!(shelf.library().catalog().entries.is_empty());
    // Another version does.
    let next = Version::new(&[("office/report", "two")]);
    shelf.shipped = next.shipped();
    assert_eq!(shelf.library().catalog().entries.len(), 1);
}

// LN-34
#[test]
fn who_wants_none_gets_none_and_others_directories_come_first() {
    let mut shelf = Shelf::new();
    let version = Version::new(&[("office/report", "one"), ("office/other", "one")]);
    shelf.shipped = version.shipped();
    shelf.write(".no-bundled-skills", "");
    assert!(shelf.library().catalog().entries.is_empty());
    assert_eq!(shelf.library().sync().unwrap().skipped.len(), 2);
    assert!(!shelf.skills().exists());
    fs::remove_file(shelf.home().join(".no-bundled-skills")).unwrap();
    shelf.write("team/x/SKILL.md", "---\nname: report\n---\ntheirs");
    shelf.settings.external_dirs = vec!["team".to_owned()];
    let report = shelf.library().sync().unwrap();
    assert_eq!(names(&report.skipped), ["report"]);
    assert_eq!(names(&report.copied), ["other"]);
}

// LN-34
#[test]
fn older_manifests_moved_skills_and_torn_ones_are_understood() {
    let mut shelf = Shelf::new();
    let version = Version::new(&[
        ("office/plain", "one"),
        ("office/changed", "one"),
        ("office/moved", "one"),
        ("office/torn", "one"),
    ]);
    shelf.shipped = version.shipped();
    shelf.library().sync().unwrap();
    let manifest = shelf.skills().join(".bundled_manifest");
    let lines = fs::read_to_string(&manifest).unwrap();
    let lines = lines
        .lines()
        .map(|line| match line.split_once(':').unwrap() {
            ("plain", _) => "plain\n".to_owned(),
            ("changed", _) => "changed\n".to_owned(),
            _ => format!("{line}\n"),
        });
    fs::write(&manifest, lines.collect::<String>()).unwrap();
    change(&shelf, "office/changed", "mine");
    fs::create_dir_all(shelf.skills().join("private")).unwrap();
    fs::rename(
        shelf.skills().join("office/moved"),
        shelf.skills().join("private/moved"),
    )
    .unwrap();
    shelf.write("skills/office/torn/SKILL.md", "");
    let next = Version::new(&[
        ("office/plain", "one"),
        ("office/changed", "two"),
        ("office/moved", "two"),
        ("office/torn", "one"),
    ]);
    shelf.shipped = next.shipped();
    let report = shelf.library().sync().unwrap();
    assert_eq!(names(&report.conflicts), ["changed"]);
    assert_eq!(says(&shelf, "office/changed").as_deref(), Some("mine"));
    assert_eq!(
        says(&shelf, "private/moved").as_deref(),
        Some("two"),
        "where the owner put it"
    );
    assert!(!shelf.skills().join("office/moved").exists());
    assert_eq!(
        says(&shelf, "office/torn").as_deref(),
        Some("one"),
        "mended"
    );
}

// LN-34
#[test]
fn a_crash_between_two_moves_is_mended() {
    let mut shelf = Shelf::new();
    let version = Version::new(&[("office/report", "one")]);
    shelf.shipped = version.shipped();
    shelf.library().sync().unwrap();
    // As if the program had been killed after the old one was moved away.
    let old: PathBuf = shelf.skills().join(".sync/old/office");
    fs::create_dir_all(&old).unwrap();
    fs::rename(shelf.skills().join("office/report"), old.join("report")).unwrap();
    assert_eq!(shelf.library().catalog().entries.len(), 0);
    let next = Version::new(&[("office/report", "two")]);
    shelf.shipped = next.shipped();
    let report = shelf.library().sync().unwrap();
    assert_eq!(names(&report.updated), ["report"]);
    assert_eq!(says(&shelf, "office/report").as_deref(), Some("two"));
    assert!(!old.join("report").exists());
}

// LN-34
#[test]
fn an_owner_can_go_back_to_what_came_with_the_program() {
    let mut shelf = Shelf::new();
    let version = Version::new(&[("office/report", "one")]);
    shelf.shipped = version.shipped();
    let library = shelf.library();
    library.sync().unwrap();
    change(&shelf, "office/report", "mine");
    library.accept("report").unwrap();
    assert_eq!(says(&shelf, "office/report").as_deref(), Some("mine"));
    let away = library.restore("report").unwrap().unwrap();
    assert_eq!(says(&shelf, "office/report").as_deref(), Some("one"));
    assert!(
        fs::read_to_string(away.join("SKILL.md"))
            .unwrap()
            .contains("mine")
    );
    assert!(library.modified().unwrap().is_empty());
    assert!(library.restore("nothing").is_err());
}
