//! `hermes backup` and `hermes import`, from outside.

use std::fs;
use std::time::{Duration, Instant};

use hermes_testkit::crash::{RandomKills, kill_at_random_times};
use hermes_testkit::pty::Terminal;

use super::program::Program;
use super::raw_zip::{RawEntry, raw_zip};

const MARK: &str = "model: mine\n";

fn with_conversations() -> Program {
    let program = Program::after_the_reference();
    program.home.write_config("# mine\nmodel: mine\n").unwrap();
    program.home.write_env("A_NAME=value\n").unwrap();
    program.run(&["sessions", "list"]).ok();
    program
}

/// Writes a zip file into the workspace and gives its path.
fn zip_file(program: &Program, entries: &[RawEntry]) -> String {
    program.home.write_work("x.zip", raw_zip(entries)).unwrap();
    program.home.workspace().join("x.zip").display().to_string()
}

fn sound(program: &Program, database: &str) -> bool {
    let check = format!("sqlite3 \"$HERMES_HOME/{database}\" 'PRAGMA integrity_check'");
    program.shell(&check).ok().stdout == "ok\n"
}

// CL-25
#[test]
fn a_backup_brings_everything_back_into_a_new_home() {
    let program = with_conversations();
    let listed = program.stdout(&["sessions", "list", "--json"]);
    let made = program.run(&["backup", "--json"]).ok().json();
    assert_eq!(made["notes"], serde_json::json!([]));
    let zip = made["path"].as_str().unwrap();
    assert!(zip.starts_with(&*program.home.path().join("backups").to_string_lossy()));
    assert_eq!(fs::metadata(zip).unwrap().len(), made["size"]);

    let other = Program::new();
    let restored = other.run(&["import", zip, "--json"]).ok().json();
    assert_eq!(
        restored["databases"],
        serde_json::json!(["hermes.db", "state.db"])
    );
    assert_eq!(restored["snapshot"], serde_json::Value::Null);
    assert_eq!(restored["backup"]["profile"], "default");
    assert_eq!(other.stdout(&["sessions", "list", "--json"]), listed);
    assert_eq!(
        other.home.read("config.yaml").unwrap(),
        "# mine\nmodel: mine\n"
    );
    for secret in [".env", "hermes.db", "state.db", "config.yaml"] {
        assert_eq!(other.home.mode(secret).unwrap(), 0o600, "{secret}");
    }
    for database in ["hermes.db", "state.db"] {
        assert!(sound(&other, database), "{database}");
    }
}

#[test]
fn the_output_can_be_a_file_or_a_directory() {
    let program = with_conversations();
    program.run(&["backup", "-o", "mine.zip"]).ok();
    program.run(&["backup", "-o", "."]).ok();
    let mut names: Vec<_> = fs::read_dir(program.home.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names[0].starts_with("hermes-backup-20"), "{names:?}");
    assert_eq!((names.len(), names[1].as_str()), (2, "mine.zip"));
    let failed = program.run(&["backup", "-o", "nowhere/x.zip"]).code(1);
    assert!(
        failed.stderr.starts_with("error: nowhere/x.zip"),
        "{}",
        failed.stderr
    );
    assert_eq!(failed.stderr.lines().count(), 2);
}

#[test]
fn a_profile_has_backups_of_its_own() {
    let program = with_conversations();
    program
        .home
        .write("profiles/work/config.yaml", "b: 2\n")
        .unwrap();
    let made = program.run(&["-p", "work", "backup", "--json"]).ok().json();
    let path = made["path"].as_str().unwrap();
    assert!(path.contains("/profiles/work/backups/"), "{path}");
    assert_eq!(made["files"], 1);
}

#[test]
fn a_quick_snapshot_has_a_label() {
    let program = with_conversations();
    let taken = program
        .run(&["backup", "-q", "-l", "before-update", "--json"])
        .ok()
        .json();
    assert!(taken["id"].as_str().unwrap().ends_with("-before-update"));
    let folder = std::path::PathBuf::from(taken["path"].as_str().unwrap());
    assert!(folder.join("manifest.json").is_file());
    assert!(folder.join("hermes.db").is_file());
    program.run(&["backup", "-q", "-l", "../x"]).code(2);
    program.run(&["backup", "-l", "x"]).code(2);
}

#[test]
fn a_home_that_is_not_empty_is_only_replaced_when_asked_for() {
    let program = with_conversations();
    let zip = zip_file(&program, &[RawEntry::new("config.yaml", "theirs: 1\n")]);
    let before = program.home.tree_hash().unwrap();
    let refused = program.run(&["import", &zip]).code(1);
    assert!(
        refused.stderr.contains("hint: add --force"),
        "{}",
        refused.stderr
    );
    assert_eq!(program.home.tree_hash().unwrap(), before);

    let restored = program.run(&["import", &zip, "-f", "--json"]).ok().json();
    let snapshot = restored["snapshot"]["path"].as_str().unwrap();
    let kept = fs::read_to_string(format!("{snapshot}/config.yaml")).unwrap();
    assert!(kept.contains(MARK));
    assert_eq!(program.home.read("config.yaml").unwrap(), "theirs: 1\n");
    assert!(program.home.path().join(".env").exists(), "the rest stays");
}

#[test]
fn a_person_is_asked_before_files_are_replaced() {
    let program = with_conversations();
    let zip = zip_file(&program, &[RawEntry::new("config.yaml", "theirs: 1\n")]);
    for (answer, code, expected) in [("n", 1, MARK), ("y", 0, "theirs: 1\n")] {
        let command = program.command(&["import", &zip]);
        let terminal = Terminal::spawn(&command, 160, 20).unwrap();
        terminal
            .wait_for_text("[y/N]", Duration::from_secs(10))
            .unwrap();
        terminal.send(&format!("{answer}\r")).unwrap();
        let exit = terminal.wait_exit(Duration::from_secs(20)).unwrap();
        assert_eq!(exit.code, code, "{:?}", terminal.screen());
        let config = program.home.read("config.yaml").unwrap();
        assert!(config.contains(expected), "{config}");
    }
}

// CL-25
#[test]
fn hostile_and_broken_archives_change_nothing() {
    let program = with_conversations();
    let config = || RawEntry::new("config.yaml", "evil: 1\n");
    let file = |name: &str| RawEntry::new(name, "evil");
    let outside = program.home.workspace().join("evil");
    let absolute = outside.to_str().unwrap();
    assert!(absolute.starts_with('/'));
    let whole = raw_zip(&[config(), file("skills/x")]);
    let mut flipped = whole.clone();
    // Inside the content of config.yaml: its checksum no longer fits.
    flipped[30 + "config.yaml".len()] ^= 1;
    let mut not_utf8 = file("x");
    not_utf8.name = b"\xff\xfe".to_vec();
    let entries: Vec<(&str, Vec<RawEntry>, &str)> = vec![
        ("parent", vec![config(), file("../evil")], "leads out"),
        (
            "hidden parent",
            vec![config(), file("a/../../evil")],
            "leads out",
        ),
        ("absolute", vec![config(), file(absolute)], "leads out"),
        ("drive", vec![config(), file("C:/evil")], "leads out"),
        (
            "backslash",
            vec![config(), file("..\\evil")],
            "name that cannot",
        ),
        ("dot", vec![config(), file("./evil")], "name that cannot"),
        (
            "empty part",
            vec![config(), file("a//evil")],
            "name that cannot",
        ),
        (
            "control",
            vec![config(), file("a\u{1b}[2Jb")],
            "name that cannot",
        ),
        ("no text", vec![config(), not_utf8], "name that cannot"),
        (
            "link",
            vec![config(), RawEntry::new("x", "/etc").mode(0o120_777)],
            "is a link",
        ),
        (
            "device",
            vec![config(), file("x").mode(0o020_666)],
            "special file",
        ),
        (
            "pipe",
            vec![config(), file("x").mode(0o010_666)],
            "special file",
        ),
        ("twice", vec![config(), config()], "twice"),
        (
            "both",
            vec![config(), file("a"), file("a/b")],
            "file and a directory",
        ),
        (
            "encrypted",
            vec![config(), file("x").encrypted()],
            "is encrypted",
        ),
        (
            "bomb",
            vec![config(), file("x").claiming(0xffff_fff0)],
            "over a limit",
        ),
        (
            "liar",
            vec![config(), file("x").claiming(3)],
            "larger than its declared",
        ),
        (
            "short",
            vec![config(), file("x").claiming(9)],
            "not as long",
        ),
        ("stranger", vec![file("readme.txt")], "is not a backup"),
        ("nothing", vec![], "is not a backup"),
    ];
    let mut cases: Vec<(&str, Vec<u8>, &str)> = entries
        .into_iter()
        .map(|(name, entries, expected)| (name, raw_zip(&entries), expected))
        .collect();
    cases.push((
        "cut off",
        whole[..whole.len() - 30].to_vec(),
        "cannot be read",
    ));
    cases.push(("front cut off", whole[20..].to_vec(), ""));
    cases.push(("wrong checksum", flipped, "cannot be read"));
    cases.push(("no zip", b"not a zip file".to_vec(), "cannot be read"));
    cases.push(("empty", Vec::new(), "cannot be read"));
    let mut before = program.home.tree().unwrap();
    before.retain(|path, _| !is_trace(path));
    for (name, bytes, expected) in cases {
        program.home.write_work("x.zip", bytes).unwrap();
        let zip = program.home.workspace().join("x.zip").display().to_string();
        let failed = program.run(&["import", "--force", &zip]);
        assert_eq!(failed.code, Some(1), "{name}: {}", failed.report());
        assert!(
            failed.stderr.contains(expected),
            "{name}: {}",
            failed.stderr
        );
        assert_eq!(
            failed.stderr.lines().count(),
            2,
            "{name}: {}",
            failed.stderr
        );
        assert!(!failed.stderr.contains('\u{1b}'), "{name}");
        assert_eq!(failed.stdout, "", "{name}");
        let mut after = program.home.tree().unwrap();
        after.retain(|path, _| !is_trace(path));
        assert_eq!(after, before, "{name}");
    }
    assert!(!outside.exists());
    program.run(&["import", "absent.zip"]).code(1);
}

/// What an attempt may leave: the lock, and what was logged about it.
fn is_trace(path: &str) -> bool {
    path == "backups" || path.starts_with("backups/.lock") || path.starts_with("logs")
}

#[test]
fn a_damaged_database_in_a_backup_replaces_nothing() {
    let program = with_conversations();
    let mut damaged = RawEntry::new("state.db", "");
    damaged.content = b"SQLite format 3\0".to_vec();
    damaged.content.extend([7; 5_000]);
    let zip = zip_file(
        &program,
        &[RawEntry::new("config.yaml", "new: 1\n"), damaged],
    );
    let failed = program.run(&["import", "-f", &zip]).code(1);
    assert!(
        failed.stderr.contains("state.db in the backup is damaged"),
        "{}",
        failed.stderr
    );
    assert!(program.home.read("config.yaml").unwrap().contains(MARK));
    assert!(sound(&program, "state.db"));
}

/// A home full of old files, and a backup of another one full of new files.
struct Replacement {
    program: Program,
    zip: String,
    /// The database before the import.
    database: Vec<u8>,
}

/// How many small files there are.
const FILES: usize = 60;

impl Replacement {
    fn new() -> Self {
        let source = with_conversations();
        write_files(&source, "new");
        let program = Program::new();
        let zip = program
            .home
            .workspace()
            .join("new.zip")
            .display()
            .to_string();
        source.run(&["backup", "-o", &zip]).ok();
        program.run(&["sessions", "list"]).ok();
        let database = fs::read(program.home.path().join("hermes.db")).unwrap();
        let replacement = Self {
            program,
            zip,
            database,
        };
        replacement.reset();
        replacement
    }

    fn reset(&self) {
        let home = &self.program.home;
        for side in ["-wal", "-shm", "-journal"] {
            drop(fs::remove_file(
                home.path().join(format!("hermes.db{side}")),
            ));
        }
        home.write("hermes.db", &self.database).unwrap();
        write_files(&self.program, "old");
    }

    /// Every file is old or new and nothing else, and the database can be used. Answers how many are new.
    fn check(&self) -> usize {
        let mut new = 0;
        for number in 0..FILES {
            let name = format!("memories/{number:02}.md");
            let text = self.program.home.read(&name).unwrap();
            let is_new = text == format!("new {number}");
            assert!(is_new || text == format!("old {number}"), "{name}: {text}");
            new += usize::from(is_new);
        }
        assert!(sound(&self.program, "hermes.db"));
        let sessions = self.program.run(&["sessions", "list", "--json"]).ok();
        assert!(sessions.json().is_array());
        new
    }
}

fn write_files(program: &Program, word: &str) {
    for number in 0..FILES {
        let name = format!("memories/{number:02}.md");
        let text = format!("{word} {number}");
        program.home.write(&name, text).unwrap();
    }
    program.home.write_config(&format!("# {word}\n")).unwrap();
}

// CL-25
#[test]
fn killed_at_any_step_of_an_import_every_file_is_old_or_new() {
    let replacement = Replacement::new();
    // The kernel kills it when it makes a call for the nth time: each kind of step is hit.
    let mut partly = 0;
    for (call, times) in [
        ("/^rename", [1, 2, 3, 8, 20, 40, 60].as_slice()),
        ("/^unlink", &[1, 2, 4, 6]),
        ("pwrite64", &[1, 3, 6, 20]),
        ("fsync", &[1, 30, 70]),
    ] {
        for time in times {
            let line = format!(
                "exec strace -f -qq -o /dev/null -e trace={call} -e inject={call}:signal=SIGKILL:when={time} \
                 $HERMES import --force {}",
                replacement.zip
            );
            let ended = replacement.program.shell(&line);
            let killed = ended.signal == Some(9) || ended.code == Some(137);
            assert!(
                killed || ended.code == Some(0),
                "{line}: {}",
                ended.report()
            );
            let new = replacement.check();
            partly += usize::from(new > 0 && new < FILES);
            replacement.reset();
        }
    }
    assert!(partly >= 3, "{partly} kills fell between two files");
    // What the killed runs left behind goes away with the next one.
    let program = &replacement.program;
    program.run(&["import", "--force", &replacement.zip]).ok();
    assert_eq!(replacement.check(), FILES);
    let left = program.home.tree().unwrap();
    let is_left = |path: &&String| path.contains(".partial") || path.starts_with(".import");
    let left: Vec<_> = left.keys().filter(is_left).collect();
    assert!(left.is_empty(), "{left:?}");
}

// CL-25
#[test]
fn killed_at_random_times_an_import_leaves_a_sound_home() {
    let replacement = Replacement::new();
    let import = replacement
        .program
        .command(&["import", "--force", &replacement.zip]);
    let start = Instant::now();
    import.run().unwrap().ok();
    let plan = RandomKills {
        rounds: 12,
        latest: start.elapsed(),
        seed: 25,
    };
    replacement.reset();
    let ran = kill_at_random_times(&import, plan, |_, _| {
        replacement.check();
        replacement.reset();
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn a_terminal_shows_progress_and_the_result() {
    let program = with_conversations();
    let command = program.command(&["backup"]);
    let terminal = Terminal::spawn(&command, 160, 20).unwrap();
    terminal
        .wait_for_text("Backed up 6 files", Duration::from_secs(10))
        .unwrap();
    let exit = terminal.wait_exit(Duration::from_secs(10)).unwrap();
    assert_eq!(exit.code, 0);
}

#[test]
fn an_import_leaves_the_logs_of_the_home_alone() {
    let program = with_conversations();
    program.run(&["backup", "-o", "mine.zip"]).ok();
    program.home.write("logs/agent.log", "of today\n").unwrap();
    program.run(&["import", "mine.zip", "--force"]).ok();
    let log = program.home.read("logs/agent.log").unwrap();
    assert!(log.starts_with("of today\n"), "{log}");
}
