//! A model file of the user's that says what texts mean, loaded when it is first asked.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Compared, EmbedError, Embedder};
use hermes_local_model::{Embedder as Engine, LocalError};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// The model in a file.
pub(super) struct LocalEmbedder {
    file: PathBuf,
    /// What is put in front of questions.
    prefix: String,
    loaded: OnceCell<Arc<Engine>>,
}

impl LocalEmbedder {
    pub(super) fn new(file: PathBuf, prefix: String) -> Self {
        Self {
            file,
            prefix,
            loaded: OnceCell::new(),
        }
    }

    async fn engine(&self) -> Result<Arc<Engine>, EmbedError> {
        let load = || async {
            let file = self.file.clone();
            let loaded = tokio::task::spawn_blocking(move || Engine::load(&file)).await;
            let loaded = loaded.unwrap_or(Err(LocalError::Stopped));
            loaded.map(Arc::new).map_err(unusable)
        };
        self.loaded.get_or_try_init(load).await.cloned()
    }
}

impl Embedder for LocalEmbedder {
    fn model(&self) -> Result<String, EmbedError> {
        let found = std::fs::metadata(&self.file).map_err(|error| EmbedError::Unusable {
            message: format!(
                "the embedding model {} cannot be read: {error}",
                self.file.display()
            ),
            hint: HINT.to_owned(),
        })?;
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        // Another file of the same name has another size in all likelihood.
        Ok(format!("{name}:{}", found.len()))
    }

    fn embed<'a>(
        &'a self,
        texts: Vec<String>,
        compared: Compared,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let engine = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(EmbedError::Cancelled),
                engine = self.engine() => engine?,
            };
            let prefix = match compared {
                Compared::Question => self.prefix.clone(),
                Compared::Passage => String::new(),
            };
            let cancel = cancel.clone();
            let work = tokio::task::spawn_blocking(move || {
                let texts = texts.iter();
                texts
                    .map(|text| engine.embed(&format!("{prefix}{text}"), &cancel))
                    .collect::<Result<Vec<_>, _>>()
            });
            let made = work.await.unwrap_or(Err(LocalError::Stopped));
            made.map_err(unusable)
        })
    }
}

const HINT: &str =
    "name a GGUF file of an embedding model: hermes config set sessions.embedding_model FILE";

fn unusable(error: LocalError) -> EmbedError {
    match error {
        LocalError::Cancelled => EmbedError::Cancelled,
        other => EmbedError::Unusable {
            message: other.to_string(),
            hint: HINT.to_owned(),
        },
    }
}
