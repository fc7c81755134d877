//! Full-text search in a store of a million messages: speed, recall, size of the index.

mod archive;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hermes_core::MessageId;
use hermes_store::{SearchFilter, SearchOrder, Store};

use crate::bench::{Bench, Context};
use crate::corpus::{Answer, Dice, Language, Plan, SEED, open};
use crate::figure::{Figure, percentile};
use archive::Archive;

pub(crate) const BENCH: Bench = Bench {
    name: "search",
    about: "one million messages in eight languages: latency, recall at 5, size of the index",
    run,
};

/// How many hits count.
const WITHIN: usize = 5;

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let messages = context.count(1_000_000, 50_000);
    let plan = Plan::new(SEED, messages)?;
    let archive = Archive::make(context, &plan)?;
    let mut asked: Vec<Asked<'_>> = archive
        .answers
        .iter()
        .map(|answer| Asked {
            query: &answer.query,
            answer: Some(answer),
        })
        .collect();
    let everyday = plan.everyday_queries(400);
    asked.extend(everyday.iter().map(|query| Asked {
        query,
        answer: None,
    }));
    Dice::new(SEED, 3).shuffle(&mut asked);

    archive.forget_pages()?;
    let store = open(&archive.folder)?;
    let cold = ask(&store, &asked)?;
    let warm = ask(&store, &asked)?;
    let mut figures = Vec::from(latency("cold", &asked, &cold));
    figures.extend(latency("warm", &asked, &warm));
    figures.extend(recall(&asked, &warm));
    let stats = store.stats().wait()?;
    let percent = |bytes: u64| bytes as f64 / stats.text_bytes.max(1) as f64 * 100.0;
    figures.push(
        Figure::new("index, share of the text", percent(stats.index_bytes), "%")
            .at_most(60.0)
            .note(format!(
                "{} MB of text, {} MB of index, {} MB of database",
                mega(stats.text_bytes),
                mega(stats.index_bytes),
                mega(stats.database_bytes)
            )),
    );
    drop(store);
    if let Some(bytes) = archive.index_pages()? {
        figures.push(Figure::new(
            "index, share of the text, in whole pages",
            percent(bytes),
            "%",
        ));
    }
    figures.extend(archive.built.map(|took| {
        Figure::new(
            "building the archive",
            messages as f64 / took.as_secs_f64(),
            "messages/s",
        )
    }));
    Ok(figures)
}

struct Asked<'a> {
    query: &'a str,
    /// Nothing is known about an everyday query; it only takes time.
    answer: Option<&'a Answer>,
}

struct Reply {
    took: Duration,
    found: Vec<MessageId>,
}

fn ask(store: &Store, asked: &[Asked<'_>]) -> anyhow::Result<Vec<Reply>> {
    asked
        .iter()
        .map(|asked| {
            let started = Instant::now();
            let hits = store
                .search(
                    asked.query,
                    SearchFilter::default(),
                    SearchOrder::Relevance,
                    WITHIN,
                )
                .wait()?;
            let took = started.elapsed();
            Ok(Reply {
                took,
                found: hits.into_iter().map(|hit| hit.message).collect(),
            })
        })
        .collect()
}

fn latency(name: &str, asked: &[Asked<'_>], replies: &[Reply]) -> [Figure; 2] {
    let milliseconds: Vec<f64> = replies
        .iter()
        .map(|reply| reply.took.as_secs_f64() * 1e3)
        .collect();
    let mut slowest: Vec<_> = asked.iter().zip(&milliseconds).collect();
    slowest.sort_by(|a, b| b.1.total_cmp(a.1));
    let mut tail = Figure::new(
        format!("{name}, p99"),
        percentile(&milliseconds, 99.0),
        "ms",
    )
    .at_most(60.0)
    .of(replies.len());
    for (asked, took) in slowest.iter().take(8) {
        tail = tail.note(format!("{took:.1} ms for {}", asked.query));
    }
    [
        Figure::new(
            format!("{name}, p50"),
            percentile(&milliseconds, 50.0),
            "ms",
        )
        .at_most(10.0)
        .of(replies.len()),
        tail,
    ]
}

/// LN-17: the share of questions whose message is among the first five, for each language.
fn recall(asked: &[Asked<'_>], replies: &[Reply]) -> Vec<Figure> {
    #[derive(Default)]
    struct Tally<'a> {
        found: usize,
        missed: Vec<&'a Answer>,
    }
    let mut promised: BTreeMap<Language, Tally<'_>> = BTreeMap::new();
    let mut partial = Tally::default();
    for (asked, reply) in asked.iter().zip(replies) {
        let Some(answer) = asked.answer else { continue };
        let tally = if answer.kind.is_promised() {
            promised.entry(answer.language).or_default()
        } else {
            &mut partial
        };
        if reply.found.contains(&answer.message) {
            tally.found += 1;
        } else {
            tally.missed.push(answer);
        }
    }
    let figure = |name: String, tally: &Tally<'_>| {
        let all = tally.found + tally.missed.len();
        let figure = Figure::new(name, tally.found as f64 / all.max(1) as f64, "").of(all);
        tally.missed.iter().take(12).fold(figure, |figure, answer| {
            figure.note(format!(
                "missed {:?}: {} (message {})",
                answer.kind, answer.query, answer.message
            ))
        })
    };
    let mut figures: Vec<_> = promised
        .iter()
        .map(|(language, tally)| {
            figure(format!("recall at 5, {}", language.name()), tally).at_least(0.95)
        })
        .collect();
    figures.push(figure(
        "recall at 5, one typed word missing".to_owned(),
        &partial,
    ));
    figures
}

fn mega(bytes: u64) -> u64 {
    bytes / 1_000_000
}
