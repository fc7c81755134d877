//! The seam to a model that says what texts mean, as vectors.

use futures_core::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// On which side of a comparison a text stands. Some models read questions differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// What is looked for.
    Question,
    /// What may be found.
    Passage,
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be used, now or at all.
    #[error("{message}")]
    Unusable {
        /// What is wrong.
        message: String,
        /// The next step.
        hint: String,
    },
    /// The caller stopped it.
    #[error("stopped")]
    Cancelled,
}

/// Turns texts into vectors of length one; the nearer two point, the more alike the texts are.
///
/// Searches call it for their words and the filling of the store for messages, possibly at once. The model is
/// loaded at the first `embed`. A call ends soon after its token fires, and is never repeated by the embedder.
pub trait Embedder: Send + Sync {
    /// Names the model and the way it is used. Vectors of two names cannot be compared. Looks at the file but
    /// does not load it.
    fn model(&self) -> Result<String, EmbedError>;

    /// One vector for each text; an empty one where a text means nothing to the model.
    fn embed<'a>(
        &'a self,
        texts: Vec<String>,
        compared: Compared,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
}
