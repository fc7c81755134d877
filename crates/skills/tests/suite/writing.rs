//! Writing skills: rules, plans, and what is left when something goes wrong.

use std::fs;
use std::os::unix::fs::symlink;

use hermes_skills::{Action, Author, Candidate, Library, ManageError, Target};

use super::shelf::Shelf;

fn text(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\nDo it.\n")
}

fn anything(_: &Candidate) -> Result<(), String> {
    Ok(())
}

fn make(library: &Library, name: &str, action: Action, author: Author) -> Result<(), ManageError> {
    let plan = library.ground().plan(name, action, author, true)?;
    library.apply(&plan, author, &anything)
}

fn create(library: &Library, name: &str, category: Option<&str>) -> Result<(), ManageError> {
    let action = Action::Create {
        text: text(name),
        category: category.map(str::to_owned),
    };
    make(library, name, action, Author::Conversation)
}

/// Names of everything below a directory but what is kept there for the program.
fn left_over(shelf: &Shelf) -> Vec<String> {
    let work = shelf.skills().join(".sync");
    let entries = fs::read_dir(work).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

// LN-30
#[test]
fn every_action_does_what_it_says() {
    let shelf = Shelf::new();
    let library = shelf.library();
    let here = Author::Conversation;
    create(&library, "report", Some("office")).unwrap();
    let file = shelf.skills().join("office/report/SKILL.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), text("report"));
    assert!(library.usage().record("report").is_agents());
    assert!(library.view("report", "cli").is_ok(), "seen at once");

    let edited = text("report").replace("Do it.", "Do it well.");
    make(
        &library,
        "report",
        Action::Edit {
            text: edited.clone(),
        },
        here,
    )
    .unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);

    let write = |path: &str, content: &str| Action::WriteFile {
        file: path.to_owned(),
        text: content.to_owned(),
    };
    make(&library, "report", write("scripts/deep/a.sh", "echo"), here).unwrap();
    let script = shelf.skills().join("office/report/scripts/deep/a.sh");
    assert_eq!(fs::read_to_string(&script).unwrap(), "echo");
    let patch = Action::Patch {
        file: Some("scripts/deep/a.sh".to_owned()),
        text: "echo hi".to_owned(),
    };
    make(&library, "report", patch, here).unwrap();
    assert_eq!(fs::read_to_string(&script).unwrap(), "echo hi");
    let remove = |path: &str| Action::RemoveFile {
        file: path.to_owned(),
    };
    make(&library, "report", remove("scripts/deep/a.sh"), here).unwrap();
    assert!(!shelf.skills().join("office/report/scripts").exists());
    assert!(file.exists());
    assert_eq!(library.usage().record("report").patch_count, 4);

    make(
        &library,
        "report",
        Action::Delete {
            absorbed_into: None,
        },
        here,
    )
    .unwrap();
    assert!(!shelf.skills().join("office/report").exists());
    assert!(shelf.skills().join("office").exists(), "the category stays");
    let away = shelf.skills().join(".archive/report/SKILL.md");
    assert_eq!(fs::read_to_string(away).unwrap(), edited, "nothing is lost");
    let record = library.usage().record("report");
    assert!(record.is_agents() && record.archived_at.is_some());
    assert!(left_over(&shelf).is_empty());
}

// LN-30
#[test]
fn what_could_not_be_put_back_is_not_replaced() {
    let shelf = Shelf::new();
    let library = shelf.library();
    create(&library, "report", None).unwrap();
    let folder = shelf.skills().join("report/assets");
    fs::create_dir_all(&folder).unwrap();
    let picture = [0x89, b'P', b'N', b'G', 0xff, 0];
    fs::write(folder.join("logo.png"), picture).unwrap();
    fs::write(folder.join("long.txt"), "x".repeat(1024 * 1024 + 1)).unwrap();
    for file in ["assets/logo.png", "assets/long.txt"] {
        let (file, text) = (file.to_owned(), "x".to_owned());
        for action in [
            Action::RemoveFile { file: file.clone() },
            Action::WriteFile {
                file: file.clone(),
                text: text.clone(),
            },
            Action::Patch {
                file: Some(file.clone()),
                text,
            },
        ] {
            let error = make(&library, "report", action, Author::Conversation).unwrap_err();
            assert!(
                matches!(error, ManageError::NotText { .. }),
                "{file}: {error}"
            );
        }
        assert!(library.ground().patchable("report", Some(&file)).is_err());
    }
    assert_eq!(fs::read(folder.join("logo.png")).unwrap(), picture);
    // A text that is not in UTF-8 would come back with other letters.
    let main = shelf.skills().join("report/SKILL.md");
    let latin = [text("report").as_bytes(), b"caf\xe9\n"].concat();
    fs::write(&main, &latin).unwrap();
    library.forget();
    let action = Action::Edit {
        text: text("report"),
    };
    assert!(make(&library, "report", action, Author::Conversation).is_err());
    assert_eq!(fs::read(&main).unwrap(), latin);
}

// LN-26, LN-30
#[test]
fn what_the_agent_writes_others_can_read_and_what_was_there_stays_editable() {
    let shelf = Shelf::new();
    let library = shelf.library();
    let with = |field: &str| text("mine").replace("---\n\n", &format!("{field}---\n\n"));
    let create = |text: String| {
        let action = Action::Create {
            text,
            category: None,
        };
        make(&library, "mine", action, Author::Conversation)
    };
    for field in ["version: 1\n", "metadata:\n  hermes:\n    tags: [a]\n"] {
        let error = create(with(field)).unwrap_err();
        assert!(matches!(error, ManageError::Standard { .. }), "{error}");
        assert!(error.hint().contains("below metadata"));
    }
    let fields = "metadata:\n  hermes:\n    version: '1'\n    platforms:\n      - macos\n";
    create(with(fields)).unwrap();
    let entry = library.catalog().entries[0].clone();
    assert_eq!(entry.conditions.platforms, ["macos"], "it counts there too");
    let edit = |name: &str, text: String| {
        make(&library, name, Action::Edit { text }, Author::Conversation)
    };
    assert!(edit("mine", with("tags: [a]\n")).is_err());
    // A skill of the user, and a head that stood there before, may be as they are.
    let old = text("o_l.d").replace("---\n\n", "version: 1\ntags: [a]\n---\n\n");
    shelf.write("skills/o_l.d/SKILL.md", &old);
    library.forget();
    edit("o_l.d", old.replace("version: 1", "version: 2")).unwrap();
    library
        .usage()
        .change(|records| records.get_mut("o_l.d").unwrap().created_by = Some("agent".to_owned()))
        .unwrap();
    let old = old.replace("version: 1", "version: 2");
    edit("o_l.d", old.replace("Do it.", "Do it well.")).unwrap();
    assert!(edit("o_l.d", old.replace("version: 2", "version: 3")).is_err());
}

// LN-30
#[test]
fn what_is_absorbed_is_put_away_and_can_be_fetched() {
    let shelf = Shelf::new();
    let library = shelf.library();
    create(&library, "narrow", None).unwrap();
    create(&library, "wide", None).unwrap();
    let delete = |into: &str| Action::Delete {
        absorbed_into: Some(into.to_owned()),
    };
    for bad in ["narrow", "nothing", " "] {
        let plan = library
            .ground()
            .plan("narrow", delete(bad), Author::Behind, true);
        assert!(plan.is_err(), "{bad}");
    }
    let plan = library
        .ground()
        .plan("narrow", delete("wide"), Author::Behind, true)
        .unwrap();
    assert!(matches!(plan.target, Target::Archived { .. }));
    assert_eq!(
        plan.changes[0].before.as_deref(),
        Some(text("narrow").as_str())
    );
    library.apply(&plan, Author::Behind, &anything).unwrap();
    let away = shelf.skills().join(".archive/narrow/SKILL.md");
    assert_eq!(fs::read_to_string(away).unwrap(), text("narrow"));
    assert!(library.usage().record("narrow").archived_at.is_some());
    assert!(library.view("narrow", "cli").is_err());
    create(&library, "narrow", None).unwrap();
    make(&library, "narrow", delete("wide"), Author::Behind).unwrap();
    let archived = fs::read_dir(shelf.skills().join(".archive")).unwrap();
    assert_eq!(archived.count(), 2, "the first one is not replaced");
}

// LN-30
#[test]
fn names_texts_and_places_have_their_rules() {
    let shelf = Shelf::new();
    let library = shelf.library();
    let long = "x".repeat(65);
    for name in [
        "", "Big", "-x", "x-", "a--b", ".x", "a.b", "a_b", "a b", "a/b", "ä", &long,
    ] {
        let error = create(&library, name, None).unwrap_err();
        assert!(matches!(error, ManageError::Name { .. }), "{name}: {error}");
    }
    create(&library, &format!("a-{}", "x".repeat(62)), None).unwrap();
    for category in ["..", "a/b", ".hub", "A"] {
        let error = create(&library, "fine", Some(category)).unwrap_err();
        assert!(matches!(error, ManageError::Category { .. }), "{category}");
    }
    create(&library, "report", None).unwrap();
    let again = create(&library, "report", Some("office")).unwrap_err();
    assert!(matches!(again, ManageError::Exists { .. }));
    shelf.write("skills/half/references/a.md", "text");
    let blocked = create(&library, "half", None).unwrap_err();
    assert!(matches!(blocked, ManageError::InTheWay { .. }), "{blocked}");
    let long = format!("{}{}", text("report"), "x".repeat(100_000));
    let wide = text("report").replace("About report", &"d".repeat(1_025));
    for (bad, what) in [
        ("Do it.".to_owned(), "no fields"),
        (
            text("report").replace("name: report", "other: x"),
            "no name",
        ),
        (text("other"), "another name"),
        (
            text("report").replace("description", "about"),
            "no description",
        ),
        (text("report").replace("Do it.", " "), "no text"),
        (
            text("report").replace("About", "use: when: About"),
            "no YAML",
        ),
        (long, "too long"),
        (wide, "too long a description"),
    ] {
        let error = make(
            &library,
            "report",
            Action::Edit { text: bad },
            Author::Conversation,
        )
        .unwrap_err();
        let refused = matches!(
            error,
            ManageError::Text { .. } | ManageError::TooLong { .. }
        );
        assert!(refused, "{what}: {error}");
        assert!(!error.hint().is_empty());
    }
    let write = |file: &str, content: String| {
        let file = file.to_owned();
        let action = Action::WriteFile {
            file,
            text: content,
        };
        make(&library, "report", action, Author::Conversation)
    };
    symlink(shelf.home(), shelf.skills().join("report/references")).unwrap();
    for path in [
        "SKILL.md",
        "notes.md",
        "../x/scripts/a",
        "scripts",
        "scripts/../../x",
        "scripts/.hidden",
        "/tmp/scripts/a",
        "references/planted.md",
    ] {
        let error = write(path, "x".to_owned()).unwrap_err();
        assert!(
            matches!(error, ManageError::Place { .. }),
            "{path}: {error}"
        );
    }
    assert!(write("assets/a", "x".repeat(100_001)).is_err());
    assert!(write("assets/a", "é".repeat(600_000)).is_err());
    write("assets/a", "x".repeat(100_000)).unwrap();
    assert_eq!(
        fs::read_to_string(shelf.skills().join("report/SKILL.md")).unwrap(),
        text("report"),
        "nothing refused has left a trace"
    );
}

// LN-30
#[test]
fn until_the_guard_agrees_the_old_skill_is_in_its_place() {
    let shelf = Shelf::new();
    let library = shelf.library();
    create(&library, "report", None).unwrap();
    let file = shelf.skills().join("report/SKILL.md");
    shelf.write("skills/report/scripts/a.sh", "echo");
    let new = text("report").replace("Do it.", "Do harm.");
    let action = Action::Edit { text: new.clone() };
    let plan = library
        .ground()
        .plan("report", action, Author::Conversation, true)
        .unwrap();
    let refuses = |candidate: &Candidate| {
        // This is where a kill would come: what is on the disk is the old text.
        assert_eq!(fs::read_to_string(&file).unwrap(), text("report"));
        let names: Vec<&str> = candidate
            .files
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            names,
            ["SKILL.md", "scripts/a.sh"],
            "it sees the whole skill"
        );
        assert_eq!(candidate.files[0].1, new.as_bytes());
        Err("it does harm".to_owned())
    };
    let error = library
        .apply(&plan, Author::Conversation, &refuses)
        .unwrap_err();
    assert!(error.to_string().contains("it does harm"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text("report"));
    let action = Action::Create {
        text: text("bad"),
        category: Some("new".to_owned()),
    };
    let plan = library
        .ground()
        .plan("bad", action, Author::Conversation, true)
        .unwrap();
    let refused = library.apply(&plan, Author::Conversation, &|_| Err("no".to_owned()));
    assert!(refused.is_err());
    assert!(!shelf.skills().join("new").exists());
    assert!(left_over(&shelf).is_empty());
    assert_eq!(library.usage().record("report").patch_count, 0);
}

// LN-30
#[test]
fn a_change_by_somebody_else_meanwhile_is_never_lost() {
    let shelf = Shelf::new();
    let library = shelf.library();
    create(&library, "report", None).unwrap();
    let file = shelf.skills().join("report/SKILL.md");
    let theirs = text("report").replace("Do it.", "Theirs.");
    let plans = [
        Action::Edit {
            text: text("report").replace("Do it.", "Ours."),
        },
        Action::Delete {
            absorbed_into: None,
        },
    ]
    .map(|action| {
        library
            .ground()
            .plan("report", action, Author::Conversation, true)
            .unwrap()
    });
    fs::write(&file, &theirs).unwrap();
    for plan in plans {
        let error = library
            .apply(&plan, Author::Conversation, &anything)
            .unwrap_err();
        assert!(matches!(error, ManageError::Changed { .. }), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    }
    let action = Action::Create {
        text: text("late"),
        category: None,
    };
    let plan = library
        .ground()
        .plan("late", action, Author::Conversation, true)
        .unwrap();
    shelf.skill("late", "came first", "");
    assert!(
        library
            .apply(&plan, Author::Conversation, &anything)
            .is_err()
    );
    assert!(left_over(&shelf).is_empty());
}

// LN-30
#[test]
fn work_in_the_background_touches_only_what_the_agent_made_and_has_read() {
    let mut shelf = Shelf::new();
    shelf.write("team/theirs/SKILL.md", &text("theirs"));
    shelf.settings.external_dirs = vec!["team".to_owned()];
    let library = shelf.library();
    for name in [
        "mine", "pinned", "plan", "hubbed", "bundled", "hers", "wide",
    ] {
        create(&library, name, None).unwrap();
    }
    library
        .usage()
        .change(|records| {
            records.get_mut("pinned").unwrap().pinned = true;
            records.get_mut("hers").unwrap().created_by = None;
        })
        .unwrap();
    shelf.write(
        "skills/.hub/lock.json",
        r#"{"version":1,"installed":{"hubbed":{}}}"#,
    );
    shelf.write("skills/.bundled_manifest", "bundled:0123\n");
    for (name, word) in [
        ("pinned", "pinned"),
        ("plan", "protected"),
        ("hubbed", "installed from elsewhere"),
        ("bundled", "came with the program"),
        ("hers", "did not make it"),
        ("theirs", "somebody else"),
    ] {
        let edit = || Action::Edit { text: text(name) };
        let error = library
            .ground()
            .plan(name, edit(), Author::Behind, true)
            .unwrap_err();
        assert!(error.to_string().contains(word), "{name}: {error}");
        let front = library
            .ground()
            .plan(name, edit(), Author::Conversation, false);
        assert!(front.is_ok(), "{name}: the person may have it changed");
    }
    let unread = library
        .ground()
        .plan(
            "mine",
            Action::Edit { text: text("mine") },
            Author::Behind,
            false,
        )
        .unwrap_err();
    assert!(matches!(unread, ManageError::Unread { .. }));
    let delete = Action::Delete {
        absorbed_into: None,
    };
    let error = library
        .ground()
        .plan("mine", delete, Author::Behind, true)
        .unwrap_err();
    assert!(matches!(error, ManageError::NotAbsorbed { .. }));
    let new = Action::Create {
        text: text("fresh"),
        category: None,
    };
    make(&library, "fresh", new, Author::Behind).unwrap();
    assert!(library.usage().record("fresh").is_agents());
}

// LN-30
#[test]
fn links_roots_and_pinned_skills_are_not_deleted() {
    let mut shelf = Shelf::new();
    shelf.write("one/SKILL.md", &text("whole"));
    shelf.settings.external_dirs = vec!["one".to_owned()];
    let library = shelf.library();
    create(&library, "pinned", None).unwrap();
    library
        .usage()
        .change(|records| records.get_mut("pinned").unwrap().pinned = true)
        .unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("SKILL.md"), text("linked")).unwrap();
    symlink(elsewhere.path(), shelf.skills().join("linked")).unwrap();
    library.forget();
    for name in ["pinned", "linked", "whole"] {
        let delete = Action::Delete {
            absorbed_into: None,
        };
        let error = library
            .ground()
            .plan(name, delete, Author::Conversation, true)
            .unwrap_err();
        let kept = matches!(
            error,
            ManageError::Pinned { .. } | ManageError::NotADirectory { .. }
        );
        assert!(kept, "{name}: {error}");
    }
}

// LN-35
#[test]
fn work_behind_puts_away_only_what_another_skill_holds() {
    let shelf = Shelf::new();
    let library = shelf.library();
    create(&library, "narrow", None).unwrap();
    create(&library, "wide", None).unwrap();
    let narrow = shelf.skills().join("narrow");
    let wide = shelf.skills().join("wide");
    fs::create_dir_all(narrow.join("scripts")).unwrap();
    fs::create_dir_all(narrow.join("assets")).unwrap();
    fs::write(narrow.join("scripts/go.sh"), "go --fast 3\n").unwrap();
    fs::write(narrow.join("assets/logo"), [0xff, 0xfe, 0x00]).unwrap();
    library.forget();
    let missing = || {
        let delete = Action::Delete {
            absorbed_into: Some("wide".to_owned()),
        };
        match library
            .ground()
            .plan("narrow", delete, Author::Behind, true)
        {
            Ok(_) => Vec::new(),
            Err(ManageError::NotHeld { missing, .. }) => missing,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(missing(), ["the file assets/logo", "go --fast 3"]);
    fs::create_dir_all(wide.join("assets")).unwrap();
    fs::write(wide.join("assets/picture"), [0xff, 0xfe, 0x00]).unwrap();
    let text = fs::read_to_string(wide.join("SKILL.md")).unwrap();
    fs::write(wide.join("SKILL.md"), format!("{text}\nRun `go --fast`.\n")).unwrap();
    assert_eq!(missing(), ["go --fast 3"], "a number is missing");
    fs::write(
        wide.join("SKILL.md"),
        format!("{text}\nRun `go --fast 3`.\n"),
    )
    .unwrap();
    assert_eq!(missing(), [""; 0]);
}
