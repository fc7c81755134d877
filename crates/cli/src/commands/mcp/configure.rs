//! `hermes mcp configure`

use std::collections::BTreeSet;
use std::io::IsTerminal;

use hermes_config::{Edit, Loaded, McpServer};
use hermes_mcp::{Catalog, Memory, Server, ToolFilter};

use super::{add, entry, key, probe, runtime};
use crate::args::mcp::ConfigureArgs;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, one_line};

pub(super) fn run(args: &ConfigureArgs, context: &Context, output: &mut Output) -> Outcome {
    let name = args.name.as_str();
    let loaded = context.settings()?;
    let entry = entry(name, &loaded)?;
    let server = whole(name, entry);
    let store = context.store()?;
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let catalog = runtime.block_on(async {
        match Memory::new(store.clone()).recall(&server).await {
            Some(catalog) => Ok(catalog),
            None => {
                let found = probe::connect(&server, context, &loaded, &store).await?;
                Ok::<_, Complaint>(Catalog::clone(&found.view.catalog))
            }
        }
    })?;
    let now = ToolFilter::new(entry.tools.as_ref());
    let known = Known::new(&catalog, &now, args.all);
    let Some(wanted) = wanted(args, &known, &now, output)? else {
        return Ok(output.line(format!("{name}: everything stays as it is"))?);
    };
    write(name, &known.tools, &wanted, context)?;
    let all: BTreeSet<&String> = known.tools.iter().chain(&wanted).collect();
    Ok(output.line(format!(
        "{name}: {} of {} tools are offered",
        wanted.len(),
        all.len()
    ))?)
}

/// A server with the tools that are filtered out.
fn whole(name: &str, entry: &McpServer) -> Server {
    let mut whole = entry.clone();
    whole.tools = None;
    Server::new(name, whole)
}

/// Refuses a tool that a server is known not to have. It is not asked.
pub(in crate::commands) fn check_tool(
    server: &str,
    tool: &str,
    loaded: &Loaded,
    context: &Context,
) -> Outcome {
    let whole = whole(server, entry(server, loaded)?);
    let store = context.store()?;
    let runtime = runtime()?;
    let _entered = runtime.enter();
    match runtime.block_on(Memory::new(store).recall(&whole)) {
        Some(catalog) => Known::new(&catalog, &ToolFilter::All, true).check(tool),
        None => Ok(()),
    }
}

/// The tools of a server, as far as they are known.
struct Known {
    tools: Vec<String>,
    /// Whether it has more, whose names only the user knows.
    cut: bool,
}

impl Known {
    fn new(catalog: &Catalog, now: &ToolFilter, all: bool) -> Self {
        let mut tools: Vec<String> = catalog.tools.iter().map(|tool| tool.name.clone()).collect();
        let cut = catalog.cut.is_some();
        // What was named before is beyond the end of the list; without a filter it is not offered.
        if let (true, ToolFilter::Only(names)) = (cut && !all, now) {
            let beyond: Vec<&String> = names.iter().filter(|name| !tools.contains(name)).collect();
            tools.extend(beyond.into_iter().cloned());
        }
        Self { tools, cut }
    }

    fn check(&self, name: &str) -> Outcome {
        if self.cut || self.tools.iter().any(|tool| tool == name) {
            return Ok(());
        }
        let near = hermes_config::nearest(name, self.tools.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", self.tools.join(", ")),
        };
        Err(Complaint::bad_request(format!("the server has no tool {name}")).hint(hint))
    }
}

/// What to offer from now on; nothing when it stays as it is.
fn wanted(
    args: &ConfigureArgs,
    known: &Known,
    now: &ToolFilter,
    output: &mut Output,
) -> Outcome<Option<BTreeSet<String>>> {
    for name in args.enable.iter().chain(&args.disable).chain(&args.only) {
        known.check(name)?;
    }
    let tools = &known.tools;
    let offered = tools.iter().filter(|tool| now.allows(tool)).cloned();
    let mut wanted: BTreeSet<String> = offered.collect();
    if args.all {
        wanted = tools.iter().cloned().collect();
    } else if !args.only.is_empty() {
        wanted = args.only.iter().cloned().collect();
    } else if !args.enable.is_empty() || !args.disable.is_empty() {
        wanted.extend(args.enable.iter().cloned());
        wanted.retain(|tool| !args.disable.contains(tool));
    } else if std::io::stdin().is_terminal() {
        let rows = tools
            .iter()
            .map(|tool| (tool.as_str(), wanted.contains(tool)));
        return select(rows.collect(), output);
    } else {
        return Err(
            Complaint::bad_request("nobody can be asked which tools to offer")
                .hint("use --enable, --disable, --only or --all"),
        );
    }
    Ok(Some(wanted))
}

/// Shows tools, each with whether it is offered now, and asks for those to offer, by name or number.
pub(super) fn select(
    tools: Vec<(&str, bool)>,
    output: &mut Output,
) -> Outcome<Option<BTreeSet<String>>> {
    for (number, (tool, offered)) in (1..).zip(&tools) {
        let mark = if *offered { "x" } else { " " };
        output.line(format!("{number:>4}  [{mark}] {}", one_line(tool)))?;
    }
    output.flush()?;
    let said = add::ask(
        "Tools to offer, by name or number, separated by commas (all, none; Enter leaves them as they are): ",
    )?;
    let names: Vec<&str> = tools.iter().map(|(tool, _)| *tool).collect();
    meant(&said, &names)
}

fn meant(said: &str, tools: &[&str]) -> Outcome<Option<BTreeSet<String>>> {
    let words = said
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let named = |word: &str| tools.iter().find(|tool| tool.eq_ignore_ascii_case(word));
    let all = tools.iter().map(|tool| (*tool).to_owned());
    match words.as_slice() {
        [] => return Ok(None),
        // A tool may be called so.
        [one] if named(one).is_none() && one.eq_ignore_ascii_case("all") => {
            return Ok(Some(all.collect()));
        }
        [one] if named(one).is_none() && one.eq_ignore_ascii_case("none") => {
            return Ok(Some(BTreeSet::new()));
        }
        _ => {}
    }
    let picked = words.into_iter().map(|word| {
        let number = word.parse::<usize>().ok();
        let numbered = number.and_then(|number| tools.get(number.checked_sub(1)?));
        match named(word).or(numbered) {
            Some(tool) => Ok((*tool).to_owned()),
            None => Err(
                Complaint::bad_request(format!("there is no tool {}", one_line(word)))
                    .hint("nothing was changed"),
            ),
        }
    });
    picked.collect::<Outcome<_>>().map(Some)
}

/// All tools need no filter.
fn write(name: &str, tools: &[String], wanted: &BTreeSet<String>, context: &Context) -> Outcome {
    let (include, exclude) = (key(name, "tools.include"), key(name, "tools.exclude"));
    let listed = tools.iter().filter(|tool| wanted.contains(*tool));
    let beyond = wanted.iter().filter(|tool| !tools.contains(tool));
    let only: Vec<&String> = listed.chain(beyond).collect();
    let list = serde_json::json!(only).to_string();
    let is_all = tools.iter().all(|tool| wanted.contains(tool)) && only.len() == tools.len();
    let first = match is_all {
        true => Edit::Unset,
        false => Edit::Set(&list),
    };
    edit(context, |settings| {
        settings.change(&[(&include, first), (&exclude, Edit::Unset)])
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_tools_is_understood() {
        let tools = ["echo", "None", "2"];
        let said = |words: &str| {
            let meant = meant(words, &tools).ok();
            meant.map(|tools| tools.map(|tools| tools.into_iter().collect::<Vec<_>>()))
        };
        assert_eq!(said("  "), Some(None));
        assert_eq!(said("all").flatten().unwrap().len(), 3);
        // Names count before words and numbers.
        assert_eq!(said("none").flatten().unwrap(), ["None"]);
        assert_eq!(said("2, ECHO").flatten().unwrap(), ["2", "echo"]);
        assert_eq!(said("1").flatten().unwrap(), ["echo"]);
        assert_eq!(said("4"), None);
        let none = meant("none", &["echo"]).ok().flatten().unwrap();
        assert_eq!(none.len(), 0);
    }
}
