//! `delegation` and `goals`: agents that work for the agent.

use std::time::Duration;

use super::effort::Effort;
use super::model::ApiMode;
use crate::macros::{secs, section};
use crate::setting::SecretText;

section! {
    /// Agents the agent sends off with parts of its work.
    pub struct Delegation {
        /// Their model; that of the conversation when empty.
        model: String = String::new();
        /// Their provider; that of the conversation when empty.
        provider: String = String::new();
        /// Address of the API, in place of the provider's own.
        base_url: String = String::new();
        /// Key for that address.
        api_key: SecretText = SecretText::default();
        /// Wire protocol, when it cannot be told from the address.
        api_mode: ApiMode = ApiMode::Unset;
        /// Gives them the MCP tools of the conversation.
        inherit_mcp_toolsets: bool = true;
        /// Model calls one of them may make.
        max_iterations: u32 = 50, in 1..=1_000_000;
        /// Characters of its report that reach the conversation.
        max_summary_chars: u32 = 24_000, in 100..=100_000_000;
        /// Seconds one of them may work; 0 is no limit.
        child_timeout_seconds: Duration = secs(0);
        /// Thinking they do; as the conversation when empty.
        reasoning_effort: Effort = Effort::Unset;
        /// Most of them at once.
        max_concurrent_children: u32 = 3, in 1..=1000;
        /// How many levels deep they may send off others.
        max_spawn_depth: u32 = 1, in 0..=100;
        /// Lets them be asked to send off others at all.
        orchestrator_enabled: bool = true;
        /// Approves their dangerous commands without asking.
        subagent_auto_approve: bool = false;
    }
}

section! {
    /// Goals that the agent pursues over several turns.
    pub struct Goals {
        /// Turns it may take.
        max_turns: u32 = 20, in 1..=1_000_000;
    }
}
