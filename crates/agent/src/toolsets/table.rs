//! The toolsets, as data.

/// A named set of tools.
#[derive(Debug, Clone, Copy)]
pub struct Toolset {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its tools.
    pub tools: &'static [&'static str],
}

impl Toolset {
    /// The tools it is there for. What it only brings along to work with is not enough to have it.
    pub fn own(&self) -> impl Iterator<Item = &'static str> {
        let (name, tools) = (self.name, self.tools);
        let all = tools.iter().copied();
        all.filter(move |tool| !LENT.contains(&(name, *tool)))
    }
}

const WEB: &[&str] = &["web_search", "web_extract"];
const FILES: &[&str] = &["read_file", "write_file", "patch", "search_files"];
const BROWSER: &[&str] = &[
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
    "browser_cdp",
    "browser_dialog",
    "web_search",
];
const HOME: &[&str] = &[
    "ha_list_entities",
    "ha_get_state",
    "ha_list_services",
    "ha_call_service",
];
const KANBAN: &[&str] = &[
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
];
const DESKTOP: &[&str] = &["read_terminal", "close_terminal"];

/// What every surface has.
pub(super) const CORE: &[&str] = &[
    "web_search",
    "web_extract",
    "terminal",
    "process",
    "read_terminal",
    "close_terminal",
    "read_file",
    "write_file",
    "patch",
    "search_files",
    "vision_analyze",
    "image_generate",
    "skills_list",
    "skill_view",
    "skill_manage",
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
    "browser_cdp",
    "browser_dialog",
    "text_to_speech",
    "todo",
    "memory",
    "session_search",
    "clarify",
    "execute_code",
    "delegate_task",
    "cronjob",
    "ha_list_entities",
    "ha_get_state",
    "ha_list_services",
    "ha_call_service",
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "computer_use",
];

/// Sets that a preset leaves out until they are listed.
pub(super) const OFF_BY_DEFAULT: &[&str] = &[
    "homeassistant",
    "spotify",
    "discord",
    "discord_admin",
    "video",
    "video_gen",
    "x_search",
];

macro_rules! sets {
    ($($name:literal, $about:literal, $tools:expr;)+) => {
        &[$(Toolset { name: $name, about: $about, tools: $tools }),+]
    };
}

const SETS: &[Toolset] = sets! {
    "web", "search the web and read pages", WEB;
    "search", "search the web", &["web_search"];
    "x_search", "search posts on X", &["x_search"];
    "vision", "look at pictures", &["vision_analyze"];
    "video", "look at videos", &["video_analyze"];
    "image_gen", "make pictures", &["image_generate"];
    "video_gen", "make videos", &["video_generate", "xai_video_edit", "xai_video_extend"];
    "terminal", "run commands", &["terminal", "process", "read_terminal", "close_terminal"];
    "file", "read, write and search files", FILES;
    "skills", "use and keep skills", &["skills_list", "skill_view", "skill_manage"];
    "browser", "drive a browser", BROWSER;
    "cronjob", "plan work for later", &["cronjob"];
    "tts", "speak", &["text_to_speech"];
    "todo", "keep a list of steps", &["todo"];
    "memory", "remember facts", &["memory"];
    "session_search", "search earlier conversations", &["session_search"];
    "clarify", "ask the user", &["clarify"];
    "code_execution", "run a program that calls tools", &["execute_code"];
    "delegation", "hand work to helpers", &["delegate_task"];
    "computer_use", "use the desktop", &["computer_use"];
    "homeassistant", "see and switch things at home", HOME;
    "kanban", "work from a board", KANBAN;
    "discord", "read and write on Discord", &["discord"];
    "discord_admin", "run a Discord server", &["discord_admin"];
    "yuanbao", "use Yuanbao", &["yb_query_group_info", "yb_query_group_members", "yb_search_sticker", "yb_send_dm", "yb_send_sticker"];
    "feishu_doc", "read Feishu documents", &["feishu_doc_read"];
    "feishu_drive", "comment in Feishu drives", &["feishu_drive_add_comment", "feishu_drive_list_comments", "feishu_drive_list_comment_replies", "feishu_drive_reply_comment"];
    "spotify", "play music", &["spotify_albums", "spotify_devices", "spotify_library", "spotify_playback", "spotify_playlists", "spotify_queue", "spotify_search"];
    "project", "keep projects", &["project_create", "project_list", "project_switch"];
    "context_engine", "tools of the context engine", &[];
};

/// Tools that a set has from another one.
const LENT: &[(&str, &str)] = &[("browser", "web_search")];

/// Sets made of other sets.
const COMPOSITES: &[(&str, &[&str])] = &[
    ("debugging", &["terminal", "web", "file"]),
    ("safe", &["web", "vision", "image_gen"]),
];

/// What the posture of a programmer leaves out of the core.
const NOT_FOR_CODING: &[&str] = &[
    "text_to_speech",
    "image_generate",
    "computer_use",
    "cronjob",
];

/// Surfaces with the core and nothing else.
const PLAIN_SURFACES: &[&str] = &[
    "cli",
    "cron",
    "telegram",
    "whatsapp",
    "slack",
    "signal",
    "bluebubbles",
    "homeassistant",
    "email",
    "mattermost",
    "matrix",
    "dingtalk",
    "weixin",
    "qqbot",
    "wecom",
    "wecom-callback",
    "sms",
];

/// All sets that can be named, apart from presets.
pub fn toolsets() -> &'static [Toolset] {
    SETS
}

pub(super) fn is_posture(name: &str) -> bool {
    name == "coding"
}

pub(super) fn all_tools() -> Vec<&'static str> {
    let mut all: Vec<_> = SETS.iter().flat_map(|set| set.tools).copied().collect();
    all.extend(CORE);
    all
}

pub(super) fn is_known_tool(name: &str) -> bool {
    CORE.contains(&name) || SETS.iter().any(|set| set.tools.contains(&name))
}

/// The name of a set today. Old ones end in `_tools`, and one was also shorter.
pub fn today(name: &str) -> &str {
    match name.strip_suffix("_tools") {
        Some("image") => "image_gen",
        Some(set) => set,
        None => name,
    }
}

/// The tools of a set, a composite or a preset, under its old name too.
pub(super) fn tools_of(name: &str) -> Option<Vec<&'static str>> {
    let name = today(name);
    if let Some(set) = SETS.iter().find(|set| set.name == name) {
        return Some(set.tools.to_vec());
    }
    if let Some((_, parts)) = COMPOSITES.iter().find(|(known, _)| *known == name) {
        return Some(
            parts
                .iter()
                .filter_map(|part| tools_of(part))
                .flatten()
                .collect(),
        );
    }
    if is_posture(name) {
        return Some(core_without(&[NOT_FOR_CODING, HOME, KANBAN]));
    }
    preset(name.strip_prefix("hermes-")?)
}

fn preset(surface: &str) -> Option<Vec<&'static str>> {
    if PLAIN_SURFACES.contains(&surface) {
        return Some(CORE.to_vec());
    }
    match surface {
        "discord" => Some(core_and(&["discord", "discord_admin"])),
        "feishu" => Some(core_and(&["feishu_doc", "feishu_drive"])),
        "yuanbao" => Some(core_and(&["yuanbao"])),
        "acp" => Some(core_without(&[
            &["clarify", "text_to_speech", "image_generate", "cronjob"],
            HOME,
            KANBAN,
            DESKTOP,
        ])),
        "api-server" => Some(core_without(&[
            &["clarify", "text_to_speech"],
            KANBAN,
            DESKTOP,
        ])),
        "webhook" => Some(vec![
            "web_search",
            "web_extract",
            "vision_analyze",
            "clarify",
        ]),
        "gateway" => Some(core_and(&[
            "discord",
            "discord_admin",
            "feishu_doc",
            "feishu_drive",
            "yuanbao",
        ])),
        _ => None,
    }
}

fn core_and(sets: &[&str]) -> Vec<&'static str> {
    let mut tools = CORE.to_vec();
    tools.extend(sets.iter().filter_map(|set| tools_of(set)).flatten());
    tools
}

fn core_without(left_out: &[&[&str]]) -> Vec<&'static str> {
    CORE.iter()
        .copied()
        .filter(|tool| !left_out.iter().any(|list| list.contains(tool)))
        .collect()
}
