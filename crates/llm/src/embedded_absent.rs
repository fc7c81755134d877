//! Stands in for the embedded model in a build without it.

use std::path::{Path, PathBuf};

use futures_core::stream::BoxStream;
use futures_util::{StreamExt, stream};
use hermes_core::{ModelEvent, ModelRequest};
use tokio_util::sync::CancellationToken;

use crate::error::ModelError;

/// No models: this program was built without them.
#[derive(Clone, Default)]
pub struct LocalModels(());

impl LocalModels {
    pub(crate) fn stream(
        &self,
        _: PathBuf,
        _: ModelRequest,
        _: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let message = "this program was built without the embedded model".to_owned();
        stream::once(async { Err(ModelError::Embedded(message)) }).boxed()
    }
}

/// Nobody here can read it.
pub(crate) fn window_of(_: &Path) -> Option<u32> {
    None
}
