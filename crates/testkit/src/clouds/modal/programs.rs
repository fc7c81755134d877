//! The way into a sandbox: programs whose input is written and whose output is read from any place on.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::Message as _;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};

use super::messages as pb;
use super::wire::{Answer, Refusal, refuse};
use super::{State, locked, one, read};
use crate::clouds::terminal;
use crate::clouds::yard::on_exit;

/// How long a call waits for a program.
const WAIT: Duration = Duration::from_secs(2);
const PIECE: usize = 32 << 10;

/// Programs by task and id.
#[derive(Default)]
pub(super) struct Programs(Mutex<HashMap<(String, String), Arc<Program>>>);

impl Programs {
    pub(super) fn forget(&self, task: &str) {
        locked(&self.0).retain(|(of, _), program| {
            if of == task {
                program.shown.close();
                program.complained.close();
            }
            of != task
        });
    }

    fn find(&self, task: &str, id: &str) -> Result<Arc<Program>, Refusal> {
        let found = locked(&self.0)
            .get(&(task.to_owned(), id.to_owned()))
            .cloned();
        found.ok_or_else(|| Refusal {
            code: 5,
            message: "no such program".to_owned(),
        })
    }
}

struct Program {
    input: Mutex<Input>,
    shown: Arc<Record>,
    complained: Arc<Record>,
    code: Mutex<Option<i32>>,
    ended: Notify,
}

/// What was written so far, and where it goes.
struct Input {
    written: u64,
    to: Option<Box<dyn Write + Send>>,
}

/// All output of one stream.
#[derive(Default)]
struct Record {
    bytes: Mutex<(Vec<u8>, bool)>,
    grew: Notify,
}

impl Record {
    fn push(&self, bytes: &[u8]) {
        locked(&self.bytes).0.extend_from_slice(bytes);
        self.grew.notify_waiters();
    }

    fn close(&self) {
        locked(&self.bytes).1 = true;
        self.grew.notify_waiters();
    }

    fn keep(self: &Arc<Self>, mut from: impl Read + Send + 'static) {
        let record = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; PIECE];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                record.push(&buffer[..count]);
            }
            record.close();
        });
    }

    /// What there is from `offset` on, and whether that is all.
    fn from(&self, offset: usize) -> (Vec<u8>, bool) {
        let record = locked(&self.bytes);
        let rest = record.0.get(offset..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest).to_vec();
        (piece, record.1)
    }
}

pub(super) async fn answer(state: &State, method: &str, body: &[u8]) -> Answer {
    match method {
        "TaskExecStart" => start(state, &read(body)?),
        "TaskExecStdinWrite" => {
            let request = read(body)?;
            tokio::task::block_in_place(|| write(state, &request))
        }
        "TaskExecStdioRead" => follow(state, &read(body)?),
        "TaskExecWait" => wait(state, &read(body)?).await,
        _ => refuse(12, "no such method"),
    }
}

fn start(state: &State, request: &pb::StartRequest) -> Answer {
    let Some(sandbox) = state.sandbox_of(&request.task_id) else {
        return refuse(5, "no such task");
    };
    let key = (request.task_id.clone(), request.exec_id.clone());
    if locked(&state.programs.0).contains_key(&key) {
        return one(&pb::Nothing {});
    }
    let argv: Vec<&str> = request.command_args.iter().map(String::as_str).collect();
    let terminal = request.pty_info.as_ref().is_some_and(|pty| pty.enabled);
    let started = match terminal {
        true => on_terminal(state, &sandbox, &argv),
        false => with_pipes(state, &sandbox, &argv),
    };
    match started {
        Ok(program) => {
            locked(&state.programs.0).insert(key, program);
            one(&pb::Nothing {})
        }
        Err(error) => refuse(9, &error.to_string()),
    }
}

fn program(input: Box<dyn Write + Send>) -> Arc<Program> {
    Arc::new(Program {
        input: Mutex::new(Input {
            written: 0,
            to: Some(input),
        }),
        shown: Arc::default(),
        complained: Arc::default(),
        code: Mutex::new(None),
        ended: Notify::new(),
    })
}

fn with_pipes(state: &State, sandbox: &str, argv: &[&str]) -> anyhow::Result<Arc<Program>> {
    use anyhow::Context as _;

    let (first, rest) = argv.split_first().context("no program")?;
    let mut child = state.yard.command(sandbox, first).args(rest).spawn()?;
    let program = program(Box::new(child.stdin.take().context("no input")?));
    program
        .shown
        .keep(child.stdout.take().context("no output")?);
    program
        .complained
        .keep(child.stderr.take().context("no errors")?);
    let told = Arc::clone(&program);
    on_exit(child, move |code| told.end(code));
    Ok(program)
}

fn on_terminal(state: &State, sandbox: &str, argv: &[&str]) -> anyhow::Result<Arc<Program>> {
    let terminal = terminal::start(&state.yard, sandbox, argv)?;
    let (mut shown, mut ended) = (terminal.shown, terminal.ended);
    let program = program(Box::new(Typed(terminal.typed)));
    program.complained.close();
    let told = Arc::clone(&program);
    std::thread::spawn(move || {
        while let Some(piece) = shown.blocking_recv() {
            told.shown.push(&piece);
        }
        told.shown.close();
        told.end(ended.blocking_recv().unwrap_or(-1));
    });
    Ok(program)
}

struct Typed(terminal::Typed);

impl Write for Typed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Program {
    fn end(&self, code: i32) {
        *locked(&self.code) = Some(code);
        self.ended.notify_waiters();
    }
}

/// What was written before is passed over, what leaves a gap is refused.
fn write(state: &State, request: &pb::WriteRequest) -> Answer {
    let program = state.programs.find(&request.task_id, &request.exec_id)?;
    let mut input = locked(&program.input);
    if request.offset > input.written {
        return refuse(3, "there is a gap in the input");
    }
    let known = usize::try_from(input.written - request.offset).unwrap_or(usize::MAX);
    let fresh = request.data.get(known..).unwrap_or_default();
    if let Some(to) = input.to.as_mut()
        && to.write_all(fresh).and_then(|()| to.flush()).is_err()
    {
        return refuse(9, "nobody reads the input");
    }
    input.written += fresh.len() as u64;
    if request.eof {
        input.to = None;
    }
    one(&pb::Nothing {})
}

fn follow(state: &State, request: &pb::ReadRequest) -> Answer {
    let program = state.programs.find(&request.task_id, &request.exec_id)?;
    let record = match request.file_descriptor {
        0 => Arc::clone(&program.shown),
        _ => Arc::clone(&program.complained),
    };
    let mut offset = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let (sender, receiver) = mpsc::channel(1);
    Handle::current().spawn(async move {
        loop {
            let grew = record.grew.notified();
            let (data, all) = record.from(offset);
            if data.is_empty() {
                if all {
                    return;
                }
                // Between two looks it may have grown.
                let _ = tokio::time::timeout(Duration::from_millis(50), grew).await;
                if sender.is_closed() {
                    return;
                }
                continue;
            }
            offset += data.len();
            let message = pb::Data { data }.encode_to_vec();
            if sender.send(Ok(message)).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

async fn wait(state: &State, request: &pb::ReadRequest) -> Answer {
    let program = state.programs.find(&request.task_id, &request.exec_id)?;
    let ended = program.ended.notified();
    let now = *locked(&program.code);
    let code = match now {
        Some(code) => Some(code),
        None => {
            // A program that takes longer is asked about again.
            let _ = tokio::time::timeout(WAIT, ended).await;
            *locked(&program.code)
        }
    };
    match code {
        Some(code) => one(&pb::Code { code: Some(code) }),
        None => refuse(4, "it still runs"),
    }
}
