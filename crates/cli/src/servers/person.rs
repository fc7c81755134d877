//! Whoever sits at the terminal. Signing in: the address is shown, and the one the browser ended at can be
//! pasted. Questions of servers: shown and answered with a line.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Question, Reply};
use hermes_mcp::Person;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::output::one_line;
use crate::typed::{self, Line, Typed};

/// Whoever started this command.
#[derive(Default)]
pub(crate) struct AtTerminal {
    lines: OnceLock<Mutex<Typed>>,
}

impl Person for AtTerminal {
    fn show(&self, server: &str, address: &Url, opened: bool) {
        let how = match opened {
            true => "A browser was started for this page",
            false => "Open this page in a browser",
        };
        say(&format!(
            "Signing in to {}. {how}:\n\n    {address}\n",
            one_line(server)
        ));
        if std::io::stdin().is_terminal() {
            say("If the browser cannot come back here, paste the address it ended at.");
        }
        say("Waiting; Ctrl+C stops.");
    }

    fn say(&self, words: &str) {
        say(&one_line(words));
    }

    fn line(&self) -> BoxFuture<'_, String> {
        Box::pin(async {
            if !std::io::stdin().is_terminal() {
                return std::future::pending().await;
            }
            match self.lines().lock().await.next().await {
                Some(Line::Text(text)) => text,
                // Nothing else is an address.
                Some(Line::Kept(..) | Line::TooLong) => String::new(),
                None => std::future::pending().await,
            }
        })
    }
}

impl AtTerminal {
    fn lines(&self) -> &Mutex<Typed> {
        self.lines.get_or_init(|| Mutex::new(Typed::new()))
    }
}

impl Asker for AtTerminal {
    fn ask(&self, question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let typed = async {
                let mut lines = self.lines().lock().await;
                // Standard output is for answers.
                let asked = typed::ask(&question, &mut lines, &mut std::io::stderr()).await;
                asked.ok().flatten()
            };
            let said = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(AnsweredBy::Stopped),
                said = tokio::time::timeout(question.deadline, typed) => {
                    said.ok().flatten().ok_or(AnsweredBy::Runtime)
                }
            };
            match said {
                Ok(answer) => Reply {
                    answer,
                    by: AnsweredBy::Person("terminal".to_owned()),
                },
                Err(by) => Reply {
                    answer: Answer::no(),
                    by,
                },
            }
        })
    }
}

fn say(words: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(std::io::stderr(), "{words}");
}
