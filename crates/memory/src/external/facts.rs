//! `holographic`: single facts with trust, in our own store. The name is the reference's.
//!
//! A fact is a sentence with a category, words that belong to it and the things it is about. Trust begins in the
//! middle, goes up with what helped and down faster with what did not; what falls below the floor is not recalled.

mod compare;
mod entities;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::ToolSpec;
use hermes_store::{FactFilter, NewFact, Store, StoreError};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use super::catalog::Setup;
use super::error::ProviderError;
use super::provider::{Delivery, Errand, Manner, Provider, Question, Scene};
use super::tool::unknown;

pub(super) const NAME: &str = "holographic";
/// What a new fact is trusted.
const TRUST: f64 = 0.5;
/// Facts trusted less are not recalled.
const FLOOR: f64 = 0.3;
/// Facts recalled for one message.
const MOST_RECALLED: u32 = 5;
/// Facts among which one with the very same words is looked for.
const MOST_ALIKE: u32 = 20;
/// Where the reference keeps its facts, and the mark that says they were brought over.
const THEIRS: &str = "memory_store.db";
const TAKEN_OVER: &str = "facts of the reference";

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(Arc::new(Facts {
        store: setup.store.clone(),
        theirs: setup.home.join(THEIRS),
        looked: OnceCell::new(),
    }))
}

/// The fact store.
struct Facts {
    store: Store,
    theirs: PathBuf,
    /// Whether this program has looked for facts of the reference.
    looked: OnceCell<()>,
}

impl Facts {
    /// Looks for facts of the reference, the first time anything is asked of this. A file of it that cannot be read
    /// keeps nobody from the rest.
    async fn look(&self) {
        let once = || async {
            if let Err(error) = self.take_over().await {
                tracing::warn!(%error, "the facts in {} are not here", self.theirs.display());
            }
        };
        self.looked.get_or_init(once).await;
    }

    /// Brings the facts of the reference over, once for a home: what is removed here later stays away.
    async fn take_over(&self) -> Result<(), ProviderError> {
        if self.store.memory_is_marked(TAKEN_OVER).await? {
            return Ok(());
        }
        let (store, theirs) = (self.store.clone(), self.theirs.clone());
        let taken = tokio::task::spawn_blocking(move || store.import_facts(&theirs));
        let taken = taken.await.unwrap_or(Err(StoreError::Closed));
        if let Some(facts) = taken? {
            tracing::info!(facts, "facts of the reference were brought over");
            self.store.mark_memory(TAKEN_OVER).await?;
        }
        Ok(())
    }

    async fn keep(
        &self,
        content: &str,
        category: &str,
        tags: &str,
    ) -> Result<(i64, bool), ProviderError> {
        let fact = NewFact {
            entities: entities::of(content),
            content: content.to_owned(),
            category: category.to_owned(),
            tags: tags.to_owned(),
            trust: TRUST,
        };
        Ok(self.store.add_fact(fact).await?)
    }

    async fn recalled(&self, question: &Question) -> Result<Option<String>, ProviderError> {
        let filter = FactFilter {
            floor: FLOOR,
            most: MOST_RECALLED,
            ..FactFilter::default()
        };
        let facts = self.store.search_facts(&question.text, filter).await?;
        if facts.is_empty() {
            return Ok(None);
        }
        let ids = facts.iter().map(|fact| fact.id).collect();
        self.store.recalled_facts(ids).await?;
        let lines = facts
            .iter()
            .map(|fact| format!("- [{}, trust {:.2}] {}", fact.id, fact.trust, fact.content));
        Ok(Some(lines.collect::<Vec<_>>().join("\n")))
    }
}

impl Provider for Facts {
    fn manner(&self) -> Manner {
        Manner::default()
    }

    fn prompt(&self) -> String {
        "You have a store of single facts that lasts across conversations. Facts that match a message come along with \
         it, each with its number and how far it is trusted. Keep durable facts with fact_store, look things up in it \
         before you ask the user again, and rate what you used with fact_feedback."
            .to_owned()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        tools::specs()
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            self.look().await;
            self.recalled(question).await
        })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            self.look().await;
            match &delivery.errand {
                // What was said is in the conversations, which can be searched; facts are chosen.
                Errand::Turn { .. } | Errand::TakenBack { .. } | Errand::Ended => {}
                Errand::Written { target, content } => {
                    let category = match target.as_str() {
                        "user" => "user_pref",
                        _ => "general",
                    };
                    self.keep(content, category, "").await?;
                }
                Errand::Removed { content, .. } => {
                    let filter = FactFilter {
                        most: MOST_ALIKE,
                        ..FactFilter::default()
                    };
                    let found = self.store.search_facts(content, filter).await?;
                    for fact in found {
                        if fact.content.trim() == content.trim() {
                            self.store.remove_fact(fact.id).await?;
                        }
                    }
                }
            }
            Ok(())
        })
    }

    fn call<'a>(
        &'a self,
        _: &'a Scene,
        tool: &'a str,
        arguments: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            self.look().await;
            match tool {
                "fact_store" => self.act(arguments).await,
                "fact_feedback" => self.rate(arguments).await,
                other => Err(unknown(other)),
            }
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            self.take_over().await?;
            Ok(format!("{} facts", self.store.count_facts().await?))
        })
    }
}
