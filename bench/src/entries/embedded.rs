//! How fast the model inside the program is there, and speaks.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hermes_testkit::TempHome;

use crate::bench::{Bench, Context};
use crate::figure::{Figure, percentile};

pub(crate) const BENCH: Bench = Bench {
    name: "embedded",
    about: "the model inside the program, one answer at a time",
    run,
};

/// The model, below the folder of `--data`.
const MODEL: &str = "models/smollm2-135m-instruct-q8_0.gguf";
const QUESTION: &str = "Write a long story about a fox who learns to read.";
/// Tokens of the two answers; loading and reading are the same for both.
const SHORT: u32 = 1;
const LONG: u32 = 129;
/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// One answer.
struct Spoken {
    tokens: f64,
    seconds: f64,
}

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let hermes = context
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there: pass --hermes", context.hermes.display()))?;
    let model = context.data.join(MODEL);
    ensure!(
        model.is_file(),
        "{} is not there: HERMES_HOME={} hermes model pull smollm2 fetches it",
        model.display(),
        context.data.display()
    );
    let runs = context.count(5, 3);
    let mut rates = Vec::new();
    let mut starts = Vec::new();
    // The first time its file may have to come from the disk.
    speak(&hermes, &model, SHORT)?;
    for _ in 0..runs {
        let short = speak(&hermes, &model, SHORT)?;
        starts.push(short.seconds);
        let long = speak(&hermes, &model, LONG)?;
        let tokens = long.tokens - short.tokens;
        ensure!(tokens >= 64.0, "the model said only {tokens} tokens more");
        rates.push(tokens / (long.seconds - short.seconds).max(1e-9));
    }
    Ok(vec![
        Figure::new(
            "start to first token, second run",
            percentile(&starts, 50.0),
            "s",
        )
        .at_most(1.0)
        .of(runs),
        Figure::new("speaking", percentile(&rates, 50.0), "tokens/s")
            .at_least(30.0)
            .of(runs),
    ])
}

fn speak(hermes: &Path, model: &Path, most: u32) -> anyhow::Result<Spoken> {
    let home = TempHome::new()?;
    home.write_config(&format!("model: {{provider: local, max_tokens: {most}}}\n"))?;
    let models = home.path().join("models");
    std::fs::create_dir_all(&models)?;
    symlink(
        model,
        models.join(model.file_name().context("a file has a name")?),
    )?;
    let usage = home.path().join("usage.json");
    let output = home
        .command(hermes)
        .args(["-z", QUESTION, "--usage-file"])
        .arg(&usage)
        .timeout(LIMIT)
        .run()?;
    ensure!(output.code == Some(0), "{}", output.report());
    let usage: serde_json::Value = serde_json::from_slice(&std::fs::read(&usage)?)?;
    let tokens = usage["output_tokens"].as_f64();
    Ok(Spoken {
        tokens: tokens.context("no count of tokens")?,
        seconds: output.wall.as_secs_f64(),
    })
}
