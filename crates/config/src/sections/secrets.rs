//! `secrets`: password managers that keys are fetched from.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{secs, section, text};
use crate::value::Value;

section! {
    /// Password managers that keys are fetched from.
    pub struct Secrets [..rest: Value] {
        /// Order in which they are asked; those that are on when empty.
        @unlisted sources: Vec<String> = Vec::new();
        /// Bitwarden Secrets Manager.
        bitwarden: Bitwarden = Bitwarden::default();
        /// 1Password.
        onepassword: OnePassword = OnePassword::default();
    }
}

section! {
    /// Bitwarden Secrets Manager.
    pub struct Bitwarden {
        /// Fetches keys from it.
        enabled: bool = false;
        /// Environment variable that holds the access token.
        access_token_env: String = text("BWS_ACCESS_TOKEN");
        /// Only secrets of this project; all when empty.
        project_id: String = String::new();
        /// Seconds fetched keys are kept.
        cache_ttl_seconds: Duration = secs(300);
        /// Lets them replace keys that are set already.
        override_existing: bool = true;
        /// Installs its program when it is missing.
        auto_install: bool = true;
        /// Address of a server of your own.
        server_url: String = String::new();
    }
}

section! {
    /// 1Password.
    pub struct OnePassword {
        /// Fetches keys from it.
        enabled: bool = false;
        /// Environment variables to fill, each with its `op://…` reference.
        env: BTreeMap<String, String> = BTreeMap::new();
        /// Account to use; the only one when empty.
        account: String = String::new();
        /// Environment variable that holds the service account's token.
        service_account_token_env: String = text("OP_SERVICE_ACCOUNT_TOKEN");
        /// Where its program `op` is; searched when empty.
        binary_path: String = String::new();
        /// Seconds fetched keys are kept.
        cache_ttl_seconds: Duration = secs(300);
        /// Lets them replace keys that are set already.
        override_existing: bool = true;
    }
}
