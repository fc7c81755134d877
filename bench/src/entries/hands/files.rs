//! Search and edit: the tools beside ripgrep, and on a large file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_core::{Tool, ToolContext};
use hermes_tools::{FileServices, FileTools};
use serde_json::{Value as Json, json};

use super::place;
use crate::bench::Context;
use crate::figure::{Figure, percentile};

/// Files of the tree that is searched.
const FILES: usize = 100_000;
/// Files of a quick run.
const FEW: usize = 10_000;
/// Every how many files one holds the word.
const EVERY: usize = 997;
/// Bytes of the file that is edited.
const LARGE: usize = 10 << 20;

pub(super) async fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut figures = search(context).await?;
    figures.push(edit(context).await?);
    Ok(figures)
}

fn tool(name: &str) -> anyhow::Result<Arc<dyn Tool>> {
    let tools = FileTools::new(FileServices::default()).tools();
    let found = tools.into_iter().find(|tool| tool.spec().name == name);
    found.with_context(|| format!("there is no {name}"))
}

async fn called(
    tool: &Arc<dyn Tool>,
    arguments: Json,
    surroundings: &ToolContext,
) -> anyhow::Result<(Duration, Json)> {
    let started = Instant::now();
    let result = tool.call(arguments, surroundings).await?;
    let took = started.elapsed();
    Ok((took, serde_json::from_str(&result.content)?))
}

async fn search(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let files = context.count(FILES, FEW);
    let tree = tree(context, files)?;
    let surroundings = place::context(&tree)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let expected = files.div_ceil(EVERY);
    for round in 0..context.count(9, 3) {
        let arguments = json!({ "pattern": "needle_[0-9]+", "path": ".", "limit": 1_000 });
        // A new one each time: one and the same would say that it was asked before.
        let (took, answer) = called(&tool("search_files")?, arguments, &surroundings).await?;
        ensure!(answer["total_count"] == expected, "{answer}");
        let started = Instant::now();
        let output = Command::new("rg")
            .args(["--no-heading", "-n", "needle_[0-9]+", "."])
            .current_dir(&tree)
            .output()
            .context("rg is not installed")?;
        let peer = started.elapsed();
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        ensure!(lines == expected, "rg found {lines}");
        if round > 0 {
            ours.push(took);
            theirs.push(peer);
        }
    }
    let middle = |times: &[Duration]| {
        percentile(
            &times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            50.0,
        )
    };
    let ratio = middle(&ours) / middle(&theirs);
    Ok(vec![
        Figure::times(format!("search_files over {files} files"), &ours),
        Figure::times("rg, the same", &theirs),
        Figure::new("search_files against rg", ratio, "×")
            .at_most(1.3)
            .of(ours.len()),
    ])
}

/// The tree, made once.
fn tree(context: &Context, files: usize) -> anyhow::Result<PathBuf> {
    let tree = context.data.join(format!("tree-{files}"));
    let done = tree.join(".complete");
    if context.rebuild {
        drop(std::fs::remove_dir_all(&tree));
    }
    if done.exists() {
        return Ok(tree);
    }
    context.tell("making the tree …");
    for number in 0..files {
        let folder = tree.join(format!(
            "part{:03}/sub{:02}",
            number / 400,
            number / 20 % 20
        ));
        if number % 20 == 0 {
            std::fs::create_dir_all(&folder)?;
        }
        let mut content = String::new();
        for line in 0..30 {
            writeln!(content, "fn item_{number}_{line}() {{ call({line}); }}")?;
        }
        if number % EVERY == 0 {
            writeln!(content, "let here = needle_{number};")?;
        }
        std::fs::write(folder.join(format!("file{number}.rs")), content)?;
    }
    std::fs::write(done, "")?;
    Ok(tree)
}

async fn edit(context: &Context) -> anyhow::Result<Figure> {
    let folder = tempfile::tempdir()?;
    let surroundings = place::context(folder.path())?;
    let path = folder.path().join("large.txt");
    write_large(&path)?;
    let patch = tool("patch")?;
    let rounds = context.count(20, 5);
    let mut times = Vec::new();
    for round in 0..rounds {
        let (from, to) = match round % 2 {
            0 => ("the line in the middle", "another line in the middle"),
            _ => ("another line in the middle", "the line in the middle"),
        };
        let arguments = json!({
            "mode": "replace", "path": path, "old_string": from, "new_string": to,
        });
        let (took, answer) = called(&patch, arguments, &surroundings).await?;
        ensure!(answer["success"] == true, "{answer}");
        times.push(took);
    }
    Ok(Figure::times("patch of a 10 MB file", &times).at_most(30.0))
}

fn write_large(path: &Path) -> anyhow::Result<()> {
    let mut content = String::with_capacity(LARGE + 100);
    let mut number = 0;
    while content.len() < LARGE / 2 {
        writeln!(content, "line {number} of a file that is larger than most")?;
        number += 1;
    }
    content.push_str("the line in the middle\n");
    while content.len() < LARGE {
        writeln!(content, "line {number} of a file that is larger than most")?;
        number += 1;
    }
    Ok(std::fs::write(path, content)?)
}
