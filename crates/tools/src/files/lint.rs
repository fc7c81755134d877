//! What a change broke.

mod program;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::{ExecError, Exit, Input, Launch, RunId, Unfinished, strip_ansi};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use self::program::{Pieces, Program};
use super::{Notation, check};
use crate::workplace::{Confined, Workplace};

/// How long a check may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// Most characters of a complaint.
const LONGEST: usize = 1_000;
/// Most bytes that are kept of one; what a program prints beyond them is read and dropped.
const MOST_READ: u64 = 64 << 10;
const MISSING: i32 = 127;

/// Checks files after a change.
#[derive(Clone)]
pub(crate) struct Lint {
    /// Where programs that check run, confined as commands are: a command may have written them.
    pub(crate) place: Option<Arc<Workplace>>,
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
        let told = match before {
            Verdict::Broken(earlier) => {
                let pieces = Program::of(path).map_or(Pieces::Whole, Program::pieces);
                added(&earlier, &output, pieces)
            }
            Verdict::Fine | Verdict::Unknown(_) => output,
        };
        if told.is_empty() {
            return json!({"status": "ok", "output": "", "message": "no new errors; it was broken before"});
        }
        let told: String = told.chars().take(LONGEST).collect();
        json!({"status": "error", "output": told})
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
        let Some(place) = &self.place else {
            return Verdict::Unknown("there is no place to run a check");
        };
        let mut verdict = Verdict::Unknown("nothing was checked");
        for arguments in program.arguments() {
            let check = tokio::time::timeout(DEADLINE, compile(place, program, arguments, text));
            verdict = match cancel.run_until_cancelled(check).await {
                Some(Ok(Ok(verdict))) => verdict,
                Some(Ok(Err(error))) => {
                    tracing::debug!(%error, program = program.name(), "a check was not run");
                    Verdict::Unknown("the program for the check cannot be run")
                }
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

/// A complaint without its numbers: the same mistake some lines further down is not a new one.
fn unplaced(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// What of a complaint was not in the earlier one.
fn added(earlier: &str, now: &str, pieces: Pieces) -> String {
    let mut known: HashMap<String, usize> = HashMap::new();
    for piece in pieces.of(earlier) {
        *known.entry(unplaced(piece)).or_default() += 1;
    }
    let new: Vec<&str> = pieces
        .of(now)
        .filter(|piece| match known.get_mut(&unplaced(piece)) {
            Some(times) if *times > 0 => {
                *times -= 1;
                false
            }
            Some(_) | None => true,
        })
        .collect();
    new.join(pieces.between())
}

async fn compile(
    place: &Workplace,
    program: Program,
    arguments: &[&str],
    text: &str,
) -> Result<Verdict, ExecError> {
    let confined = place.confinement.get().await;
    if let Confined::Refused(_) = confined {
        return Ok(Verdict::Unknown("there is no sandbox to run the check in"));
    }
    let scratch = place.scratch.display().to_string();
    let (start, ending) = program.start();
    let words = ["/bin/sh", "-c", start, program.name(), &scratch, ending];
    let words = words.iter().chain(arguments).map(|word| (*word).to_owned());
    // Of the environment only where programs are: others of its names make interpreters run something first.
    let path = place.environment.iter().filter(|(name, _)| name == "PATH");
    let process = place.backend.spawn(Launch {
        id: RunId::new(format!("lint{:016x}", place.random.next_u64())),
        argv: words.collect(),
        directory: Some(PathBuf::from("/")),
        environment: path.cloned().collect(),
        input: Input::Pipe,
        confinement: confined.confinement(),
    });
    let process = process.await?;
    let unfinished = Unfinished::new(process.control.clone());
    let (input, mut heard) = (process.input, Vec::new());
    let telling = async {
        if let Some(mut input) = input {
            // It may end before it has read everything.
            let _ = input.write_all(text.as_bytes()).await;
            let _ = input.shutdown().await;
        }
    };
    let hearing = async {
        let mut output = process.output.take(MOST_READ);
        output.read_to_end(&mut heard).await?;
        // Some print the whole file; a pipe that nobody empties would hold them up.
        tokio::io::copy(&mut output.into_inner(), &mut tokio::io::sink()).await
    };
    let ((), read) = tokio::join!(telling, hearing);
    read.map_err(|source| ExecError::Io {
        what: format!("reading what {} says", program.name()),
        source,
    })?;
    let exit = process.exit.await?;
    unfinished.finished();
    Ok(match exit {
        Exit::Code(0) => Verdict::Fine,
        Exit::Code(MISSING) => Verdict::Unknown(program.missing()),
        Exit::Code(_) | Exit::Signal(_) => told(program, &String::from_utf8_lossy(&heard)),
    })
}

/// A complaint, without where in its own source a program noticed it: that helps nobody.
fn told(program: Program, heard: &str) -> Verdict {
    let heard = strip_ansi(heard);
    let lines: Vec<&str> = heard.lines().filter(|line| program.counts(line)).collect();
    let told = lines.join("\n").trim().to_owned();
    match (told.is_empty(), program) {
        (false, _) => Verdict::Broken(told),
        // It had something to say, about types.
        (true, Program::TypeScript(_)) if !heard.trim().is_empty() => Verdict::Fine,
        (true, _) => Verdict::Unknown("the check itself failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_broken_twice_only_the_second_is_new() {
        let before = "a.go:3:1: expected ')'";
        let after = "a.go:4:1: expected ')'\na.go:9:2: expected ')'\na.go:9:9: expected operand";
        assert_eq!(
            added(before, after, Pieces::Lines),
            "a.go:9:2: expected ')'\na.go:9:9: expected operand"
        );
        assert_eq!(added(after, before, Pieces::Lines), "");
        let before = "error: one\n --> 3:1\n\nerror: two\n --> 5:1";
        let after = "error: one\n --> 4:1\n\nerror: three\n --> 5:1";
        assert_eq!(
            added(before, after, Pieces::Paragraphs),
            "error: three\n --> 5:1"
        );
    }

    #[test]
    fn of_typescript_only_what_cannot_be_read_counts() {
        let program = Program::TypeScript("ts");
        let heard = "x.ts(1,1): error TS2304: Cannot find name 'y'.\n";
        assert_eq!(told(program, heard), Verdict::Fine);
        let heard = format!("{heard}x.ts(2,5): error TS1005: ';' expected.\n");
        let broken = "x.ts(2,5): error TS1005: ';' expected.".to_owned();
        assert_eq!(told(program, &heard), Verdict::Broken(broken));
        let module = "x.ts(1,1): error TS1203: Export assignment cannot be used.\n";
        assert_eq!(told(program, module), Verdict::Fine);
        assert!(matches!(told(program, ""), Verdict::Unknown(_)));
    }
}
