//! Who can be picked: those that are ready, any address, and those that need something first.

use hermes_http::BaseUrl;
use hermes_llm::Endpoint;
use hermes_llm::detect::{LocalServer, detect};

use crate::commands::ask;
use crate::commands::model::list;
use crate::commands::model::remove::Saved;
use crate::complaint::Outcome;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// What the settings call an endpoint without a name.
pub(super) const OWN: &str = "custom";
/// What the settings call servers that may run on this machine.
const NEARBY: [&str; 4] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/// Somebody who can be picked.
#[derive(Clone)]
pub(super) struct Choice {
    /// What the settings call it.
    pub(super) provider: String,
    pub(super) name: String,
    /// What a server nearby said it has; others are asked when they are picked.
    pub(super) models: Option<Vec<String>>,
    /// Where its key was found.
    pub(super) why: Option<String>,
    /// Whether its address has to be asked for.
    pub(super) own_endpoint: bool,
    /// Its address, where that was typed already.
    pub(super) address: Option<String>,
}

impl Choice {
    /// Somebody who was named, not picked.
    pub(super) fn of(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            name: provider.to_owned(),
            models: None,
            why: None,
            own_endpoint: provider == OWN,
            address: None,
        }
    }

    /// Whoever answers at an address.
    pub(super) fn at(address: &str) -> Self {
        Self {
            address: Some(address.to_owned()),
            ..Self::of(OWN)
        }
    }
}

pub(super) enum Picked {
    Choice(Choice),
    /// One of the endpoints is to be removed.
    Removal,
    Nothing,
}

/// What was typed at a list.
enum Typed<'c> {
    Nothing,
    /// An entry behind the last one, counted from zero.
    Behind(usize),
    Choice(&'c Choice),
}

/// Shows who is ready, and the others when they are asked for; with endpoints that were saved, removing one of them.
pub(super) fn pick(models: &Models, saved: &[Saved], output: &mut Output) -> Outcome<Picked> {
    let (ready, others) = choices(models)?;
    let more = format!(
        "One of {} other providers, which need a key or a sign-in first",
        others.len()
    );
    let mut behind = vec![more.as_str()];
    if !saved.is_empty() {
        behind.push("Remove an endpoint of your own");
    }
    let picked = match read(&ready, &behind, &others, output)? {
        Typed::Behind(0) => read(&others, &[], &ready, output)?,
        typed => typed,
    };
    Ok(match picked {
        Typed::Choice(choice) => Picked::Choice(choice.clone()),
        Typed::Behind(_) => Picked::Removal,
        Typed::Nothing => Picked::Nothing,
    })
}

/// Shows some of them.
pub(super) fn pick_of(choices: &[Choice], output: &mut Output) -> Outcome<Picked> {
    Ok(match read(choices, &[], &[], output)? {
        Typed::Choice(choice) => Picked::Choice(choice.clone()),
        Typed::Nothing | Typed::Behind(_) => Picked::Nothing,
    })
}

/// Who has a key, a login or an address, which servers run on this machine, and any other address; then
/// everybody else.
pub(super) fn choices(models: &Models) -> Outcome<(Vec<Choice>, Vec<Choice>)> {
    let rows = list::rows(models)?.into_iter();
    let rows = rows.filter(|row| row.id != OWN);
    let (ready, others): (Vec<_>, Vec<_>) = rows.partition(|row| row.usable && row.chosen);
    let of_row = |row: list::Row| Choice {
        name: row.name,
        why: row.usable.then_some(row.state),
        ..Choice::of(&row.id)
    };
    let mut ready: Vec<Choice> = ready.into_iter().map(of_row).collect();
    let mut others: Vec<Choice> = others.into_iter().map(of_row).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for (server, found) in runtime.block_on(nearby(models)) {
        let provider = match server {
            LocalServer::Ollama => "ollama",
            LocalServer::LmStudio => "lmstudio",
            LocalServer::LlamaCpp => "llamacpp",
            LocalServer::Vllm => "vllm",
        };
        if ready.iter().all(|choice| choice.provider != provider) {
            others.retain(|choice| choice.provider != provider);
            ready.push(Choice {
                name: format!("{}, on this machine", server.name()),
                models: Some(found),
                ..Choice::of(provider)
            });
        }
    }
    let now = models.route(&Chosen::default()).ok();
    let now = now.map(|found| found.route.provider);
    ready.sort_by_key(|choice| now.as_ref() != Some(&choice.provider));
    ready.push(Choice {
        name: "Your own endpoint, by its address".to_owned(),
        ..Choice::of(OWN)
    });
    Ok((ready, others))
}

/// The servers that answer where their profiles say, which is where they usually do.
async fn nearby(models: &Models) -> Vec<(LocalServer, Vec<String>)> {
    let mut servers = Vec::new();
    for base in NEARBY.iter().filter_map(|name| place(name, models)) {
        // A port where nobody listens says so at once.
        if let Some(found) = detect(&models.http, &base).await {
            servers.push((found.server, found.models));
        }
    }
    servers
}

/// Where a server on this machine or its network would be called.
fn place(provider: &str, models: &Models) -> Option<BaseUrl> {
    let route = models.route(&Chosen {
        // Any name will do: the address does not depend on the model.
        model: Some("any".to_owned()),
        provider: Some(provider.to_owned()),
    });
    match route.ok()?.route.endpoint {
        Endpoint::Http(address) if address.local => Some(address.base),
        Endpoint::Http(_) | Endpoint::Embedded { .. } => None,
    }
}

/// Shows a list and reads who is meant: by number, or by name, also one that is not shown.
fn read<'c>(
    shown: &'c [Choice],
    behind: &[&str],
    hidden: &'c [Choice],
    output: &mut Output,
) -> Outcome<Typed<'c>> {
    output.line("")?;
    for (number, choice) in (1..).zip(shown) {
        let text = format!("{} ({})", choice.name, choice.provider);
        output.item(&format!("{number:>4}  "), &text)?;
    }
    for (number, text) in (shown.len() + 1..).zip(behind) {
        output.item(&format!("{number:>4}  "), text)?;
    }
    let last = shown.len() + behind.len();
    let question = format!(
        "Who shall serve the model? (1-{last} or a name; Enter leaves everything as it is) "
    );
    loop {
        let Some(typed) = ask::line(&question, output)?.filter(|typed| !typed.is_empty()) else {
            return Ok(Typed::Nothing);
        };
        let number = typed.parse::<usize>().ok();
        let past = number.and_then(|number| number.checked_sub(shown.len() + 1));
        if let Some(past) = past.filter(|past| *past < behind.len()) {
            return Ok(Typed::Behind(past));
        }
        let mut all = shown.iter().chain(hidden);
        let named = || all.find(|choice| choice.provider == typed);
        match ask::numbered(&typed, shown).or_else(named) {
            Some(choice) => return Ok(Typed::Choice(choice)),
            None => output.line(format!("There is no {}.", one_line(&typed)))?,
        }
    }
}
