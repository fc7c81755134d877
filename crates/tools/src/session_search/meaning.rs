//! Searching by what texts mean, and making the vectors that needs.

use std::time::Duration;

use hermes_core::{Compared, EmbedError, Embedder};
use hermes_store::{Hits, SearchFilter, Store, StoreError};
use tokio_util::sync::CancellationToken;

/// Messages whose vectors are made before they are kept: little is lost when the program ends.
const BATCH: usize = 8;
/// Only one process makes vectors. A batch takes less than this on a slow machine.
const LEASE: &str = "embeddings";
const LEASE_LIFE: Duration = Duration::from_secs(300);

/// Messages that mean something like the query, the likest first. Otherwise why there are none.
pub(super) async fn alike(
    store: &Store,
    embedder: &dyn Embedder,
    query: &str,
    filter: SearchFilter,
    most: usize,
    cancel: &CancellationToken,
) -> Result<Hits, FillError> {
    let model = embedder.model()?;
    let texts = vec![query.to_owned()];
    let mut vectors = embedder.embed(texts, Compared::Question, cancel).await?;
    let Some(vector) = vectors.pop().filter(|vector| !vector.is_empty()) else {
        return Ok(Hits::default());
    };
    let found = store.search_alike(&model, vector, query, filter, most);
    Ok(found.await?)
}

/// Why vectors could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The model.
    #[error(transparent)]
    Model(#[from] EmbedError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FillError {
    /// The next step, when there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Model(EmbedError::Unusable { hint, .. }) => Some(hint.clone()),
            Self::Model(EmbedError::Cancelled) => None,
            Self::Store(error) => error.hint(),
        }
    }
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Messages that got a vector.
    pub made: u64,
    /// Whether another process is at it; then nothing was done.
    pub elsewhere: bool,
}

/// Makes the vectors that are missing, batch by batch, until there are all or the token fires. `holder` names
/// whoever does it, `progress` hears after each batch how many there are by then.
pub async fn fill_embeddings(
    store: &Store,
    embedder: &dyn Embedder,
    holder: &str,
    cancel: &CancellationToken,
    mut progress: impl FnMut(u64),
) -> Result<Filled, FillError> {
    let model = embedder.model()?;
    let mut filled = Filled {
        made: 0,
        elsewhere: false,
    };
    let mut held = false;
    while !cancel.is_cancelled() {
        // Looked at before the lease is taken, so that nothing is written when nothing is missing.
        let next = store.unembedded(&model, BATCH).await?;
        let Some(reach) = next.reach else { break };
        if !store.take_lease(LEASE, holder, LEASE_LIFE).await? {
            filled.elsewhere = true;
            return Ok(filled);
        }
        held = true;
        let (ids, texts): (Vec<_>, Vec<_>) = next.texts.into_iter().unzip();
        let vectors = match texts.is_empty() {
            true => Ok(Vec::new()),
            false => embedder.embed(texts, Compared::Passage, cancel).await,
        };
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(error) => {
                store.release_lease(LEASE, holder).await?;
                return match error {
                    EmbedError::Cancelled => Ok(filled),
                    unusable => Err(unusable.into()),
                };
            }
        };
        filled.made += ids.len() as u64;
        let vectors = ids.into_iter().zip(vectors).collect();
        store.keep_embeddings(&model, reach, vectors).await?;
        progress(filled.made);
    }
    if held {
        store.release_lease(LEASE, holder).await?;
    }
    Ok(filled)
}
