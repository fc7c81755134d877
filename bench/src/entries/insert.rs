//! How fast messages become durable.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::{Role, SessionId, SystemClock};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Store};

use crate::bench::{Bench, Context};
use crate::corpus::{Plan, SEED};
use crate::figure::{Figure, percentile};

pub(crate) const BENCH: Bench = Bench {
    name: "insert",
    about: "durable appends: one message at a time, and in batches; the disk's own fsync beside it",
    run,
};

fn median(times: &[Duration]) -> f64 {
    let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    percentile(&seconds, 50.0)
}

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let folder = tempfile::tempdir_in(&context.data)?;
    let store = Store::open(Options {
        path: folder.path().join("hermes.db"),
        blobs: folder.path().join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?;
    let session = SessionId::try_from("bench".to_owned())?;
    store
        .create_session(NewSession::new(session.clone(), "cli"))
        .wait()?;
    let plan = Plan::new(SEED, 20_000)?;
    let mut texts = (0..plan.sessions())
        .flat_map(|index| plan.session(index))
        .map(|said| said.text)
        .cycle();

    let runs = context.count(500, 100);
    let mut single = Vec::with_capacity(runs);
    for text in texts.by_ref().take(runs) {
        let records = vec![NewRecord::text(Role::User, text)];
        let started = Instant::now();
        store.append(&session, records).wait()?;
        single.push(started.elapsed());
    }
    let synced = fsyncs(folder.path(), runs)?;
    let ratio = median(&single) / median(&synced).max(1e-9);
    let mut figures = vec![
        Figure::times("one message", &single).at_most(2.0),
        Figure::times("4 KiB written and synced", &synced),
        Figure::new("one message against the disk", ratio, "×").of(runs),
    ];
    for size in [100, 1000] {
        let batches = context.count(20_000, 5_000) / size;
        let mut rates = Vec::with_capacity(batches);
        for _ in 0..batches {
            let records: Vec<_> = texts
                .by_ref()
                .take(size)
                .map(|text| NewRecord::text(Role::User, text))
                .collect();
            let started = Instant::now();
            store.append(&session, records).wait()?;
            rates.push(size as f64 / started.elapsed().as_secs_f64());
        }
        let rate = percentile(&rates, 50.0);
        figures.push(
            Figure::new(format!("batches of {size}"), rate, "messages/s")
                .at_least(10_000.0)
                .of(batches),
        );
    }
    Ok(figures)
}

/// What the disk itself needs: the floor under a durable append.
fn fsyncs(folder: &std::path::Path, runs: usize) -> anyhow::Result<Vec<Duration>> {
    let mut file = std::fs::File::create(folder.join("fsync"))?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let started = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        times.push(started.elapsed());
    }
    Ok(times)
}
