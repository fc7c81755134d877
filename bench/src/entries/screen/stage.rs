//! A program in a pseudo-terminal, with a watch.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_testkit::TempHome;
use hermes_testkit::pty::{Screen, Terminal};

/// Longer nothing may take, on the slowest machine.
const LIMIT: Duration = Duration::from_secs(60);
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// Characters of a draft before it is begun anew, so that it stays on one line.
const DRAFT: usize = 40;
/// Pauses between two keys, in milliseconds; a person types like that.
const PAUSES: std::ops::Range<u64> = 20..120;

/// A program and how one sees that it is there.
#[derive(Clone)]
pub(super) struct Act {
    pub(super) name: &'static str,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Words of the first picture that can be typed into.
    pub(super) drawn: &'static [&'static str],
    /// Words that stand there when a question can be asked.
    pub(super) ready: &'static str,
    /// Whether it scrolls by itself, and not by its terminal.
    pub(super) scrolls: bool,
}

/// What stands on the screen but for its last row: the clock there goes on by itself.
fn said(screen: &Screen) -> Vec<String> {
    let mut rows = screen.rows();
    rows.pop();
    rows
}

/// A program that runs.
pub(super) struct Stage {
    terminal: Terminal,
    ready_words: &'static str,
    pub(super) painted: Duration,
    pub(super) ready: Duration,
}

impl Stage {
    pub(super) fn open(act: &Act, home: &TempHome) -> anyhow::Result<Self> {
        let command = home
            .command(&act.program)
            .args(&act.arguments)
            .env("TERM", "xterm-256color");
        let started = Instant::now();
        let terminal = Terminal::spawn(&command, COLUMNS, ROWS)?;
        terminal.wait_for(
            |screen| act.drawn.iter().any(|words| screen.contains(words)),
            LIMIT,
        )?;
        let painted = started.elapsed();
        terminal.wait_for_text(act.ready, LIMIT)?;
        Ok(Self {
            terminal,
            ready_words: act.ready,
            painted,
            ready: started.elapsed(),
        })
    }

    /// Asks, and waits until the answer has begun.
    pub(super) fn ask(&self, question: &str, begun: &str) -> anyhow::Result<()> {
        self.terminal.send(&format!("{question}\r"))?;
        self.terminal.wait_for_text(begun, LIMIT)?;
        Ok(())
    }

    /// Presses keys at odd times; how long each took until it was on the screen.
    pub(super) fn type_at_random(&self, keys: usize) -> anyhow::Result<Vec<Duration>> {
        let mut times = Vec::new();
        let mut draft = String::new();
        let mut dice = Dice(0x5eed);
        for number in 0..keys {
            thread::sleep(dice.pause());
            if draft.len() >= DRAFT {
                draft.clear();
                self.terminal.send("\x15")?;
                let gone = |screen: &Screen| !screen.contains("xyxy");
                self.terminal.wait_for(gone, LIMIT)?;
            }
            let key = if number % 2 == 0 { 'x' } else { 'y' };
            draft.push(key);
            let pressed = Instant::now();
            self.terminal.send(&key.to_string())?;
            self.terminal.wait_for_text(&draft, LIMIT)?;
            times.push(pressed.elapsed());
        }
        ensure!(
            !self.terminal.screen().contains(self.ready_words) || self.ready_words == "❯",
            "the answer ended before the typing did"
        );
        Ok(times)
    }

    /// From a new width to a picture that was drawn for it.
    pub(super) fn resize(&self, columns: u16) -> anyhow::Result<Duration> {
        let seen = self.terminal.received();
        let turned = Instant::now();
        self.terminal.resize(columns, ROWS)?;
        self.terminal.wait_past(
            Some(seen),
            |screen| screen.contains(self.ready_words),
            LIMIT,
        )?;
        Ok(turned.elapsed())
    }

    /// From a key to a picture of something else that was said.
    pub(super) fn turn_to(&self, key: &str) -> anyhow::Result<Duration> {
        let before = said(&self.terminal.screen());
        let pressed = Instant::now();
        self.terminal.send(key)?;
        self.terminal
            .wait_for(|screen| said(screen) != before, LIMIT)?;
        Ok(pressed.elapsed())
    }

    /// Whether these words are on the screen.
    pub(super) fn shows(&self, words: &str) -> bool {
        self.terminal.screen().contains(words)
    }

    /// What all its threads have used so far.
    pub(super) fn processor_time(&self) -> anyhow::Result<Duration> {
        let tasks = format!("/proc/{}/task", self.terminal.pid());
        let mut total = 0;
        for task in fs::read_dir(&tasks).with_context(|| tasks.clone())? {
            // A thread may end while it is looked at.
            let Ok(line) = fs::read_to_string(task?.path().join("schedstat")) else {
                continue;
            };
            let spent = line.split_whitespace().next().context("no time in it")?;
            total += spent.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(total))
    }

    /// The most memory it ever had, in KiB.
    pub(super) fn peak_memory(&self) -> anyhow::Result<f64> {
        self.status("VmHWM:")
    }

    /// The memory it has now, in KiB.
    pub(super) fn memory(&self) -> anyhow::Result<f64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.terminal.pid()))?;
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(number.context("the kernel does not say")?.parse()?)
    }
}

/// The same odd times in every run.
struct Dice(u64);

impl Dice {
    fn pause(&mut self) -> Duration {
        // The constants of a well-known generator; the high bits are the good ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let span = PAUSES.end - PAUSES.start;
        Duration::from_millis(PAUSES.start + (self.0 >> 33) % span)
    }
}
