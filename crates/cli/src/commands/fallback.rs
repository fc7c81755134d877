//! `hermes fallback`: the models to turn to when the first one fails.

mod change;
pub(super) mod probe;

use hermes_config::Fallback;
use hermes_secrets::mask;
use serde_json::{Value as Json, json};

use crate::args::fallback::{FallbackArgs, FallbackCommand};
use crate::commands::wish::Wish;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::Models;
use crate::output::Output;
use crate::table::Table;

pub(crate) fn run(args: FallbackArgs, context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let listing = FallbackCommand::List { json: false };
    match args.command.unwrap_or(listing) {
        FallbackCommand::List { json } => list(&models, json, output),
        FallbackCommand::Add {
            model,
            provider,
            base_url,
            key_env,
        } => {
            let wish = Wish {
                model,
                provider,
                base_url,
                api_key: None,
                key_env,
            };
            change::add(&wish, &models, context, output)
        }
        FallbackCommand::Remove { which } => change::remove(&which, &models, context, output),
        FallbackCommand::Clear => change::clear(&models, context, output),
        FallbackCommand::Test { dry_run, json } => {
            probe::run(&models, dry_run, json, context, output)
        }
    }
}

fn list(models: &Models, as_json: bool, output: &mut Output) -> Outcome {
    let all = &models.loaded.config.fallback_providers;
    if as_json {
        let all: Vec<Json> = all.iter().map(document).collect();
        return Ok(output.json(&all)?);
    }
    if all.is_empty() {
        return Ok(output
            .line("There are no fallbacks. hermes fallback add MODEL --provider ID adds one.")?);
    }
    let mut table = Table::new(["#", "PROVIDER", "MODEL", "ADDRESS", "KEY"]);
    for (number, entry) in (1..).zip(all) {
        table.row([
            number.to_string(),
            entry.provider.clone(),
            entry.model.clone(),
            filled(&entry.base_url)
                .unwrap_or("the provider's own")
                .to_owned(),
            key(entry).unwrap_or_else(|| "the provider's own".to_owned()),
        ]);
    }
    Ok(table.print(output)?)
}

fn document(entry: &Fallback) -> Json {
    json!({
        "provider": entry.provider,
        "model": entry.model,
        "base_url": filled(&entry.base_url),
        "key": key(entry),
    })
}

fn key(entry: &Fallback) -> Option<String> {
    let written = filled(entry.api_key.expose()).map(mask);
    filled(&entry.key_env).map(ToOwned::to_owned).or(written)
}

fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
