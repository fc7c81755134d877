//! Toolsets as a list to be ticked: `hermes tools` on a terminal, and a part of `hermes setup`.

use std::collections::BTreeMap;

use hermes_agent::PromptQuestion;
use hermes_agent::toolsets::{self, Toolset};
use hermes_config::{Config, Edit};

use super::list::is_built_in;
use super::sets::{check_platform, listed};
use super::switch;
use crate::commands::ask;
use crate::commands::edit::edit;
use crate::commands::prompt_size::window;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::no_skills;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style, one_line};
use crate::table::cut;

/// The surface that is meant when none is named.
const HERE: &str = "cli";
/// Room for what a toolset does.
const ABOUT: usize = 40;
/// Columns a toolset needs on one line, with everything below the other.
const ONE_LINE: usize = 42 + ABOUT;

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let asked = asked(context, output);
    ask::unchanged_when_stopped(asked, output)
}

fn asked(context: &Context, output: &mut Output) -> Outcome {
    let config = context.settings()?.config;
    let platform = loop {
        let question = "Tools for which platform? (cli, telegram, …; Enter for cli) ";
        let typed = ask::line(question, output)?.unwrap_or_default();
        let typed = if typed.is_empty() { HERE } else { &typed };
        match check_platform(typed) {
            Ok(()) => break typed.to_owned(),
            Err(complaint) => output.line(format!("{}.", one_line(&complaint.cause())))?,
        }
    };
    let before = listed(&config, &platform);
    let Some((key, list)) = pick(&platform, before, &config, context, output)? else {
        return Ok(output.line("Nothing was changed.")?);
    };
    edit(context, |settings| {
        settings.change(&[(&key, Edit::Set(&list))])
    })?;
    Ok(output.line(format!("{platform}: {list}"))?)
}

/// Asks which toolsets to switch until that is enough. The answer is the setting and its new value; `None` when
/// it stays as it is. Names that are no built-in set are kept.
pub(in crate::commands) fn pick(
    platform: &str,
    before: Vec<String>,
    config: &Config,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<(String, String)>> {
    let (sets, absent): (Vec<&Toolset>, Vec<&Toolset>) = toolsets::toolsets()
        .iter()
        .filter(|set| !set.tools.is_empty())
        .partition(|set| is_built_in(set));
    let weights = weights(config, platform, context)?;
    let mut names = before.clone();
    loop {
        output.line("")?;
        for (number, set) in (1..).zip(&sets) {
            let on = names.iter().any(|name| name == set.name);
            let mark = if on { "[x]" } else { "[ ]" };
            let tokens: usize = set.tools.iter().filter_map(|tool| weights.get(*tool)).sum();
            let lead = format!("{number:>4} {mark} {:<16} ", set.name);
            let about = match output.columns().is_some_and(|columns| columns < ONE_LINE) {
                true => format!("{}, about {tokens} tokens", set.about),
                false => format!("{:<ABOUT$} about {tokens} tokens", cut(set.about, ABOUT)),
            };
            output.item(&lead, &about)?;
        }
        let rest = format!(
            "{} more are not part of this version; hermes tools list names them.",
            absent.len()
        );
        let rest = output.folded("     ", &rest);
        output.line(output.paint(Style::Faint, &rest))?;
        let question = "Switch which? (numbers or names with spaces between them; Enter is done) ";
        let typed = ask::line(question, output)?.unwrap_or_default();
        if typed.is_empty() {
            break;
        }
        for word in typed.split([' ', ',']).filter(|word| !word.is_empty()) {
            let named = || sets.iter().find(|set| set.name == word);
            match ask::numbered(word, &sets).or_else(named) {
                Some(set) => toggle(&mut names, set.name),
                None => output.line(format!("There is no {}.", one_line(word)))?,
            }
        }
    }
    let same = names.len() == before.len() && names.iter().all(|name| before.contains(name));
    Ok((!same).then(|| switch::setting(platform, &names)))
}

fn toggle(names: &mut Vec<String>, name: &str) {
    let before = names.len();
    names.retain(|other| other != name);
    if names.len() == before {
        names.push(name.to_owned());
    }
}

/// What each tool adds to every request, in tokens.
fn weights(config: &Config, platform: &str, context: &Context) -> Outcome<BTreeMap<String, usize>> {
    let mut all = config.clone();
    let everything = vec!["all".to_owned()];
    all.platform_toolsets
        .insert(platform.to_owned(), everything);
    let models = Models::new(context, context.settings_again(false)?)?;
    let route = models.route(&Chosen::default()).ok();
    let route = route.map(|found| found.route);
    let size = hermes_agent::prompt_size(&PromptQuestion {
        config: &all,
        home: context.home()?.path(),
        memories: &context.home()?.memories_dir(),
        directory: &context.directory().unwrap_or_default(),
        surface: platform,
        model: "",
        provider: "",
        window: window(route.as_ref()),
        small: route.as_ref().is_some_and(|route| route.is_embedded()),
        skills: &no_skills(context, config, context.home()?),
        tools: hermes_tools::specs(),
        programs: &context.programs(),
        external: "",
        now: context.clock().local(),
    });
    let parts = size.tools.into_iter();
    Ok(parts
        .map(|part| (part.name, part.tokens as usize))
        .collect())
}
