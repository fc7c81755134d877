//! A program on a pseudo-terminal, as a stream of bytes in each direction.

use std::io::{Read, Write};
use std::thread;

use anyhow::Context as _;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use tokio::sync::mpsc;

use super::yard::Yard;

/// How much output may wait for its reader.
const MAX_PIECES: usize = 256;

/// The two directions; dropping `typed` hangs up.
pub(super) struct Terminal {
    pub(super) typed: Typed,
    pub(super) shown: mpsc::Receiver<Vec<u8>>,
    pub(super) ended: mpsc::Receiver<i32>,
}

/// The writing side.
pub(super) struct Typed {
    writer: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
}

impl Typed {
    pub(super) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.writer.write_all(bytes)?;
        self.writer.flush()
    }
}

/// Starts a program of the sandbox.
pub(super) fn start(yard: &Yard, sandbox: &str, argv: &[&str]) -> anyhow::Result<Terminal> {
    let pair = native_pty_system()
        .openpty(PtySize {
            rows: 24,
            cols: 80,
            ..PtySize::default()
        })
        .context("no terminal")?;
    let (program, rest) = argv.split_first().context("no program")?;
    let mut command = CommandBuilder::new(program);
    command.args(rest);
    command.env_clear();
    for (name, value) in yard.environment(sandbox) {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    command.cwd(yard.home(sandbox));
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let (pieces, shown) = mpsc::channel(MAX_PIECES);
    let (told, ended) = mpsc::channel(1);
    let mut reader = pair.master.try_clone_reader()?;
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            if pieces.blocking_send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        let code = child.wait().map_or(-1, |status| status.exit_code() as i32);
        // Nobody may want to know any more.
        let _ = told.blocking_send(code);
    });
    Ok(Terminal {
        typed: Typed {
            writer: pair.master.take_writer()?,
            _master: pair.master,
        },
        shown,
        ended,
    })
}
