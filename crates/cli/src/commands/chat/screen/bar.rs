//! What the status bar says of the program.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use hermes_mcp::StatusWord;
use hermes_tui::{Cost, Mcp, Standing, model_label};

use crate::commands::chat::conversation::Conversation;

/// How old a look at the MCP servers may be.
const FRESH: Duration = Duration::from_millis(500);

/// The last look at things.
pub(super) struct Bar {
    standing: RefCell<Standing>,
    /// The route the window belongs to.
    route: RefCell<(String, String)>,
    /// What takes a look into the store is to be looked at again.
    due: Cell<bool>,
    looked: Cell<Option<Instant>>,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self {
            standing: RefCell::new(Standing {
                model: String::new(),
                window: None,
                prompts: 0,
                processes: 0,
                subagents: 0,
                cost: Cost::Hidden,
                mcp: Mcp::default(),
                warning: None,
            }),
            route: RefCell::default(),
            due: Cell::new(true),
            looked: Cell::new(None),
        }
    }

    /// Something happened that may have changed costs or processes.
    pub(super) fn expect_change(&self) {
        self.due.set(true);
    }

    /// How things stand, as far as that costs next to nothing.
    pub(super) fn now(&self, conversation: &Conversation) -> Standing {
        let mut standing = self.standing.borrow_mut();
        let front = conversation.front();
        {
            let route = front.route();
            let mut known = self.route.borrow_mut();
            if known.0 != route.provider || known.1 != route.model {
                *known = (route.provider.clone(), route.model.clone());
                let aliases = &conversation.house.models.loaded.config.model_aliases;
                let alias = aliases
                    .iter()
                    .find(|(_, target)| target.model == route.model)
                    .map(|(alias, _)| alias.as_str());
                standing.model = model_label(&route.model, alias);
                standing.window = route.window(&conversation.house.models);
            }
        }
        standing.prompts = conversation.prompts.count().try_into().unwrap_or(u32::MAX);
        standing.warning = (!front.is_asking()).then(|| "YOLO".to_owned());
        let fresh = |at: Instant| at.elapsed() < FRESH;
        if !self.looked.get().is_some_and(fresh) {
            self.looked.set(Some(Instant::now()));
            standing.mcp = servers(conversation);
        }
        standing.clone()
    }

    /// Looks at what is in the store, if something happened.
    pub(super) async fn refresh(&self, conversation: &Conversation) {
        if !self.due.get() {
            return;
        }
        let house = &conversation.house;
        let processes = house.hands.running().await.len();
        // Also for who does not see it in the bar: `/verbose` tells what a turn cost.
        let row = house.store.session(&conversation.front().id()).await;
        let row = row.ok().flatten();
        let known = row.filter(|row| !row.costs_more());
        let known = known.and_then(|row| row.cost_usd());
        let cost = known.map_or(Cost::Unknown, Cost::Known);
        let window = conversation.front().route().window(&house.models);
        let mut standing = self.standing.borrow_mut();
        // Its server may have said more about it since.
        standing.window = window;
        standing.processes = processes.try_into().unwrap_or(u32::MAX);
        standing.cost = cost;
        self.due.set(false);
    }
}

fn servers(conversation: &Conversation) -> Mcp {
    let mut mcp = Mcp::default();
    for status in conversation.house.servers.status() {
        match is_down(status.status, status.error.is_some()) {
            None => {}
            Some(false) => mcp.up += 1,
            Some(true) => mcp.down += 1,
        }
    }
    mcp
}

/// Whether calls of a server would fail; nothing for one that is not wanted. One that is on its way, or starts with the
/// next call, is as good as there.
fn is_down(word: StatusWord, failed: bool) -> Option<bool> {
    match word {
        StatusWord::Disabled | StatusWord::Configured => None,
        StatusWord::Connected | StatusWord::Recycled => Some(false),
        StatusWord::Connecting => Some(failed),
        StatusWord::Failed | StatusWord::Parked | StatusWord::NeedsAuth => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-23
    #[test]
    fn servers_that_rest_or_are_on_their_way_are_not_down() {
        for (word, failed, down) in [
            (StatusWord::Connected, true, Some(false)),
            (StatusWord::Recycled, false, Some(false)),
            (StatusWord::Connecting, false, Some(false)),
            (StatusWord::Connecting, true, Some(true)),
            (StatusWord::Failed, true, Some(true)),
            (StatusWord::Parked, true, Some(true)),
            (StatusWord::NeedsAuth, false, Some(true)),
            (StatusWord::Disabled, false, None),
        ] {
            assert_eq!(is_down(word, failed), down, "{word:?}");
        }
    }
}
