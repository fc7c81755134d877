//! A model, wherever it answers.

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
