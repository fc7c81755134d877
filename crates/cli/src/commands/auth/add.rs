//! `hermes auth add`

use hermes_core::FailureKind;
use hermes_llm::Endpoint;
use hermes_llm::profile::{AuthStyle, KeyNeed, Profile};
use hermes_llm::resolve::{self, Flags, Request};
use hermes_secrets::{Secret, SecretName};
use url::Url;

use super::{Whose, login, read_key, tell_of_keys, whose};
use crate::args::auth::{AddArgs, AuthKind};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::Output;

/// The endpoint that has an address and no name.
const NAMELESS: &str = "custom";

pub(super) fn run(
    args: &AddArgs,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let (id, name, profile) = match whose(models, &args.provider)? {
        Whose::Provider(profile) => (profile.id.clone(), profile.name.clone(), Some(profile)),
        Whose::Endpoint(id) => (id, args.provider.clone(), None),
    };
    let signs_in = profile
        .as_deref()
        .filter(|profile| profile.key == KeyNeed::Login);
    let kind = match args.kind {
        Some(kind) => kind,
        None if args.api_key.is_some() || signs_in.is_none() => AuthKind::ApiKey,
        None => AuthKind::Oauth,
    };
    match (kind, signs_in) {
        (AuthKind::Oauth, Some(profile)) => {
            return login::run(profile, args, models, context, output);
        }
        (AuthKind::Oauth, None) => {
            return Err(Complaint::bad_request(format!(
                "{name} has no login that this program may use"
            ))
            .hint(format!("hermes auth add {id} adds a key")));
        }
        (AuthKind::ApiKey, _) => {}
    }
    if let Some(profile) = &profile {
        check_wants_key(profile)?;
    }
    let key = match &args.api_key {
        Some(key) => key.trim().to_owned(),
        None => read_key::read(&name)?,
    };
    let secret = checked(&key, profile.as_deref(), context)?;
    tell_of_keys(models)?;
    let (id, address) = match id == NAMELESS {
        true => place_of_nameless(&args.provider, &key, models)?,
        false => (id, None),
    };
    let entry = models
        .keys
        .add_key(&id, &secret, args.label.as_deref(), address.as_ref())?;
    let place = context.home()?.auth_file();
    Ok(output.line(format!(
        "{id}: {} ({}) added, number {}, kept in {}",
        entry.label,
        entry.masked,
        entry.index,
        place.display()
    ))?)
}

/// Whose key it is and where it goes: an endpoint without a name is known by its address alone, and the one of
/// tomorrow is not to see the key of today's.
fn place_of_nameless(name: &str, key: &str, models: &Models) -> Outcome<(String, Option<Url>)> {
    let nothing = Chosen::default();
    let request = Request {
        flags: Flags {
            model: Some("any"),
            provider: Some(name),
            base_url: None,
            api_key: Some(key),
        },
        ..models.request(&nothing)
    };
    let route = resolve::resolve(&request)?.route;
    let address = match &route.endpoint {
        Endpoint::Http(address) => Some(address.base.join("")),
        Endpoint::Embedded { .. } => None,
    };
    Ok((route.provider, address))
}

/// A key that can work, as a secret that is masked from now on.
pub(super) fn checked(key: &str, profile: Option<&Profile>, context: &Context) -> Outcome<Secret> {
    let bad = |_| {
        Complaint::bad_request("the key is empty").hint("hermes auth add PROVIDER --api-key KEY")
    };
    let label = SecretName::new("api_key").map_err(bad)?;
    let secret = Secret::new(label, key.to_owned(), []).map_err(bad)?;
    context.redactor.add(&secret);
    check_key(key, profile)?;
    Ok(secret)
}

fn check_wants_key(profile: &Profile) -> Outcome {
    match profile.auth {
        AuthStyle::None | AuthStyle::Embedded => Err(Complaint::bad_request(format!(
            "{} needs no key",
            profile.name
        ))
        .hint(format!("hermes -z 'Hello' --provider {}", profile.id))),
        AuthStyle::Google => Err(Complaint::bad_request(format!(
            "{} has no keys: tokens are made out of a service account or a sign-in",
            profile.name
        ))
        .hint(
            "set VERTEX_CREDENTIALS_PATH to the file of the account, or run `gcloud auth application-default login`",
        )),
        AuthStyle::Bearer | AuthStyle::Header(_) | AuthStyle::Aws => Ok(()),
    }
}

/// A key that cannot work is refused here, not at the first question.
fn check_key(key: &str, profile: Option<&Profile>) -> Outcome {
    if key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(
            Complaint::bad_request("the key has a space or a line break in it")
                .hint("copy it again, whole and alone"),
        );
    }
    let refused = profile.and_then(|profile| {
        let mut all = profile.refused_keys.iter();
        all.find(|refused| key.starts_with(&refused.prefix))
            .map(|refused| (profile, refused))
    });
    let Some((profile, refused)) = refused else {
        return Ok(());
    };
    let complaint = Complaint::new(
        FailureKind::BadInput,
        format!("the key cannot be used: {}", refused.why),
    );
    Err(match &profile.signup {
        Some(url) => complaint.hint(format!("get one at {url}")),
        None => complaint,
    })
}
