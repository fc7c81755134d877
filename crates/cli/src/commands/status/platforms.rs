//! Which chat platforms are set up.

use hermes_config::{KeyPath, Value};
use serde::Serialize;

use super::scene::Scene;

/// A platform by its name in the settings, its name for people, and the variable it cannot do without.
const PLATFORMS: &[(&str, &str, &str)] = &[
    ("telegram", "Telegram", "TELEGRAM_BOT_TOKEN"),
    ("discord", "Discord", "DISCORD_BOT_TOKEN"),
    ("whatsapp", "WhatsApp", "WHATSAPP_ENABLED"),
    (
        "whatsapp_cloud",
        "WhatsApp Cloud",
        "WHATSAPP_CLOUD_ACCESS_TOKEN",
    ),
    ("signal", "Signal", "SIGNAL_HTTP_URL"),
    ("slack", "Slack", "SLACK_BOT_TOKEN"),
    ("email", "Email", "EMAIL_ADDRESS"),
    ("sms", "SMS", "TWILIO_ACCOUNT_SID"),
    ("matrix", "Matrix", "MATRIX_HOMESERVER"),
    ("mattermost", "Mattermost", "MATTERMOST_TOKEN"),
    ("homeassistant", "Home Assistant", "HASS_TOKEN"),
    ("dingtalk", "DingTalk", "DINGTALK_CLIENT_ID"),
    ("feishu", "Feishu", "FEISHU_APP_ID"),
    ("wecom", "WeCom", "WECOM_BOT_ID"),
    ("wecom_callback", "WeCom Callback", "WECOM_CALLBACK_CORP_ID"),
    ("weixin", "Weixin", "WEIXIN_ACCOUNT_ID"),
    ("bluebubbles", "BlueBubbles", "BLUEBUBBLES_SERVER_URL"),
    ("qqbot", "QQBot", "QQ_APP_ID"),
    ("yuanbao", "Yuanbao", "YUANBAO_APP_ID"),
    ("teams", "Teams", "TEAMS_CLIENT_ID"),
    ("google_chat", "Google Chat", "GOOGLE_CHAT_PROJECT_ID"),
    ("line", "LINE", "LINE_CHANNEL_ACCESS_TOKEN"),
    ("ntfy", "ntfy", "NTFY_TOPIC"),
    ("irc", "IRC", "IRC_SERVER"),
    ("simplex", "SimpleX", "SIMPLEX_WS_URL"),
    ("webhook", "Webhooks", "WEBHOOK_ENABLED"),
    ("api_server", "API server", "API_SERVER_ENABLED"),
];

#[derive(Debug, Serialize)]
pub(in crate::commands) struct Messaging {
    pub(in crate::commands) platform: &'static str,
    pub(in crate::commands) label: &'static str,
    pub(in crate::commands) configured: bool,
}

pub(in crate::commands) fn messaging(scene: &Scene) -> Vec<Messaging> {
    let platforms = PLATFORMS.iter();
    platforms
        .map(|&(platform, label, variable)| Messaging {
            platform,
            label,
            configured: is_configured(scene, platform, variable),
        })
        .collect()
}

/// Switched on or given a token in the settings, or given what it needs in the environment, and not
/// switched off.
fn is_configured(scene: &Scene, platform: &str, variable: &str) -> bool {
    let places = [
        KeyPath::of([platform]),
        KeyPath::of(["platforms", platform]),
        KeyPath::of(["gateway", "platforms", platform]),
    ];
    let tree = scene.loaded.as_ref().map(|loaded| &loaded.tree);
    let nodes = places.iter().filter_map(|place| tree?.at(place));
    let mut switched_on = false;
    let mut has_token = false;
    for node in nodes {
        match node.child("enabled").map(|enabled| &enabled.value) {
            Some(Value::Bool(false)) => return false,
            Some(Value::Bool(true)) => switched_on = true,
            _ => {}
        }
        let token = ["token", "api_key"].iter().find_map(|key| node.child(key));
        has_token |= token
            .and_then(|token| token.value.as_text())
            .is_some_and(|text| !text.is_empty());
    }
    let value = scene.environment.filled_named(variable);
    let value = value.filter(|value| {
        let word = value.to_ascii_lowercase();
        !variable.ends_with("_ENABLED") || !["0", "false", "no", "off"].contains(&word.as_str())
    });
    switched_on || has_token || value.is_some()
}
