//! Credentials that are made for a while, against the services of the clouds on loopback.

mod aws;
mod entra;
mod google;
mod programs;

use std::sync::Arc;

use hermes_llm::keys::ProviderKeys;
use hermes_llm::resolve::{Credential, Resolved};
use hermes_llm::{CallEnd, Course, Route};
use hermes_testkit::model_server::{ModelServer, RecordedRequest};
use url::form_urlencoded;

use crate::suite::lab::{Lab, answered, question};

/// A route whose credentials are made, and what calls it.
struct Bench {
    lab: Lab,
    route: Arc<Route>,
}

impl Bench {
    #[track_caller]
    fn new(resolved: Resolved) -> Self {
        let lab = Lab::new();
        let Credential::Minted(mint) = resolved.key else {
            panic!("nothing is made: {:?}", resolved.key);
        };
        lab.caller.keys.know(
            &resolved.route.provider,
            ProviderKeys {
                mint: Some(*mint),
                ..ProviderKeys::default()
            },
        );
        Self {
            lab,
            route: Arc::new(resolved.route),
        }
    }

    async fn call(&self) -> CallEnd {
        let mut course = Course::new(self.route.clone(), []);
        self.lab.call(&mut course, &question()).await.0
    }

    async fn ask(&self) {
        answered(self.call().await);
    }

    /// Calls as one conversation does, which keeps what it was lent.
    async fn ask_on(&self, course: &mut Course) {
        answered(self.lab.call(course, &question()).await.0);
    }

    /// Calls and says why it failed.
    async fn refusal(&self) -> String {
        match self.call().await {
            CallEnd::Failed(failure) => failure.fault.message,
            other => panic!("it did not fail: {other:?}"),
        }
    }
}

/// The requests to a path, without its query.
fn to(server: &ModelServer, path: &str) -> Vec<RecordedRequest> {
    let all = server.requests().into_iter();
    all.filter(|request| request.path.split('?').next() == Some(path))
        .collect()
}

/// The requests to models.
fn calls(server: &ModelServer) -> Vec<RecordedRequest> {
    let all = server.requests().into_iter();
    all.filter(|request| request.protocol.is_some()).collect()
}

fn field(request: &RecordedRequest, name: &str) -> Option<String> {
    form_urlencoded::parse(&request.body)
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

#[track_caller]
fn last_bearer(server: &ModelServer) -> String {
    let last = calls(server).pop().expect("a call");
    last.header("authorization").unwrap_or_default().to_owned()
}
