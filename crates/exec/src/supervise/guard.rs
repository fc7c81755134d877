//! Our end of the guard: orders out, reports in.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::channel::read_marker;
use super::{Carrier, Channel, Crew, LAST_WORDS, Role, START, line};
use crate::{Ending, ExecError, RunId};

const MAX_ORDERS: usize = 64;
/// No report is longer.
const MAX_REPORT: u64 = 1024;
/// How long the far side may take to carry out an order.
const CARRY_OUT: Duration = Duration::from_secs(20);
/// How long an order may take to be written.
const WRITE: Duration = Duration::from_secs(10);
/// So many beats without an answer mean that somebody ended the guard.
const MAX_UNANSWERED: u8 = 3;

/// Our handle on the guard of one connection.
pub(super) struct Guard {
    home: String,
    orders: mpsc::Sender<Order>,
    /// No more orders: the far side is to end everything.
    leave: CancellationToken,
    /// The channel has ended.
    gone: CancellationToken,
    crew: Crew,
}

enum Order {
    Watch {
        run: RunId,
        exit: oneshot::Sender<i32>,
        noted: oneshot::Sender<()>,
    },
    Act(RunId, String, oneshot::Sender<()>),
    Forget(RunId),
}

impl Guard {
    /// Opens the connection and starts the guard over there.
    pub(super) async fn start<C: Carrier>(
        carrier: &Arc<C>,
        name: &str,
        generation: u32,
    ) -> Result<Self, ExecError> {
        let crew = Crew::default();
        let Channel {
            mut input,
            mut output,
            closed,
        } = carrier.open(Role::Guard, &crew).await?;
        let home = carrier
            .scratch()
            .join(format!("hermes-{name}-{generation}"));
        let home = Path::to_string_lossy(&home).into_owned();
        let patience = carrier.pulse().patience.as_secs();
        let script = line::guard(name, &home, generation, patience);
        let begin = async {
            input.write_all(script.as_bytes()).await?;
            input.flush().await?;
            read_marker(&mut output, "guard").await
        };
        let marker = timeout(START, begin)
            .await
            .map_err(|_| ExecError::TimedOut {
                what: "starting the guard".to_owned(),
                limit: START,
            })?;
        let Ok(marker) = marker else {
            let closed = timeout(LAST_WORDS, closed).await.unwrap_or_default();
            return Err(carrier.explain(&closed));
        };
        if let Some(pid) = marker.pid
            && let Err(error) = carrier.guarded(pid).await
        {
            // Nothing may run there that would outlive us.
            crew.stop.cancel();
            return Err(error);
        }
        let (orders, inbox) = mpsc::channel(MAX_ORDERS);
        let (leave, gone) = (CancellationToken::new(), CancellationToken::new());
        let output = std::io::Cursor::new(marker.rest).chain(output);
        let desk = Desk {
            carrier: Arc::clone(carrier),
            watching: HashMap::new(),
            acting: HashMap::new(),
            unanswered: 0,
        };
        let task = desk.serve(inbox, leave.clone(), input, output);
        let over = gone.clone().drop_guard();
        let last = Arc::clone(carrier);
        crew.tasks.spawn(async move {
            task.await;
            drop(over);
            last.beat(0).await;
        });
        Ok(Self {
            home,
            orders,
            leave,
            gone,
            crew,
        })
    }

    pub(super) fn home(&self) -> &str {
        &self.home
    }

    pub(super) fn crew(&self) -> &Crew {
        &self.crew
    }

    pub(super) fn is_there(&self) -> bool {
        !self.gone.is_cancelled() && !self.leave.is_cancelled()
    }

    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Will hear the exit code of a command that is about to start. From then on the command counts as running; who
    /// was just about to stop the place for want of any has done so by then.
    pub(super) async fn watch(&self, run: &RunId) -> Result<oneshot::Receiver<i32>, ExecError> {
        let (exit, receiver) = oneshot::channel();
        let (noted, counted) = oneshot::channel();
        let run = run.clone();
        self.send(Order::Watch { run, exit, noted }).await?;
        match timeout(START, counted).await {
            Ok(Ok(())) => Ok(receiver),
            Ok(Err(_)) => Err(ExecError::broke()),
            Err(_) => Err(super::too_late()),
        }
    }

    pub(super) async fn end(&self, run: &RunId, how: Ending) -> Result<(), ExecError> {
        let signal = match how {
            Ending::Terminate => "TERM",
            Ending::Kill => "KILL",
        };
        self.act(run, format!("end {} {signal}\n", run.as_str()))
            .await
    }

    /// Nobody waits for a command any more. It may be just about to start, so it is ended twice.
    pub(super) async fn abandon(&self, run: &RunId) {
        for pause in [Duration::ZERO, LAST_WORDS] {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.crew.stop.cancelled() => return,
            }
            if let Err(error) = self.end(run, Ending::Kill).await {
                tracing::warn!(%error, "a command that was given up could not be ended");
            }
        }
        // Who is gone already watches nothing.
        let _ = self.send(Order::Forget(run.clone())).await;
    }

    pub(super) async fn resize(
        &self,
        run: &RunId,
        rows: u16,
        columns: u16,
    ) -> Result<(), ExecError> {
        self.act(run, format!("size {} {rows} {columns}\n", run.as_str()))
            .await
    }

    async fn act(&self, run: &RunId, order: String) -> Result<(), ExecError> {
        let (sender, receiver) = oneshot::channel();
        // A guard that is gone has ended everything.
        if self
            .send(Order::Act(run.clone(), order, sender))
            .await
            .is_err()
        {
            return Ok(());
        }
        match timeout(CARRY_OUT, receiver).await {
            Ok(Ok(()) | Err(_)) => Ok(()),
            Err(_) => Err(ExecError::TimedOut {
                what: "ending the command".to_owned(),
                limit: CARRY_OUT,
            }),
        }
    }

    async fn send(&self, order: Order) -> Result<(), ExecError> {
        self.orders
            .send(order)
            .await
            .map_err(|_| ExecError::broke())
    }

    /// Tells the far side to end everything, waits for that as long as `patience`, then cuts the
    /// connection.
    pub(super) async fn retire(&self, patience: Duration) {
        self.leave.cancel();
        self.crew.tasks.close();
        // Too late is as good as in time: the connection is cut next.
        let _ = timeout(patience, self.crew.tasks.wait()).await;
        self.crew.stop.cancel();
        let _ = timeout(LAST_WORDS, self.crew.tasks.wait()).await;
    }
}

/// The task that owns the guard's channel.
struct Desk<C> {
    carrier: Arc<C>,
    watching: HashMap<String, oneshot::Sender<i32>>,
    acting: HashMap<String, Vec<oneshot::Sender<()>>>,
    unanswered: u8,
}

impl<C: Carrier> Desk<C> {
    async fn serve(
        mut self,
        mut inbox: mpsc::Receiver<Order>,
        leave: CancellationToken,
        mut input: impl AsyncWrite + Unpin,
        output: impl AsyncRead + Unpin,
    ) {
        let mut reports = BufReader::new(output);
        let mut report = Vec::new();
        let mut beats = interval(self.carrier.pulse().every);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let line = tokio::select! {
                read = next(&mut reports, &mut report) => {
                    if !matches!(read, Ok(1..)) || report.last() != Some(&b'\n') {
                        return;
                    }
                    self.heard(&String::from_utf8_lossy(&report));
                    report.clear();
                    continue;
                }
                order = inbox.recv() => match order {
                    Some(order) => {
                        let line = self.order(order);
                        if line.is_none() {
                            self.carrier.beat(self.watching.len()).await;
                        }
                        line
                    }
                    None => break,
                },
                _ = beats.tick() => {
                    if self.unanswered == MAX_UNANSWERED {
                        return;
                    }
                    self.unanswered += 1;
                    self.carrier.beat(self.watching.len()).await;
                    Some("beat\n".to_owned())
                }
                () = leave.cancelled() => break,
            };
            if let Some(line) = line
                && !matches!(timeout(WRITE, write(&mut input, &line)).await, Ok(Ok(())))
            {
                return;
            }
        }
        // The end of its input tells the guard to end everything; the end of its output, that it has.
        drop(input);
        while matches!(next(&mut reports, &mut report).await, Ok(1..)) {
            self.heard(&String::from_utf8_lossy(&report));
            report.clear();
        }
    }

    /// The line to send for an order.
    fn order(&mut self, order: Order) -> Option<String> {
        match order {
            Order::Watch { run, exit, noted } => {
                self.watching.insert(run.as_str().to_owned(), exit);
                // Who has given up meanwhile sends word of that.
                let _ = noted.send(());
                None
            }
            Order::Forget(run) => {
                self.watching.remove(run.as_str());
                None
            }
            Order::Act(run, line, done) => {
                self.acting
                    .entry(run.as_str().to_owned())
                    .or_default()
                    .push(done);
                Some(line)
            }
        }
    }

    fn heard(&mut self, report: &str) {
        let mut words = report.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("exit"), Some(run), Some(code)) => {
                if let (Some(exit), Ok(code)) = (self.watching.remove(run), code.parse()) {
                    // Nobody may want to know any more.
                    let _ = exit.send(code);
                }
            }
            (Some("done"), Some(run), None) => {
                for done in self.acting.remove(run).unwrap_or_default() {
                    let _ = done.send(());
                }
            }
            (Some("alive"), None, None) => self.unanswered = 0,
            _ => tracing::debug!("the guard said something unknown"),
        }
    }
}

/// Reads one report, in several attempts if it must be.
async fn next(
    reports: &mut (impl AsyncBufRead + Unpin),
    report: &mut Vec<u8>,
) -> std::io::Result<usize> {
    reports.take(MAX_REPORT).read_until(b'\n', report).await
}

async fn write(input: &mut (impl AsyncWrite + Unpin), line: &str) -> std::io::Result<()> {
    input.write_all(line.as_bytes()).await?;
    input.flush().await
}
