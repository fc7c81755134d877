//! Making a request, hop by hop.

use hermes_secrets::Origin;
use http::{HeaderValue, header};
use tokio_util::sync::CancellationToken;
use url::{Host, Url, form_urlencoded};

use crate::credentials::{self, Draft};
use crate::failure::Target;
use crate::redirect::{self, MAX_HOPS};
use crate::request::{Payload, Plan};
use crate::wait::Wait;
use crate::{AddressPolicy, DisplayUrl, HttpClient, HttpError, Refusal, Response, Stage, failure};

/// Follows a request to its final answer.
pub(crate) async fn run(client: HttpClient, mut plan: Plan) -> Result<Response, HttpError> {
    let wait = Wait::start(plan.timeouts, plan.cancel.clone());
    plan.url.set_fragment(None);
    for hops in 0..=MAX_HOPS {
        let shown = client.display(&plan.url);
        let answer = hop(&client, &plan, &wait, &shown).await?;
        let next = redirect::next(
            plan.redirects,
            &plan.method,
            &plan.url,
            answer.status(),
            answer.headers(),
        )
        .map_err(|(url, refusal)| HttpError::Refused {
            url: client.display(&url),
            refusal,
        })?;
        let Some(next) = next else {
            return Ok(Response::new(client, plan.url, shown, wait, answer));
        };
        if hops == MAX_HOPS {
            return Err(HttpError::RedirectLoop {
                url: client.display(&next.url),
                hops,
            });
        }
        redirect::strip(&mut plan.headers, &next);
        if next.leaves_origin {
            // For good: a later redirect back does not bring them back.
            plan.credentials.clear();
        }
        if !next.keeps_body {
            plan.body = Payload::Empty;
        }
        plan.method = next.method;
        plan.url = next.url;
    }
    Err(HttpError::RedirectLoop {
        url: client.display(&plan.url),
        hops: MAX_HOPS,
    })
}

/// Judges an address as a request for it would be.
pub(crate) async fn check(client: &HttpClient, url: &Url) -> Result<(), HttpError> {
    let shown = client.display(url);
    let inner = &client.inner;
    let refused = |refusal| HttpError::Refused {
        url: shown.clone(),
        refusal,
    };
    inner.resolver.policy.check_url(url).map_err(refused)?;
    if let Some(Host::Domain(host)) = url.host() {
        let wait = Wait::start(inner.settings.timeouts, CancellationToken::new());
        let looked_up = wait
            .step(Stage::Connect, &shown, inner.resolver.lookup(host))
            .await?;
        looked_up.map_err(|error| failure::from_lookup(error, host, shown.clone()))?;
    }
    Ok(())
}

/// Makes one request, after all checks, and waits for the head of the answer.
async fn hop(
    client: &HttpClient,
    plan: &Plan,
    wait: &Wait,
    shown: &DisplayUrl,
) -> Result<reqwest::Response, HttpError> {
    let refused = |refusal| HttpError::Refused {
        url: shown.clone(),
        refusal,
    };
    if !plan.url.username().is_empty() || plan.url.password().is_some() {
        return Err(refused(Refusal::CredentialsInUrl));
    }
    let inner = &client.inner;
    inner
        .resolver
        .policy
        .check_url(&plan.url)
        .map_err(refused)?;
    let host = plan.url.host_str().unwrap_or_default();
    let connections = client.connections(plan.carriage, &plan.url)?;
    let proxy = inner.settings.proxies.proxy_for(&plan.url);
    let proxied = connections.proxied.as_ref().filter(|_| proxy.is_some());
    let through = match proxied {
        None => &connections.direct,
        Some(proxied) => {
            // The proxy looks the name up again, so this cannot pin the address; it is the check we can still make.
            if inner.resolver.policy != AddressPolicy::Any
                && matches!(plan.url.host(), Some(Host::Domain(_)))
            {
                let looked_up = wait
                    .step(Stage::Connect, shown, inner.resolver.lookup(host))
                    .await?;
                looked_up.map_err(|error| failure::from_lookup(error, host, shown.clone()))?;
            }
            proxied
        }
    };
    let request = build(through, plan)?;
    let answer = wait
        .step(Stage::FirstByte, shown, through.execute(request))
        .await?;
    answer.map_err(|error| {
        let target = Target {
            host,
            url: shown.clone(),
            connect: wait.timeouts().connect,
            proxy,
        };
        failure::classify(error, target)
    })
}

fn build(client: &reqwest::Client, plan: &Plan) -> Result<reqwest::Request, HttpError> {
    let origin =
        Origin::of(&plan.url).map_err(|error| HttpError::invalid_because("the url", error))?;
    let (mut body, form) = match &plan.body {
        Payload::Empty => (None, None),
        Payload::Bytes(bytes) => (Some(bytes.clone()), None),
        Payload::Form(pairs) => (None, Some(pairs.clone())),
    };
    let mut draft = Draft {
        url: plan.url.clone(),
        headers: plan.headers.clone(),
        form,
        basic: None,
    };
    for (secret, scheme) in &plan.credentials {
        credentials::attach(&mut draft, secret, scheme, &origin)?;
    }
    if let Some(pairs) = &draft.form {
        let text = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs)
            .finish();
        body = Some(text.into());
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        draft.headers.insert(header::CONTENT_TYPE, form);
    }
    let url: Url = draft.url;
    let mut request = client
        .request(plan.method.clone(), url)
        .headers(draft.headers);
    if let Some((username, password)) = draft.basic {
        request = request.basic_auth(username, Some(password));
    }
    if let Some(body) = body {
        request = request.body(body);
    }
    request
        .build()
        .map_err(|error| HttpError::invalid_because("the request", error.without_url()))
}
