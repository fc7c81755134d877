//! Millions of odd inputs for the parts that read what strangers wrote.
//!
//! Inputs grow from seeds by splicing, repeating and breaking them, all from one number, so that a finding
//! can be had again: `hermes-fuzz TARGET --seed N --inputs 1`. A panic or a broken promise ends the run with
//! the input.

mod disguises;
mod inputs;
mod targets;

use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use anyhow::bail;
use clap::Parser;

use inputs::Inputs;
use targets::{TARGETS, Target};

/// Tries odd inputs
#[derive(Parser)]
struct Arguments {
    /// What to try; everything when none is named
    targets: Vec<String>,
    /// Inputs for each target
    #[arg(long, default_value_t = 10_000_000)]
    inputs: u64,
    /// The number of the first input
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// How often progress is told.
const TOLD_EVERY: u64 = 100_000;

thread_local! {
    /// What is being tried, for the panic that may come of it.
    static TRIED: RefCell<String> = const { RefCell::new(String::new()) };
}

fn main() -> anyhow::Result<()> {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        TRIED.with_borrow(|tried| tell(&format!("while trying {tried}\n")));
    }));
    let arguments = Arguments::parse();
    let unknown = arguments
        .targets
        .iter()
        .find(|name| TARGETS.iter().all(|target| target.name != **name));
    if let Some(name) = unknown {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("there is no target {name}; there are {}", names.join(", "));
    }
    for target in TARGETS {
        if arguments.targets.is_empty() || arguments.targets.iter().any(|name| name == target.name)
        {
            run(target, arguments.seed, arguments.inputs)?;
        }
    }
    Ok(())
}

/// Runs a target on so many inputs; the error holds the one it failed on.
fn run(target: &Target, first: u64, count: u64) -> anyhow::Result<()> {
    let inputs = Inputs::new(target.seeds);
    let started = Instant::now();
    let shows = std::io::stderr().is_terminal();
    for number in first..first.saturating_add(count) {
        let input = inputs.get(number);
        TRIED.set(format!("{}: input {number}: {input:?}", target.name));
        if let Err(broken) = (target.check)(&input) {
            bail!("{}: input {number}: {broken}\n{input:?}", target.name);
        }
        if shows && number % TOLD_EVERY == 0 {
            tell(&format!("\r{}: {number} of {count}", target.name));
        }
    }
    let took = started.elapsed().as_secs_f64();
    tell(&format!(
        "{}{}: {count} inputs, nothing found, {took:.0} s\n",
        if shows { "\r" } else { "" },
        target.name
    ));
    Ok(())
}

fn tell(text: &str) {
    // Nobody may be listening.
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::{TARGETS, run};

    /// Inputs of the short run.
    const SHORT: u64 = 3_000;

    // EX-13, EX-42, EX-44, EX-53, EX-54, EX-62
    #[test]
    fn a_short_run_finds_nothing() {
        for target in TARGETS {
            run(target, 0, SHORT).unwrap();
        }
    }

    #[test]
    fn a_broken_promise_is_found_and_named() {
        let target = super::Target {
            name: "never a b",
            seeds: &["a b c"],
            check: |input| match input.contains('b') {
                true => Err("there is a b".to_owned()),
                false => Ok(()),
            },
        };
        let found = run(&target, 0, 100).unwrap_err().to_string();
        assert!(found.contains("never a b: input "), "{found}");
        assert!(found.contains("there is a b"), "{found}");
    }
}
