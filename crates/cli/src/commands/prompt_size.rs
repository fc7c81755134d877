//! `hermes prompt-size`: what every conversation begins with, in tokens.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_agent::{PromptPart, PromptQuestion, PromptSize, Tier};
use hermes_config::Loaded;
use hermes_core::{SystemRandom, ToolSpec};
use hermes_llm::Route;
use serde_json::{Value as Json, json};

use crate::args::prompt_size::PromptSizeArgs;
use crate::commands::tools::check_platform;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::external;
use crate::hands::{absent, library_at};
use crate::models::{Chosen, Models};
use crate::output::Output;
use crate::table::Table;

/// The window that is assumed when no model is set up.
const USUAL_WINDOW: u32 = 128_000;

pub(crate) fn run(args: &PromptSizeArgs, context: &Context, output: &mut Output) -> Outcome {
    check_platform(&args.platform)?;
    let models = Models::new(context, context.settings()?)?;
    let route = models
        .route(&Chosen::default())
        .ok()
        .map(|found| found.route);
    let home: PathBuf = context.home()?.path().to_owned();
    let memories = context.home()?.memories_dir();
    let (external, mut tools) = external_part(&args.platform, &models.loaded, context)?;
    if route.as_ref().is_some_and(|route| route.quirks.no_tools) {
        tools.clear();
    }
    let size = hermes_agent::prompt_size(&PromptQuestion {
        config: &models.loaded.config,
        home: &home,
        memories: &memories,
        directory: &context.directory().unwrap_or_default(),
        surface: &args.platform,
        model: route.as_ref().map_or("", |route| route.model.as_str()),
        provider: route.as_ref().map_or("", |route| route.provider.as_str()),
        window: window(route.as_ref()),
        small: route.as_ref().is_some_and(|route| route.is_embedded()),
        skills: &library_at(context, &models.loaded.config, context.home()?),
        tools,
        programs: &context.programs(),
        external: &external,
        now: context.clock().local(),
    });
    if args.json {
        return Ok(output.json(&document(&size, &args.platform))?);
    }
    let mut table = Table::new(["PART", "TOKENS", "BYTES", "KIND"]);
    let mut row = |part: &PromptPart, kind: &str| {
        table.row([
            part.name.clone(),
            part.tokens.to_string(),
            part.bytes.to_string(),
            kind.to_owned(),
        ]);
    };
    for (tier, part) in &size.prompt {
        row(part, word(*tier));
    }
    for part in &size.tools {
        row(part, "tool");
    }
    table.print(output)?;
    let total = size.total();
    Ok(output.line(format!(
        "About {} tokens in {} bytes before the first message.",
        total.tokens, total.bytes
    ))?)
}

/// The window of a model, or the usual one where none is set up.
pub(super) fn window(route: Option<&Route>) -> u32 {
    route.map_or(USUAL_WINDOW, |route| route.limits.window)
}

/// How long a part stays as it is, and with it what providers remember of it.
fn word(tier: Tier) -> &'static str {
    match tier {
        Tier::Stable => "stable",
        Tier::Context => "context",
        Tier::Volatile => "volatile",
    }
}

fn document(size: &PromptSize, platform: &str) -> Json {
    let of =
        |part: &PromptPart| json!({"name": part.name, "tokens": part.tokens, "bytes": part.bytes});
    let prompt: Vec<Json> = size
        .prompt
        .iter()
        .map(|(tier, part)| {
            let mut document = of(part);
            if let Some(fields) = document.as_object_mut() {
                fields.insert("tier".to_owned(), json!(word(*tier)));
            }
            document
        })
        .collect();
    let tools: Vec<Json> = size.tools.iter().map(of).collect();
    let total = size.total();
    json!({
        "platform": platform,
        "prompt": prompt,
        "tools": tools,
        "total": {"tokens": total.tokens, "bytes": total.bytes},
    })
}

/// What the external memory adds: its words, and its tools behind those of our own that can be used.
fn external_part(
    platform: &str,
    loaded: &Loaded,
    context: &Context,
) -> Outcome<(String, Vec<ToolSpec>)> {
    let absent = absent(context, loaded)?;
    let hidden = |spec: &ToolSpec| {
        let mut hidden = absent.iter().filter(|one| !one.shown);
        hidden.any(|one| one.tool == spec.name)
    };
    let mut tools = hermes_tools::specs();
    tools.retain(|spec| !hidden(spec));
    if loaded.config.memory.provider.is_empty() {
        return Ok((String::new(), tools));
    }
    let random = Arc::new(SystemRandom);
    let Some(external) = external::external(context, loaded, &context.store()?, random)? else {
        return Ok((String::new(), tools));
    };
    let own = external.tools(platform, None);
    tools.extend(own.iter().map(|tool| tool.spec().clone()));
    Ok((external.prompt(platform), tools))
}
