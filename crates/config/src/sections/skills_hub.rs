//! `skills.hub`: where skills of others are looked for.

use std::time::Duration;

use crate::macros::{secs, section, text};

section! {
    /// Where skills of others are looked for. Change an address to use a mirror or a company's own server.
    pub struct SkillsHub {
        /// List of the skills of several places in one file; not used when empty.
        index_url: String = text("https://hermes-agent.nousresearch.com/docs/api/skills-index.json");
        /// skills.sh; not used when empty.
        skills_sh_url: String = text("https://skills.sh");
        /// API of GitHub, or of a GitHub Enterprise server.
        github_url: String = text("https://api.github.com");
        /// ClawHub; not used when empty.
        clawhub_url: String = text("https://clawhub.ai/api/v1");
        /// LobeHub, whose agents are turned into skills; not used when empty.
        lobehub_url: String = text("https://chat-agents.lobehub.com");
        /// browse.sh; not used when empty.
        browse_sh_url: String = text("https://browse.sh");
        /// Repositories on GitHub that list plugins in `.claude-plugin/marketplace.json`.
        marketplaces: Vec<String> = vec![text("anthropics/skills"), text("aiskillstore/marketplace")];
        /// Seconds a search may take in all.
        search_timeout: Duration = secs(30);
        /// Seconds a list that was fetched is used again.
        cache_ttl: Duration = secs(3600);
    }
}
