//! Picking one of the models of whoever was picked.

use super::{Answered, Asks, Draft};
use crate::commands::ask;
use crate::commands::model::listing::{self, Keep, Listed, Whose};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::Models;
use crate::output::{Output, Style, one_line};

/// Most models that are shown at once; part of a name finds the others.
const SHOWN: usize = 40;

/// What was typed at the list of models.
enum Typed {
    Nothing,
    Refresh,
    Model(String),
    /// Several have this in their names.
    Narrower(Vec<String>),
}

pub(super) fn run(
    models: &Models,
    draft: &Draft,
    asks: Asks,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<String>> {
    let whose = Whose {
        provider: &draft.provider,
        base_url: draft.base_url.as_deref(),
        api_key: draft.api_key.as_deref(),
    };
    let mut listed = match &draft.listed {
        Some(listed) => listed.clone(),
        None => listing::find(models, whose, Keep::Any, context)?,
    };
    if let ([only], Asks::Least) = (listed.models.as_slice(), asks) {
        return Ok(Answered::With(only.clone()));
    }
    let mut shown = listed.models.clone();
    loop {
        show(&listed, &shown, output)?;
        let question = match listed.models.is_empty() {
            true => "Which model? (its name; r asks again, Enter leaves everything as it is) ",
            false => {
                "Which model? (number, name or part of it; r asks the provider again, Enter leaves everything as it is) "
            }
        };
        let typed = match ask::line(question, output)? {
            Some(typed) => read(&typed, &shown, &listed.models),
            None => Typed::Nothing,
        };
        match typed {
            Typed::Nothing => return Ok(Answered::Left),
            Typed::Model(model) => return Ok(Answered::With(model)),
            Typed::Narrower(found) => shown = found,
            Typed::Refresh => {
                listed = listing::find(models, whose, Keep::Nothing, context)?;
                shown.clone_from(&listed.models);
            }
        }
    }
}

fn read(typed: &str, shown: &[String], all: &[String]) -> Typed {
    if let Some(model) = ask::numbered(typed, shown) {
        return Typed::Model(model.clone());
    }
    match typed {
        "" => return Typed::Nothing,
        "r" => return Typed::Refresh,
        _ => {}
    }
    let wanted = typed.to_lowercase();
    let mut found: Vec<String> = all
        .iter()
        .filter(|model| model.to_lowercase().contains(&wanted))
        .cloned()
        .collect();
    match (found.pop(), found.is_empty()) {
        // A name that no list has may still be right.
        (None, _) => Typed::Model(typed.to_owned()),
        (Some(only), true) => Typed::Model(only),
        (Some(last), false) => {
            found.push(last);
            match found.iter().find(|model| *model == typed) {
                Some(exact) => Typed::Model(exact.clone()),
                None => Typed::Narrower(found),
            }
        }
    }
}

fn show(listed: &Listed, shown: &[String], output: &mut Output) -> Outcome {
    output.line("")?;
    for (number, model) in (1..).zip(shown.iter().take(SHOWN)) {
        output.line(format!("{number:>4}  {}", one_line(model)))?;
    }
    if let Some(more) = shown.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.line(format!("      and {more} more"))?;
    }
    let mut from = match listed.models.is_empty() {
        true => "There is no list of its models.".to_owned(),
        false => format!("From {}.", listed.source.words()),
    };
    if let Some(note) = &listed.note {
        from = format!("{from} {}", one_line(note));
    }
    output.line(output.paint(Style::Faint, &from))?;
    Ok(())
}
