//! Following one process to its end: output, input, deadline, stop.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::{Control, Ending, ExecError, Exit, Process};

/// How long a process that was asked to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// The same when a person waits for it.
const SHORT_GRACE: Duration = Duration::from_millis(300);
/// How long a killed process may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// Once the process has ended, silence of this length is the end of its output: something it left behind
/// may hold it open for ever, or be about to say its last words, as a process substitution does.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);
/// Output is read no longer than this after the end, however much of it comes.
pub(crate) const MOST_AFTER_EXIT: Duration = Duration::from_millis(500);
const CHUNK: usize = 64 << 10;

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Done,
    /// Its time was up.
    TimedOut,
    /// Somebody stopped it.
    Interrupted,
    /// It did not, as far as we know: where it runs cannot be reached any more, or is gone.
    Lost,
}

/// What following needs to know.
pub(crate) struct Follow<'a> {
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
    /// Written to standard input, which then ends.
    pub(crate) input: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Running,
    /// It has ended by itself; the rest of its output is read until the second time.
    Draining {
        last: Instant,
    },
    /// It was asked to end.
    Ending(Ended),
    /// It was killed.
    Killed(Ended),
}

/// How far a process has come.
struct Course {
    phase: Phase,
    /// When this phase is over by itself.
    deadline: Instant,
    exit: Option<Exit>,
    /// Whether nobody will ever say how it ended.
    lost: bool,
    /// Whether more output may come.
    open: bool,
}

impl Course {
    fn new(timeout: Duration) -> Self {
        Self {
            phase: Phase::Running,
            deadline: Instant::now() + timeout,
            exit: None,
            lost: false,
            open: true,
        }
    }

    fn is_over(&self) -> bool {
        self.exit.is_some() || self.lost
    }

    fn is_stopping(&self) -> bool {
        matches!(self.phase, Phase::Ending(_) | Phase::Killed(_))
    }

    async fn ask_to_end(
        &mut self,
        control: &dyn Control,
        why: Ended,
        grace: Duration,
    ) -> Result<(), ExecError> {
        control.end(Ending::Terminate).await?;
        self.phase = Phase::Ending(why);
        self.deadline = Instant::now() + grace;
        Ok(())
    }

    async fn kill(&mut self, control: &dyn Control, why: Ended) -> Result<(), ExecError> {
        control.end(Ending::Kill).await?;
        self.phase = Phase::Killed(why);
        self.deadline = Instant::now() + GONE_WITHIN;
        Ok(())
    }

    /// It has ended or was lost; what it printed last is still to be read.
    fn ended(&mut self, how: Result<Exit, ExecError>) -> Result<(), ExecError> {
        match how {
            Ok(exit) => self.exit = Some(exit),
            Err(ExecError::Gone(why)) => {
                tracing::warn!(why, "a command was lost");
                self.lost = true;
            }
            Err(other) => return Err(other),
        }
        if !self.is_stopping() {
            let now = Instant::now();
            self.phase = Phase::Draining {
                last: now + MOST_AFTER_EXIT,
            };
            self.deadline = now + SILENCE;
        }
        Ok(())
    }

    /// Nothing came for a while behind the end. What was there to read nevertheless counts, until the last moment.
    fn fell_silent(&mut self, last: Instant) {
        let now = Instant::now();
        self.open &= now < last;
        self.deadline = last.min(now + SILENCE);
    }

    /// Something was read: the silence behind the end begins anew.
    fn heard(&mut self) {
        if let Phase::Draining { last } = self.phase {
            self.deadline = last.min(Instant::now() + SILENCE);
        }
    }
}

/// What came of following.
pub(crate) struct Followed {
    pub(crate) ended: Ended,
    /// None when it could not be killed or was lost.
    pub(crate) exit: Option<Exit>,
    /// Whether what it left behind did not end in time and was made to.
    pub(crate) cut_off: bool,
}

impl Followed {
    /// It ended by itself or was lost, and whatever it left behind was read or cut off.
    fn done(course: &Course, cut_off: Option<oneshot::Receiver<()>>) -> Self {
        Self {
            ended: match course.lost {
                true => Ended::Lost,
                false => Ended::Done,
            },
            exit: course.exit,
            cut_off: cut_off.is_some_and(|mut told| told.try_recv().is_ok()),
        }
    }

    /// Whatever was left behind had to go with it.
    fn stopped(ended: Ended, exit: Option<Exit>) -> Self {
        Self {
            ended,
            exit,
            cut_off: false,
        }
    }
}

/// Follows a process to its end. When it was stopped nothing of it is left.
pub(crate) async fn follow(
    process: Process,
    how: Follow<'_>,
    on_output: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Followed, ExecError> {
    let Process {
        mut output,
        mut input,
        exit: mut over,
        cut_off,
        control,
        ..
    } = process;
    let unfinished = Unfinished::new(Arc::clone(&control));
    let mut chunk = vec![0; CHUNK];
    let mut to_write = how.input.as_slice();
    let mut course = Course::new(how.timeout);
    loop {
        match course.phase {
            Phase::Draining { .. } if !course.open => {
                unfinished.finished();
                return Ok(Followed::done(&course, cut_off));
            }
            Phase::Ending(why) if course.is_over() && !course.open => {
                // Whatever closed the output but goes on.
                control.end(Ending::Kill).await?;
                return Ok(Followed::stopped(why, course.exit));
            }
            Phase::Killed(why) if course.is_over() => {
                return Ok(Followed::stopped(why, course.exit));
            }
            Phase::Running | Phase::Draining { .. } | Phase::Ending(_) | Phase::Killed(_) => {}
        }
        tokio::select! {
            biased;
            // Who stops a command means what it left behind too.
            () = how.cancel.cancelled(), if !course.is_stopping() =>
                course.ask_to_end(&*control, Ended::Interrupted, SHORT_GRACE).await?,
            ended = &mut over, if !course.is_over() => course.ended(ended)?,
            () = sleep_until(course.deadline) => match course.phase {
                Phase::Running => course.ask_to_end(&*control, Ended::TimedOut, GRACE).await?,
                Phase::Draining { last } => {
                    // On a busy machine it may be us who were late: then there is something to read.
                    match timeout(Duration::ZERO, output.read(&mut chunk)).await {
                        Ok(Ok(count @ 1..)) => on_output(chunk.get(..count).unwrap_or_default()),
                        Ok(Ok(0) | Err(_)) | Err(_) => course.open = false,
                    }
                    course.fell_silent(last);
                }
                Phase::Ending(why) => course.kill(&*control, why).await?,
                Phase::Killed(why) => return Ok(Followed::stopped(why, course.exit)),
            },
            read = output.read(&mut chunk), if course.open => match read {
                // A place that went away is reported by the exit.
                Ok(0) | Err(_) => course.open = false,
                Ok(count) => {
                    on_output(chunk.get(..count).unwrap_or_default());
                    course.heard();
                }
            },
            written = write(&mut input, to_write), if input.is_some() => match written {
                Some(count) if count < to_write.len() => to_write = to_write.split_at(count).1,
                // All of it, or nobody reads it.
                Some(_) | None => input = None,
            },
        }
    }
}

/// Ends a process whose follower was dropped: nobody else would.
pub struct Unfinished(Option<Arc<dyn Control>>);

impl Unfinished {
    /// From here on the process ends with this.
    pub fn new(control: Arc<dyn Control>) -> Self {
        Self(Some(control))
    }

    /// It was followed to its end.
    pub fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Without a runtime we are ending ourselves, and everything with us.
        if let (Some(control), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = control.end(Ending::Kill).await {
                    tracing::warn!(%error, "an abandoned command could not be ended");
                }
            });
        }
    }
}

/// Writes some of it. `None` when nobody reads, or nothing is left.
async fn write(
    input: &mut Option<Box<dyn tokio::io::AsyncWrite + Send + Unpin>>,
    bytes: &[u8],
) -> Option<usize> {
    match input {
        Some(input) if !bytes.is_empty() => input.write(bytes).await.ok(),
        Some(_) | None => None,
    }
}
