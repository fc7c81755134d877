//! What a choice needs before it can be called: an address, a key, a sign-in. All of it is only asked here.

use hermes_llm::resolve::{self, Credential, Flags, Request, ResolveError};

use super::choices::OWN;
use super::{Answered, Draft, reached};
use crate::commands::ask;
use crate::commands::auth::{self, read_key};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};

/// A key that is not there.
pub(super) struct Lack {
    /// Whose, for people.
    pub(super) name: String,
    /// Where it could stand in place of being typed.
    pub(super) variables: Vec<String>,
    /// Where keys are made.
    pub(super) signup: Option<String>,
}

/// A provider's key, which it does not work without.
pub(super) fn key(
    mut draft: Draft,
    lack: &Lack,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Draft>> {
    output.line("")?;
    output.line(match &lack.signup {
        Some(url) => format!("{} needs a key. Keys are made at {url}", lack.name),
        None => format!("{} needs a key.", lack.name),
    })?;
    let question = "Key (it is not shown; Enter leaves everything as it is): ";
    draft.api_key = typed_key(&draft.provider, question, models, context, output)?;
    if draft.api_key.is_some() {
        return Ok(Answered::With(draft));
    }
    let later = match lack.variables.first() {
        Some(variable) => format!("set {variable} in .env"),
        None => "set one in config.yaml".to_owned(),
    };
    output.line(format!(
        "No key was typed. `hermes auth add {}` adds one later, or {later}.",
        draft.provider
    ))?;
    Ok(Answered::Left)
}

/// Signing in happens at once: there is nothing to hold back until the end.
pub(super) fn login(
    draft: Draft,
    name: &str,
    models: &mut Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Draft>> {
    let question = format!("Sign in to {name} now, in a browser on any machine?");
    if !ask::agreed(&question, output)? {
        return Ok(Answered::Left);
    }
    output.flush()?;
    auth::sign_in(&draft.provider, models, context, output)?;
    *models = Models::new(context, context.settings()?)?;
    Ok(Answered::With(draft))
}

/// The model inside the program, which has to be fetched.
pub(super) fn download(mut draft: Draft, output: &mut Output) -> Outcome<Answered<Draft>> {
    output.line("")?;
    output.line(
        "A tiny model that runs inside the program, for trying things out. It knows little and uses no tools.",
    )?;
    draft.pull = ask::agreed("Download it, 93 MB?", output)?;
    Ok(match draft.pull {
        true => Answered::With(draft),
        false => Answered::Left,
    })
}

/// The address of an endpoint, unless it was typed already, and a key if it wants one.
pub(super) fn endpoint(
    mut draft: Draft,
    mut address: Option<String>,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Draft>> {
    let question =
        "Address of the API, such as http://127.0.0.1:8000/v1 (Enter leaves everything as it is) ";
    let opened = loop {
        let typed = match address.take() {
            Some(address) => Some(address),
            None => ask::line(question, output)?,
        };
        let Some(typed) = typed.filter(|typed| !typed.is_empty()) else {
            return Ok(Answered::Left);
        };
        match opened(&draft.provider, &typed, models)? {
            Ok(opened) => {
                draft.base_url = Some(typed);
                break opened;
            }
            Err(error) => {
                output.line(format!(
                    "{}: {}.",
                    one_line(&error.to_string()),
                    error.hint()
                ))?;
            }
        }
    };
    let question = match opened {
        Opened::With(key) => format!("Key (it is not shown; Enter keeps {key}): "),
        Opened::Not => "Key (it is not shown; Enter for none): ".to_owned(),
    };
    draft.api_key = typed_key(&draft.provider, &question, models, context, output)?;
    if draft.provider == OWN {
        reached::look(&mut draft, models, context, output)?;
    }
    Ok(Answered::With(draft))
}

/// Whether an address has a key already.
enum Opened {
    /// A word for the key.
    With(String),
    Not,
}

fn opened(
    provider: &str,
    base_url: &str,
    models: &Models,
) -> Outcome<Result<Opened, ResolveError>> {
    let nothing = Chosen::default();
    let request = Request {
        flags: Flags {
            model: Some("any"),
            provider: Some(provider),
            base_url: Some(base_url),
            api_key: None,
        },
        ..models.request(&nothing)
    };
    let resolved = match resolve::resolve(&request) {
        // What is stored for another address does not stand in the way of a key for this one.
        Err(ResolveError::ForeignKey { .. }) => resolve::resolve(&Request {
            logins: &[],
            ..request
        }),
        resolved => resolved,
    };
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(ResolveError::MissingKey { .. }) => return Ok(Ok(Opened::Not)),
        Err(error) => return Ok(Err(error)),
    };
    let route = match &resolved.key {
        Credential::None => return Ok(Ok(Opened::Not)),
        Credential::Minted(mint) => return Ok(Ok(Opened::With(mint.label().to_owned()))),
        Credential::Key { .. } | Credential::Login { .. } => models.known(resolved),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // A key that is kept may be for another address.
    let lease = runtime.block_on(models.keys.lease(&route));
    let kept = lease.ok().filter(|lease| lease.secret.is_some());
    Ok(Ok(
        kept.map_or(Opened::Not, |lease| Opened::With(lease.label))
    ))
}

/// A key that can work, typed where nobody sees it.
fn typed_key(
    provider: &str,
    question: &str,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<String>> {
    loop {
        output.flush()?;
        let Some(key) = read_key::line(question)? else {
            return Ok(None);
        };
        match auth::check_key(provider, &key, models, context) {
            Ok(_) => return Ok(Some(key)),
            Err(complaint) => output.line(format!("{}.", one_line(&complaint.cause())))?,
        }
    }
}
