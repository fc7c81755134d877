//! `security`: what the agent may reach and what it may show.

use std::time::Duration;

use crate::macros::{secs, section, text};

section! {
    /// What the agent may reach and what it may show.
    pub struct Security {
        /// Lets tools fetch addresses of this machine and its network.
        allow_private_urls: bool = false;
        /// Blacks out keys and passwords in tool results and logs.
        redact_secrets: bool = true;
        /// Lets the program `tirith` look at commands first.
        tirith_enabled: bool = true;
        /// Where that program is.
        tirith_path: String = text("tirith");
        /// Seconds it may take.
        tirith_timeout: Duration = secs(5);
        /// Goes on without it when it is missing or fails.
        tirith_fail_open: bool = true;
        /// Web sites that are never fetched.
        website_blocklist: WebsiteBlocklist = WebsiteBlocklist::default();
        /// Security notices you have read.
        acked_advisories: Vec<String> = Vec::new(), no_effect "until there are security notices";
        /// Lets Hermes install what a feature needs when it is first used.
        allow_lazy_installs: bool = true, no_effect "as Hermes installs nothing by itself";
    }
}

section! {
    /// Web sites that are never fetched.
    pub struct WebsiteBlocklist {
        /// Uses the list.
        enabled: bool = false;
        /// Their domains; `*.example.org` covers everything below.
        domains: Vec<String> = Vec::new();
        /// Files with one domain on each line.
        shared_files: Vec<String> = Vec::new();
    }
}
