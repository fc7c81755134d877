//! Prints figures for people and for programs.

use std::io::{self, Write};

use serde_json::json;

use crate::bench::Bench;
use crate::figure::{Budget, Figure};

/// What came of an entry.
pub(crate) struct Outcome {
    pub(crate) bench: &'static Bench,
    pub(crate) result: anyhow::Result<Vec<Figure>>,
}

impl Outcome {
    /// Whether it could be measured and every budget holds.
    pub(crate) fn is_kept(&self) -> bool {
        match &self.result {
            Ok(figures) => figures.iter().all(|figure| figure.is_kept() != Some(false)),
            Err(_) => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) colours: bool,
}

pub(crate) fn list(out: &mut impl Write, benches: &[Bench]) -> io::Result<()> {
    for bench in benches {
        writeln!(out, "{:<12} {}", bench.name, bench.about)?;
    }
    Ok(())
}

/// One entry as an aligned table, notes below it.
pub(crate) fn table(out: &mut impl Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    writeln!(out, "\n{}: {}", outcome.bench.name, outcome.bench.about)?;
    let figures = match &outcome.result {
        Ok(figures) => figures,
        Err(error) => {
            return writeln!(
                out,
                "  {} could not be measured: {error:#}",
                mark(Some(false), style)
            );
        }
    };
    let mut rows = vec![[
        "".into(),
        "value".into(),
        "p99".into(),
        "".into(),
        "budget".into(),
        "samples".into(),
    ]];
    rows.extend(figures.iter().map(cells));
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let marks = std::iter::once(None).chain(figures.iter().map(Figure::is_kept));
    for ([name, value, p99, unit, budget, samples], kept) in rows.iter().zip(marks) {
        let [w0, w1, w2, w3, w4, w5] = widths;
        writeln!(
            out,
            "  {} {name:<w0$}  {value:>w1$}  {p99:>w2$} {unit:<w3$}  {budget:>w4$}  {samples:>w5$}",
            mark(kept, style)
        )?;
    }
    for figure in figures {
        for note in &figure.notes {
            writeln!(out, "    {}: {note}", figure.name)?;
        }
    }
    Ok(())
}

pub(crate) fn json(out: &mut impl Write, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let entries: Vec<_> = outcomes
        .iter()
        .map(|outcome| match &outcome.result {
            Ok(figures) => {
                let figures: Vec<_> = figures
                    .iter()
                    .map(|figure| json!({ "figure": figure, "kept": figure.is_kept() }))
                    .collect();
                json!({ "entry": outcome.bench.name, "figures": figures })
            }
            Err(error) => json!({ "entry": outcome.bench.name, "error": format!("{error:#}") }),
        })
        .collect();
    let kept = outcomes.iter().all(Outcome::is_kept);
    writeln!(
        out,
        "{}",
        serde_json::to_string_pretty(&json!({ "kept": kept, "entries": entries }))?
    )?;
    Ok(())
}

fn cells(figure: &Figure) -> [String; 6] {
    let budget = match figure.budget {
        Some(Budget::AtMost(limit)) => format!("≤ {}", number(limit)),
        Some(Budget::AtLeast(limit)) => format!("≥ {}", number(limit)),
        None => String::new(),
    };
    [
        figure.name.clone(),
        number(figure.value),
        figure.p99.map(number).unwrap_or_default(),
        figure.unit.to_owned(),
        budget,
        figure.samples.to_string(),
    ]
}

fn mark(kept: Option<bool>, style: Style) -> &'static str {
    match (kept, style.colours) {
        (None, _) => " ",
        (Some(true), false) => "✓",
        (Some(false), false) => "✗",
        (Some(true), true) => "\u{1b}[32m✓\u{1b}[0m",
        (Some(false), true) => "\u{1b}[31m✗\u{1b}[0m",
    }
}

/// Three telling digits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_shows_what_failed() {
        const BENCH: Bench = Bench {
            name: "sample",
            about: "shows a table",
            run: |_| Ok(Vec::new()),
        };
        let figures = vec![
            Figure::new("start", 4.2, "ms").at_most(5.0).of(200),
            Figure::new("rate", 900.0, "/s")
                .at_least(1000.0)
                .note("too slow"),
        ];
        let outcome = Outcome {
            bench: &BENCH,
            result: Ok(figures),
        };
        let mut out = Vec::new();
        table(&mut out, &outcome, Style { colours: false }).unwrap();
        let expected = "\nsample: shows a table\n           value  p99     budget  samples\n  ✓ start   4.20      ms  ≤ 5.00      200\n  ✗ rate     900      /s  ≥ 1000        1\n    rate: too slow\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(!outcome.is_kept());
    }
}
