//! When skills are tidied up without anybody asking.

use std::sync::Arc;
use std::time::Duration;

use hermes_config::Curator as Settings;
use hermes_core::Clock as _;
use hermes_skills::{Curator, CuratorError};

use super::shelf::Shelf;

const HOUR: Duration = Duration::from_secs(3600);

// LN-35
#[test]
fn a_run_is_due_after_a_week_when_nobody_was_here_for_two_hours() {
    let shelf = Shelf::new();
    shelf.skill("one", "x", "");
    let curator = Curator::new(Arc::new(shelf.library()), Settings::default());
    let ago = |hours: u32| Some(shelf.clock.now() - HOUR * hours);
    assert!(
        !curator.is_due(None).unwrap(),
        "the first look starts the clock"
    );
    shelf.clock.advance(HOUR * 167);
    assert!(!curator.is_due(None).unwrap(), "not a week yet");
    shelf.clock.advance(HOUR);
    assert!(curator.is_due(None).unwrap());
    assert!(curator.is_due(ago(2)).unwrap());
    assert!(
        !curator.is_due(ago(1)).unwrap(),
        "somebody was here an hour ago"
    );
    curator.pause(true).unwrap();
    assert!(!curator.is_due(None).unwrap());
    curator.pause(false).unwrap();
    curator.run().unwrap();
    assert!(!curator.is_due(None).unwrap(), "it has just run");
    shelf.clock.advance(HOUR * 168);
    assert!(curator.is_due(None).unwrap());
}

// LN-35
#[test]
fn what_is_no_skill_is_named_when_it_is_in_the_way_of_one_that_comes_back() {
    let shelf = Shelf::new();
    let curator = Curator::new(Arc::new(shelf.library()), Settings::default());
    shelf.write("skills/.archive/one/SKILL.md", "text");
    let half = shelf.write("skills/one/references/a.md", "text");
    let blocked = curator.restore("one").unwrap_err();
    assert!(
        matches!(blocked, CuratorError::InTheWay { .. }),
        "{blocked}"
    );
    shelf.write("skills/one/SKILL.md", "text");
    let taken = curator.restore("one").unwrap_err();
    assert!(matches!(taken, CuratorError::Taken { .. }), "{taken}");
    std::fs::remove_dir_all(half.ancestors().nth(2).unwrap()).unwrap();
    curator.restore("one").unwrap();
    assert!(shelf.skills().join("one/SKILL.md").exists());
}
