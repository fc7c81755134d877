//! What was asked behind the last turn, for the next one.

use std::collections::HashMap;

use tokio_util::task::AbortOnDropHandle;

use super::super::error::ProviderError;

/// Conversations for which something is asked ahead.
const MOST: usize = 64;

/// Given up when nobody waits for it any more, so that there is never more than one.
type Asked = AbortOnDropHandle<Result<Option<String>, ProviderError>>;

/// One question under way for each conversation.
#[derive(Default)]
pub(super) struct Ahead(HashMap<String, Asked>);

impl Ahead {
    pub(super) fn keep(&mut self, session: String, task: Asked) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(session, task);
    }

    pub(super) fn take(&mut self, session: &str) -> Option<Asked> {
        self.0.remove(session)
    }
}
