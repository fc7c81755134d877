//! `hermes auth`: keys and logins, added, looked at and removed.

mod add;
pub(super) mod allowed;
mod login;
pub(super) mod read_key;
mod show;

use hermes_core::FailureKind;
use hermes_llm::alias;
use hermes_llm::keys::{EntryKind, EntryView, KeyError, KeySource, OwnKey, ProviderKeys};
use hermes_llm::profile::Profile;
use hermes_llm::resolve::ResolveError;
use hermes_secrets::{Secret, SecretName};
use url::Url;

use crate::args::auth::{AddArgs, AuthArgs, AuthCommand, AuthKind};
use crate::commands::endpoints;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::Output;

pub(crate) fn run(args: AuthArgs, context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let listing = AuthCommand::List {
        provider: None,
        json: false,
    };
    match args.command.unwrap_or(listing) {
        AuthCommand::Add(args) => add::run(&args, &models, context, output),
        AuthCommand::List { provider, json } => {
            tell_of_keys(&models)?;
            let provider = provider.map(|name| id(&models, &name)).transpose()?;
            show::list(provider.as_deref(), json, &models, output)
        }
        AuthCommand::Status { provider, json } => {
            tell_of_keys(&models)?;
            match provider {
                None => show::list(None, json, &models, output),
                Some(name) => show::status(&id(&models, &name)?, json, &models, output),
            }
        }
        AuthCommand::Remove { provider, target } => {
            tell_of_keys(&models)?;
            let provider = id(&models, &provider)?;
            let removed = models.keys.remove(&provider, &target)?;
            Ok(output.line(format!(
                "{provider}: {} ({}) removed",
                removed.label, removed.masked
            ))?)
        }
        AuthCommand::Reset { provider } => {
            tell_of_keys(&models)?;
            let provider = id(&models, &provider)?;
            let count = models.keys.reset(&provider)?;
            Ok(output.line(match count {
                0 => format!("{provider}: nothing was held against any credential"),
                1 => format!("{provider}: 1 credential is used again"),
                many => format!("{provider}: {many} credentials are used again"),
            })?)
        }
        AuthCommand::Logout { provider } => logout(&id(&models, &provider)?, &models, output),
    }
}

/// Refuses a key that cannot work, before it is used for anything.
pub(super) fn check_key(
    provider: &str,
    key: &str,
    models: &Models,
    context: &Context,
) -> Outcome<Secret> {
    let profile = models.profiles.find(provider).map_err(ResolveError::from)?;
    add::checked(key, profile.as_deref(), context)
}

/// Keeps a key that came with a route. With an address it is the one key of that address and goes nowhere else.
pub(super) fn keep_key(
    provider: &str,
    key: &str,
    address: Option<&Url>,
    models: &Models,
    context: &Context,
) -> Outcome<EntryView> {
    let secret = check_key(provider, key, models, context)?;
    tell_of_keys(models)?;
    let kept = match address {
        Some(address) => models.keys.set_key(provider, &secret, address),
        None => models.keys.add_key(provider, &secret, None, None),
    };
    match kept {
        // What is there already need not be added.
        Err(KeyError::Known { label, .. }) => {
            let entries = models.keys.entries(provider)?.into_iter();
            let mut known = entries.filter(|entry| entry.label == label);
            known.next().ok_or_else(|| {
                Complaint::new(FailureKind::NotFound, format!("{label} is gone again"))
            })
        }
        kept => Ok(kept?),
    }
}

/// Signs in to a provider that has a login.
pub(super) fn sign_in(
    provider: &str,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let args = AddArgs {
        provider: provider.to_owned(),
        kind: Some(AuthKind::Oauth),
        ..AddArgs::default()
    };
    add::run(&args, models, context, output)
}

fn logout(provider: &str, models: &Models, output: &mut Output) -> Outcome {
    tell_of_keys(models)?;
    let logins: Vec<_> = models
        .keys
        .entries(provider)?
        .into_iter()
        .filter(|entry| matches!(entry.kind, EntryKind::Login { .. }))
        .collect();
    if logins.is_empty() {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("nobody is signed in to {provider}"),
        )
        .hint("hermes auth list shows what there is"));
    }
    for login in logins {
        models.keys.remove(provider, &login.id)?;
        output.line(format!("{provider}: {} removed", login.label))?;
    }
    Ok(())
}

/// The id that credentials are kept under.
fn id(models: &Models, name: &str) -> Outcome<String> {
    Ok(match whose(models, name)? {
        Whose::Provider(profile) => profile.id_of(&alias::normal(name)).to_owned(),
        Whose::Endpoint(id) => id,
    })
}

/// Who a name means.
enum Whose {
    Provider(std::sync::Arc<Profile>),
    /// An endpoint of the user's own, by its id.
    Endpoint(String),
}

fn whose(models: &Models, name: &str) -> Outcome<Whose> {
    let name = alias::normal(name);
    if let Some(profile) = models.profiles.find(&name).map_err(ResolveError::from)? {
        return Ok(Whose::Provider(profile));
    }
    if let Some(endpoint) = endpoints::find(&models.loaded.config, &name) {
        return Ok(Whose::Endpoint(endpoint.id()));
    }
    if let Some(why) = alias::left_out(&name) {
        return Err(
            Complaint::bad_request(format!("the provider `{name}` is not offered: {why}"))
                .hint("see docs/providers.md for what is offered"),
        );
    }
    let all = models.profiles.all().map_err(ResolveError::from)?;
    let known = all
        .iter()
        .flat_map(|profile| std::iter::once(&profile.id).chain(&profile.aliases))
        .map(String::as_str);
    let hint = match hermes_config::nearest(&name, known) {
        Some(near) => format!("did you mean {near}?"),
        None => "hermes model list shows them".to_owned(),
    };
    Err(Complaint::bad_request(format!("there is no provider `{name}`")).hint(hint))
}

/// Lets the keyring know of keys in variables and of ways to sign in, so that everything is listed.
fn tell_of_keys(models: &Models) -> Outcome {
    // The route in use may have its key from the settings; without a route there is nothing to tell.
    drop(models.course(&Chosen::default()));
    for profile in models.profiles.all().map_err(ResolveError::from)? {
        let keys: Vec<OwnKey> = profile
            .key_env
            .iter()
            .filter_map(|name| {
                let value = models.loaded.environment.filled_named(name)?;
                let label = SecretName::new(name).ok()?;
                Some(OwnKey {
                    source: KeySource::Variable(name.clone()),
                    secret: Secret::new(label, value.to_owned(), []).ok()?,
                })
            })
            .collect();
        let flow = models.usual_flow(&profile);
        if !keys.is_empty() || flow.is_some() {
            let known = ProviderKeys {
                keys,
                flow,
                ..ProviderKeys::default()
            };
            models.keys.know(&profile.id, known);
        }
    }
    Ok(())
}

impl From<KeyError> for Complaint {
    fn from(error: KeyError) -> Self {
        let (kind, hint) = match &error {
            KeyError::NoSuchEntry { provider, .. } | KeyError::Ambiguous { provider, .. } => (
                FailureKind::NotFound,
                Some(format!(
                    "hermes auth list {provider} shows them with their numbers"
                )),
            ),
            KeyError::Known { .. } => (
                FailureKind::BadInput,
                Some(
                    "nothing was changed; remove that one first to add it under another label"
                        .to_owned(),
                ),
            ),
            KeyError::KeptElsewhere { .. } => (FailureKind::Refused, None),
            KeyError::NotRenewable { .. } | KeyError::Ended { .. } | KeyError::Later { .. } => {
                (FailureKind::Unavailable, None)
            }
            _ => (FailureKind::Unavailable, None),
        };
        let complaint = Self::caused(kind, error);
        match hint {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        }
    }
}
