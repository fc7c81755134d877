//! `hermes dump`

mod overrides;
mod system;

use std::io;

use hermes_config::{Environment, Variable};
use serde_json::{Map, Value as Json, json};

use super::status::keys::keys;
use super::status::platforms::messaging;
use super::status::scene::{self, Scene};
use super::status::{gateway_of, jobs_of};
use crate::args::report::DumpArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

const FENCE: &str = "--- hermes dump ---";

/// Prints what a bug report needs and nothing that is private: no secrets, no name in the home's path.
pub(crate) fn run(args: &DumpArgs, context: &Context, output: &mut Output) -> Outcome {
    let scene = Scene::look(context);
    let facts = facts(&scene, args.show_keys, context);
    if args.json {
        return Ok(output.json(&facts)?);
    }
    output.line(FENCE)?;
    for (key, value) in &facts {
        block(key, value, output)?;
    }
    Ok(output.line(FENCE)?)
}

fn facts(scene: &Scene, show_keys: bool, context: &Context) -> Map<String, Json> {
    let (home, config) = (scene.home.as_ref(), scene.config());
    let redactor = context.redactor.snapshot();
    let clean = |text: &str| with_tilde(&scene::clean(text, context), &context.environment);
    let mut facts = Map::new();
    let mut add = |key: &str, value: Option<String>| facts.insert(key.to_owned(), value.into());
    add("version", Some(env!("CARGO_PKG_VERSION").to_owned()));
    add("os", Some(system::describe()));
    add("profile", home.map(|home| home.profile().to_string()));
    let path = home.map(|home| home.path().display().to_string());
    add("home", path.map(|path| clean(&path)));
    if let Some(fault) = &scene.fault {
        add("problem", Some(clean(fault)));
    }
    add("model", config.map(|config| clean(&config.model.default)));
    add(
        "provider",
        config.map(|config| clean(&config.model.provider)),
    );
    add(
        "terminal",
        config.map(|config| config.terminal.backend.word().to_owned()),
    );
    facts.insert("api_keys".to_owned(), api_keys(scene, show_keys));
    facts.insert("features".to_owned(), features(scene, clean));
    let overrides = scene
        .loaded
        .as_ref()
        .map(|loaded| overrides::overrides(loaded, &redactor))
        .unwrap_or_default();
    let overrides = overrides
        .into_iter()
        .map(|(key, value)| (key, Json::String(with_tilde(&value, &context.environment))));
    facts.insert(
        "config_overrides".to_owned(),
        Json::Object(overrides.collect()),
    );
    facts
}

fn api_keys(scene: &Scene, show_keys: bool) -> Json {
    let keys = keys(scene).into_iter().map(|key| {
        let state = match key.masked {
            None => "not set".to_owned(),
            Some(masked) if show_keys => format!("set ({masked})"),
            Some(_) => "set".to_owned(),
        };
        (key.provider.to_owned(), Json::String(state))
    });
    Json::Object(keys.collect())
}

fn features(scene: &Scene, clean: impl Fn(&str) -> String) -> Json {
    let config = scene.config();
    let memory = config.map(|config| match config.memory.provider.as_str() {
        "" => "built-in".to_owned(),
        provider => clean(provider),
    });
    let platforms: Vec<_> = messaging(scene)
        .into_iter()
        .filter(|platform| platform.configured)
        .map(|platform| platform.platform)
        .collect();
    let platforms = match platforms.as_slice() {
        [] => "none".to_owned(),
        _ => platforms.join(", "),
    };
    let gateway = if gateway_of(scene).running {
        "running"
    } else {
        "stopped"
    };
    let skills = scene
        .profiles()
        .map_or(0, |(profiles, home)| profiles.skill_count(home));
    json!({
        "toolsets": config.map(|config| clean(&config.toolsets.join(", "))),
        "mcp_servers": config.map(|config| config.mcp_servers.len()),
        "memory_provider": memory,
        "gateway": gateway,
        "platforms": platforms,
        "cron_jobs": jobs_of(scene).total,
        "skills": skills,
    })
}

/// The text with the user's home directory as `~`.
fn with_tilde(text: &str, environment: &Environment) -> String {
    let home = environment.filled(&Variable::HOME).unwrap_or_default();
    let home = home.trim_end_matches('/');
    if home.is_empty() {
        return text.to_owned();
    }
    if text == home {
        return "~".to_owned();
    }
    text.replace(&format!("{home}/"), "~/")
}

/// One fact on its line, or a group of them below their name.
fn block(key: &str, value: &Json, output: &mut Output) -> io::Result<()> {
    let Json::Object(group) = value else {
        return output.line(format!("{key}: {}", plain(value)));
    };
    if group.is_empty() {
        return output.line(format!("{key}: none"));
    }
    output.line(format!("{key}:"))?;
    for (key, value) in group {
        output.line(format!("  {key}: {}", plain(value)))?;
    }
    Ok(())
}

fn plain(value: &Json) -> String {
    match value {
        Json::Null => "not known".to_owned(),
        Json::String(text) if text.is_empty() => "not set".to_owned(),
        Json::String(text) => text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect(),
        other => other.to_string(),
    }
}
