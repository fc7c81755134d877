//! `updates` and `onboarding`.

use std::collections::BTreeMap;

use crate::macros::{choice, section};
use crate::value::Value;

choice! {
    /// What is saved before an update.
    pub enum UpdateBackup {
        /// Settings and the database.
        Quick = "quick",
        /// The whole home.
        Full = "full" | "on" | "zip",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// What an update without a person does with changes to the program's files.
    pub enum LocalChanges {
        /// Puts them aside.
        Stash = "stash",
        /// Throws them away.
        Discard = "discard",
    }
}

section! {
    /// Updating Hermes.
    pub struct Updates {
        /// What is saved first.
        pre_update_backup: UpdateBackup = UpdateBackup::Quick;
        /// Such copies kept.
        backup_keep: u32 = 5, in 0..=10_000;
        /// What an update without a person does with changes to the program's files.
        non_interactive_local_changes: LocalChanges = LocalChanges::Stash;
        /// Also updates the driver for the desktop.
        refresh_cua_driver: bool = true;
    }
}

choice! {
    /// Whether a new user is asked about themselves.
    pub enum ProfileBuild {
        /// They are.
        Ask = "ask" | "on",
        /// They are not.
        Off = "off",
    }
}

section! {
    /// Hints for new users.
    pub struct Onboarding {
        /// Hints that were shown already.
        seen: BTreeMap<String, Value> = BTreeMap::new();
        /// Whether a new user is asked about themselves.
        profile_build: ProfileBuild = ProfileBuild::Ask, no_effect "until new users are asked about themselves";
    }
}
