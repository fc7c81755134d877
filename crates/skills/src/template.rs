//! Placeholders in the text of a skill, and commands whose output stands in their place.
//!
//! Commands are found here and run by whoever may: nothing in this crate starts one.

mod session;

use std::path::Path;
use std::time::Duration;

use futures_core::future::BoxFuture;

pub use session::SessionShell;

/// Most commands of one text that are run.
const MOST_COMMANDS: usize = 20;
/// Most characters of what a command says.
const LONGEST: usize = 4_000;

/// Runs a command that stands in a skill.
///
/// Called once for each command, one after the other, in the directory of the skill. The implementation
/// asks the rules about commands first and ends the command when `limit` has passed; the error says in
/// words why there is no output.
pub trait InlineShell: Send + Sync {
    fn run<'a>(
        &'a self,
        command: &'a str,
        directory: &'a Path,
        limit: Duration,
    ) -> BoxFuture<'a, Result<String, String>>;
}

/// What placeholders stand for.
#[derive(Debug, Clone, Copy)]
pub struct Placeholders<'a> {
    pub directory: &'a Path,
    /// The conversation; the placeholder stays when there is none.
    pub session: Option<&'a str>,
}

impl Placeholders<'_> {
    /// The text with everything filled in.
    pub fn fill(&self, text: &str) -> String {
        let text = text.replace("${HERMES_SKILL_DIR}", &self.directory.display().to_string());
        match self.session {
            Some(session) => text.replace("${HERMES_SESSION_ID}", session),
            None => text,
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Command(&'t str),
}

/// Runs the commands of a text and puts what they said in their place.
pub async fn with_commands_run(
    text: &str,
    directory: &Path,
    shell: &dyn InlineShell,
    limit: Duration,
) -> String {
    let mut out = String::new();
    let mut run = 0;
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Command(_) if run == MOST_COMMANDS => {
                out.push_str("[not run: too many commands in one skill]");
            }
            Piece::Command(command) => {
                run += 1;
                match shell.run(command, directory, limit).await {
                    Ok(said) => out.push_str(&shortened(said.trim_end())),
                    Err(why) => out.push_str(&format!("[not run: {why}]")),
                }
            }
        }
    }
    out
}

/// The text with its commands apart: an exclamation mark and back-quotes around one line.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| tail.find("!`")) {
        let start = from + at;
        let inner = rest.get(start + 2..).unwrap_or_default();
        let end = inner.find('`').filter(|end| {
            let command = inner.get(..*end).unwrap_or_default();
            !command.trim().is_empty() && !command.contains('\n')
        });
        let Some(end) = end else {
            from = start + 2;
            continue;
        };
        let (before, command) = (rest.get(..start), inner.get(..end));
        pieces.extend(before.map(Piece::Text));
        pieces.extend(command.map(|command| Piece::Command(command.trim())));
        rest = inner.get(end + 1..).unwrap_or_default();
        from = 0;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn shortened(said: &str) -> String {
    if said.chars().count() <= LONGEST {
        return said.to_owned();
    }
    let kept: String = said.chars().take(LONGEST).collect();
    format!("{kept}\n[the rest was left out]")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl InlineShell for Echo {
        fn run<'a>(
            &'a self,
            command: &'a str,
            directory: &'a Path,
            _: Duration,
        ) -> BoxFuture<'a, Result<String, String>> {
            Box::pin(async move {
                match command {
                    "long" => Ok("x".repeat(5_000)),
                    "bad" => Err("refused".to_owned()),
                    other => Ok(format!("<{other} in {}>\n", directory.display())),
                }
            })
        }
    }

    fn run(text: &str) -> String {
        let limit = Duration::from_secs(1);
        let mut running = Box::pin(with_commands_run(text, Path::new("/s"), &Echo, limit));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match running.as_mut().poll(&mut context) {
            std::task::Poll::Ready(text) => text,
            std::task::Poll::Pending => panic!("nothing here waits"),
        }
    }

    // LN-31
    #[test]
    fn placeholders_are_filled_in() {
        let placeholders = Placeholders {
            directory: Path::new("/h/skills/x"),
            session: Some("s1"),
        };
        let text = "run ${HERMES_SKILL_DIR}/a.sh in ${HERMES_SESSION_ID} at ${HOME}";
        assert_eq!(
            placeholders.fill(text),
            "run /h/skills/x/a.sh in s1 at ${HOME}"
        );
        let nowhere = Placeholders {
            session: None,
            ..placeholders
        };
        assert_eq!(nowhere.fill("${HERMES_SESSION_ID}"), "${HERMES_SESSION_ID}");
    }

    // LN-31
    #[test]
    fn commands_are_replaced_by_what_they_say() {
        assert_eq!(
            run("a !`date` b !`bad`."),
            "a <date in /s> b [not run: refused]."
        );
        for plain in [
            "no",
            "`date`",
            "!``",
            "! `date`",
            "!`two\nlines`",
            "!`open",
            "",
        ] {
            assert_eq!(run(plain), plain);
        }
        assert_eq!(run("!`open !`x`"), "<open ! in /s>x`");
        assert!(run("!`long`").ends_with("[the rest was left out]"));
        let many = "!`a` ".repeat(25);
        assert_eq!(run(&many).matches("not run: too many").count(), 5);
    }
}
