//! `hermes mcp picker`: servers and their tools, chosen at a terminal; elsewhere they are listed.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use hermes_config::{Edit, Loaded};
use hermes_mcp::Server;

use super::add::ask;
use super::catalog::{self, Described};
use super::{configure, install, is_flawed, key, list, login, probe, remove};
use crate::args::mcp::{ConfigureArgs, InstallArgs};
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, one_line};

/// What can be picked.
enum Entry {
    Server(String),
    Catalog(String),
}

/// What can be done with a server.
#[derive(Clone, Copy)]
enum Deed {
    Tools,
    Switch,
    Test,
    Login,
    Remove,
}

/// Whether somebody sits there.
fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    if !is_possible() {
        // Nobody picks, so there is only what could be picked.
        list::run(false, context, output)?;
        output.line("")?;
        return catalog::run(false, context, output);
    }
    let loaded = context.settings()?;
    let entries = shown(&loaded, output)?;
    let question = "Which one? (a number or a name; Enter leaves everything as it is) ";
    loop {
        output.flush()?;
        let said = ask(question)?;
        if said.is_empty() {
            return Ok(());
        }
        match meant(&said, &entries) {
            Some(Entry::Catalog(name)) => {
                let args = InstallArgs {
                    name: name.clone(),
                    env: Vec::new(),
                };
                return install::run(&args, context, output);
            }
            Some(Entry::Server(name)) => return with(name, &loaded, context, output),
            None => output.line(format!("There is no {}.", one_line(&said)))?,
        }
    }
}

/// The servers of the settings, then those of the catalog that are not among them.
fn shown(loaded: &Loaded, output: &mut Output) -> Outcome<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut known = BTreeSet::new();
    for server in Server::configured(loaded) {
        let name = server.name();
        let tools = list::tools(&server);
        let about = match server.settings().enabled {
            _ if is_flawed(name, loaded) => "its entry cannot be used".to_owned(),
            true => format!("on, tools: {tools}"),
            false => format!("off, tools: {tools}"),
        };
        entries.push(Entry::Server(name.to_owned()));
        known.insert(name.to_owned());
        output.line(format!("{:>4}  {name} ({about})", entries.len()))?;
    }
    for one in catalog::all()? {
        let Described::Known(one) = one else {
            continue;
        };
        if known.contains(&one.name) {
            continue;
        }
        let number = entries.len() + 1;
        output.line(format!(
            "{number:>4}  install {}: {}",
            one.name, one.description
        ))?;
        entries.push(Entry::Catalog(one.name));
    }
    Ok(entries)
}

fn meant<'e>(said: &str, entries: &'e [Entry]) -> Option<&'e Entry> {
    let is_named = |entry: &&Entry| match entry {
        Entry::Server(name) | Entry::Catalog(name) => name.eq_ignore_ascii_case(said),
    };
    let numbered = said.parse().ok().and_then(|number: usize| {
        let place = number.checked_sub(1)?;
        entries.get(place)
    });
    numbered.or_else(|| entries.iter().find(is_named))
}

/// Asks what to do with a server, and does it.
fn with(name: &str, loaded: &Loaded, context: &Context, output: &mut Output) -> Outcome {
    let server = super::server(name, loaded)?;
    let on = server.settings().enabled;
    let deeds = deeds(&server, is_flawed(name, loaded));
    for (number, (_, words)) in (1..).zip(&deeds) {
        output.line(format!("{number:>4}  {words}"))?;
    }
    output.flush()?;
    let said = ask(&format!("What about {name}? (Enter leaves it as it is) "))?;
    let place = said
        .parse()
        .ok()
        .and_then(|number: usize| number.checked_sub(1));
    match place.and_then(|place| deeds.get(place)) {
        _ if said.is_empty() => Ok(()),
        None => Err(
            Complaint::bad_request(format!("there is no {}", one_line(&said)))
                .hint("nothing was changed"),
        ),
        Some((Deed::Tools, _)) => configure::run(&ConfigureArgs::of(name), context, output),
        Some((Deed::Test, _)) => probe::run(name, false, context, output),
        Some((Deed::Login, _)) => login::run(name, context, output),
        Some((Deed::Remove, _)) => remove::run(name, context, output),
        Some((Deed::Switch, _)) => {
            let wanted = (!on).to_string();
            let enabled = key(name, "enabled");
            edit(context, |settings| {
                settings.change(&[(&enabled, Edit::Set(&wanted))])
            })?;
            let state = if on { "off" } else { "on" };
            Ok(output.line(format!("{name} is switched {state}"))?)
        }
    }
}

/// What can be done with a server, and the words for it.
fn deeds(server: &Server, flawed: bool) -> Vec<(Deed, &'static str)> {
    if flawed {
        return vec![
            (Deed::Test, "show what is wrong with it"),
            (Deed::Remove, "remove it"),
        ];
    }
    let switch = match server.settings().enabled {
        true => "switch it off",
        false => "switch it on",
    };
    let mut deeds = vec![
        (Deed::Tools, "choose its tools"),
        (Deed::Switch, switch),
        (Deed::Test, "connect and show what it offers"),
    ];
    if server.wants_oauth() {
        deeds.push((Deed::Login, "sign in"));
    }
    deeds.push((Deed::Remove, "remove it"));
    deeds
}
