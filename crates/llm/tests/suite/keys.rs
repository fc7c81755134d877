//! Lending credentials: order, rest, death, binding.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::PoolStrategy;
use hermes_core::{ManualClock, SeededRandom, WireProtocol};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::classify::{Facts, Fault, Reason, classify};
use hermes_llm::failover::Renewal;
use hermes_llm::keys::{
    AuthFile, EntryKind, KeyError, KeyNeed, KeySource, Keyring, KeyringParts, Lease, OwnKey,
    ProviderKeys, Standing,
};
use hermes_llm::{
    Address, Auth, Endpoint, Limits, ModelError, Quirks, Route, SetPatience, WindowSource,
};
use hermes_secrets::{Origin, Secret, SecretName};
use hermes_testkit::TempHome;
use serde_json::{Value, json};

mod entries;
mod pool;

const BASE: &str = "https://api.lab.example/v1";

struct Bench {
    home: TempHome,
    clock: Arc<ManualClock>,
    strategy: PoolStrategy,
}

impl Bench {
    fn new(pool: Value) -> Self {
        let bench = Self {
            home: TempHome::new().unwrap(),
            clock: Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap())),
            strategy: PoolStrategy::FillFirst,
        };
        let document = json!({"version": 1, "credential_pool": {"lab": pool}});
        bench.home.write("auth.json", document.to_string()).unwrap();
        bench
    }

    fn with_three() -> Self {
        let row = |id: &str, priority: i64| {
            json!({"id": id, "label": format!("key {id}"), "auth_type": "api_key",
                "source": "manual", "priority": priority, "access_token": format!("sk-lab-{id}")})
        };
        // The order of the file is not the order of preference.
        Self::new(json!([row("c", 2), row("a", 0), row("b", 1)]))
    }

    fn ring(&self) -> Keyring {
        Keyring::new(KeyringParts {
            file: AuthFile::new(self.home.path().join("auth.json"), None),
            http: ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
                .build()
                .unwrap(),
            clock: self.clock.clone(),
            random: Arc::new(SeededRandom::new(1)),
            strategies: BTreeMap::from([("lab".to_owned(), self.strategy)]),
        })
    }

    fn pool(&self) -> Vec<Value> {
        let text = self.home.read("auth.json").unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        document["credential_pool"]["lab"]
            .as_array()
            .unwrap()
            .clone()
    }

    fn row(&self, id: &str) -> Value {
        self.pool().into_iter().find(|row| row["id"] == id).unwrap()
    }

    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn route_to(base: &str, auth: Auth, local: bool) -> Route {
    Route {
        provider: "lab".to_owned(),
        provider_name: "The Lab".to_owned(),
        model: "m1".to_owned(),
        endpoint: Endpoint::Http(Address {
            base: base.parse().unwrap(),
            query: Vec::new(),
            headers: Vec::new(),
            protocol: WireProtocol::ChatCompletions,
            auth,
            local,
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

fn route() -> Route {
    route_to(BASE, Auth::Bearer, false)
}

/// A route to an address that nobody tied to the provider.
fn untied(base: &str) -> Route {
    let mut route = route_to(base, Auth::Bearer, false);
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.tied = false;
    }
    route
}

fn secret(value: &str, base: &str) -> Secret {
    let origin: Origin = base.parse().unwrap();
    Secret::new(
        SecretName::new("LAB_API_KEY").unwrap(),
        value.to_owned(),
        [origin.into()],
    )
    .unwrap()
}

fn variable(name: &str, value: &str) -> OwnKey {
    OwnKey {
        source: KeySource::Variable(name.to_owned()),
        secret: secret(value, BASE),
    }
}

fn fault(reason: Reason, status: u16) -> Fault {
    Fault {
        status: Some(status),
        ..Fault::new(reason, "refused")
    }
}

fn reason(error: &ModelError) -> Reason {
    classify(error, &Facts::default()).reason
}

async fn leased(ring: &Keyring) -> Lease {
    ring.lease(&route()).await.unwrap()
}
