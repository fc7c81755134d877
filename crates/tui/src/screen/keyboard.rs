//! What is typed, and what a terminal without bracketed paste passes off as typing.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_core::Stream as _;
use rustix::termios::OptionalActions;

use super::ground::Ground;
use super::run::until;
use crate::skin::Background;

/// Events that are taken at once; a paste of more is cut.
const MOST_AT_ONCE: usize = 1 << 18;
/// Nobody types so many keys at once: more of them may be on their way.
const BURST: usize = 8;
/// How long the keys of a paste may keep us waiting for the next ones.
const PAUSE: Duration = Duration::from_millis(25);

/// What came from the terminal.
#[derive(Debug)]
pub(super) enum Typed {
    /// Somebody did something.
    Event(Event),
    /// What the text stands on.
    Ground(Background),
}

/// Events of the terminal.
pub(super) struct Keyboard {
    /// Nothing while somebody else reads the keys.
    stream: Option<EventStream>,
    /// Came together with the one that was taken last.
    waiting: VecDeque<Event>,
    /// From this many lines on, keys that come at once are a paste; nothing means never.
    lines: usize,
    ground: Ground,
    /// The answer that was found among the keys.
    answer: Option<Background>,
}

impl Keyboard {
    pub(super) fn new(lines: usize, ground: Ground) -> Self {
        Self {
            stream: Some(EventStream::new()),
            waiting: VecDeque::new(),
            lines,
            ground,
            answer: None,
        }
    }

    /// Whether the terminal may still answer a question.
    pub(super) fn awaits(&self) -> bool {
        self.ground.is_awaited(Instant::now())
    }

    /// The terminal's answer, if it is there already. Waits for nothing.
    pub(super) async fn answer(&mut self) -> Option<Background> {
        self.take_all().await;
        self.join();
        self.answer.take()
    }

    /// Leaves the keys to somebody else.
    pub(super) fn let_go(&mut self) {
        self.stream = None;
    }

    /// Reads them again.
    pub(super) fn take(&mut self) {
        self.stream.get_or_insert_with(EventStream::new);
    }

    /// The next event; nothing when there are no more. May be dropped before it ends.
    pub(super) async fn next(&mut self) -> Option<io::Result<Typed>> {
        loop {
            if let Some(ground) = self.answer.take() {
                return Some(Ok(Typed::Ground(ground)));
            }
            if let Some(event) = self.waiting.pop_front() {
                return Some(Ok(Typed::Event(event)));
            }
            let keys_after = self.ground.until();
            let stream = self.stream.as_mut()?;
            let next = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
            let first = tokio::select! {
                biased;
                first = next => first,
                () = until(keys_after) => {
                    self.ground.release(&mut self.waiting);
                    continue;
                }
            };
            let Some(Ok(first)) = first else {
                return first.map(|failed| failed.map(Typed::Event));
            };
            self.sort(first);
            self.take_all().await;
            self.take_paste().await;
            self.join();
        }
    }

    /// Takes the rest of what can only be a paste: it comes in pieces, and a piece alone may look like typing.
    async fn take_paste(&mut self) {
        while self.lines > 0 && self.answer.is_none() && is_burst(&self.waiting) {
            let before = self.waiting.len();
            let Some(stream) = self.stream.as_mut() else {
                return;
            };
            remind();
            let next = std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
            let Ok(Some(Ok(event))) = tokio::time::timeout(PAUSE, next).await else {
                return;
            };
            self.sort(event);
            self.take_all().await;
            if self.waiting.len() == before || self.waiting.len() >= MOST_AT_ONCE {
                return;
            }
        }
    }

    /// Keys that can only be a paste are one.
    fn join(&mut self) {
        if let Some(text) = pasted(&self.waiting, self.lines) {
            self.waiting.clear();
            self.waiting.push_back(Event::Paste(text));
        }
    }

    /// Takes what is there already.
    async fn take_all(&mut self) {
        while self.waiting.len() < MOST_AT_ONCE {
            let Some(stream) = self.stream.as_mut() else {
                return;
            };
            let more = std::future::poll_fn(|context| {
                Poll::Ready(match Pin::new(&mut *stream).poll_next(context) {
                    Poll::Ready(Some(Ok(event))) => Some(event),
                    // A failure is met again by whoever waits for the next one.
                    Poll::Ready(Some(Err(_)) | None) | Poll::Pending => None,
                })
            });
            let Some(more) = more.await else {
                return;
            };
            self.sort(more);
        }
    }

    /// Keys wait to be read; an answer of the terminal is none.
    fn sort(&mut self, event: Event) {
        let found = self.ground.take(event, Instant::now(), &mut self.waiting);
        self.answer = found.or(self.answer);
    }
}

/// Has the terminal say again that there is something to read. Crossterm reads a kilobyte at a time and waits for news
/// before it reads on, but what has come already is no news; whoever sets the modes anew, even to what they are, wakes
/// every reader.
fn remind() {
    let input = rustix::stdio::stdin();
    if rustix::io::ioctl_fionread(input).unwrap_or_default() > 0
        && let Ok(modes) = rustix::termios::tcgetattr(input)
    {
        // Without it the rest comes with the next key.
        let _ = rustix::termios::tcsetattr(input, OptionalActions::Now, &modes);
    }
}

/// The text of events that can only be a paste: nobody types so many lines at once.
fn pasted<'e>(events: impl IntoIterator<Item = &'e Event>, least: usize) -> Option<String> {
    let mut text = String::new();
    for event in events {
        let Event::Key(key) = event else {
            return None;
        };
        if key.kind != KeyEventKind::Release {
            text.push(letter(*key)?);
        }
    }
    (least > 0 && text.matches('\n').count() >= least).then_some(text)
}

/// Whether these are too many for somebody who types, and all of them letters.
fn is_burst(events: &VecDeque<Event>) -> bool {
    let is_letter = |event: &Event| matches!(event, Event::Key(key) if letter(*key).is_some());
    let ends = [events.front(), events.back()];
    events.len() >= BURST && ends.iter().all(|end| end.is_some_and(is_letter))
}

fn letter(key: KeyEvent) -> Option<char> {
    match (key.code, key.modifiers) {
        (KeyCode::Char(letter), KeyModifiers::NONE | KeyModifiers::SHIFT) => Some(letter),
        (KeyCode::Enter, KeyModifiers::NONE) | (KeyCode::Char('j'), KeyModifiers::CONTROL) => {
            Some('\n')
        }
        (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Event> {
        let key = |letter| match letter {
            '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '\u{3}' => KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
            letter => KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE),
        };
        text.chars().map(|letter| Event::Key(key(letter))).collect()
    }

    // CL-17
    #[test]
    fn many_lines_at_once_are_a_paste() {
        let five = "a\nb\nc\nd\ne\nf";
        assert_eq!(pasted(&keys(five), 5).as_deref(), Some(five));
        assert_eq!(pasted(&keys("a\nb\nc\nd\ne"), 5), None);
        assert_eq!(pasted(&keys(&format!("{five}\u{3}")), 5), None);
        assert_eq!(pasted(&keys(five), 0), None);
        assert_eq!(pasted(&[Event::Resize(1, 1)], 0), None);
    }
}
