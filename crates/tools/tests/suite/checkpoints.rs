//! Snapshots and going back to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Clock, ManualClock, SystemClock, TurnId};
use hermes_tools::{CheckpointError, CheckpointSettings, Checkpoints, FileServices};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::Bench;

pub(super) struct Rig {
    pub(super) bench: Bench,
    pub(super) checkpoints: Arc<Checkpoints>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) cancel: CancellationToken,
    _store: tempfile::TempDir,
}

pub(super) fn git() -> PathBuf {
    let path = std::process::Command::new("sh")
        .args(["-c", "command -v git"])
        .output()
        .unwrap();
    PathBuf::from(String::from_utf8(path.stdout).unwrap().trim())
}

impl Rig {
    pub(super) fn new(change: impl FnOnce(&mut CheckpointSettings)) -> Self {
        let store = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(SystemClock.now()));
        let mut settings = CheckpointSettings {
            directory: store.path().join("checkpoints"),
            git: git(),
            user_home: None,
            most_snapshots: 20,
            most_bytes: None,
            largest_file: Some(10_000),
            retention: Duration::from_secs(7 * 86_400),
            delete_orphans: true,
            clean_every: None,
            timeout: Duration::from_secs(60),
            clock: clock.clone(),
        };
        change(&mut settings);
        let checkpoints = Checkpoints::new(settings);
        let bench = Bench::with(FileServices {
            checkpoints: Some(checkpoints.clone()),
            ..FileServices::default()
        });
        Self {
            bench,
            checkpoints,
            clock,
            cancel: CancellationToken::new(),
            _store: store,
        }
    }

    /// The next turn, a minute later.
    pub(super) fn next_turn(&mut self) {
        self.bench.context.turn = TurnId(self.bench.context.turn.0 + 1);
        self.clock.advance(Duration::from_secs(60));
    }

    pub(super) fn root(&self) -> &Path {
        &self.bench.context.directory
    }

    pub(super) async fn write(&self, path: &str, content: &str) {
        self.bench
            .done("write_file", json!({"path": path, "content": content}))
            .await;
    }

    pub(super) fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.root().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path
                        .strip_prefix(self.root())
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        found
    }
}

// EX-50, EX-51
#[tokio::test]
async fn a_restore_makes_the_tree_what_it_was_and_can_be_undone() {
    let mut rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    rig.bench.put("src/a.txt", "one\r\n");
    rig.bench.put("src/deep/gone.txt", "kept\n");
    rig.bench.put(".gitattributes", "* text=auto eol=lf\n");
    rig.bench.put(".gitignore", "ignored/\n");
    rig.bench.put("ignored/x", "mine\n");
    rig.bench.put("node_modules/y", "dependency\n");
    rig.bench.put("big", "b".repeat(20_000));
    let before = rig.tree();
    rig.write("src/a.txt", "two\n").await;
    // Only one snapshot in a turn, also for other tools and other directories of the project.
    rig.write("new/dir/made.txt", "made\n").await;
    std::fs::remove_file(rig.bench.path("src/deep/gone.txt")).unwrap();
    rig.bench.put("ignored/x", "changed by others\n");
    rig.bench.put("big", "c".repeat(20_000));
    let after = rig.tree();
    let listed = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert_eq!(listed.len(), 1);

    // From a subdirectory too.
    rig.next_turn();
    let inside = rig.bench.path("src");
    assert_eq!(
        rig.checkpoints.list(&inside, &rig.cancel).await.unwrap(),
        listed
    );
    let diff = rig
        .checkpoints
        .diff(&inside, "1", &rig.cancel)
        .await
        .unwrap();
    assert!(
        diff.contains("-one") && diff.contains("+two") && diff.contains("new/dir/made.txt"),
        "{diff}"
    );
    let restored = rig
        .checkpoints
        .restore(&inside, "1", None, &rig.cancel)
        .await
        .unwrap();
    let mut wanted = before;
    wanted.insert("ignored/x".into(), b"changed by others\n".to_vec());
    wanted.insert("big".into(), b"c".repeat(20_000));
    assert_eq!(rig.tree(), wanted);
    assert!(!rig.bench.path("new").exists());
    assert_eq!(restored.removed, [rig.bench.path("new/dir/made.txt")]);
    assert_eq!(restored.written.len(), 2);

    // The state before it is a snapshot itself.
    let safety = restored.safety.unwrap().hash;
    let undone = rig
        .checkpoints
        .restore(rig.root(), &safety[..8], None, &rig.cancel)
        .await
        .unwrap();
    assert_eq!(rig.tree(), after);
    assert_eq!(undone.written.len(), 2);
}

// EX-51
#[tokio::test]
async fn patches_over_several_files_are_covered() {
    let mut rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    rig.bench.put("a", "1\n");
    rig.bench.put("b", "2\n");
    let before = rig.tree();
    let patch = "*** Update File: a\n-1\n+one\n*** Delete File: b\n*** Add File: c\n+3\n";
    rig.bench.done("patch", json!({ "patch": patch })).await;
    rig.next_turn();
    rig.checkpoints
        .restore(rig.root(), "1", None, &rig.cancel)
        .await
        .unwrap();
    assert_eq!(rig.tree(), before);
}

// EX-50
#[tokio::test]
async fn single_files_are_restored_and_nothing_outside() {
    let mut rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    rig.bench.put("d/a", "1\n");
    rig.bench.put("d/*", "star\n");
    rig.write("d/b", "x\n").await;
    rig.next_turn();
    rig.bench.put("d/a", "2\n");
    rig.bench.put("d/*", "moon\n");
    let directory = rig.bench.path("d");
    let restore = |which: &'static str, file: &'static str| {
        let (checkpoints, directory, cancel) = (
            rig.checkpoints.clone(),
            directory.clone(),
            rig.cancel.clone(),
        );
        async move {
            checkpoints
                .restore(&directory, which, Some(file), &cancel)
                .await
        }
    };
    restore("1", "*").await.unwrap();
    assert_eq!(rig.bench.text("d/*"), "star\n");
    assert_eq!(rig.bench.text("d/a"), "2\n");
    restore("2", "../d/a").await.unwrap();
    assert_eq!(rig.bench.text("d/a"), "1\n");
    assert_eq!(rig.bench.text("d/b"), "x\n");
    for outside in ["../../x", "/etc/hosts"] {
        assert!(matches!(
            restore("1", outside).await,
            Err(CheckpointError::Outside(_))
        ));
    }
    for unknown in ["0", "99", "zzzz", "abc", "--help", "HEAD"] {
        let outcome = rig
            .checkpoints
            .restore(&directory, unknown, None, &rig.cancel)
            .await;
        assert!(
            matches!(outcome, Err(CheckpointError::Unknown(_))),
            "{unknown}"
        );
    }
}

// EX-50
#[tokio::test]
async fn thirty_turns_keep_the_newest_and_prune_the_rest() {
    let mut rig = Rig::new(|settings| settings.most_snapshots = 5);
    rig.bench.put("Makefile", "all:\n");
    for turn in 0..30 {
        rig.write("f", &format!("{turn}\n")).await;
        rig.next_turn();
    }
    let listed = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert_eq!(listed.len(), 5);
    assert!(listed.is_sorted_by(|a, b| a.taken_at > b.taken_at));
    rig.checkpoints.prune(&rig.cancel).await.unwrap();
    let status = rig.checkpoints.status(&rig.cancel).await.unwrap();
    assert_eq!(status.projects.len(), 1);
    assert_eq!(status.projects[0].snapshots, 5);
    assert!(status.projects[0].exists && status.bytes > 0);
    rig.checkpoints
        .restore(rig.root(), "5", None, &rig.cancel)
        .await
        .unwrap();
    assert_eq!(rig.bench.text("f"), "24\n");
    // A turn in which nothing changed takes none.
    let count = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert_eq!(
        rig.checkpoints
            .snapshot(rig.root(), "again", &rig.cancel)
            .await
            .unwrap()
            .map(|s| s.reason),
        Some("again".into())
    );
    assert_eq!(
        rig.checkpoints
            .snapshot(rig.root(), "again", &rig.cancel)
            .await
            .unwrap(),
        None
    );
    assert!(count.len() <= 5);
    // Old ones go with time, directories that are gone with them.
    rig.clock.advance(Duration::from_secs(8 * 86_400));
    let pruned = rig.checkpoints.prune(&rig.cancel).await.unwrap();
    assert!(pruned.snapshots >= 5);
    assert_eq!(pruned.projects, 1);
    assert!(
        rig.checkpoints
            .list(rig.root(), &rig.cancel)
            .await
            .unwrap()
            .is_empty()
    );
    rig.checkpoints.clear().await.unwrap();
    assert_eq!(rig.checkpoints.status(&rig.cancel).await.unwrap().bytes, 0);
    rig.checkpoints.close().await;
}

// EX-50
#[tokio::test]
async fn nothing_is_taken_where_it_would_be_too_much_and_no_change_fails() {
    let rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    rig.bench.put(".env", "SECRET=1\n");
    rig.bench.put("sub/.git/HEAD", "ref: refs/heads/main\n");
    rig.write("f", "1\n").await;
    rig.checkpoints
        .snapshot(rig.root(), "now", &rig.cancel)
        .await
        .unwrap();
    let diff = rig
        .checkpoints
        .diff(rig.root(), "2", &rig.cancel)
        .await
        .unwrap();
    assert!(!diff.contains("SECRET"));
    for unfit in ["/", "/no/such/directory/at/all"] {
        let outcome = rig
            .checkpoints
            .snapshot(Path::new(unfit), "x", &rig.cancel)
            .await;
        assert!(
            matches!(outcome, Err(CheckpointError::Unfit { .. })),
            "{unfit}"
        );
    }
    let home = Rig::new(|settings| settings.user_home = Some(rig.root().to_owned()));
    let outcome = home
        .checkpoints
        .snapshot(rig.root(), "x", &rig.cancel)
        .await;
    assert!(matches!(outcome, Err(CheckpointError::Unfit { .. })));
    // Without git, and with a git that never ends, writing goes on.
    let none = Rig::new(|settings| settings.git = "/no/git".into());
    none.write("f", "1\n").await;
    let script = rig.bench.put("slow-git", "#!/bin/sh\nexec sleep 600\n");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let slow = Rig::new(|settings| {
        settings.git = script;
        settings.timeout = Duration::from_millis(300);
    });
    slow.write("f", "1\n").await;
    let outcome = slow
        .checkpoints
        .snapshot(slow.root(), "x", &slow.cancel)
        .await;
    assert!(matches!(outcome, Err(CheckpointError::TimedOut(_))));
    slow.cancel.cancel();
    let outcome = slow
        .checkpoints
        .snapshot(slow.root(), "x", &slow.cancel)
        .await;
    assert!(matches!(outcome, Err(CheckpointError::Cancelled)));
}

// EX-50: a git that was killed leaves its lock behind, and snapshots go on all the same.
#[tokio::test]
async fn a_lock_left_by_a_killed_git_does_not_end_snapshots() {
    let mut rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    rig.write("a.txt", "one\n").await;
    let store = rig._store.path().join("checkpoints/store");
    let index = std::fs::read_dir(store.join("indexes")).unwrap().next();
    let index = index.unwrap().unwrap().path();
    std::fs::write(format!("{}.lock", index.display()), "").unwrap();
    rig.next_turn();
    rig.write("a.txt", "two\n").await;
    let known = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert_eq!(known.len(), 2);
}

// EX-50: the limit on all snapshots holds when one is made, not a day later.
#[tokio::test]
async fn snapshots_that_take_too_much_room_go_when_the_next_one_is_made() {
    let mut rig = Rig::new(|settings| {
        settings.most_bytes = Some(300_000);
        settings.largest_file = None;
    });
    rig.bench.put("Makefile", "all:\n");
    let mut noise = 1_u64;
    for turn in 0..8 {
        let mut text = String::new();
        for _ in 0..8_000 {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(turn);
            text.push_str(&format!("{:x}\n", noise >> 8));
        }
        rig.write("a.txt", &text).await;
        rig.next_turn();
    }
    let mut bytes = u64::MAX;
    for _ in 0..600 {
        bytes = rig.checkpoints.status(&rig.cancel).await.unwrap().bytes;
        if bytes <= 300_000 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(bytes <= 300_000, "{bytes}");
    let known = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert!(!known.is_empty() && known.len() < 8, "{}", known.len());
}

// EX-50: more than fifty thousand files are too many, and one that changed counts once.
#[tokio::test]
async fn a_directory_of_too_many_files_is_left_alone_and_changed_ones_count_once() {
    const MANY: usize = 26_000;
    let rig = Rig::new(|_| {});
    rig.bench.put("Makefile", "all:\n");
    let fill = |from: usize, to: usize, content: &str| {
        for number in from..to {
            let folder = rig.root().join(format!("d{}", number / 1_000));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(number.to_string()), content).unwrap();
        }
    };
    fill(0, MANY, "one\n");
    let take = async |why: &str| rig.checkpoints.snapshot(rig.root(), why, &rig.cancel).await;
    take("first").await.unwrap().unwrap();
    fill(0, MANY, "another\n");
    // Known and changed together are more than fifty thousand names, of half as many files.
    take("second").await.unwrap().unwrap();
    fill(MANY, 50_001, "one\n");
    let outcome = take("third").await;
    assert!(
        matches!(&outcome, Err(CheckpointError::Unfit { reason, .. }) if reason.contains("too many files")),
        "{outcome:?}"
    );
    rig.write("d0/0", "writing goes on\n").await;
}
