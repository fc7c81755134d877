//! What skills cost a program that starts: nothing, before it needs them.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use hermes_core::{Clock as _, SystemClock};
use hermes_testkit::TempHome;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::super::conversation::{ask, home_for};
use crate::bench::Context;
use crate::figure::{Figure, percentile};

/// Runs that only warm the caches and let what was seen be remembered.
const WARMING: usize = 3;

/// One of two homes that are alike but for their skills.
struct Side<'a> {
    home: &'a TempHome,
    version: Vec<Duration>,
    request: Vec<Duration>,
}

impl<'a> Side<'a> {
    fn new(home: &'a TempHome) -> Self {
        Self {
            home,
            version: Vec::new(),
            request: Vec::new(),
        }
    }

    /// Runs both commands; `counts` when the times are wanted.
    fn run(&mut self, hermes: &str, server: &ModelServer, counts: bool) -> anyhow::Result<()> {
        let version = ask(self.home, hermes, &["--version"])?.wall;
        let before = server.requests().len();
        let started = Instant::now();
        ask(self.home, hermes, &["-z", "Please read matter 123"])?;
        let requests = server.requests();
        let first = requests
            .iter()
            .skip(before)
            .find(|request| request.path.ends_with("/chat/completions"));
        let first = first.context("the model was not asked")?;
        if counts {
            self.version.push(version);
            self.request
                .push(first.arrived_at.saturating_duration_since(started));
        }
        Ok(())
    }
}

/// `--version` and the first request of `-z`, with and without skills, in turns.
pub(super) fn figures(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let hermes = hermes.to_string_lossy().into_owned();
    let answer = Step::new(text("Forty-two.")).repeat();
    let server = ModelServer::start(Scenario::new().reply(answer).lenient())?;
    let (bare, full) = (home_for(&server)?, home_for(&server)?);
    super::fill(&full)?;
    // What was written a moment ago is not remembered.
    let hour = Duration::from_secs(3_600);
    let earlier = SystemClock.now().checked_sub(hour)?;
    age(&full.path().join("skills"), earlier.into())?;
    let (mut without, mut with) = (Side::new(&bare), Side::new(&full));
    let runs = context.count(60, 10);
    for round in 0..runs + WARMING {
        let counts = round >= WARMING;
        without.run(&hermes, &server, counts)?;
        with.run(&hermes, &server, counts)?;
    }
    let seen = server
        .requests()
        .iter()
        .any(|request| String::from_utf8_lossy(&request.body).contains("skill-number-123"));
    ensure!(seen, "the skills were not seen");
    Ok(vec![
        more(
            "hermes --version, 500 skills against none",
            &with.version,
            &without.version,
        )
        .at_most(0.5),
        Figure::times("first request of hermes -z, no skills", &without.request),
        Figure::times("first request of hermes -z, 500 skills", &with.request),
        more(
            "first request, 500 skills against none",
            &with.request,
            &without.request,
        )
        .at_most(5.0),
    ])
}

/// The difference of two medians.
fn more(name: &str, with: &[Duration], without: &[Duration]) -> Figure {
    let median = |times: &[Duration]| {
        let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        percentile(&times, 50.0)
    };
    Figure::new(name, median(with) - median(without), "ms").of(with.len())
}

/// Makes a tree look as if it was written earlier.
fn age(path: &Path, when: SystemTime) -> anyhow::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            age(&entry?.path(), when)?;
        }
    }
    File::open(path)?.set_modified(when)?;
    Ok(())
}
