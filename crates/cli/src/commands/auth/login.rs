//! Signing in: a code is confirmed in a browser, on any machine.

use std::io::Write;

use hermes_core::FailureKind;
use hermes_http::BaseUrl;
use hermes_llm::oauth::{DeviceLogin, Flow, OAuthError};
use hermes_llm::profile::Profile;
use tokio_util::sync::CancellationToken;

use crate::args::auth::AddArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::Models;
use crate::output::{Output, one_line};

pub(super) fn run(
    profile: &Profile,
    args: &AddArgs,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let provider = profile.id.as_str();
    let login = DeviceLogin {
        http: models.http.clone(),
        flow: flow(profile, args, models)?,
        clock: context.clock().clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let granted = runtime.block_on(async {
        let cancel = CancellationToken::new();
        let exchange = async {
            let code = login.start().await?;
            let mut aside = std::io::stderr().lock();
            let page = code.verification_uri_complete.as_ref().unwrap_or(&code.verification_uri);
            // Nobody is left to tell when stderr is gone.
            let _ = writeln!(
                aside,
                "Open this page in a browser:\n\n    {page}\n\nand confirm this code: {}\n\nWaiting; Ctrl+C stops.",
                one_line(&code.user_code)
            );
            drop(aside);
            login.finish(code, &cancel).await
        };
        let mut exchange = std::pin::pin!(exchange);
        tokio::select! {
            granted = &mut exchange => granted,
            _ = tokio::signal::ctrl_c() => Err(OAuthError::Cancelled),
        }
    });
    let granted = match granted {
        Ok(granted) => granted,
        Err(OAuthError::Cancelled) => {
            writeln!(std::io::stderr(), "stopped; nothing was changed")?;
            return Err(Complaint::Code(130));
        }
        Err(error) => {
            return Err(Complaint::caused(FailureKind::Unavailable, error)
                .hint(format!("hermes auth add {provider} begins again")));
        }
    };
    super::tell_of_keys(models)?;
    let entry = models
        .keys
        .add_login(provider, &granted, args.label.as_deref(), &login.flow)?;
    Ok(output.line(format!(
        "{provider}: signed in as {} ({})",
        entry.label, entry.masked
    ))?)
}

/// How to sign in: as the profile says, or at the portal of Nous.
fn flow(profile: &Profile, args: &AddArgs, models: &Models) -> Outcome<Flow> {
    let mut flow = match (&profile.oauth, &args.portal_url) {
        (Some(_), Some(_)) => {
            return Err(Complaint::bad_request(format!(
                "{} has no portal to choose",
                profile.name
            ))
            .hint("leave --portal-url out; its profile says where to sign in"));
        }
        (Some(flow), None) => flow.clone(),
        (None, portal) => of_portal(portal.as_deref().unwrap_or_else(|| models.portal()))?,
    };
    if let Some(id) = &args.client_id {
        flow.client_id.clone_from(id);
    }
    if args.scope.is_some() {
        flow.scope.clone_from(&args.scope);
    }
    Ok(flow)
}

fn of_portal(portal: &str) -> Outcome<Flow> {
    let bad = |why: String| {
        Complaint::bad_request(format!("{portal} cannot be used to sign in: {why}"))
            .hint("write it like https://host")
    };
    let base: BaseUrl = portal
        .parse()
        .map_err(|_| bad("it is no address".to_owned()))?;
    Flow::nous(&base).map_err(|error| bad(error.to_string()))
}
