use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

// EX-44
#[test]
fn when_one_name_cannot_move_the_others_move_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["a", "b", "c"] {
        fs::write(at(name), format!("old {name}")).unwrap();
    }
    let tidy = Tidy::default();
    let mut batch = Batch::new(&tidy);
    let seen = |name: &str| stamp(&plain(&at(name)).unwrap());
    let existing = |name: &str| Target::Existing(seen(name));
    batch.write(&at("a"), b"new a", existing("a")).unwrap();
    batch
        .write(&at("sub/new"), b"n", Target::New { like: None })
        .unwrap();
    batch.remove(&at("c"), seen("c")).unwrap();
    batch.write(&at("b"), b"new b", existing("b")).unwrap();
    // Somebody else writes the last file between the preparation and the end.
    fs::write(at("b"), "theirs, and longer").unwrap();
    assert!(matches!(batch.commit(), Err(FilesError::Changed(_))));
    assert_eq!(names(folder.path()), ["a", "b", "c"]);
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "old a");
    assert_eq!(fs::read_to_string(at("c")).unwrap(), "old c");
    assert_eq!(fs::read_to_string(at("b")).unwrap(), "theirs, and longer");
}

/// Three files, of which two change and one goes, and a fourth that comes; `run` does what it likes with that.
fn prepared(run: impl FnOnce(&Path, Batch<'_>)) -> (tempfile::TempDir, Tidy) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("work").join(name);
    fs::create_dir(folder.path().join("work")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(at(name), format!("old {name}")).unwrap();
    }
    let journals = folder.path().join("journals");
    let tidy = Tidy::with_journals(journals.clone());
    let mut batch = Batch::new(&tidy);
    let seen = |name: &str| stamp(&plain(&at(name)).unwrap());
    let existing = |name: &str| Target::Existing(seen(name));
    batch.write(&at("a"), b"new a", existing("a")).unwrap();
    batch
        .write(&at("sub/new"), b"n", Target::New { like: None })
        .unwrap();
    batch.remove(&at("c"), seen("c")).unwrap();
    batch.write(&at("b"), b"new b", existing("b")).unwrap();
    run(&folder.path().join("work"), batch);
    (folder, Tidy::with_journals(journals))
}

/// As if the program were killed after so many names have moved.
fn killed_after(moves: usize) -> (tempfile::TempDir, Tidy) {
    prepared(|_, mut batch| {
        let journal = batch.begin().unwrap();
        for step in batch.steps.iter_mut().take(moves) {
            step.run().unwrap();
        }
        drop(journal);
        std::mem::forget(batch);
    })
}

fn contents(folder: &Path) -> Vec<(String, String)> {
    let read = |name: String| {
        let text = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        (name, text)
    };
    names(folder).into_iter().map(read).collect()
}

fn old() -> Vec<(String, String)> {
    let old = |name: &str| (name.to_owned(), format!("old {name}"));
    ["a", "b", "c"].map(old).into()
}

// EX-44: killed at any moment, all files are what they were or what they should be.
#[test]
fn what_a_kill_cut_short_is_taken_back() {
    for moves in 0..=4 {
        let (folder, next) = killed_after(moves);
        next.recover();
        assert_eq!(contents(&folder.path().join("work")), old(), "{moves}");
        assert!(names(&folder.path().join("journals")).is_empty());
    }
    // Between the two names a file has for a moment.
    let (folder, next) = prepared(|_, mut batch| {
        drop(batch.begin().unwrap());
        let step = &batch.steps[0];
        keep(&step.folder, &step.path, step.spare.as_ref().unwrap()).unwrap();
        std::mem::forget(batch);
    });
    next.recover();
    assert_eq!(contents(&folder.path().join("work")), old());
}

// EX-44
#[test]
fn what_was_done_stays_done_and_is_cleared_away_behind() {
    let (folder, next) = prepared(|_, mut batch| {
        let mut journal = batch.begin().unwrap();
        batch.steps.iter_mut().try_for_each(Step::run).unwrap();
        journal.done().unwrap();
        std::mem::forget(batch);
    });
    next.recover();
    let work = folder.path().join("work");
    assert_eq!(names(&work), ["a", "b", "sub"]);
    assert_eq!(names(&work.join("sub")), ["new"]);
    assert_eq!(fs::read_to_string(work.join("b")).unwrap(), "new b");
    assert!(names(&folder.path().join("journals")).is_empty());
    let (folder, _) = prepared(|_, batch| drop(batch.commit().unwrap()));
    assert!(names(&folder.path().join("journals")).is_empty());
    assert_eq!(names(&folder.path().join("work")), ["a", "b", "sub"]);
}

// EX-44: what somebody wrote since is not taken back, nor is what is still going on.
#[test]
fn neither_later_changes_nor_running_ones_are_taken_back() {
    let (folder, next) = killed_after(2);
    let work = folder.path().join("work");
    fs::write(work.join("a"), "theirs").unwrap();
    next.recover();
    assert_eq!(fs::read_to_string(work.join("a")).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(work.join("sub/new")).unwrap(), "n");
    assert_eq!(fs::read_to_string(work.join("b")).unwrap(), "old b");
    assert!(names(&folder.path().join("journals")).is_empty());
    prepared(|work, mut batch| {
        let journals = work.with_file_name("journals");
        let journal = batch.begin().unwrap();
        batch.steps[0].run().unwrap();
        Tidy::with_journals(journals).recover();
        assert_eq!(fs::read_to_string(work.join("a")).unwrap(), "new a");
        drop(journal);
    });
}

#[test]
fn a_dropped_batch_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let tidy = Tidy::default();
    let mut batch = Batch::new(&tidy);
    let path = folder.path().join("x/y/z");
    batch
        .write(&path, b"1", Target::New { like: None })
        .unwrap();
    drop(batch);
    assert!(names(folder.path()).is_empty());
}

// EX-68: whoever may write in the workspace cannot lead a change or a look out of it by a link put in between.
#[test]
fn a_directory_that_becomes_a_link_leads_nowhere() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for folder in ["work/sub", "outside"] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(folder).join("file"), format!("of {folder}")).unwrap();
    }
    let file = at("work/sub/file");
    let swap = || {
        fs::rename(at("work/sub"), at("work/moved")).unwrap();
        std::os::unix::fs::symlink(at("outside"), at("work/sub")).unwrap();
    };
    let swap_back = || {
        fs::remove_file(at("work/sub")).unwrap();
        fs::rename(at("work/moved"), at("work/sub")).unwrap();
    };
    let tidy = Tidy::default();
    let seen = stamp(&plain(&file).unwrap());
    let new = at("work/sub/new/er");

    // Before anything is prepared.
    swap();
    assert!(open(&file).is_err());
    assert!(super::super::list(&at("work/sub"), 9).is_err());
    let mut batch = Batch::new(&tidy);
    assert!(batch.write(&file, b"x", Target::Existing(seen)).is_err());
    assert!(batch.write(&new, b"x", Target::New { like: None }).is_err());
    assert!(batch.remove(&file, seen).is_err());
    drop(batch);
    swap_back();

    // When all is prepared: the change ends up where it was meant for.
    let mut batch = Batch::new(&tidy);
    batch
        .write(&file, b"changed", Target::Existing(seen))
        .unwrap();
    batch
        .write(&new, b"made", Target::New { like: None })
        .unwrap();
    swap();
    batch.commit().unwrap();
    assert_eq!(
        fs::read_to_string(at("work/moved/file")).unwrap(),
        "changed"
    );
    assert_eq!(fs::read_to_string(at("work/moved/new/er")).unwrap(), "made");
    assert_eq!(names(&at("outside")), ["file"]);
    assert_eq!(
        fs::read_to_string(at("outside/file")).unwrap(),
        "of outside"
    );
}
