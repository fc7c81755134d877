//! Backups, snapshots and the way back.

use std::fs;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hermes_store::{
    Archive, ArchiveCaps, ArchiveError, BackUp, BackedUp, Cap, KEPT_SNAPSHOTS, KeptSnapshot, Label,
    NoteKind, Notes, Options, Progress, Restore, Restored, Store, TakeSnapshot, is_occupied,
};
use jiff::Timestamp;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::fixture::{Fixture, id};

/// A home with files of every kind.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path().join(relative)).unwrap()
    }

    fn has(&self, relative: &str) -> bool {
        self.path().join(relative).exists()
    }

    fn mode(&self, relative: &str) -> u32 {
        let found = fs::metadata(self.path().join(relative)).unwrap();
        found.permissions().mode() & 0o777
    }

    fn back_up(&self, output: &Path) -> Result<BackedUp, ArchiveError> {
        back_up(&self.path(), output, |_| {})
    }

    fn restore(&self, zip: &Path) -> Result<Restored, ArchiveError> {
        self.restore_as(zip, true, None)
    }

    fn restore_as(
        &self,
        zip: &Path,
        is_root: bool,
        snapshot: Option<&Label>,
    ) -> Result<Restored, ArchiveError> {
        let mut archive = Archive::open(zip, &ArchiveCaps::default())?;
        let home = self.path();
        let request = Restore {
            home: &home,
            is_root,
            snapshot,
            at: at(0),
        };
        request.run(&mut archive, &mut |_| {})
    }
}

fn back_up(
    home: &Path,
    output: &Path,
    mut progress: impl FnMut(Progress),
) -> Result<BackedUp, ArchiveError> {
    let request = BackUp {
        home,
        profile: "default",
        output,
        at: at(0),
        zone: &jiff::tz::TimeZone::UTC,
        program: "test",
    };
    request.run(&mut progress)
}

fn at(second: i64) -> Timestamp {
    let start: Timestamp = "2026-07-04T12:00:00Z".parse().unwrap();
    start + jiff::SignedDuration::from_secs(second)
}

fn names(zip: &Path) -> Vec<String> {
    let archive = zip::ZipArchive::new(fs::File::open(zip).unwrap()).unwrap();
    let mut names: Vec<_> = archive
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    names.sort();
    names
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = SimpleFileOptions::default().unix_permissions(0o644);
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn noted(notes: &Notes) -> Vec<(&str, NoteKind)> {
    let mut listed: Vec<_> = notes
        .listed
        .iter()
        .map(|note| (note.path.as_str(), note.kind))
        .collect();
    listed.sort_by_key(|(path, _)| *path);
    listed
}

fn open_store(home: &Path) -> Store {
    Store::open(Options {
        path: home.join("hermes.db"),
        blobs: home.join("blobs"),
        clock: std::sync::Arc::new(hermes_core::SystemClock),
        redactor: hermes_secrets::RedactorHandle::default(),
        vfs: None,
    })
    .unwrap()
}

fn database(path: &Path, rows: &[&str]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (word TEXT)")
        .unwrap();
    for row in rows {
        connection
            .execute("INSERT INTO t VALUES (?)", [row])
            .unwrap();
    }
}

fn words(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT word FROM t").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn writer(fixture: &Fixture) -> Child {
    Command::new(env!("CARGO_BIN_EXE_store-writer"))
        .arg(fixture.path("hermes.db"))
        .args(["busy", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

// CL-25
#[test]
fn a_backup_beside_an_active_writer_restores_cleanly() {
    let fixture = Fixture::new();
    // Large enough to be copied in many steps, with the writer between them.
    fixture.sql("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(80000000))");
    let home = fixture.path("hermes.db").parent().unwrap().to_owned();
    let mut child = writer(&fixture);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let before: Vec<String> = lines.by_ref().take(50).map(Result::unwrap).collect();
    let outside = Home::new();
    let zip = outside.outside("backup.zip");
    let mut steps = Vec::new();
    let made = back_up(&home, &zip, |progress| steps.push(progress.done)).unwrap();
    let during = lines.by_ref().take(1).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(during, 1, "the writer went on");
    assert!(steps.len() > 5, "{steps:?}");
    assert!(
        steps.is_sorted(),
        "a write made the copy start over: {steps:?}"
    );
    let databases: Vec<_> = made
        .databases
        .iter()
        .map(|database| (database.path.as_str(), database.schema))
        .collect();
    assert_eq!(databases, [("hermes.db", 11)]);

    outside.restore(&zip).unwrap();
    let store = open_store(&outside.path());
    assert!(store.check().wait().unwrap().is_clean());
    let rows = store.all_records(&id("busy")).wait().unwrap();
    let restored: Vec<String> = rows.iter().map(|row| row.id.0.to_string()).collect();
    let lost: Vec<_> = before.iter().filter(|id| !restored.contains(id)).collect();
    assert!(
        lost.is_empty(),
        "acknowledged before the backup, not in it: {lost:?}"
    );
}

#[test]
fn a_backup_holds_the_home_and_not_what_can_be_made_again() {
    let home = Home::new();
    for kept in [
        "config.yaml",
        ".env",
        "skills/a/SKILL.md",
        "skills/a/bin/run.sh",
        "skills/a/Cargo.lock",
        "blobs/ab/abcd",
        "logs/agent.log",
        "profiles/work/config.yaml",
        "memories/MEMORY.md",
        "sessions/chat:1.json",
    ] {
        home.write(kept, kept);
    }
    for skipped in [
        "hermes-agent/run.py",
        "cache/x",
        "image_cache/x",
        "bin/uv",
        "node/bin/node",
        "lsp/x",
        "checkpoints/x",
        "backups/old.zip",
        "state-snapshots/x/config.yaml",
        "sandboxes/x",
        "skills/a/node_modules/x",
        "skills/a/.venv/x",
        "plugins/b/environment/pyvenv.cfg",
        "profiles/work/cache/x",
        "gateway.pid",
        "auth.lock",
        "gateway_state.json",
        "processes.json",
        "notes.db-wal",
        "hermes.db.before-repair-20260704-120000",
        "hermes.db.before-repair-20260704-120000-shm",
        "hermes.db.damaged-20260704-120000",
        "profiles/work/hermes.db.damaged-20260704-120000-wal",
    ] {
        home.write(skipped, "x");
    }
    // A database by its content, and something that only looks like one.
    database(&home.path().join("plugins/b/memory"), &["one"]);
    home.write("fake.db", "no database at all, only a name");
    home.write("empty.db", "");
    symlink("/etc/passwd", home.path().join("link")).unwrap();
    symlink(home.path(), home.path().join("loop")).unwrap();

    let zip = home.outside("out.zip");
    let made = home.back_up(&zip).unwrap();

    assert_eq!(
        names(&zip),
        [
            ".env",
            "blobs/ab/abcd",
            "config.yaml",
            "empty.db",
            "fake.db",
            "hermes-backup.json",
            "logs/agent.log",
            "memories/MEMORY.md",
            "plugins/b/memory",
            "profiles/work/config.yaml",
            "sessions/chat:1.json",
            "skills/a/Cargo.lock",
            "skills/a/SKILL.md",
            "skills/a/bin/run.sh",
        ]
    );
    assert_eq!(
        noted(&made.notes),
        [("link", NoteKind::Link), ("loop", NoteKind::Link)]
    );
    assert_eq!(made.files, 13);
    assert_eq!(made.databases.len(), 1);
    let mode = fs::metadata(&zip).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let left: Vec<_> = fs::read_dir(home.path().join("backups"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "only the lock and what was there: {left:?}");

    let other = Home::new();
    assert!(!is_occupied(&other.path()).unwrap());
    other.restore(&zip).unwrap();
    assert!(is_occupied(&other.path()).unwrap());
    assert_eq!(other.read("skills/a/SKILL.md"), "skills/a/SKILL.md");
    assert_eq!(words(&other.path().join("plugins/b/memory")), ["one"]);
}

#[test]
fn a_backup_into_its_own_home_does_not_hold_itself() {
    let home = Home::new();
    home.write("config.yaml", "a: 1");
    let zip = home.path().join("mine.zip");
    home.back_up(&zip).unwrap();
    home.back_up(&zip).unwrap();
    assert_eq!(names(&zip), ["config.yaml", "hermes-backup.json"]);
}

#[test]
fn a_damaged_database_is_kept_as_it_is() {
    let home = Home::new();
    home.write("config.yaml", "a: 1");
    let path = home.path().join("memory_store.db");
    database(&path, &["one"]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let zip = home.outside("out.zip");
    let made = home.back_up(&zip).unwrap();
    assert_eq!(noted(&made.notes), [("memory_store.db", NoteKind::Damaged)]);
    let other = Home::new();
    let restored = other.restore(&zip).unwrap();
    assert_eq!(
        noted(&restored.notes),
        [("memory_store.db", NoteKind::DamagedCopy)]
    );
    assert!(other.has("config.yaml") && !other.has("memory_store.db"));
}

// CL-25
#[test]
fn restoring_leaves_files_of_running_programs_alone() {
    let home = Home::new();
    home.write("gateway_state.json", "mine");
    home.write("gateway.pid", "1");
    let zip = home.outside("reference.zip");
    fs::write(
        &zip,
        zip_of(&[
            ("config.yaml", b"model: x"),
            ("gateway_state.json", b"theirs"),
            ("gateway.pid", b"99"),
            ("auth.lock", b""),
            ("processes.json", b"[]"),
            ("state.db-wal", b"log"),
            ("profiles/work/gateway.lock", b""),
            ("profiles/work/.env", b"A=1"),
            ("_external/honcho/config.json", b"{}"),
        ]),
    )
    .unwrap();
    let restored = home.restore(&zip).unwrap();
    assert_eq!(home.read("gateway_state.json"), "mine");
    assert_eq!(home.read("gateway.pid"), "1");
    assert_eq!(home.read("config.yaml"), "model: x");
    assert_eq!(home.mode("profiles/work/.env"), 0o600);
    for absent in ["auth.lock", "processes.json", "state.db-wal", "_external"] {
        assert!(!home.has(absent), "{absent}");
    }
    assert_eq!(restored.files, 2);
    assert_eq!(restored.notes.listed.len(), 7);
}

#[test]
fn a_zip_with_one_top_folder_is_a_home_too() {
    let home = Home::new();
    let zip = home.outside("reference.zip");
    let content = zip_of(&[(".hermes/config.yaml", b"a: 1"), (".hermes/skills/x", b"y")]);
    fs::write(&zip, content).unwrap();
    home.restore(&zip).unwrap();
    assert_eq!(
        (home.read("config.yaml"), home.read("skills/x")),
        ("a: 1".to_owned(), "y".to_owned())
    );
}

#[test]
fn other_profiles_only_go_into_the_default_home() {
    let home = Home::new();
    let zip = home.outside("root.zip");
    let content = zip_of(&[
        ("config.yaml", b"a: 1"),
        ("profiles/work/config.yaml", b"b: 2"),
        ("active_profile", b"work"),
    ]);
    fs::write(&zip, content).unwrap();
    let restored = home.restore_as(&zip, false, None).unwrap();
    assert_eq!(
        noted(&restored.notes),
        [
            ("active_profile", NoteKind::OtherProfile),
            ("profiles/work/config.yaml", NoteKind::OtherProfile)
        ]
    );
    assert!(!home.has("profiles"));
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let source = Home::new();
    database(&source.path().join("state.db"), &["new"]);
    let zip = source.outside("out.zip");
    source.back_up(&zip).unwrap();

    let home = Home::new();
    let path = home.path().join("state.db");
    database(&path, &["old"]);
    // Another process, because locks are per process; it only has the file open and does nothing.
    let mut other = Command::new("sqlite3")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = other.stdin.take().unwrap();
    writeln!(stdin, "SELECT word FROM t;").unwrap();
    let mut said = BufReader::new(other.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "old\n");

    let refused = home.restore(&zip).unwrap_err();
    assert!(matches!(refused, ArchiveError::InUse { .. }), "{refused}");
    drop(stdin);
    other.wait().unwrap();
    assert_eq!(words(&path), ["old"]);
    home.restore(&zip).unwrap();
    assert_eq!(words(&path), ["new"]);
    assert_eq!(home.mode("state.db"), 0o600);
}

#[test]
fn an_old_log_is_not_replayed_into_a_restored_database() {
    let source = Home::new();
    database(&source.path().join("state.db"), &["new"]);
    let zip = source.outside("out.zip");
    source.back_up(&zip).unwrap();
    // A log left behind by a process that died.
    let home = Home::new();
    let path = home.path().join("state.db");
    database(&path, &["old"]);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute("INSERT INTO t VALUES ('more')", [])
        .unwrap();
    let log = fs::read(home.path().join("state.db-wal")).unwrap();
    drop(connection);
    fs::remove_file(&path).unwrap();
    fs::write(home.path().join("state.db-wal"), log).unwrap();
    home.restore(&zip).unwrap();
    assert_eq!(words(&path), ["new"]);
}

#[test]
fn links_on_the_way_are_not_followed() {
    let home = Home::new();
    home.write("config.yaml", "old");
    let elsewhere = home.outside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, home.path().join("skills")).unwrap();
    let zip = home.outside("x.zip");
    fs::write(&zip, zip_of(&[("config.yaml", b"new"), ("skills/x", b"y")])).unwrap();
    let refused = home.restore(&zip).unwrap_err();
    assert!(
        matches!(refused, ArchiveError::InTheWay { .. }),
        "{refused}"
    );
    assert_eq!(home.read("config.yaml"), "old");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn caps_hold() {
    let home = Home::new();
    let zip = home.outside("x.zip");
    fs::create_dir_all(home.path()).unwrap();
    let zeros = vec![0_u8; 100_000];
    let content = zip_of(&[("config.yaml", b"a: 1"), ("zeros", &zeros)]);
    fs::write(&zip, content).unwrap();
    let check = |caps: ArchiveCaps, expected: Cap| {
        let refused = Archive::open(&zip, &caps).unwrap_err();
        assert!(
            matches!(refused, ArchiveError::TooMuch(cap) if cap == expected),
            "{refused}"
        );
    };
    let usual = ArchiveCaps::default();
    check(
        ArchiveCaps {
            entries: 1,
            ..usual
        },
        Cap::Entries { most: 1, found: 2 },
    );
    check(
        ArchiveCaps {
            bytes: 100_000,
            ..usual
        },
        Cap::Bytes {
            most: 100_000,
            found: 100_004,
        },
    );
    check(
        ArchiveCaps {
            ratio: 100,
            ratio_from: 1_000,
            ..usual
        },
        Cap::Ratio { most: 100 },
    );
    assert_eq!(Archive::open(&zip, &usual).unwrap().files(), 2);
}

#[test]
fn the_newest_twenty_snapshots_are_kept() {
    let home = Home::new();
    home.write("config.yaml", "a: 1");
    home.write("cron/jobs.json", "[]");
    home.write("cron/output/large.txt", "x");
    home.write("pairing/telegram.json", "{}");
    home.write("state-snapshots/by-hand/config.yaml", "kept");
    database(&home.path().join("state.db"), &["one"]);
    let path = home.path();
    let take = |second, label: Option<&Label>| {
        let request = TakeSnapshot {
            home: &path,
            label,
            at: at(second),
        };
        request.run().unwrap()
    };
    let label = Label::new("before-update").unwrap();
    let first = take(0, Some(&label));
    assert_eq!(first.id, "20260704-120000-before-update");
    assert_eq!(first.files, 4);
    assert_eq!(words(&first.path.join("state.db")), ["one"]);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(first.path.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["label"], "before-update");
    assert_eq!(manifest["file_count"], 4);
    assert_eq!(
        home.mode("state-snapshots/20260704-120000-before-update/config.yaml"),
        0o600
    );

    let same_second = take(0, Some(&label));
    assert_eq!(same_second.id, "20260704-120000-before-update.2");
    let kept = i64::try_from(KEPT_SNAPSHOTS).unwrap();
    let removed: Vec<_> = (1..kept)
        .flat_map(|second| take(second, None).removed)
        .collect();
    assert_eq!(removed, ["20260704-120000-before-update"]);
    let there = fs::read_dir(home.path().join("state-snapshots"))
        .unwrap()
        .count();
    assert_eq!(there, KEPT_SNAPSHOTS + 1, "twenty and the one made by hand");
    for bad in ["", "a/b", "..", ".hidden", &"x".repeat(41)] {
        assert!(Label::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn no_snapshot_id_is_given_twice_in_a_second() {
    let home = Home::new();
    home.write("config.yaml", "a: 1");
    let path = home.path();
    let label = Label::new("v1.7").unwrap();
    let labels = [None, Some(&label)].into_iter().cycle();
    let mut ids = Vec::new();
    let mut removed = Vec::new();
    for label in labels.take(50) {
        let request = TakeSnapshot {
            home: &path,
            label,
            at: at(0),
        };
        let taken = request.run().unwrap();
        assert!(!ids.contains(&taken.id), "{} again", taken.id);
        ids.push(taken.id);
        removed.extend(taken.removed);
    }
    assert_eq!(
        removed,
        ids[..ids.len() - KEPT_SNAPSHOTS],
        "the oldest went first"
    );
}

// CL-21
#[test]
fn a_snapshot_is_put_back_and_older_ones_go_when_asked() {
    let home = Home::new();
    let path = home.path();
    home.write("config.yaml", "a: 1");
    home.write("pairing/telegram.json", "{}");
    database(&path.join("state.db"), &["one"]);
    let take = |second| TakeSnapshot {
        home: &path,
        label: None,
        at: at(second),
    };
    let first = take(0).run().unwrap();
    home.write("config.yaml", "a: 2");
    home.write("later.yaml", "stays");
    home.write("pairing/telegram.json", "{\"later\": 1}");
    fs::write(first.path.join("agent.lock"), "of a program that ran").unwrap();
    let writing = rusqlite::Connection::open(path.join("state.db")).unwrap();
    writing
        .execute_batch("INSERT INTO t VALUES ('two'); BEGIN; SELECT * FROM t;")
        .unwrap();

    let label = Label::new("before-it").unwrap();
    let kept = KeptSnapshot::all(&path);
    let request = Restore {
        home: &path,
        is_root: true,
        snapshot: Some(&label),
        at: at(1),
    };
    let refused = request.run_snapshot(&kept[0]).unwrap_err();
    assert!(matches!(refused, ArchiveError::InUse { .. }), "{refused}");
    assert_eq!(home.read("config.yaml"), "a: 2", "nothing was touched");
    drop(writing);

    let restored = request.run_snapshot(&kept[0]).unwrap();
    assert_eq!((restored.files, restored.databases.len()), (3, 1));
    assert_eq!(home.read("config.yaml"), "a: 1");
    assert_eq!(home.read("pairing/telegram.json"), "{}");
    assert_eq!(home.read("later.yaml"), "stays");
    assert_eq!(words(&path.join("state.db")), ["one"]);
    assert!(!home.has("manifest.json") && !home.has("agent.lock"));
    assert_eq!(home.mode("config.yaml"), 0o600);
    // The way back from the way back.
    let before = restored.snapshot.unwrap();
    assert_eq!(words(&before.path.join("state.db")), ["one", "two"]);

    let latest = take(2).run().unwrap();
    assert_eq!(
        KeptSnapshot::prune(&path, 1).unwrap(),
        [first.id, before.id]
    );
    let left: Vec<String> = KeptSnapshot::all(&path)
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(left, [latest.id]);
}

#[test]
fn logs_are_not_put_back() {
    let home = Home::new();
    for name in [
        "config.yaml",
        "logs/agent.log",
        "profiles/work/logs/errors.log",
    ] {
        home.write(name, "old");
    }
    let zip = home.outside("out.zip");
    home.back_up(&zip).unwrap();
    home.write("logs/agent.log", "new");
    let restored = home.restore(&zip).unwrap();
    assert_eq!(home.read("logs/agent.log"), "new");
    assert_eq!(
        noted(&restored.notes),
        [
            ("logs/agent.log", NoteKind::Log),
            ("profiles/work/logs/errors.log", NoteKind::Log)
        ]
    );
}
