//! What an address of one's own leaves open: where below it the API begins, what it speaks, how much its model holds.

use hermes_llm::WindowSource;
use hermes_llm::resolve::{self, Flags, Request, protocol_of_address};
use url::Url;

use super::{Answered, Draft};
use crate::commands::ask;
use crate::commands::model::listing::{self, Keep, Listed, Source, Whose};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// Where most APIs begin.
const VERSION: &str = "/v1";
/// Smaller windows hold no conversation.
const LEAST: u32 = 1_024;

/// Asks for the models at the address, and with or without its `/v1` where there is no list: who leaves it out or
/// adds it would get no answer later. What was typed stays when neither has one.
pub(super) fn look(
    draft: &mut Draft,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let Some(typed) = draft.base_url.clone() else {
        return Ok(());
    };
    let list = |address: &str| -> Outcome<Listed> {
        let whose = Whose {
            provider: &draft.provider,
            base_url: Some(address),
            api_key: draft.api_key.as_deref(),
        };
        listing::find(models, whose, Keep::Nothing, context)
    };
    let listed = list(&typed)?;
    if listed.source != Source::Live
        && let Some(other) = other(&typed)
    {
        let found = list(&other)?;
        if found.source == Source::Live {
            output.line(format!("The API begins at {}.", one_line(&other)))?;
            draft.base_url = Some(other);
            draft.listed = Some(found);
            return Ok(());
        }
    }
    draft.listed = Some(listed);
    Ok(())
}

/// The same address with `/v1` behind it, or without. One that says what is spoken there is meant as it stands.
fn other(address: &str) -> Option<String> {
    let mut url = Url::parse(address).ok()?;
    if protocol_of_address(&url).is_some() {
        return None;
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let path = match path.strip_suffix(VERSION) {
        Some(rest) => rest.to_owned(),
        None => format!("{path}{VERSION}"),
    };
    url.set_path(&path);
    Some(url.to_string())
}

/// The settings that cannot be found out: the protocol where there is no list of models, the window where nobody
/// knows it.
pub(super) fn settings(
    draft: &Draft,
    model: &str,
    models: &Models,
    output: &mut Output,
) -> Outcome<Answered<Vec<(String, String)>>> {
    let mut settings = Vec::new();
    let Some(address) = draft.base_url.as_deref() else {
        return Ok(Answered::With(settings));
    };
    let silent = draft.listed.as_ref();
    let silent = silent.is_some_and(|listed| listed.source != Source::Live);
    let plain = Url::parse(address).is_ok_and(|url| protocol_of_address(&url).is_none());
    if silent && plain && ask::wished("Does it speak the protocol of Anthropic?", output)? {
        settings.push(("model.api_mode".to_owned(), "anthropic_messages".to_owned()));
    }
    let Some(guess) = guessed_window(draft, model, models)? else {
        return Ok(Answered::With(settings));
    };
    let question = format!(
        "How many tokens does {} hold? (Enter for {guess}, a careful guess) ",
        one_line(model)
    );
    loop {
        let Some(typed) = ask::line(&question, output)? else {
            return Ok(Answered::Left);
        };
        if typed.is_empty() {
            return Ok(Answered::With(settings));
        }
        let digits = typed.replace(['_', ',', '.', ' '], "");
        match digits.parse::<u32>().ok().filter(|window| *window >= LEAST) {
            Some(window) => {
                settings.push(("model.context_length".to_owned(), window.to_string()));
                return Ok(Answered::With(settings));
            }
            None => output.line(format!("It takes a number from {LEAST} up."))?,
        }
    }
}

/// The window that is assumed, where that is a guess.
fn guessed_window(draft: &Draft, model: &str, models: &Models) -> Outcome<Option<u32>> {
    let nothing = Chosen::default();
    let request = Request {
        flags: Flags {
            model: Some(model),
            provider: Some(&draft.provider),
            base_url: draft.base_url.as_deref(),
            api_key: draft.api_key.as_deref(),
        },
        ..models.request(&nothing)
    };
    // Whatever is wrong with it is said when it is written.
    let Ok(resolved) = resolve::resolve(&request) else {
        return Ok(None);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let limits = runtime.block_on(models.looked_at(resolved)).limits;
    Ok((limits.window_from == WindowSource::Guess).then_some(limits.window))
}
