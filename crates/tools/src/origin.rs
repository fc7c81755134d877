//! Who a change is written down for.

use hermes_core::{Origin, ToolContext};
use hermes_store::JournalOrigin;

pub(crate) fn origin(context: &ToolContext) -> JournalOrigin {
    match context.origin {
        Origin::Conversation => JournalOrigin::Foreground,
        Origin::Review => JournalOrigin::BackgroundReview,
        Origin::Curator => JournalOrigin::Curator,
    }
}
