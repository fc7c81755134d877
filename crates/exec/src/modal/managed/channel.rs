//! A shell in a sandbox whose bytes go through a pipe with a name and a log, both in the directory for temporary files.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::command::{Command, LONGEST_LIFE, Sandbox, Status};
use crate::ExecError;
use crate::relay::{self, CHUNK, Log, Said};
use crate::supervise::{Channel, Closed, Crew, Ends, Role, quote};

/// Reads a piece of a log, see there.
const READ: &str = include_str!("read.sh");
/// Writes its input to a pipe once that is there.
const WRITE: &str = include_str!("write.sh");
/// How long a reader waits for something to read.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// How much of a log is read at once. Less if the gateway cuts it.
const LARGEST_PIECE: usize = 512 << 10;
const SMALLEST_PIECE: usize = 1 << 10;
/// How often reading may fail in a row.
const MAX_BROKEN: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);
/// How long clearing up may take when nobody waits for it any more.
const REMOVE: Duration = Duration::from_secs(10);
/// Begins and ends what the reader prints.
const MARK: &str = "hermes";

/// One shell.
#[derive(Clone)]
struct Shell {
    sandbox: Sandbox,
    /// The command that relays for it.
    id: String,
    folder: String,
}

/// Whether the relay of a shell may still run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    Maybe,
}

/// The directory of a shell, in words that shells understand.
fn folder(id: &str) -> String {
    format!("${{TMPDIR:-/tmp}}/hermes-io-{id}")
}

/// The last command, should we be gone: ends the guard and, when that has ended everything, the relays.
pub(super) fn farewell(sandbox: &Sandbox, pid: u32) -> Command {
    let folders = folder(sandbox.stem());
    let script = format!(
        "kill -TERM {pid}; sleep 4; {}",
        farewell_to(&format!("{folders}-*"))
    );
    sandbox.command(script, READ_LIMIT)
}

/// Lets relays end that wait for more input, and removes what they have.
fn farewell_to(folders: &str) -> String {
    format!(
        "for io in {folders}; do [ ! -p \"$io/in\" ] || printf -- '-\\n' 1<>\"$io/in\"; done; rm -rf {folders}"
    )
}

/// What the shell runs. The gateway has no terminals, so the sandbox must.
fn boot(role: Role) -> String {
    match role {
        Role::Guard | Role::Pipes => role.boot().to_owned(),
        Role::Terminal => format!(
            "command -v script >/dev/null || {{ echo 'script is missing' >&2; exit 127; }}; \
             SHELL=/bin/sh TERM=xterm-256color exec script -qefc {} /dev/null",
            quote(role.boot())
        ),
    }
}

/// Runs `role.boot()` in the sandbox.
pub(super) async fn open(sandbox: &Sandbox, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
    let mut command = sandbox.command(String::new(), LONGEST_LIFE);
    let folder = folder(&command.id);
    // The pipe gets its name when it is open: what is written to one that nobody has open is lost. What nobody
    // fetched for a minute is for nobody.
    command.script = format!(
        "io={folder}; mkdir -m 700 \"$io\" && mkfifo \"$io/new\" && : >\"$io/out\" || exit 1; \
         {{ mv \"$io/new\" \"$io/in\"; {}; }} 0<>\"$io/new\" >>\"$io/out\" 2>>\"$io/errors\"; n=0; \
         while [ -d \"$io\" ] && [ $n -lt 60 ]; do sleep 1; n=$((n + 1)); done; rm -rf \"$io\"",
        relay::command(&boot(role)),
    );
    sandbox.start(&command).await?;
    let shell = Shell {
        sandbox: sandbox.clone(),
        id: command.id,
        folder,
    };
    let (channel, ends) = Channel::served();
    let Ends { typed, shown, over } = ends;
    // Told when the shell has ended: what else is typed is for nobody.
    let ended = CancellationToken::new();
    let (stop, feeding, feeder) = (crew.stop.clone(), ended.clone(), shell.clone());
    crew.tasks.spawn(async move {
        tokio::select! {
            () = feeder.feed(typed, feeding) => {}
            () = stop.cancelled() => {}
        }
    });
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        let left = tokio::select! {
            left = shell.show(shown, over, ended) => left,
            () = stop.cancelled() => Left::Maybe,
        };
        shell.remove(left).await;
    });
    Ok(channel)
}

impl Shell {
    /// Moves on what is typed until that ends, the shell ends or nobody takes it.
    async fn feed(&self, mut typed: DuplexStream, ended: CancellationToken) {
        let mut buffer = vec![0; CHUNK];
        let mut number = 0;
        loop {
            let read = tokio::select! {
                read = typed.read(&mut buffer) => read.unwrap_or(0),
                () = ended.cancelled() => return,
            };
            let line = match buffer.get(..read) {
                Some([]) | None => relay::end(number),
                Some(bytes) => relay::input(number, bytes),
            };
            let script = format!("/bin/sh -c {} write \"{}\"", quote(WRITE), self.folder);
            // A program that does not read now may do so much later, so the writer waits as long as it takes.
            let mut command = self.sandbox.command(script, LONGEST_LIFE);
            command.input = Some(line);
            let sent = tokio::select! {
                sent = self.sandbox.run(&command) => sent,
                () = ended.cancelled() => return self.sandbox.cancel(&command.id).await,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "input was not taken");
                return;
            }
            if read == 0 {
                return;
            }
            number += 1;
        }
    }

    /// Moves on what is shown. A reader that went away does not hold up the program.
    async fn show(
        &self,
        shown: DuplexStream,
        over: oneshot::Sender<Closed>,
        ended: CancellationToken,
    ) -> Left {
        let (mut shown, mut over) = (Some(shown), Some(over));
        let mut tell = |code, complaint| {
            if let Some(over) = over.take() {
                // Nobody may be waiting any more.
                let _ = over.send(Closed { code, complaint });
            }
            ended.cancel();
            Left::Maybe
        };
        let mut log = Log::default();
        let (mut offset, mut piece, mut broken) = (0, LARGEST_PIECE, 0);
        loop {
            let text = match self.read(offset, piece).await {
                Ok(Some(text)) => text,
                Ok(None) => {
                    broken += 1;
                    piece = (piece / 4).max(SMALLEST_PIECE);
                    if broken > MAX_BROKEN {
                        return tell(None, "the gateway cuts what is read".to_owned());
                    }
                    continue;
                }
                Err(ExecError::Gone(said)) => return tell(None, said),
                Err(error) => {
                    broken += 1;
                    if broken > MAX_BROKEN {
                        return tell(None, error.to_string());
                    }
                    tokio::time::sleep(PAUSE * broken).await;
                    continue;
                }
            };
            broken = 0;
            if text.is_empty() && self.is_over().await {
                let complaint = self.complaint().await;
                return tell(None, complaint);
            }
            offset += text.len();
            for said in log.feed(text.as_bytes()) {
                match said {
                    Said::Output(bytes) => {
                        if let Some(open) = shown.as_mut()
                            && open.write_all(&bytes).await.is_err()
                        {
                            shown = None;
                        }
                    }
                    Said::Code(code @ (126 | 127)) => {
                        let complaint = self.complaint().await;
                        tell(Some(code), complaint);
                    }
                    Said::Code(code) => {
                        tell(Some(code), String::new());
                    }
                    Said::End => return Left::Nothing,
                }
            }
        }
    }

    /// Reads on from `offset`; nothing if nothing came for a while, `None` if a part of it is missing.
    async fn read(&self, offset: usize, piece: usize) -> Result<Option<String>, ExecError> {
        let script = format!(
            "/bin/sh -c {} read \"{}\" {offset} {piece}",
            quote(READ),
            self.folder
        );
        let command = self.sandbox.command(script, READ_LIMIT);
        let printed = self.sandbox.run(&command).await?;
        Ok(piece_of(&printed))
    }

    /// Whether the relay has ended without a word.
    async fn is_over(&self) -> bool {
        let progress = self.sandbox.look(&self.id).await;
        progress.is_ok_and(|progress| progress.status != Status::Running)
    }

    /// What shells of ours complained about; commands write elsewhere.
    async fn complaint(&self) -> String {
        let script = format!(
            "tail -c 2000 \"{}/errors\" | tr -cd '\\011\\012\\040-\\176'",
            self.folder
        );
        let command = self.sandbox.command(script, REMOVE);
        let printed = timeout(REMOVE, self.sandbox.run(&command)).await;
        let printed = printed.ok().and_then(Result::ok).unwrap_or_default();
        printed.trim().to_owned()
    }

    /// Clears up, and ends whatever is left of it.
    async fn remove(&self, left: Left) {
        let command = self.sandbox.command(farewell_to(&self.folder), REMOVE);
        if let Ok(Err(error)) = timeout(REMOVE, self.sandbox.run(&command)).await {
            tracing::debug!(%error, "a log was left behind");
        }
        if left == Left::Maybe {
            // A gateway that does not answer has nothing to end.
            let _ = timeout(REMOVE, self.sandbox.cancel(&self.id)).await;
        }
    }
}

/// What lies between the marks, if it is as long as the first one says.
fn piece_of(printed: &str) -> Option<String> {
    let printed = printed.trim_start().strip_prefix(MARK)?;
    let (length, rest) = printed.split_once('\n')?;
    let text = rest.trim_end().strip_suffix(MARK)?;
    let length: usize = length.trim().parse().ok()?;
    (text.len() == length).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_taken_whole_or_not_at_all() {
        let taken = |printed: &str| piece_of(printed);
        assert_eq!(taken("hermes 5\n>YQ==hermes\n").as_deref(), Some(">YQ=="));
        assert_eq!(taken("hermes 5\n.\n>Y\nhermes").as_deref(), Some(".\n>Y\n"));
        assert_eq!(taken("hermes 0\nhermes").as_deref(), Some(""));
        for cut in [
            "",
            "hermes 6\n>YQ==hermes",
            "hermes 5\n>YQ==",
            "5\n>YQ==hermes",
        ] {
            assert_eq!(taken(cut), None, "{cut}");
        }
    }
}
