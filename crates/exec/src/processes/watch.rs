//! When a line of output is worth telling somebody: two state machines over lines and times.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;

use crate::strip_ansi;

/// At most one notification of a process in this time.
const WINDOW: Duration = Duration::from_secs(15);
/// After this many windows in a row in which something had to be dropped, watching ends.
const MOST_STRIKES: u32 = 3;
const MOST_LINES: usize = 20;
/// A line that does not end is looked at in pieces of this size.
const LONGEST_LINE: usize = 16 << 10;

/// Notifications of all processes together before it is too much.
const BURST: usize = 15;
const BURST_WINDOW: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// Looks for patterns in the output of one process.
#[derive(Debug)]
pub(super) struct Watch {
    patterns: Vec<String>,
    /// The beginning of a line whose end has not come.
    line: String,
    /// Whether that line was told already.
    told: bool,
    state: State,
    pub(super) hit: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Quiet,
    /// Something was said at this time.
    Said {
        at: Timestamp,
        dropped: bool,
        strikes: u32,
    },
    Off,
}

/// What comes of a piece of output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// These lines are worth telling.
    Tell {
        lines: String,
    },
    /// There were too many for too long; from now on only the end of the process is told.
    GiveUp,
}

impl Watch {
    pub(super) fn new(patterns: Vec<String>) -> Self {
        Self {
            state: match patterns.is_empty() {
                true => State::Off,
                false => State::Quiet,
            },
            patterns,
            line: String::new(),
            told: false,
            hit: false,
        }
    }

    pub(super) fn patterns(&self) -> &[String] {
        match self.state {
            State::Quiet | State::Said { .. } => &self.patterns,
            State::Off => &[],
        }
    }

    pub(super) fn push(&mut self, text: &str, now: Timestamp) -> Verdict {
        if matches!(self.state, State::Off) {
            return Verdict::Nothing;
        }
        self.line.push_str(text);
        let whole = match self.line.rfind('\n') {
            Some(end) => end + 1,
            None if self.line.len() > LONGEST_LINE => self.line.len(),
            None => return Verdict::Nothing,
        };
        let rest = self.line.split_off(whole);
        let text = std::mem::replace(&mut self.line, rest);
        // A line that was told before its end came is not told again.
        let known = match std::mem::take(&mut self.told) {
            true => text.find('\n').map_or(text.len(), |end| end + 1),
            false => 0,
        };
        let matched = matching(text.get(known..).unwrap_or_default(), &self.patterns);
        self.matched(matched, now)
    }

    /// Nothing more comes for now, or ever: a prompt has no end of its line, nor need the last line have one.
    pub(super) fn rest(&mut self, now: Timestamp) -> Verdict {
        if self.told {
            return Verdict::Nothing;
        }
        let matched = matching(&self.line, &self.patterns);
        self.told = !matched.is_empty();
        self.matched(matched, now)
    }

    fn matched(&mut self, lines: String, now: Timestamp) -> Verdict {
        if lines.is_empty() || matches!(self.state, State::Off) {
            return Verdict::Nothing;
        }
        self.hit = true;
        let strikes = match self.state {
            State::Off => return Verdict::Nothing,
            State::Quiet => 0,
            State::Said {
                at,
                dropped,
                strikes,
            } if since(at, now) >= WINDOW => match dropped {
                true => strikes,
                false => 0,
            },
            State::Said { dropped: true, .. } => return Verdict::Nothing,
            State::Said { at, strikes, .. } => {
                let strikes = strikes + 1;
                if strikes >= MOST_STRIKES {
                    self.state = State::Off;
                    return Verdict::GiveUp;
                }
                self.state = State::Said {
                    at,
                    dropped: true,
                    strikes,
                };
                return Verdict::Nothing;
            }
        };
        self.state = State::Said {
            at: now,
            dropped: false,
            strikes,
        };
        Verdict::Tell { lines }
    }
}

/// The lines that contain a pattern, so many of them.
fn matching(text: &str, patterns: &[String]) -> String {
    let text = strip_ansi(text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| patterns.iter().any(|pattern| line.contains(pattern)))
        .take(MOST_LINES)
        .collect();
    lines.join("\n")
}

fn since(earlier: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}

/// Keeps all processes together from flooding a conversation.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    recent: VecDeque<Timestamp>,
    silent: Option<Silent>,
}

#[derive(Debug, Clone, Copy)]
struct Silent {
    since: Timestamp,
    dropped: u32,
}

/// Whether something may be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Granted,
    /// It may, and so many were kept back before.
    Released {
        dropped: u32,
    },
    /// It may not, and this is the first one.
    Tripped,
    Refused,
}

impl Breaker {
    pub(super) fn admit(&mut self, now: Timestamp) -> Admission {
        let released = match &mut self.silent {
            Some(silent) if since(silent.since, now) < SILENCE => {
                silent.dropped += 1;
                return Admission::Refused;
            }
            Some(silent) => Some(silent.dropped),
            None => None,
        };
        self.silent = None;
        while let Some(oldest) = self.recent.front()
            && since(*oldest, now) >= BURST_WINDOW
        {
            self.recent.pop_front();
        }
        if self.recent.len() >= BURST {
            self.recent.clear();
            self.silent = Some(Silent {
                since: now,
                dropped: 1,
            });
            return Admission::Tripped;
        }
        self.recent.push_back(now);
        match released {
            Some(dropped) => Admission::Released { dropped },
            None => Admission::Granted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn tell(lines: &str) -> Verdict {
        Verdict::Tell {
            lines: lines.to_owned(),
        }
    }

    fn watch() -> Watch {
        Watch::new(vec!["ERROR".to_owned(), "ready".to_owned()])
    }

    // EX-17
    #[test]
    fn whole_lines_are_matched_without_their_colours() {
        let mut watch = watch();
        assert_eq!(watch.push("fine\nERR", at(0)), Verdict::Nothing);
        assert_eq!(
            watch.push("\u{1b}[31mOR one\u{1b}[0m\nfine\nready\n", at(0)),
            tell("ERROR one\nready")
        );
        assert!(watch.hit);
    }

    // EX-17
    #[test]
    fn a_line_without_an_end_is_matched_when_nothing_follows_and_only_once() {
        let mut watch = watch();
        assert_eq!(watch.push("all rea", at(0)), Verdict::Nothing);
        assert_eq!(watch.rest(at(1)), Verdict::Nothing);
        assert_eq!(watch.push("dy? ", at(2)), Verdict::Nothing);
        assert_eq!(watch.rest(at(3)), tell("all ready? "));
        // Long after, so that only the line itself can be the reason.
        assert_eq!(watch.rest(at(60)), Verdict::Nothing);
        assert_eq!(watch.push("yes\nfine\n", at(61)), Verdict::Nothing);
        assert_eq!(watch.push("ready\nall", at(62)), tell("ready"));
        assert_eq!(watch.rest(at(120)), Verdict::Nothing);
    }

    // EX-17
    #[test]
    fn one_notification_in_a_window() {
        let mut watch = watch();
        assert_eq!(watch.push("ready 1\n", at(0)), tell("ready 1"));
        assert_eq!(watch.push("ready 2\n", at(14)), Verdict::Nothing);
        assert_eq!(watch.push("ready 3\n", at(15)), tell("ready 3"));
    }

    // EX-17
    #[test]
    fn three_windows_with_drops_end_the_watching() {
        let mut watch = watch();
        let mut verdicts = Vec::new();
        for second in 0..60 {
            match watch.push("ERROR\n", at(second)) {
                Verdict::Nothing => {}
                other => verdicts.push((second, other)),
            }
        }
        let expected = vec![
            (0, tell("ERROR")),
            (15, tell("ERROR")),
            (30, tell("ERROR")),
            (31, Verdict::GiveUp),
        ];
        assert_eq!(verdicts, expected);
        assert!(watch.patterns().is_empty());
    }

    // EX-17
    #[test]
    fn a_calm_window_forgives() {
        let mut watch = watch();
        for start in [0, 15, 45, 60, 90, 105] {
            // Every third window has nothing to drop.
            assert_eq!(watch.push("ERROR\n", at(start)), tell("ERROR"), "{start}");
            if start % 45 == 0 {
                assert_eq!(watch.push("ERROR\n", at(start + 1)), Verdict::Nothing);
            }
        }
    }

    // EX-17
    #[test]
    fn all_processes_together_are_limited() {
        let mut breaker = Breaker::default();
        for _ in 0..BURST {
            assert_eq!(breaker.admit(at(0)), Admission::Granted);
        }
        assert_eq!(breaker.admit(at(9)), Admission::Tripped);
        assert_eq!(breaker.admit(at(38)), Admission::Refused);
        assert_eq!(breaker.admit(at(39)), Admission::Released { dropped: 2 });
        assert_eq!(breaker.admit(at(39)), Admission::Granted);
        // Slowly enough never trips.
        let mut breaker = Breaker::default();
        for second in 0..100 {
            assert_eq!(breaker.admit(at(second)), Admission::Granted);
        }
    }
}
