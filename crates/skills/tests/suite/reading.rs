//! Reading skills and the files beside them.

use std::fs;
use std::os::unix::fs::symlink;

use hermes_skills::{Readiness, Status, System, UsageEvent, UsageState, ViewError};

use super::shelf::Shelf;

// LN-28
#[test]
fn a_skill_comes_with_its_fields_its_text_and_its_files() {
    let shelf = Shelf::new();
    shelf.skill("office/report", "Makes reports", "tags: [a, b]\n");
    shelf.write("skills/office/report/scripts/make.sh", "#!/bin/sh\n");
    shelf.write("skills/office/report/references/deep/style.md", "# Style");
    shelf.write("skills/office/report/references/.hidden", "x");
    shelf.write("skills/office/report/notes.txt", "beside");
    let library = shelf.library();
    let viewed = library.view("office/report", "cli").unwrap();
    assert_eq!(viewed.skill.tags, ["a", "b"]);
    assert_eq!(viewed.skill.body, "# report\n\nDo report.\n");
    assert_eq!(viewed.linked.scripts, ["scripts/make.sh"]);
    assert_eq!(viewed.linked.references, ["references/deep/style.md"]);
    let (_, file) = library
        .view_file("report", "references/deep/style.md", "cli")
        .unwrap();
    assert_eq!(file.text.as_deref(), Some("# Style"));
    assert_eq!(file.kind, ".md");
    let (_, beside) = library.view_file("report", "./notes.txt", "cli").unwrap();
    assert_eq!(beside.text.as_deref(), Some("beside"));
}

// LN-28
#[test]
fn nothing_outside_of_a_skill_can_be_read() {
    let shelf = Shelf::new();
    shelf.skill("report", "x", "");
    shelf.write(".env", "KEY=secret");
    shelf.write("skills/report/.env", "KEY=secret");
    shelf.age();
    let root = shelf.skills().join("report");
    symlink(shelf.home(), root.join("references")).unwrap();
    symlink(shelf.home().join(".env"), root.join("innocent.md")).unwrap();
    symlink(root.join(".env"), root.join("inner.md")).unwrap();
    let library = shelf.library();
    for path in [
        "../../.env",
        "/etc/passwd",
        "references/.env",
        "references/config.yaml",
        "innocent.md",
        "inner.md",
        ".env",
        "a/../../../.env",
        "",
    ] {
        let error = library.view_file("report", path, "cli").unwrap_err();
        let refused = matches!(error, ViewError::Outside { .. } | ViewError::NoFile { .. });
        assert!(refused, "{path}: {error:?}");
    }
    // The text itself may be a link to another skill's text, and to nothing else.
    fs::create_dir_all(shelf.skills().join("trick")).unwrap();
    symlink(
        shelf.home().join(".env"),
        shelf.skills().join("trick/SKILL.md"),
    )
    .unwrap();
    let error = shelf.library().view("trick", "cli").unwrap_err();
    assert!(matches!(error, ViewError::Unreadable { .. }), "{error:?}");
}

// LN-28
#[test]
fn names_that_mean_nothing_or_too_much_are_told() {
    let mut shelf = Shelf::new();
    for number in 0..30 {
        shelf.skill(&format!("c/skill-{number:02}"), "x", "");
    }
    shelf.skill("d/skill-07", "x", "");
    shelf.settings.disabled = vec!["skill-09".to_owned()];
    let library = shelf.library();
    match library.view("skil-05", "cli").unwrap_err() {
        ViewError::Unknown { available, .. } => {
            assert_eq!(available.len(), 20);
            assert_eq!(available[0], "skill-05", "the nearest first");
        }
        other => panic!("{other:?}"),
    }
    match library.view("skill-07", "cli").unwrap_err() {
        ViewError::Ambiguous { matches, .. } => {
            assert_eq!(matches, ["c/skill-07", "d/skill-07"]);
        }
        other => panic!("{other:?}"),
    }
    let off = library.view("skill-09", "cli").unwrap_err();
    assert!(matches!(off, ViewError::Disabled { .. }));
    match library.view_file("skill-01", "references/none.md", "cli") {
        Err(ViewError::NoFile { available, .. }) => assert!(available.is_empty()),
        other => panic!("{other:?}"),
    }
}

// LN-28
#[test]
fn what_is_not_text_is_said_to_be_so() {
    let shelf = Shelf::new();
    shelf.skill("report", "x", "");
    let picture = shelf.write("skills/report/assets/a.png", "");
    fs::write(picture, b"\x89PNG\0\0").unwrap();
    shelf.write(
        "skills/report/assets/huge.txt",
        &"x".repeat(1024 * 1024 + 1),
    );
    let library = shelf.library();
    let (_, file) = library.view_file("report", "assets/a.png", "cli").unwrap();
    assert_eq!((file.text, file.bytes), (None, 6));
    let error = library
        .view_file("report", "assets/huge.txt", "cli")
        .unwrap_err();
    assert!(matches!(error, ViewError::TooLarge { .. }));
}

// LN-29
#[test]
fn what_a_skill_lacks_is_known_before_it_is_used() {
    let shelf = Shelf::new();
    shelf.skill(
        "report",
        "x",
        "platforms: [linux]\nrequired_environment_variables: [SET_KEY, OPEN_KEY]\nrequired_credential_files: [token.json, gone.json, ../up.json]\nprerequisites:\n  commands: [git, nothing]\n",
    );
    shelf.write("token.json", "{}");
    let skill = shelf.library().view("report", "cli").unwrap().skill;
    let ready = |system| {
        Readiness::of(
            &skill,
            system,
            shelf.home(),
            |name| name == "SET_KEY",
            |command| command == "git",
        )
    };
    let here = ready(System::Linux);
    assert_eq!(here.status, Status::SetupNeeded);
    let names: Vec<&str> = here.variables.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["OPEN_KEY"]);
    let files: Vec<&str> = here.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["gone.json", "../up.json"]);
    assert_eq!(here.commands, ["nothing"]);
    assert!(here.note().unwrap().contains("OPEN_KEY, gone.json"));
    assert_eq!(ready(System::Macos).status, Status::Unsupported);
    assert_eq!(ready(System::Termux).status, Status::SetupNeeded);
}

#[test]
fn uses_are_counted_and_a_broken_count_is_kept_aside() {
    let shelf = Shelf::new();
    shelf.skill("report", "x", "");
    let usage = shelf.library().usage();
    usage.note("report", UsageEvent::Viewed);
    usage.note("report", UsageEvent::Used);
    usage.note("report", UsageEvent::Patched);
    let record = usage.record("report");
    assert_eq!(
        (record.view_count, record.use_count, record.patch_count),
        (1, 2, 1)
    );
    assert!(record.last_used_at.is_some() && record.created_by.is_none());
    // What other programs keep there stays.
    let file = shelf.skills().join(".usage.json");
    fs::write(
        &file,
        r#"{"report": {"use_count": 5, "state": "dormant", "colour": "red", "pinned": true}}"#,
    )
    .unwrap();
    usage.note("report", UsageEvent::Viewed);
    let record = usage.record("report");
    assert_eq!((record.use_count, record.pinned), (6, true));
    assert_eq!(record.state, UsageState::Active);
    assert_eq!(record.other["colour"], "red");
    fs::write(&file, "{broken").unwrap();
    usage.note("report", UsageEvent::Viewed);
    assert_eq!(usage.record("report").use_count, 1);
    let kept = fs::read_dir(shelf.skills()).unwrap().flatten();
    let kept = kept.filter(|entry| {
        let name = entry.file_name().into_string().unwrap();
        name.starts_with(".usage.json.bak.")
    });
    assert_eq!(kept.count(), 1);
}
