//! What somebody types, and the questions it answers.

mod form;

use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use hermes_core::{Answer, InboxId, Question, QuestionKind, Reach};
use hermes_tui::composer::paste::is_command;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use tokio::sync::mpsc;

use crate::output::printable;

/// Lines that may wait to be read.
const QUEUE: usize = 16;
/// Lines that may be typed ahead while an answer is on its way; whoever types more waits.
const MOST_AHEAD: usize = 64;
/// Nobody types a line in this time: lines that come this soon after another were pasted with it.
const AT_ONCE: Duration = Duration::from_millis(30);
/// Most bytes of a message, whether it is one line or several.
pub(crate) const MOST_TYPED: usize = 10 * 1024 * 1024;

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// A message that waits in a row.
    Kept(String, InboxId),
    /// There was more of it than a message may have, and nothing of it is here.
    TooLong,
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A line as it came.
struct Came {
    /// `None` when it was too long.
    text: Option<String>,
    at: Instant,
}

/// A message of which more may follow.
struct Open {
    /// `None` when it has become too long.
    text: Option<String>,
    /// When its last line came.
    at: Instant,
    /// Whether a backslash at its end says that more follows.
    goes_on: bool,
}

impl Open {
    fn new(came: Came) -> Self {
        let part = came.text.as_ref().and_then(|text| text.strip_suffix('\\'));
        match part.map(|part| format!("{part}\n")) {
            Some(part) => Self {
                text: Some(part),
                at: came.at,
                goes_on: true,
            },
            None => Self {
                text: came.text,
                at: came.at,
                goes_on: false,
            },
        }
    }

    /// Whether a line belongs to it: it is announced, or came together with it and is no command.
    fn takes(&self, came: &Came) -> bool {
        let at_once = came.at <= self.at + AT_ONCE;
        let command = |text: &Option<String>| text.as_ref().is_some_and(|text| is_command(text));
        self.goes_on || (at_once && !command(&self.text) && !command(&came.text))
    }

    fn add(&mut self, came: Came) {
        let more = Self::new(came);
        let both = self.text.take().zip(more.text);
        self.text = both.and_then(|(mut text, more)| {
            if !self.goes_on {
                text.push('\n');
            }
            text.push_str(&more);
            (text.len() <= MOST_TYPED).then_some(text)
        });
        (self.at, self.goes_on) = (more.at, more.goes_on);
    }
}

impl From<Open> for Line {
    fn from(open: Open) -> Self {
        open.text.map_or(Self::TooLong, Self::Text)
    }
}

/// The lines of a conversation. What was typed before a question was asked is no answer to it; from a pipe all of it
/// was.
pub(crate) struct Typed {
    lines: mpsc::Receiver<Came>,
    /// Reading ends with it.
    _reading: Option<PipeWriter>,
    /// Whether somebody can answer.
    by_hand: bool,
    /// A message that may go on.
    open: Option<Open>,
    /// Typed while a question or an answer was on its way.
    ahead: VecDeque<Line>,
    /// Nobody types any more.
    over: bool,
}

impl Typed {
    pub(crate) fn new() -> Self {
        let by_hand = io::stdin().is_terminal();
        // From a pipe, which nobody else reads from, all there is may be taken.
        let ends = by_hand.then(|| io::pipe().ok()).flatten();
        let (ended, reading) = ends.unzip();
        Self {
            lines: lines(ended),
            _reading: reading,
            by_hand,
            open: None,
            ahead: VecDeque::new(),
            over: false,
        }
    }

    /// Whether somebody sits there and reads what is asked.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.by_hand
    }

    /// The next line; `None` when nobody types any more.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.message().await,
        }
    }

    /// The next message: a line with those it goes on with after a backslash, and with those that came together with it,
    /// as what is pasted does. May be dropped before it ends.
    async fn message(&mut self) -> Option<Line> {
        loop {
            let Some(open) = &self.open else {
                let came = self.lines.recv().await?;
                self.open = Some(Open::new(came));
                continue;
            };
            let at_once = open.at + AT_ONCE;
            let came = match (open.goes_on, self.by_hand) {
                (true, _) => self.lines.recv().await,
                (false, true) => tokio::time::timeout_at(at_once.into(), self.lines.recv())
                    .await
                    .ok()
                    .flatten(),
                (false, false) => None,
            };
            match (came, &mut self.open) {
                (Some(came), Some(open)) if open.takes(&came) => open.add(came),
                (came, open) => {
                    let whole = open.take();
                    *open = came.map(Open::new);
                    return whole.map(Line::from);
                }
            }
        }
    }

    /// The next line that is typed while an answer is on its way; never, where nobody sits there or has typed enough.
    /// May be dropped before it ends.
    pub(crate) async fn meanwhile(&mut self) -> String {
        while self.by_hand && !self.over && self.ahead.len() < MOST_AHEAD {
            match self.message().await {
                Some(Line::Text(text)) => return text,
                // What is wrong with it is said when it is its turn.
                Some(line) => self.later(line),
                None => self.over = true,
            }
        }
        std::future::pending().await
    }

    /// Keeps a line for `next`.
    pub(crate) fn later(&mut self, line: impl Into<Line>) {
        self.ahead.push_back(line.into());
    }

    /// Keeps the lines that were typed so far for `next`; of one that has not ended, nobody knows what it is about, so
    /// that goes. Called before a question is shown, so that whoever answers at once is heard.
    pub(crate) fn set_aside(&mut self) {
        if !self.by_hand {
            return;
        }
        if let Err(error) = tcflush(io::stdin(), FlushArg::TCIFLUSH) {
            tracing::debug!("what was typed before a question stays: {error}");
        }
        while let Ok(came) = self.lines.try_recv() {
            match &mut self.open {
                Some(open) if open.takes(&came) => open.add(came),
                open => {
                    let whole = open.replace(Open::new(came));
                    self.ahead.extend(whole.map(Line::from));
                }
            }
        }
        let whole = self.open.take();
        self.ahead.extend(whole.map(Line::from));
    }

    /// The next line that is typed after that; `None` where nobody can answer.
    pub(crate) async fn fresh(&mut self) -> Option<String> {
        match self.by_hand {
            // What is too long for anything answers nothing.
            true => self
                .lines
                .recv()
                .await
                .map(|came| came.text.unwrap_or_default()),
            false => None,
        }
    }
}

/// Lines of standard input, read on a thread of their own: reading cannot be interrupted. Once the other end of
/// `ended` is closed, nothing more is taken: what is typed then is for somebody else.
fn lines(ended: Option<PipeReader>) -> mpsc::Receiver<Came> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        while ended.as_ref().is_none_or(is_typed)
            && let Some(text) = line(&mut io::stdin().lock())
        {
            let at = Instant::now();
            if sender.blocking_send(Came { text, at }).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Waits until a line was typed; false when nobody wants it any more. A terminal hands out one line at a time, so that
/// none waits unseen.
fn is_typed(ended: &PipeReader) -> bool {
    let input = io::stdin();
    let mut both = [
        PollFd::new(ended.as_fd(), PollFlags::POLLIN),
        PollFd::new(input.as_fd(), PollFlags::POLLIN),
    ];
    loop {
        match poll(&mut both, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            // Where it cannot be waited, reading does.
            Err(_) => return true,
            Ok(_) => return !both.first().is_some_and(|end| end.any().unwrap_or(true)),
        }
    }
}

/// The next line, or nothing in its place when it is too long: the lines behind it are worth answering, too. So what is
/// no text in it only becomes a sign that says so.
fn line(input: &mut impl BufRead) -> Option<Option<String>> {
    let mut bytes = Vec::new();
    // One more for the end of the line.
    let mut within = input.by_ref().take(MOST_TYPED as u64 + 1);
    match within.read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.len() > MOST_TYPED && !bytes.ends_with(b"\n") {
        drop(bytes);
        return input.skip_until(b'\n').is_ok().then_some(None);
    }
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
    Some(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Puts a question on the terminal and waits for the lines that answer it; nothing when nobody types any more.
pub(crate) async fn ask(
    question: &Question,
    lines: &mut Typed,
    into: &mut impl Write,
) -> io::Result<Option<Answer>> {
    lines.set_aside();
    if let QuestionKind::Form(form) = &question.kind {
        return form::fill(form, lines, into).await;
    }
    show(question, into)?;
    let said = lines.fresh().await;
    Ok(said.map(|said| answer(question, &said)))
}

/// Puts a question on the terminal.
fn show(question: &Question, into: &mut impl Write) -> io::Result<()> {
    match &question.kind {
        QuestionKind::Clarify { question, choices } => {
            writeln!(into, "\n{}", printable(question))?;
            for (number, choice) in choices.iter().enumerate() {
                writeln!(into, "  {}. {}", number + 1, printable(choice))?;
            }
        }
        QuestionKind::Approval {
            action,
            reasons,
            reach,
            editable,
            ..
        } => {
            writeln!(into, "\nMay I do this? {}", printable(action))?;
            writeln!(into, "  {}", printable(&reasons.join("; ")))?;
            writeln!(into, "  {}", ways_to_say_yes(*reach))?;
            if *editable {
                writeln!(into, "  e COMMAND = run that instead")?;
            }
        }
        QuestionKind::Secret { prompt } => writeln!(into, "\n{}", printable(prompt))?,
        QuestionKind::Form(form) => writeln!(into, "\n{}", printable(&form.text))?,
    }
    write!(into, "? ")?;
    into.flush()
}

/// What a typed line says to a question.
fn answer(question: &Question, said: &str) -> Answer {
    let said = said.trim();
    match &question.kind {
        QuestionKind::Approval {
            reach, editable, ..
        } => match said {
            "y" | "yes" => Answer::AllowOnce,
            "s" if *reach >= Reach::Session => Answer::AllowSession,
            "a" if *reach >= Reach::Always => Answer::AllowAlways,
            "" | "n" | "no" => Answer::no(),
            said if *editable && said.starts_with("e ") => {
                Answer::Instead(said.strip_prefix("e ").unwrap_or(said).trim().to_owned())
            }
            reason => Answer::Deny {
                reason: Some(reason.to_owned()),
            },
        },
        _ if said.is_empty() => Answer::no(),
        QuestionKind::Clarify { choices, .. } => {
            let picked = said
                .parse::<usize>()
                .ok()
                .and_then(|number| choices.get(number.checked_sub(1)?));
            Answer::Text(picked.map_or_else(|| said.to_owned(), Clone::clone))
        }
        QuestionKind::Secret { .. } | QuestionKind::Form(_) => Answer::Text(said.to_owned()),
    }
}

fn ways_to_say_yes(reach: Reach) -> &'static str {
    match reach {
        Reach::Once => "y = this time, n or a reason = no",
        Reach::Session => "y = this time, s = in this session, n or a reason = no",
        Reach::Always => "y = this time, s = in this session, a = always, n or a reason = no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines with the milliseconds at which they came.
    fn typed(by_hand: bool, lines: &[(&str, u64)]) -> Typed {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let start = Instant::now();
        for (text, at) in lines {
            let came = Came {
                text: Some((*text).to_owned()),
                at: start + Duration::from_millis(*at),
            };
            sender.try_send(came).ok();
        }
        Typed {
            lines: receiver,
            _reading: None,
            by_hand,
            open: None,
            ahead: VecDeque::new(),
            over: false,
        }
    }

    async fn all(mut typed: Typed) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(line) = typed.next().await {
            match line {
                Line::Text(text) | Line::Kept(text, _) => found.push(text),
                Line::TooLong => found.push("too long".to_owned()),
            }
        }
        found
    }

    // CL-35
    #[tokio::test]
    async fn a_message_goes_on_after_a_backslash_and_is_pasted_as_a_whole() {
        let lines = [
            ("one\\", 0),
            ("two", 2_000),
            ("three", 2_001),
            ("four", 4_000),
            ("/status", 6_000),
            ("five", 6_001),
            ("six\\", 8_000),
        ];
        let by_hand = all(typed(true, &lines)).await;
        let told = ["one\ntwo\nthree", "four", "/status", "five", "six\n"];
        assert_eq!(by_hand, told);
        // From a pipe everything comes at once, and each line is a message.
        let piped = all(typed(false, &lines)).await;
        let told = ["one\ntwo", "three", "four", "/status", "five", "six\n"];
        assert_eq!(piped, told);
    }

    // CL-35
    #[tokio::test]
    async fn what_was_typed_before_a_question_is_kept_as_it_was_meant() {
        let mut lines = typed(true, &[("a\\", 0), ("b", 900), ("c", 1_800)]);
        lines.set_aside();
        assert_eq!(all(lines).await, ["a\nb", "c"]);
    }

    // CL-18
    #[test]
    fn bytes_that_are_no_text_end_nothing() {
        let mut input = &b"one\r\ncaf\xe9 latin\n\nlast"[..];
        let lines: Vec<String> = std::iter::from_fn(|| line(&mut input)).flatten().collect();
        assert_eq!(lines, ["one", "caf\u{fffd} latin", "", "last"]);
    }

    // CL-18
    #[tokio::test]
    async fn a_message_of_many_lines_has_the_limit_of_one() {
        let part = "a".repeat(MOST_TYPED / 2);
        let part = format!("{part}\\");
        let lines = [(&*part, 0), (&part, 1), ("end", 2), ("next", 900)];
        for by_hand in [true, false] {
            assert_eq!(all(typed(by_hand, &lines)).await, ["too long", "next"]);
        }
    }
}
