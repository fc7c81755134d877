//! Earlier conversations, wired for searching: the profiles beside this one, the model that says what texts mean,
//! and the vectors that are made behind conversations.

mod embedder;
mod filler;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::{Config, Home, Profiles, Variable};
use hermes_core::Embedder;
use hermes_store::Store;
use hermes_tools::{Neighbour, SearchServices};

use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::embedded_dir;
use embedder::LocalEmbedder;

pub(crate) use filler::{Filler, holder};

/// What `session_search` works with. Nothing is read before it is called.
pub(crate) fn services(
    context: &Context,
    config: &Config,
    store: Store,
) -> Outcome<Arc<SearchServices>> {
    let home = context.home()?.clone();
    let own = home.profile().clone();
    Ok(Arc::new(SearchServices {
        store,
        profile: own.to_string(),
        embedder: embedder(context, config, &home),
        neighbours: Arc::new(move || neighbours(&home)),
        clock: context.clock().clone(),
        redactor: context.redactor.clone(),
        summaries: config.auxiliary.session_search.timeout,
    }))
}

/// The other profiles; a list that cannot be read is an empty one.
fn neighbours(home: &Home) -> Vec<Neighbour> {
    let profiles = Profiles::of(home);
    let names = profiles.names().unwrap_or_default().into_iter();
    let others = names.filter(|name| name != home.profile());
    others
        .filter_map(|name| {
            let home = profiles.existing(&name).ok()?;
            Some(Neighbour {
                name: name.to_string(),
                database: home.database(),
                blobs: home.blobs_dir(),
            })
        })
        .collect()
}

/// The model that says what texts mean, when the settings name one.
pub(crate) fn embedder(
    context: &Context,
    config: &Config,
    home: &Home,
) -> Option<Arc<dyn Embedder>> {
    let sessions = &config.sessions;
    let named = sessions.embedding_model.trim();
    if named.is_empty() {
        return None;
    }
    let user_home = context
        .environment
        .filled(&Variable::HOME)
        .map(PathBuf::from);
    let file = match (named.strip_prefix("~/"), user_home) {
        (Some(rest), Some(user_home)) => user_home.join(rest),
        // An absolute path stays as it is.
        _ => embedded_dir(home).join(named),
    };
    let prefix = sessions.embedding_query_prefix.clone();
    Some(Arc::new(LocalEmbedder::new(file, prefix)))
}
