//! `--deep`: what only shows when everything is read.

use hermes_config::Loaded;
use serde::Serialize;

use super::scene::{Scene, said};
use crate::commands::tools::unheeded;
use crate::complaint::Outcome;
use crate::context::Context;

#[derive(Debug, Serialize)]
pub(in crate::commands) struct Checks {
    pub(in crate::commands) database: Vec<String>,
    pub(in crate::commands) settings: Vec<String>,
}

impl Checks {
    pub(in crate::commands) fn run(scene: &Scene, context: &Context) -> Self {
        Self {
            database: database(scene, context)
                .unwrap_or_else(|complaint| vec![said(&complaint, context)]),
            settings: settings(scene),
        }
    }
}

fn database(scene: &Scene, context: &Context) -> Outcome<Vec<String>> {
    // Nothing is made just to be looked at.
    if !scene
        .home
        .as_ref()
        .is_some_and(|home| home.database().exists())
    {
        return Ok(Vec::new());
    }
    Ok(context.store()?.check().wait()?.faults())
}

fn settings(scene: &Scene) -> Vec<String> {
    let mut found: Vec<String> = scene.fault.iter().cloned().collect();
    let Some(Loaded {
        config,
        problems,
        env_problems,
        ignored,
        ..
    }) = &scene.loaded
    else {
        return found;
    };
    found.extend(problems.iter().map(ToString::to_string));
    found.extend(env_problems.iter().map(ToString::to_string));
    found.extend(ignored.iter().map(ToString::to_string));
    let unheeded = unheeded(config, |_| true);
    found.extend(unheeded.iter().map(ToString::to_string));
    found
}
