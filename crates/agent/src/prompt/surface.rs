//! Where the conversation takes place, and what it can show.

use hermes_config::Either;

use super::Facts;

/// What a surface can show. Those that show everything are left out.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["cli", "tui"],
        "You are in a terminal. Plain text and simple markdown are shown well; wide tables are not.",
    ),
    (
        &["telegram"],
        "You are on Telegram. Messages are read on phones: keep them short. Bold, italics, code and links are shown; \
         tables and headings are not.",
    ),
    (
        &["discord"],
        "You are on Discord. Markdown is shown, tables are not; a message has at most 2,000 characters.",
    ),
    (
        &["slack"],
        "You are on Slack. Bold, italics, lists and code are shown; headings and tables are not.",
    ),
    (
        &["whatsapp", "whatsapp_cloud", "signal", "sms", "bluebubbles"],
        "You are in a phone messenger. Write short plain text without markdown.",
    ),
    (
        &["email"],
        "You answer by email. Write complete plain text with a greeting and no markdown.",
    ),
    (
        &["cron"],
        "You run on a schedule and nobody is reading along. Do the task without asking, and answer with what should \
         be delivered.",
    ),
    (
        &["matrix", "mattermost", "webui", "desktop"],
        "Markdown is shown as written text with formatting.",
    ),
    (
        &["feishu", "weixin", "wecom", "qqbot", "yuanbao", "dingtalk"],
        "You are in a work messenger. Keep answers short; markdown is shown only in part.",
    ),
    (
        &["api_server", "api-server"],
        "You are called by a program. Answer with what was asked for and nothing around it.",
    ),
];

/// What the surface can show, with the user's own words about it.
pub(super) fn hint(facts: &Facts<'_>) -> String {
    let known = HINTS
        .iter()
        .find(|(surfaces, _)| surfaces.contains(&facts.surface))
        .map_or("", |(_, hint)| hint);
    match facts.config.platform_hints.get(facts.surface) {
        None => known.to_owned(),
        Some(Either::First(more)) => format!("{known}\n{more}"),
        Some(Either::Second(own)) => match &own.replace {
            Some(text) => text.clone(),
            None => format!("{known}\n{}", own.append),
        },
    }
}
