//! Holding an answer back until a test lets it go.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// A closed door in front of answers. The test opens it once it has done what must come first, so no
/// pause has to be long enough for that on every machine. Clones are the same gate.
///
/// A gate that is never opened holds its answers until the server stops.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// Makes a closed gate.
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets go whatever waits, and everything that comes later.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn passed(&self) {
        // There is never anything to acquire: the wait ends when the semaphore is closed.
        let _ = self.0.acquire().await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
