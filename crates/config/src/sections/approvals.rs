//! `approvals`: who allows dangerous commands.

use std::time::Duration;

use crate::macros::{choice, secs, section};

choice! {
    /// Who allows a dangerous command.
    pub enum ApprovalMode [else Manual] {
        /// You.
        Manual = "manual" | "on",
        /// A model, and you when it has doubts.
        Smart = "smart",
        /// Nobody; everything runs.
        Off = "off",
    }
}

choice! {
    /// What happens to a dangerous command of a scheduled job.
    pub enum CronApproval {
        /// It is refused.
        Deny = "deny" | "off" | "on",
        /// It runs.
        Approve = "approve",
    }
}

section! {
    /// Who allows dangerous commands.
    pub struct Approvals {
        /// Who does.
        mode: ApprovalMode = ApprovalMode::Smart;
        /// Seconds a question stays open before it counts as refused.
        timeout: Duration = secs(60);
        /// What happens to a dangerous command of a scheduled job.
        cron_mode: CronApproval = CronApproval::Deny, no_effect "until there are scheduled jobs";
        /// What happens to a dangerous command when nobody can be asked.
        @unlisted headless_mode: CronApproval = CronApproval::Deny;
        /// Patterns of commands that never run, not even with everything allowed.
        deny: Vec<String> = Vec::new();
        /// Asks before MCP servers are loaded anew, which makes the next answer dearer.
        mcp_reload_confirm: bool = true;
        /// Asks before a slash command throws the conversation away.
        destructive_slash_confirm: bool = true;
        /// Seconds the buttons of a question on Discord work.
        @unlisted discord_prompt_timeout: Duration = secs(300), no_effect "until there is a gateway";
    }
}
