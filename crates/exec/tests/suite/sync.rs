//! Files going to another machine and back, over real SSH.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_core::future::BoxFuture;
use hermes_core::SystemRandom;
use hermes_exec::{
    Backend, Change, Difference, ExecError, FileSync, Launch, Place, Process, Pushed, Source,
    SourceKind, SyncedBackend, Urgency, returned,
};
use hermes_testkit::Sshd;
use hermes_testkit::clouds::Modal;

use super::away::{run, wait_for};
use super::{modal, ssh};

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Every file below a directory with its content.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    files
}

// EX-26, EX-27
#[tokio::test(flavor = "multi_thread")]
async fn changes_go_up_and_what_comes_back_is_only_looked_at() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (home, there) = (
        folder.path().join("home"),
        folder.path().join("there/.hermes"),
    );
    put(&home.join("skills/one/SKILL.md"), "one");
    put(&home.join("skills/two/SKILL.md"), "two");
    put(&home.join("skills/gone"), "gone");
    put(&home.join("key.json"), "secret");
    std::os::unix::fs::symlink("/etc/passwd", home.join("skills/link")).unwrap();
    let backend = ssh::backend(ssh::config(&server));
    let source = |from: &str, kind| Source {
        from: home.join(from),
        to: from.to_owned(),
        kind,
    };
    let sync = FileSync::new(
        Arc::clone(&backend),
        Arc::new(SystemRandom),
        there.to_str().unwrap(),
        vec![
            source("skills", SourceKind::Shared),
            source("cache", SourceKind::Shared),
            source("key.json", SourceKind::Credential),
        ],
        folder.path().join("work"),
    );
    let pushed = sync.push(Urgency::Usual).await.unwrap();
    assert_eq!(
        pushed.sent,
        [
            "key.json",
            "skills/gone",
            "skills/one/SKILL.md",
            "skills/two/SKILL.md"
        ]
    );
    let mode = std::fs::metadata(there.join("key.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        std::fs::read_to_string(there.join("skills/one/SKILL.md")).unwrap(),
        "one"
    );

    put(&home.join("skills/one/SKILL.md"), "one, better");
    std::fs::remove_file(home.join("skills/gone")).unwrap();
    assert_eq!(
        sync.push(Urgency::Usual).await.unwrap(),
        Pushed::default(),
        "looked again at once"
    );
    let pushed = sync.push(Urgency::Now).await.unwrap();
    assert_eq!(
        (pushed.sent, pushed.removed),
        (
            vec!["skills/one/SKILL.md".to_owned()],
            vec!["skills/gone".to_owned()]
        )
    );
    assert!(!there.join("skills/gone").exists());
    assert_eq!(
        std::fs::read_to_string(there.join("skills/one/SKILL.md")).unwrap(),
        "one, better"
    );
    let before = tree(&home);

    // Whatever runs there can do all this.
    let script = format!(
        "cd {} && echo planted >skills/evil.md && echo worse >skills/one/SKILL.md && rm skills/two/SKILL.md && echo stolen >key.json && ln -s /etc/passwd skills/passwd && mkdir -p cache && echo picture >cache/image",
        there.display()
    );
    run(&backend, &script).await;
    let pulled = sync.pull().await.unwrap();
    let expected = [
        ("cache/image", Change::Added),
        ("skills/evil.md", Change::Added),
        ("skills/one/SKILL.md", Change::Changed),
        ("skills/two/SKILL.md", Change::Removed),
    ];
    assert_eq!(
        pulled.changes,
        expected
            .map(|(name, change)| (name.to_owned(), change))
            .into()
    );
    let files = [
        ("cache/image", "picture\n"),
        ("skills/evil.md", "planted\n"),
        ("skills/one/SKILL.md", "worse\n"),
    ];
    assert_eq!(
        tree(&pulled.quarantine),
        files
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into()
    );
    assert_eq!(tree(&home), before, "our own files changed");
    assert!(pulled.quarantine.starts_with(folder.path().join("work")));
    // A note lies beside it, and nothing else.
    let waiting = returned(&folder.path().join("work")).unwrap();
    let [one] = waiting.as_slice() else {
        panic!("{waiting:?}")
    };
    assert_eq!(one.folder, pulled.quarantine);
    assert!(one.note.from.starts_with("ssh: "), "{}", one.note.from);
    let worse = Difference {
        change: Change::Changed,
        ours: Some(home.join("skills/one/SKILL.md")),
    };
    assert_eq!(one.note.changes.len(), 4);
    assert_eq!(one.note.changes["skills/one/SKILL.md"], worse);
    one.remove().unwrap();
    let left = std::fs::read_dir(folder.path().join("work")).unwrap();
    let left = left.map(|entry| entry.unwrap().path());
    let archives = left.filter(|path| path.extension().is_none_or(|kind| kind != "sent"));
    assert_eq!(archives.count(), 0, "archives are left");
    backend.close().await.unwrap();
}

/// Loses the connection so many times while files come back.
struct Losing {
    inner: Arc<dyn Backend>,
    times: AtomicU32,
}

impl Backend for Losing {
    fn place(&self) -> Place {
        self.inner.place()
    }

    fn scratch(&self) -> PathBuf {
        self.inner.scratch()
    }

    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Process, ExecError>> {
        let fetching = launch.argv.iter().any(|word| word.contains("tar -cf"));
        let less = |left: u32| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if fetching && self.times.fetch_update(order, order, less).is_ok() {
            return Box::pin(async { Err(ExecError::Gone("lost".to_owned())) });
        }
        self.inner.spawn(launch)
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        self.inner.close()
    }
}

// EX-27
#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_fetched_is_fetched_again_a_moment_later() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    put(&home.join("skills/one"), "one");
    let there = folder.path().join("there");
    let inner = ssh::backend(ssh::config(&server));
    let source = Source {
        from: home.join("skills"),
        to: "skills".to_owned(),
        kind: SourceKind::Shared,
    };
    for (times, comes) in [(2, true), (3, false)] {
        let losing: Arc<dyn Backend> = Arc::new(Losing {
            inner: Arc::clone(&inner),
            times: AtomicU32::new(times),
        });
        let sync = FileSync::new(
            losing,
            Arc::new(SystemRandom),
            there.to_str().unwrap(),
            vec![source.clone()],
            folder.path().join("work"),
        );
        sync.push(Urgency::Now).await.unwrap();
        put(&there.join("skills/two"), "planted");
        let pulled = sync.pull().await;
        assert_eq!(pulled.is_ok(), comes, "{pulled:?}");
        assert!(pulled.is_err() || pulled.unwrap().changes.contains_key("skills/two"));
    }
    inner.close().await.unwrap();
}

// EX-26
#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_failed_is_made_up_for_by_the_next() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    put(&home.join("skills/one"), "one");
    put(&folder.path().join("there"), "a file is in the way");
    let backend = ssh::backend(ssh::config(&server));
    let source = Source {
        from: home.join("skills"),
        to: "skills".to_owned(),
        kind: SourceKind::Shared,
    };
    let there = folder.path().join("there/.hermes");
    let sync = FileSync::new(
        Arc::clone(&backend),
        Arc::new(SystemRandom),
        there.to_str().unwrap(),
        vec![source],
        folder.path().join("work"),
    );
    assert!(sync.push(Urgency::Usual).await.is_err());
    std::fs::remove_file(folder.path().join("there")).unwrap();
    assert_eq!(
        sync.push(Urgency::Usual).await.unwrap().sent,
        ["skills/one"]
    );
    assert!(there.join("skills/one").exists());
    backend.close().await.unwrap();
}

// EX-26, EX-27
#[tokio::test(flavor = "multi_thread")]
async fn commands_find_our_files_and_what_they_change_waits_to_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let user = folder.path().join("user");
    let server = Sshd::start_at(&user).unwrap();
    let home = folder.path().join("home");
    put(&home.join("skills/one/SKILL.md"), "one");
    let inner = ssh::backend(ssh::config(&server));
    let source = Source {
        from: home.join("skills"),
        to: "skills".to_owned(),
        kind: SourceKind::Shared,
    };
    let sync = FileSync::new(
        Arc::clone(&inner),
        Arc::new(SystemRandom),
        "~/.hermes",
        vec![source],
        folder.path().join("work"),
    );
    let backend: Arc<dyn Backend> = Arc::new(SyncedBackend::new(inner, sync));
    let (text, _) = run(
        &backend,
        "cat ~/.hermes/skills/one/SKILL.md; echo planted >~/.hermes/skills/evil.md",
    )
    .await;
    assert_eq!(text, "one");
    assert!(user.join(".hermes/skills/evil.md").exists());
    backend.close().await.unwrap();
    assert_eq!(tree(&home).len(), 1, "our own files changed");
    let waiting = returned(&folder.path().join("work")).unwrap();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let files = tree(&waiting[0].folder);
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files.values().all(|text| text == "planted\n"));
}

// EX-26: what was removed here while nobody was connected is removed there by the next one.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_process_sent_and_is_gone_here_goes_there_too() {
    let server = Sshd::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (home, there) = (folder.path().join("home"), folder.path().join("there"));
    put(&home.join("skills/old/sub/SKILL.md"), "old");
    put(&home.join("skills/kept/SKILL.md"), "kept");
    put(&there.join("skills/theirs/SKILL.md"), "not ours");
    for (run, removed) in [
        (0, vec![]),
        (1, vec!["skills/old/sub/SKILL.md"]),
        (2, vec![]),
    ] {
        let backend = ssh::backend(ssh::config(&server));
        let source = Source {
            from: home.join("skills"),
            to: "skills".to_owned(),
            kind: SourceKind::Shared,
        };
        let sync = FileSync::new(
            Arc::clone(&backend),
            Arc::new(SystemRandom),
            there.to_str().unwrap(),
            vec![source],
            folder.path().join("work"),
        );
        assert_eq!(
            sync.push(Urgency::Usual).await.unwrap().removed,
            removed,
            "{run}"
        );
        assert_eq!(there.join("skills/old").exists(), run == 0, "{run}");
        assert!(there.join("skills/kept/SKILL.md").exists());
        assert!(there.join("skills/theirs/SKILL.md").exists());
        backend.close().await.unwrap();
        // Nobody is connected meanwhile.
        std::fs::remove_dir_all(home.join("skills/old")).ok();
    }
}

// EX-26, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_was_made_again_has_our_files_too() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let home = folder.path().join("home");
    put(&home.join("skills/one/SKILL.md"), "one");
    let inner = modal::backend(&server, folder.path());
    let source = Source {
        from: home.join("skills"),
        to: "skills".to_owned(),
        kind: SourceKind::Shared,
    };
    let sync = FileSync::new(
        Arc::clone(&inner),
        Arc::new(SystemRandom),
        "ours",
        vec![source],
        folder.path().join("work"),
    );
    let backend: Arc<dyn Backend> = Arc::new(SyncedBackend::new(inner, sync));
    for _ in 0..2 {
        assert_eq!(run(&backend, "cat ours/skills/one/SKILL.md").await.0, "one");
        let id = server.sandboxes().pop().unwrap();
        let (watched, before) = (Arc::clone(&backend), backend.edition());
        server.remove(&id);
        wait_for("the loss", move || watched.edition() != before).await;
    }
    backend.close().await.unwrap();
}
