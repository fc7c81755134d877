//! Changes and commits, by the `git` program.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use super::{fenced, guard};

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a complaint is read.
const MOST_COMPLAINT: u64 = 2_000;
/// A repository must not run programs of its own because somebody looks at it.
const CAREFUL: [&str; 4] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
];
const PLAIN: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--no-color"];

/// Which changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changes {
    /// Those that are not staged.
    Unstaged,
    /// Those that are.
    Staged,
}

/// Changes of the workspace. `most` is in bytes.
pub(super) async fn diff(directory: &Path, which: Changes, most: usize) -> Result<String, String> {
    let (words, title): (&[&str], _) = match which {
        Changes::Unstaged => (&["diff"], "Changes that are not staged"),
        Changes::Staged => (&["diff", "--staged"], "Staged changes"),
    };
    let text = run(directory, words, most).await?;
    Ok(block(title, &text))
}

/// The last commits that touch the workspace. `most` is in bytes.
pub(super) async fn commits(directory: &Path, count: u32, most: usize) -> Result<String, String> {
    let count = format!("-{count}");
    let text = run(directory, &["log", "--patch", &count], most).await?;
    Ok(block("The last commits", &text))
}

fn block(title: &str, text: &str) -> String {
    if text.trim().is_empty() {
        format!("{title}: none")
    } else {
        format!("{title}:\n{}", fenced("diff", text))
    }
}

async fn run(directory: &Path, words: &[&str], most: usize) -> Result<String, String> {
    let mut child = Command::new("git")
        .args(CAREFUL)
        .args(words)
        .args(PLAIN)
        .args(["--", "."])
        .args(guard::exclusions())
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    let output = tokio::time::timeout(PATIENCE, collect(&mut child, most)).await;
    match output {
        Ok(result) => result,
        Err(_) => Err(format!("git took longer than {} s", PATIENCE.as_secs())),
    }
}

async fn collect(child: &mut Child, most: usize) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("git cannot be read: {error}");
    let (mut bytes, mut complaint) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let output = async {
        match stdout {
            Some(stdout) => stdout.take(most as u64 + 1).read_to_end(&mut bytes).await,
            None => Ok(0),
        }
    };
    let errors = async {
        match stderr {
            Some(stderr) => {
                stderr
                    .take(MOST_COMPLAINT)
                    .read_to_end(&mut complaint)
                    .await
            }
            None => Ok(0),
        }
    };
    let (output, _) = tokio::join!(output, errors);
    output.map_err(failed)?;
    if bytes.len() > most {
        return Err("there is too much of it; commit or name less".to_owned());
    }
    let status = child.wait().await.map_err(failed)?;
    if !status.success() {
        let complaint = String::from_utf8_lossy(&complaint);
        let line = complaint.lines().next().unwrap_or("git failed");
        return Err(line.trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
