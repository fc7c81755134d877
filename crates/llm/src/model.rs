//! A model, wherever it answers.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::StreamExt;
use hermes_core::{ModelClient, ModelEvent, ModelRequest, Patience};
use hermes_secrets::Secret;
use tokio_util::sync::CancellationToken;

use crate::embedded::LocalModels;
use crate::error::ModelError;
use crate::route::{Endpoint, Route};
use crate::transport::{HttpModel, Transport};

/// The model of one attempt.
pub(crate) enum Model {
    Http(Box<HttpModel>),
    Embedded { models: LocalModels, file: PathBuf },
}

impl Model {
    pub(crate) fn new(transport: &Transport, route: Arc<Route>, secret: Option<Secret>) -> Self {
        match &route.endpoint {
            Endpoint::Http(address) => {
                let address = address.clone();
                Self::Http(Box::new(HttpModel::new(
                    transport.clone(),
                    route,
                    address,
                    secret,
                )))
            }
            Endpoint::Embedded { file } => Self::Embedded {
                models: transport.local.clone(),
                file: file.clone(),
            },
        }
    }
}

/// The same model for one request: everything that is needed to send it, and to tell whether it was sent before.
pub(crate) struct Sending {
    pub(crate) model: Model,
    pub(crate) request: ModelRequest,
    pub(crate) patience: Patience,
    pub(crate) secret: Option<Secret>,
}

impl Sending {
    /// A number that differs when the request differs as the model sees it, the credential aside.
    pub(crate) async fn print(&self) -> Option<u64> {
        match &self.model {
            Model::Http(model) => model.print(&self.request).await,
            Model::Embedded { file, .. } => {
                let mut hasher = DefaultHasher::new();
                (file, &self.request.system).hash(&mut hasher);
                for message in &self.request.messages {
                    (message.role, message.plain_text()).hash(&mut hasher);
                }
                let settings = &self.request.settings;
                let temperature = settings.temperature.map(f64::to_bits);
                (settings.max_output_tokens, temperature).hash(&mut hasher);
                Some(hasher.finish())
            }
        }
    }
}

impl ModelClient for Model {
    type Error = ModelError;

    fn stream(
        &self,
        request: ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> impl Stream<Item = Result<ModelEvent, ModelError>> + Send {
        match self {
            Self::Http(model) => model.stream(request, patience, cancel).boxed(),
            Self::Embedded { models, file } => models.stream(file.clone(), request, cancel),
        }
    }
}
