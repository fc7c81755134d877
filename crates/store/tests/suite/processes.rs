//! Several processes at once, and processes that die.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use hermes_core::MessageId;
use hermes_store::{SearchFilter, SearchOrder, Store};

use super::fixture::{Fixture, id};

fn writer(fixture: &Fixture, session: &str, count: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_store-writer"))
        .arg(fixture.path("hermes.db"))
        .args([session, &count.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

// LN-12
#[test]
fn six_processes_write_beside_a_reader_and_nobody_sees_a_lock() {
    let fixture = Fixture::new();
    let mut writers: Vec<_> = (0..6)
        .map(|n| writer(&fixture, &format!("w{n}"), 500))
        .collect();
    let mut slowest = Duration::ZERO;
    let mut reads = 0;
    while writers
        .iter_mut()
        .any(|writer| writer.try_wait().unwrap().is_none())
    {
        let start = Instant::now();
        let search = fixture.store.search(
            "durable",
            SearchFilter::default(),
            SearchOrder::Relevance,
            5,
        );
        search.wait().expect("a reader never sees a lock");
        fixture.store.session(&id("w0")).wait().unwrap();
        slowest = slowest.max(start.elapsed());
        reads += 1;
    }
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert_eq!(errors, "", "no writer sees a lock");
    }
    for n in 0..6 {
        let rows = fixture.store.history(&id(&format!("w{n}"))).wait().unwrap();
        assert_eq!(rows.len(), 500, "no row of writer {n} is lost");
    }
    assert!(reads > 10, "the reader went on: {reads} reads");
    assert!(
        slowest < Duration::from_secs(5),
        "the slowest read took {slowest:?}"
    );
    assert!(fixture.store.check().wait().unwrap().is_clean());
}

// LN-13
#[test]
fn killed_fifty_times_while_writing_and_nothing_acknowledged_is_lost() {
    let fixture = Fixture::new();
    let mut acknowledged: Vec<MessageId> = Vec::new();
    for round in 0..50_usize {
        let mut child = writer(&fixture, "s", 100_000);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // From one row to a few dozen, so that kills land before, inside and after checkpoints.
        for _ in 0..=(round * 7) % 40 {
            let line = lines.next().unwrap().unwrap();
            acknowledged.push(MessageId(line.parse().unwrap()));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(
            lines
                .map_while(Result::ok)
                .filter_map(|line| line.parse().ok().map(MessageId)),
        );
    }
    let store = fixture.reopen();
    let check = store.check().wait().unwrap();
    assert!(check.is_clean(), "{check:?}");
    let stored: std::collections::HashSet<_> = store
        .all_records(&id("s"))
        .wait()
        .unwrap()
        .into_iter()
        .map(|record| record.id)
        .collect();
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !stored.contains(id))
        .collect();
    assert!(lost.is_empty(), "acknowledged but lost: {lost:?}");
    assert!(acknowledged.len() > 500);
}

// LN-12: of two that make the same file SQLite turns one down at once, without waiting.
#[test]
fn those_who_make_the_file_at_the_same_moment_all_have_it() {
    const TOGETHER: usize = 8;
    let fixture = Fixture::new();
    for round in 0..20 {
        let gate = Barrier::new(TOGETHER);
        std::thread::scope(|scope| {
            for _ in 0..TOGETHER {
                let mut options = fixture.options();
                options.path = fixture.path(&format!("new-{round}.db"));
                let gate = &gate;
                scope.spawn(move || {
                    gate.wait();
                    drop(Store::open(options).unwrap());
                });
            }
        });
    }
}
