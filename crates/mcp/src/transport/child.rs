//! A server's program: how its end is noticed and how it is ended with everything it started.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_exec::{Control, Ending, ExecError, Exit};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::last_words::LastWords;
use super::{Farewell, Insist};

/// How long what a program left behind has to end by itself.
const LEFT_BEHIND: Duration = Duration::from_millis(100);
/// How long the last words of a program are waited for after its end; something it started may hold them
/// back for ever.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A running program. Dropping it ends it and everything it started.
pub(crate) struct Child {
    pid: Option<u32>,
    control: Arc<dyn Control>,
    exit: watch::Receiver<Option<String>>,
    words: LastWords,
    /// Fires when the program can say nothing any more.
    silent: CancellationToken,
    tasks: TaskTracker,
    closed: bool,
}

/// What a program says besides its answers.
pub(crate) struct Voice {
    pub(crate) words: LastWords,
    pub(crate) silent: CancellationToken,
}

impl Child {
    pub(crate) fn new(
        pid: Option<u32>,
        control: Arc<dyn Control>,
        exit: BoxFuture<'static, Result<Exit, ExecError>>,
        voice: Voice,
        tasks: &TaskTracker,
    ) -> Self {
        let (tell, watched) = watch::channel(None);
        tasks.spawn(async move {
            let how = match exit.await {
                Ok(Exit::Code(code)) => format!("the program ended with code {code}"),
                Ok(Exit::Signal(signal)) => format!("the program was ended by signal {signal}"),
                Err(error) => error.to_string(),
            };
            tell.send_replace(Some(how));
        });
        Self {
            pid,
            control,
            exit: watched,
            words: voice.words,
            silent: voice.silent,
            tasks: tasks.clone(),
            closed: false,
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Waits for the end of the program and says how it came, with its last words.
    pub(crate) fn exited(&self) -> BoxFuture<'static, String> {
        let mut exit = self.exit.clone();
        let (words, silent) = (self.words.clone(), self.silent.clone());
        Box::pin(async move {
            let how = match exit.wait_for(Option::is_some).await {
                Ok(how) => how.clone().unwrap_or_default(),
                Err(_) => "the program is gone".to_owned(),
            };
            // Words that come later are in the log.
            let _ = tokio::time::timeout(LAST_WORDS, silent.cancelled()).await;
            format!("{how}{}", words.quote())
        })
    }

    /// How it ended, if it does so soon.
    pub(crate) async fn epitaph(&self, within: Duration) -> Option<String> {
        tokio::time::timeout(within, self.exited()).await.ok()
    }

    /// Its last words, for an error.
    pub(crate) fn last_words(&self) -> String {
        self.words.quote()
    }

    /// Waits for the end after its input was closed, then asks, then insists or leaves that to the warden. Returns when
    /// nothing of it is left that is ours to end, or when all the time is over.
    pub(crate) async fn close(mut self, farewell: Farewell) {
        let by_itself = self.gone_within(farewell.by_itself).await;
        self.end(Ending::Terminate).await;
        if by_itself {
            // What it started may want to end by itself too; nobody tells us whether there is any.
            tokio::time::sleep(LEFT_BEHIND).await;
        } else if !self.gone_within(farewell.asked).await && farewell.insist == Insist::Warden {
            self.closed = true;
            return;
        }
        self.end(Ending::Kill).await;
        if !self.gone_within(farewell.asked).await {
            tracing::warn!(pid = self.pid, "a server's program does not end");
        }
        self.closed = true;
    }

    async fn gone_within(&mut self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.exit.wait_for(Option::is_some))
            .await
            .is_ok()
    }

    async fn end(&self, how: Ending) {
        if let Err(error) = self.control.end(how).await {
            tracing::warn!(%error, pid = self.pid, "a server's program could not be ended");
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        let control = Arc::clone(&self.control);
        self.tasks.spawn(async move {
            if let Err(error) = control.end(Ending::Kill).await {
                tracing::warn!(%error, "a server's program could not be ended");
            }
        });
    }
}
