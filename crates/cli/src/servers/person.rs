//! Signing in at the terminal: the address is shown, and the one the browser ended at can be pasted.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use futures_core::future::BoxFuture;
use hermes_mcp::Person;
use tokio::sync::{Mutex, mpsc};
use url::Url;

use crate::output::one_line;
use crate::typed;

/// Whoever started this command.
#[derive(Default)]
pub(crate) struct AtTerminal {
    lines: OnceLock<Mutex<mpsc::Receiver<String>>>,
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
            let lines = self.lines.get_or_init(|| Mutex::new(typed::lines()));
            match lines.lock().await.recv().await {
                Some(line) => line,
                None => std::future::pending().await,
            }
        })
    }
}

fn say(words: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(std::io::stderr(), "{words}");
}
