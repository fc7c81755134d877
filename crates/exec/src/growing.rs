//! A list that may grow after it was handed on.

use std::sync::{Arc, Mutex, PoisonError};

/// Most entries.
const MOST: usize = 1_000;

/// A list whose clones are the same list. Whoever makes a sandbox reads it at that moment.
#[derive(Debug)]
pub struct Growing<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone + PartialEq> Growing<T> {
    /// Adds an entry unless it is there.
    pub fn add(&self, entry: T) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < MOST && !list.contains(&entry) {
            list.push(entry);
        }
    }

    /// What is in it now.
    pub fn list(&self) -> Vec<T> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone()
    }
}

impl<T> Clone for Growing<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> From<Vec<T>> for Growing<T> {
    fn from(list: Vec<T>) -> Self {
        Self(Arc::new(Mutex::new(list)))
    }
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}
