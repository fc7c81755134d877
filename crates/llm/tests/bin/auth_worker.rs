//! Uses `auth.json` beside other processes: adds keys, meets 401 with a login and renews it, or borrows a key.
//! Prints a line after each step that must last. Tests start several and kill some.

use std::error::Error;
use std::future::pending;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::try_join_all;
use hermes_core::{SystemClock, SystemRandom, WireProtocol};
use hermes_http::{AddressPolicy, AuthScheme, BaseUrl, ClientBuilder, ClientSettings, HttpClient};
use hermes_llm::keys::{AuthFile, Keyring, KeyringParts, Lease, ProviderKeys};
use hermes_llm::oauth::Flow;
use hermes_llm::{Address, Auth, Endpoint, Limits, Quirks, Route, SetPatience, WindowSource};
use hermes_secrets::{Secret, SecretName};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        ["add", file, name, count] => add(&ring(file)?, name, count.parse()?),
        ["renew", file, portal, tasks, then] => {
            runtime.block_on(renew(file, &portal.parse()?, tasks.parse()?, then))
        }
        ["hold", file, base] => runtime.block_on(hold(file, &base.parse()?)),
        _ => Err(
            "usage: auth-worker add FILE NAME COUNT | renew FILE PORTAL TASKS use|hold | hold FILE BASE"
                .into(),
        ),
    }
}

fn add(ring: &Keyring, name: &str, count: usize) -> Outcome<()> {
    for number in 0..count {
        let label = format!("{name}-{number}");
        let secret = Secret::new(SecretName::new("key")?, format!("sk-{label}"), [])?;
        ring.add_key("lab", &secret, Some(&label), None)?;
        say(&label)?;
    }
    Ok(())
}

/// Borrows a credential and never gives it back.
async fn hold(file: &str, base: &BaseUrl) -> Outcome<()> {
    let ring = ring(file)?;
    let lease = ring.lease(&route("lab", base)).await?;
    say(&lease.id)?;
    pending().await
}

async fn renew(file: &str, portal: &BaseUrl, tasks: usize, then: &str) -> Outcome<()> {
    let ring = ring(file)?;
    ring.know(
        "nous",
        ProviderKeys {
            flow: Some(Flow::nous(portal)?),
            ..ProviderKeys::default()
        },
    );
    let (http, route) = (http()?, route("nous", portal));
    let call = async || -> Outcome<()> {
        let mut lease = ring.lease(&route).await?;
        if status(&http, portal, &lease).await? == 401 {
            lease = ring.renew(&lease).await?;
            say("kept")?;
            if then == "hold" {
                pending::<()>().await;
            }
        }
        match status(&http, portal, &lease).await? {
            200 => say("used"),
            other => Err(format!("{other} with a fresh token").into()),
        }
    };
    try_join_all((0..tasks).map(|_| call())).await?;
    ring.close().await;
    Ok(())
}

async fn status(http: &HttpClient, portal: &BaseUrl, lease: &Lease) -> Outcome<u16> {
    let secret = lease.secret.as_ref().ok_or("no secret")?;
    let request = http
        .get(portal.join("use"))
        .auth(secret, AuthScheme::Bearer);
    Ok(request.send().await?.status().as_u16())
}

fn ring(file: &str) -> Outcome<Keyring> {
    Ok(Keyring::new(KeyringParts {
        file: AuthFile::new(PathBuf::from(file), None),
        http: http()?,
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        strategies: Default::default(),
    }))
}

fn http() -> Outcome<HttpClient> {
    Ok(ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any).build()?)
}

fn route(provider: &str, base: &BaseUrl) -> Route {
    Route {
        provider: provider.to_owned(),
        provider_name: provider.to_owned(),
        model: "any".to_owned(),
        endpoint: Endpoint::Http(Address {
            base: base.clone(),
            query: Vec::new(),
            headers: Vec::new(),
            protocol: WireProtocol::ChatCompletions,
            auth: Auth::Bearer,
            local: false,
            tied: true,
        }),
        limits: Limits {
            window: 8_192,
            window_from: WindowSource::Guess,
            output: None,
        },
        price: None,
        quirks: Arc::new(Quirks::default()),
        patience: SetPatience::default(),
        why: Vec::new(),
    }
}

fn say(line: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
