//! One question for whoever begins: everything that could answer here, each with the model it usually has.

use hermes_llm::resolve::ResolveError;

use super::choices::{self, Choice, Picked};
use super::{Answered, Decision, EMBEDDED, finish};
use crate::commands::ask;
use crate::commands::wish::Wish;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// How much is asked besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Asks {
    /// What it does not work without: with this question, three at most.
    Least,
    /// Which of the models, too.
    Everything,
}

/// What stands on one line of the list.
enum Offer {
    /// Somebody who can be called at once.
    Ready { choice: Choice, model: String },
    /// The model inside the program, after a download.
    Embedded,
    /// Somebody whose model has to be asked for.
    Ask(Choice),
    /// Everybody else.
    Others(Vec<Choice>),
}

/// Asks which of the keys, servers and models that were found shall answer.
pub(in crate::commands) fn run(
    asks: Asks,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Decision>> {
    let mut models = Models::new(context, context.settings()?)?;
    let offers = offers(asks, &models)?;
    output.line("")?;
    for (number, offer) in (1..).zip(&offers) {
        output.item(&format!("{number:>4}  "), &one_line(&offer.words()))?;
    }
    output.item(
        "  or  ",
        "the address of an API, such as http://127.0.0.1:8000/v1",
    )?;
    let question = format!(
        "Which model shall answer? (1-{} or an address; Enter for 1, s skips this) ",
        offers.len()
    );
    let offer = loop {
        let Some(typed) = ask::line(&question, output)? else {
            return Ok(Answered::Left);
        };
        let typed = match typed.as_str() {
            "s" | "S" | "skip" => return Ok(Answered::Left),
            "" => "1",
            // An address says all that picking a line for it would.
            address if address.contains("://") => {
                let choice = Choice::at(address);
                return finish(choice, asks, &mut models, context, output);
            }
            other => other,
        };
        match ask::numbered(typed, &offers) {
            Some(offer) => break offer,
            None => output.line(format!("There is no {}.", one_line(typed)))?,
        }
    };
    match offer {
        Offer::Ready { choice, model } => Ok(Answered::With(Decision {
            wish: Wish {
                model: model.clone(),
                provider: Some(choice.provider.clone()),
                base_url: None,
                api_key: None,
                key_env: None,
            },
            settings: Vec::new(),
            pull: false,
        })),
        Offer::Embedded => Ok(Answered::With(Decision::embedded())),
        Offer::Ask(choice) => finish(choice.clone(), asks, &mut models, context, output),
        Offer::Others(others) => match choices::pick_of(others, output)? {
            Picked::Choice(choice) => finish(choice, asks, &mut models, context, output),
            Picked::Nothing | Picked::Removal => Ok(Answered::Left),
        },
    }
}

/// Who is ready comes first, then what needs nothing but a download, then the rest.
fn offers(asks: Asks, models: &Models) -> Outcome<Vec<Offer>> {
    let (ready, mut others) = choices::choices(models)?;
    let mut offers: Vec<Offer> = ready
        .into_iter()
        .filter(|choice| !choice.own_endpoint)
        .map(|choice| match usual(&choice, models) {
            Some(model) => Offer::Ready { choice, model },
            None => Offer::Ask(choice),
        })
        .collect();
    if others.iter().any(|choice| choice.provider == EMBEDDED.0) {
        offers.push(Offer::Embedded);
    }
    if asks == Asks::Least {
        others.retain(|choice| !needs_address(choice, models));
    }
    offers.push(Offer::Others(others));
    Ok(offers)
}

/// Whether an address would have to be asked for, besides a key and a model.
fn needs_address(choice: &Choice, models: &Models) -> bool {
    let route = models.route(&Chosen {
        // Any name will do: what is missing does not depend on the model.
        model: Some("any".to_owned()),
        provider: Some(choice.provider.clone()),
    });
    matches!(route, Err(ResolveError::MissingAddress { .. }))
}

/// The model a provider usually answers with; the first one of a server nearby.
fn usual(choice: &Choice, models: &Models) -> Option<String> {
    if let Some(found) = &choice.models {
        return found.first().cloned();
    }
    let route = models.route(&Chosen {
        model: None,
        provider: Some(choice.provider.clone()),
    });
    route.ok().map(|found| found.route.model)
}

impl Offer {
    fn words(&self) -> String {
        match self {
            Self::Ready { choice, model } => match &choice.why {
                Some(why) => format!("{model} from {} ({why})", choice.name),
                None => format!("{model} from {}", choice.name),
            },
            Self::Embedded => {
                "A tiny model inside the program, to try things out (a download of 93 MB)"
                    .to_owned()
            }
            Self::Ask(choice) => choice.name.clone(),
            Self::Others(others) => {
                let count = others.len();
                format!("One of {count} other providers, with a key or a sign-in")
            }
        }
    }
}
