//! What vendors and others wrote, which `scripts/setup` fetches: their types, and answers of their services.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that `scripts/setup` fills.
#[expect(
    clippy::disallowed_methods,
    reason = "scripts/setup puts it where these variables say"
)]
pub(crate) fn fetched(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folder = cache.unwrap().join("hermes-tests").join(name);
    assert!(
        folder.join("installed").is_file(),
        "{} is not there: run scripts/setup",
        folder.display()
    );
    folder
}

/// What a script of `tests/fixtures` says with the vendors' packages at hand.
pub(crate) fn script(name: &str, arguments: &[&Path], input: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let mut running = Command::new(fetched("vendors").join("bin/python"))
        .arg("-B")
        .arg(file)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = running.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input.as_bytes()).unwrap());
        running.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{name} failed");
    String::from_utf8(output.stdout).unwrap()
}
