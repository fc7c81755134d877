//! Putting files of skills back to what they were.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hermes_skills::{Undo, UndoError};

use super::shelf::Shelf;

fn plan(
    own: &Path,
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Result<Option<Undo>, UndoError> {
    Undo::plan([own].into_iter(), path, before, after)
}

// LN-36
#[test]
fn a_changed_a_new_and_a_removed_file_go_back() {
    let shelf = Shelf::new();
    let own = shelf.skills();
    let changed = shelf.write("skills/report/SKILL.md", "new");
    let undo = plan(&own, &changed, Some("old"), Some("new"));
    let undo = undo.unwrap().unwrap();
    assert!(undo.is_skill() && !undo.removes());
    undo.carry_out().unwrap();
    assert_eq!(fs::read_to_string(&changed).unwrap(), "old");
    let again = plan(&own, &changed, Some("old"), Some("new"));
    assert_eq!(again.unwrap(), None, "it is so already");

    let added = shelf.write("skills/report/references/deep/a.md", "text");
    let undo = plan(&own, &added, None, Some("text"));
    undo.unwrap().unwrap().carry_out().unwrap();
    assert!(!own.join("report/references").exists());
    assert!(changed.exists(), "other files stay");

    let removed = own.join("office/letter/SKILL.md");
    let undo = plan(&own, &removed, Some("text"), None);
    undo.unwrap().unwrap().carry_out().unwrap();
    assert_eq!(fs::read_to_string(&removed).unwrap(), "text");
}

// LN-36
#[test]
fn a_file_of_a_skill_that_is_not_there_waits_for_it() {
    let shelf = Shelf::new();
    let own = shelf.skills();
    let text = shelf.skill("office/report", "Counts", "");
    let removed = own.join("office/report/references/deep/a.md");
    let undo = plan(&own, &removed, Some("text"), None).unwrap().unwrap();
    let away = own.join(".archive/report/SKILL.md");
    fs::create_dir_all(away.parent().unwrap()).unwrap();
    fs::rename(&text, &away).unwrap();
    fs::remove_dir(text.parent().unwrap()).unwrap();
    for refused in [
        plan(&own, &removed, Some("text"), None).unwrap_err(),
        undo.carry_out().unwrap_err(),
    ] {
        assert!(matches!(refused, UndoError::NoSkill { .. }), "{refused}");
        assert!(refused.hint().contains("bring the skill back first"));
    }
    assert!(!own.join("office/report").exists(), "nothing is half there");
    fs::create_dir(text.parent().unwrap()).unwrap();
    fs::rename(&away, &text).unwrap();
    undo.carry_out().unwrap();
    assert_eq!(fs::read_to_string(&removed).unwrap(), "text");
}

// LN-36
#[test]
fn what_was_changed_since_or_lies_elsewhere_is_left_alone() {
    let shelf = Shelf::new();
    let own = shelf.skills();
    let file = shelf.write("skills/report/SKILL.md", "by hand");
    let refused = plan(&own, &file, Some("old"), Some("new")).unwrap_err();
    assert!(matches!(refused, UndoError::Changed { .. }), "{refused}");
    assert!(refused.to_string().contains("report/SKILL.md"), "{refused}");

    let undo = plan(&own, &file, Some("old"), Some("by hand"));
    let undo = undo.unwrap().unwrap();
    fs::write(&file, "faster").unwrap();
    let late = undo.carry_out().unwrap_err();
    assert!(matches!(late, UndoError::Changed { .. }), "{late}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "faster");

    // A skill whose other files would be left without it.
    shelf.write("skills/report/references/a.md", "text");
    let kept = plan(&own, &file, None, Some("faster")).unwrap_err();
    assert!(matches!(kept, UndoError::NotAlone { .. }), "{kept}");

    let outside = shelf.write("memories/MEMORY.md", "new");
    symlink(outside.parent().unwrap(), own.join("linked")).unwrap();
    for path in [
        outside.clone(),
        own.join("../memories/MEMORY.md"),
        own.clone(),
    ] {
        let refused = plan(&own, &path, Some("old"), Some("new")).unwrap_err();
        assert!(matches!(refused, UndoError::Outside { .. }), "{refused}");
    }
    let linked = own.join("linked/MEMORY.md");
    let refused = plan(&own, &linked, Some("old"), Some("new")).unwrap_err();
    assert!(matches!(refused, UndoError::Linked { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "new");
}
