//! Reading the settings.

use std::time::Instant;

use hermes_config::{Environment, Home, Request, load};
use hermes_testkit::TempHome;

use crate::bench::{Bench, Context};
use crate::figure::Figure;

pub(crate) const BENCH: Bench = Bench {
    name: "config-load",
    about: "a config.yaml of 300 lines, read, merged and checked in this process",
    run,
};

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let home = TempHome::new()?;
    let text = config(300);
    home.write_config(&text)?;
    let (place, environment) = (Home::of_root(home.path()), Environment::default());
    let request = Request {
        home: &place,
        environment: &environment,
        project: None,
        flags: &[],
        ignore_file: false,
    };
    let mut times = Vec::new();
    let mut problems = 0;
    for _ in 0..context.count(500, 50) {
        let started = Instant::now();
        let loaded = load(&request)?;
        times.push(started.elapsed());
        problems = loaded.problems.len();
    }
    anyhow::ensure!(
        problems == 0,
        "the sample config.yaml has {problems} problems"
    );
    let lines = text.lines().count();
    Ok(vec![
        Figure::times(format!("load, {lines} lines"), &times).at_most(2.0),
    ])
}

/// A `config.yaml` somebody has used for a while: `lines` lines, with comments and many providers.
pub(super) fn config(lines: usize) -> String {
    let mut text = String::from(
        "# My settings\nmodel:\n  default: openrouter/some-model\ndisplay:\n  skin: default\n  # Terse, please.\n  compact: true\nmcp_servers:\n",
    );
    let mut index = 0;
    while text.lines().count() + 6 <= lines {
        text.push_str(&format!(
            "  # Server number {index}\n  server_{index}:\n    command: /usr/bin/server-{index}\n    args: [\"--port\", \"{}\"]\n    env:\n      LEVEL: info\n",
            9000 + index
        ));
        index += 1;
    }
    while text.lines().count() < lines {
        text.push_str("# The end.\n");
    }
    text
}
