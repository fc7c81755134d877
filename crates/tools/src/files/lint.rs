//! What a change broke.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::{Notation, check};

/// How long a check may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// Most characters of a complaint.
const LONGEST: usize = 1_000;
/// Reads a program from its input and says whether it can be compiled; nothing of it is run.
const COMPILE: &str = "import ast,sys\n\
try: ast.parse(sys.stdin.buffer.read())\n\
except SyntaxError as e: print('%s in line %s' % (e.msg, e.lineno)); sys.exit(1)\n\
except ValueError as e: print(e); sys.exit(1)";

/// Checks files after a change.
#[derive(Debug, Clone)]
pub(crate) struct Lint {
    /// The Python interpreter, when there is one.
    pub(crate) python: Option<PathBuf>,
    /// The same of JavaScript.
    pub(crate) node: Option<PathBuf>,
    /// The same of shell scripts.
    pub(crate) bash: Option<PathBuf>,
}

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Fine,
    Broken(String),
    Unknown(&'static str),
}

impl Lint {
    /// The `lint` field: whether the new text is broken in a way the old one was not.
    pub(crate) async fn report(
        &self,
        path: &Path,
        old: Option<&str>,
        new: &str,
        cancel: &CancellationToken,
    ) -> Json {
        let output = match self.verdict(path, new, cancel).await {
            Verdict::Fine => return json!({"status": "ok", "output": ""}),
            Verdict::Unknown(why) => return json!({"status": "skipped", "message": why}),
            Verdict::Broken(output) => output,
        };
        let before = match old {
            Some(old) => self.verdict(path, old, cancel).await,
            None => Verdict::Fine,
        };
        match before {
            Verdict::Broken(earlier) if unplaced(&earlier) == unplaced(&output) => {
                json!({"status": "ok", "output": "", "message": "no new errors; it was broken before"})
            }
            Verdict::Broken(_) | Verdict::Fine | Verdict::Unknown(_) => {
                json!({"status": "error", "output": output})
            }
        }
    }

    async fn verdict(&self, path: &Path, text: &str, cancel: &CancellationToken) -> Verdict {
        if let Some(notation) = Notation::of(path) {
            return match check(notation, text) {
                Ok(()) => Verdict::Fine,
                Err(output) => Verdict::Broken(output),
            };
        }
        let Some(program) = Program::of(path) else {
            return Verdict::Unknown("no check for this kind of file");
        };
        let found = match program {
            Program::Python => &self.python,
            Program::Script | Program::Module | Program::Either => &self.node,
            Program::Shell => &self.bash,
        };
        let Some(found) = found else {
            return Verdict::Unknown(program.missing());
        };
        let mut verdict = Verdict::Unknown("nothing was checked");
        for arguments in program.arguments() {
            let check = tokio::time::timeout(DEADLINE, compile(found, arguments, text));
            verdict = match cancel.run_until_cancelled(check).await {
                Some(Ok(Ok(verdict))) => verdict,
                Some(Ok(Err(_))) => Verdict::Unknown("the program for the check cannot be run"),
                Some(Err(_)) => Verdict::Unknown("the check took too long"),
                None => Verdict::Unknown("stopped"),
            };
            // What is fine in one reading is fine.
            if !matches!(verdict, Verdict::Broken(_)) {
                break;
            }
        }
        verdict
    }
}

/// What can check a kind of file without running anything of it.
#[derive(Debug, Clone, Copy)]
enum Program {
    Python,
    /// JavaScript of the older form.
    Script,
    Module,
    /// JavaScript of which only the project knows the form.
    Either,
    Shell,
}

impl Program {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "py" => Some(Self::Python),
            "cjs" => Some(Self::Script),
            "mjs" => Some(Self::Module),
            "js" => Some(Self::Either),
            "sh" | "bash" => Some(Self::Shell),
            _ => None,
        }
    }

    fn missing(self) -> &'static str {
        match self {
            Self::Python => "python is not installed",
            Self::Script | Self::Module | Self::Either => "node is not installed",
            Self::Shell => "bash is not installed",
        }
    }

    /// The arguments of each reading; the text comes on standard input.
    fn arguments(self) -> &'static [&'static [&'static str]] {
        const SCRIPT: &[&str] = &["--check", "-"];
        const MODULE: &[&str] = &["--check", "--input-type=module", "-"];
        match self {
            Self::Python => &[&["-I", "-S", "-c", COMPILE]],
            Self::Script => &[SCRIPT],
            Self::Module => &[MODULE],
            Self::Either => &[SCRIPT, MODULE],
            Self::Shell => &[&["--norc", "--noprofile", "-n"]],
        }
    }
}

/// A complaint without its numbers: the same mistake some lines further down is not a new one.
fn unplaced(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

async fn compile(program: &Path, arguments: &[&str], text: &str) -> std::io::Result<Verdict> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // It may end before it has read everything.
        let _ = input.write_all(text.as_bytes()).await;
    }
    let output = child.wait_with_output().await?;
    if output.status.success() {
        return Ok(Verdict::Fine);
    }
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // Where in its own source a program noticed it helps nobody.
    let complained = complained.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with("at ") && !line.starts_with("Node.js v") && !line.starts_with("(")
    });
    let told: Vec<&str> = said.lines().chain(complained).collect();
    let told: String = told.join("\n").trim().chars().take(LONGEST).collect();
    Ok(if told.is_empty() {
        Verdict::Unknown("the check itself failed")
    } else {
        Verdict::Broken(told)
    })
}
