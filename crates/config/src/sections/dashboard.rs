//! `dashboard` and `desktop`: the web page and the desktop program.

use std::time::Duration;

use super::automatic::Automatic;
use crate::macros::{secs, section, text};
use crate::setting::SecretText;

section! {
    /// The web page of Hermes.
    pub struct Dashboard {
        /// Its colours.
        theme: String = text("default");
        /// Its font; that of the theme when empty.
        @unlisted font: String = String::new();
        /// Plugins whose pages are not shown.
        @unlisted hidden_plugins: Vec<String> = Vec::new();
        /// Runs every turn in a process of its own.
        turn_isolation: bool = false;
        /// Seconds between signs of life of such a process.
        compute_host_heartbeat_secs: Duration = secs(15);
        /// Times such a process is started again after a crash.
        compute_host_respawn_max: u32 = 3, in 0..=1000;
        /// Shows how many tokens were used.
        show_token_analytics: bool = false;
        /// Signing in through a portal.
        oauth: DashboardOAuth = DashboardOAuth::default();
        /// Signing in with a name and a password.
        basic_auth: DashboardLogin = DashboardLogin::default();
        /// The token that lets a service drain this machine.
        drain_auth: DrainAuth = DrainAuth::default();
        /// Address under which others reach the page.
        public_url: String = String::new();
    }
}

section! {
    /// Signing in to the dashboard through a portal.
    pub struct DashboardOAuth {
        /// Client id at the portal; off when empty.
        client_id: String = String::new();
        /// Address of the portal.
        portal_url: String = String::new();
    }
}

section! {
    /// Signing in to the dashboard with a name and a password.
    pub struct DashboardLogin {
        /// Name of the user; off when empty.
        username: String = String::new();
        /// The password as a hash, `scrypt$…`.
        password_hash: SecretText = SecretText::default();
        /// The password itself, when there is no hash.
        password: SecretText = SecretText::default();
        /// Text that signs sessions; a random one for every start when empty.
        secret: SecretText = SecretText::default();
        /// Seconds a session lasts; 0 is twelve hours.
        session_ttl_seconds: Duration = secs(0);
    }
}

section! {
    /// The token that lets a service drain this machine.
    pub struct DrainAuth {
        /// What the token has to allow.
        scope: String = text("drain");
        /// Least characters of its secret.
        min_secret_chars: u32 = 43, in 0..=100_000;
    }
}

section! {
    /// The desktop program.
    pub struct Desktop {
        /// Further flags it is started with.
        electron_flags: Vec<String> = Vec::new();
        /// Draws without the graphics processor; `auto` where that is known to be needed.
        disable_gpu: Automatic = Automatic::Auto;
    }
}
