//! `browser`: driving a web browser.

use std::time::Duration;

use crate::macros::{choice, secs, section, text};
use crate::setting::SecretText;

choice! {
    /// Which browser is driven.
    pub enum Engine {
        /// Chrome, when there is no reason for another.
        Auto = "auto",
        /// Chrome or Chromium.
        Chrome = "chrome",
        /// Lightpanda.
        Lightpanda = "lightpanda",
    }
}

choice! {
    /// What happens to a page's alert, confirm and prompt boxes.
    pub enum DialogPolicy {
        /// The model has to answer.
        MustRespond = "must_respond",
        /// They are cancelled.
        AutoDismiss = "auto_dismiss",
        /// They are confirmed.
        AutoAccept = "auto_accept",
    }
}

section! {
    /// Driving a web browser.
    pub struct Browser {
        /// Seconds an unused browser stays open.
        inactivity_timeout: Duration = secs(120);
        /// Seconds one action may take.
        command_timeout: Duration = secs(30);
        /// Records sessions as video.
        record_sessions: bool = false;
        /// Shows the browser's window.
        headed: bool = false;
        /// Lets the browser open addresses of this machine and its network.
        allow_private_urls: bool = false;
        /// Which browser is driven.
        engine: Engine = Engine::Auto;
        /// Opens such addresses in a local browser while the main one is in the cloud.
        auto_local_for_private_urls: bool = true;
        /// Address of a running browser to drive, over the DevTools protocol.
        cdp_url: String = String::new();
        /// Cloud service that runs the browser; `local` forbids any.
        @unlisted cloud_provider: String = String::new();
        /// Lets the model run scripts that could read secrets of a page.
        allow_unsafe_evaluate: bool = false;
        /// Limits the scripts the model may run to harmless ones.
        restrict_evaluate: bool = false;
        /// What happens to a page's dialog boxes.
        dialog_policy: DialogPolicy = DialogPolicy::MustRespond;
        /// Seconds after which an unanswered dialog box is cancelled.
        dialog_timeout_s: Duration = secs(300);
        /// A Camofox server as the browser.
        camofox: Camofox = Camofox::default();
    }
}

section! {
    /// A Camofox server as the browser; its address is `CAMOFOX_URL`.
    pub struct Camofox {
        /// Lets Hermes choose the user, so that logins last between sessions.
        managed_persistence: bool = false;
        /// User whose browser data is used.
        user_id: String = String::new();
        /// Session within that user's data.
        session_key: SecretText = SecretText::default();
        /// Goes on in a tab that is open already.
        adopt_existing_tab: bool = false;
        /// Rewrites addresses of this machine so that a container can reach them.
        rewrite_loopback_urls: bool = false;
        /// Name under which the container knows this machine.
        loopback_host_alias: String = text("host.docker.internal");
    }
}
