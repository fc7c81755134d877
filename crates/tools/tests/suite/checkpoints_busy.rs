//! Snapshots while much goes on: writes side by side, a store that is being cleaned up, a git that takes its time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_core::Clock;
use tokio_util::sync::CancellationToken;

use super::checkpoints::{Rig, git};

/// A `git` that does this first, for each command in turn.
fn git_that(folder: &Path, first: &str) -> PathBuf {
    let script = folder.join("git");
    let text = format!("#!/bin/sh\n{first}\nexec '{}' \"$@\"\n", git().display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    script
}

fn wait_for_file(path: &Path) {
    hermes_testkit::eventually(Duration::from_secs(30), "git runs", || {
        path.exists().then_some(())
    })
    .unwrap();
}

// EX-51: clearing up behind snapshots may take as long as it likes, also when they take too much room.
#[tokio::test(flavor = "multi_thread")]
async fn a_clean_up_that_takes_long_does_not_hold_up_a_write() {
    for most_bytes in [None, Some(1)] {
        let folder = tempfile::tempdir().unwrap();
        let began = folder.path().join("began");
        let slow = format!(
            "case \" $* \" in *' gc '*|*' repack '*) : >'{}'; exec sleep 600;; esac",
            began.display()
        );
        let mut rig = Rig::new(|settings| {
            settings.git = git_that(folder.path(), &slow);
            settings.clean_every = most_bytes.is_none().then_some(Duration::ZERO);
            settings.most_bytes = most_bytes;
        });
        rig.bench.put("Makefile", "all:\n");
        rig.write("f", "1\n").await;
        wait_for_file(&began);
        let started = std::time::Instant::now();
        for turn in 2..5 {
            rig.next_turn();
            rig.write("f", &format!("{turn}\n")).await;
        }
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{:?}",
            started.elapsed()
        );
        assert_eq!(rig.bench.text("f"), "4\n");
        let known = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
        assert_eq!(known[0].taken_at, rig.clock.now().as_second(), "{known:?}");
        rig.checkpoints.close().await;
    }
}

// EX-51: whoever waits for its turn can be stopped.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_waits_for_the_store_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let slow = format!(
        "case \" $* \" in *' prune '*) : >'{}'; exec sleep 600;; esac",
        began.display()
    );
    let mut rig = Rig::new(|settings| {
        settings.git = git_that(folder.path(), &slow);
        settings.most_bytes = Some(1);
    });
    rig.bench.put("Makefile", "all:\n");
    rig.write("f", "1\n").await;
    wait_for_file(&began);
    rig.next_turn();
    let context = &rig.bench.context;
    let stopped = CancellationToken::new();
    let started = std::time::Instant::now();
    let taking =
        rig.checkpoints
            .before_change(rig.root(), &context.session, context.turn, &stopped);
    let stopping = async {
        tokio::task::yield_now().await;
        stopped.cancel();
    };
    let (missing, ()) = tokio::join!(taking, stopping);
    assert!(missing.is_none(), "{missing:?}");
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    rig.checkpoints.close().await;
}

// EX-50: of two writes of one turn that run side by side, neither comes before the snapshot.
#[tokio::test(flavor = "multi_thread")]
async fn writes_side_by_side_wait_for_the_one_snapshot_of_their_turn() {
    let folder = tempfile::tempdir().unwrap();
    let slow = "case \" $* \" in *' ls-files '*) sleep 1;; esac";
    let rig = Rig::new(|settings| settings.git = git_that(folder.path(), slow));
    rig.bench.put("Makefile", "all:\n");
    rig.bench.put("a.txt", "old\n");
    rig.bench.put("b.txt", "old\n");
    let before = rig.tree();
    let (.., ()) = tokio::join!(
        rig.write("a.txt", "new\n"),
        rig.write("b.txt", "new\n"),
        rig.write("c.txt", "new\n"),
    );
    let known = rig.checkpoints.list(rig.root(), &rig.cancel).await.unwrap();
    assert_eq!(known.len(), 1, "{known:?}");
    rig.checkpoints
        .restore(rig.root(), "1", None, &rig.cancel)
        .await
        .unwrap();
    assert_eq!(rig.tree(), before);
}

// EX-50: what was stored to compare goes when room is made; the next snapshot stores it again.
#[tokio::test]
async fn a_comparison_whose_objects_are_gone_does_not_end_snapshots() {
    let mut rig = Rig::new(|settings| settings.most_bytes = Some(1));
    rig.bench.put("Makefile", "all:\n");
    rig.write("f", "1\n").await;
    rig.bench.put("other", "not yet in any snapshot\n");
    rig.checkpoints
        .diff(rig.root(), "1", &rig.cancel)
        .await
        .unwrap();
    rig.checkpoints.prune(&rig.cancel).await.unwrap();
    rig.next_turn();
    let taken = rig
        .checkpoints
        .snapshot(rig.root(), "again", &rig.cancel)
        .await;
    assert!(taken.unwrap().is_some());
}
