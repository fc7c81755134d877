//! `skills` and `curator`: what the agent has learnt to do.

use std::collections::BTreeMap;
use std::time::Duration;

use super::skills_hub::SkillsHub;
use crate::macros::{secs, section};
use crate::value::Value;

section! {
    /// Skills: instructions the agent reads when it needs them.
    pub struct Skills {
        /// Further directories with skills.
        external_dirs: Vec<String> = Vec::new();
        /// Fills in placeholders such as `${HERMES_SKILL_DIR}`.
        template_vars: bool = true;
        /// Runs commands that stand inside a skill's text.
        inline_shell: bool = false;
        /// Seconds such a command may run.
        inline_shell_timeout: Duration = secs(10);
        /// Also checks skills the agent wrote itself for dangers.
        guard_agent_created: bool = false;
        /// Asks you before the agent changes a skill.
        write_approval: bool = false;
        /// Where skills of others are looked for.
        hub: SkillsHub = SkillsHub::default();
        /// Model calls after which the agent looks back for a skill to write or mend; 0 is never.
        @unlisted creation_nudge_interval: u32 = 10;
        /// Settings of single skills.
        @unlisted config: BTreeMap<String, Value> = BTreeMap::new();
        /// Skills that are never offered.
        @unlisted disabled: Vec<String> = Vec::new();
        /// Skills that are not offered on single platforms.
        @unlisted platform_disabled: BTreeMap<String, Vec<String>> = BTreeMap::new();
    }
}

section! {
    /// Tidying up skills the agent has written.
    pub struct Curator {
        /// Tidies up by itself.
        enabled: bool = true;
        /// Hours between two runs.
        interval_hours: f64 = 168.0, in 0.0..=1_000_000.0;
        /// Hours the agent has to be idle first.
        min_idle_hours: f64 = 2.0, in 0.0..=1_000_000.0;
        /// Days without use after which a skill counts as stale.
        stale_after_days: u32 = 30;
        /// Days without use after which a skill is put away.
        archive_after_days: u32 = 90;
        /// Merges skills that overlap.
        consolidate: bool = false;
        /// Also puts away unused skills that came with Hermes.
        prune_builtins: bool = true;
        /// Copies of all skills, made before a run.
        backup: CuratorBackup = CuratorBackup::default();
    }
}

section! {
    /// Copies of all skills, made before the curator changes any.
    pub struct CuratorBackup {
        /// Makes them.
        enabled: bool = true;
        /// Copies kept.
        keep: u32 = 5, in 0..=10_000;
    }
}
