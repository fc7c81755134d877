//! Draws the pictures of the documents.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use hermes_testkit::pictures::{Scene, draw};

/// Plays each scene with the real program and writes one SVG file for it.
#[derive(Debug, Parser)]
#[command(name = "pictures")]
struct Arguments {
    /// The program
    #[arg(long, value_name = "PATH", default_value = "target/release/hermes")]
    hermes: PathBuf,
    /// Where the files go
    #[arg(default_value = "docs/pictures")]
    into: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let hermes = arguments
        .hermes
        .canonicalize()
        .with_context(|| format!("{} is not there", arguments.hermes.display()))?;
    fs::create_dir_all(&arguments.into)?;
    for scene in Scene::ALL {
        let picture = draw(&hermes, scene)?;
        let file = arguments.into.join(format!("{}.svg", scene.name()));
        fs::write(&file, picture.svg).with_context(|| file.display().to_string())?;
        writeln!(io::stdout(), "{}", file.display())?;
    }
    Ok(())
}
