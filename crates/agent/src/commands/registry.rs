//! Every command that is built in.

use super::info::{CommandInfo, Group, both, messaging, terminal};

const SESSION: &[CommandInfo] = &[
    both(
        "new",
        "[name]",
        "put this conversation away and begin another",
    )
    .also(&["reset"])
    .destructive(),
    terminal("clear", "", "begin another conversation on an empty screen").destructive(),
    terminal("redraw", "", "draw the screen again"),
    terminal("history", "", "show what was said so far"),
    terminal("save", "[file]", "write the conversation to a file")
        .also(&["export"])
        .dynamic(),
    both("retry", "", "answer the last message again"),
    both(
        "undo",
        "[n]",
        "take the last messages and their answers back",
    )
    .destructive(),
    terminal("prompt", "", "write the next message in your editor").also(&["compose"]),
    both(
        "title",
        "[title]",
        "name this conversation, or show its name",
    ),
    terminal(
        "handoff",
        "<platform>",
        "go on with this conversation on a messaging platform",
    )
    .dynamic(),
    both(
        "branch",
        "[name]",
        "go on in a copy and leave this conversation as it is",
    )
    .also(&["fork"]),
    both(
        "compress",
        "[here N|topic|--preview]",
        "make the history shorter, keeping a topic or the last N exchanges",
    )
    .also(&["compact"]),
    both(
        "rollback",
        "[n [file]|diff n]",
        "list earlier states of your files, or go back to one",
    )
    .takes(&["diff"]),
    terminal(
        "snapshot",
        "[list|create [label]|restore [id]|prune [n]]",
        "copy settings, memory and conversations, or go back to a copy",
    )
    .also(&["snap"])
    .takes(&["create", "list", "restore", "prune"]),
    both("stop", "", "end everything that runs in the background"),
    both(
        "background",
        "<prompt>",
        "have something done beside this conversation",
    )
    .also(&["bg", "btw"]),
    both("agents", "", "show which agents and tasks are at work").also(&["tasks"]),
    both(
        "queue",
        "<prompt>",
        "send a message once the current one is answered",
    )
    .also(&["q"]),
    both(
        "steer",
        "<prompt>",
        "tell the agent something while it works",
    ),
    both(
        "goal",
        "[text|status|pause|resume|clear]",
        "set what to work towards until it is reached",
    )
    .takes(&["status", "pause", "resume", "clear"]),
    both(
        "subgoal",
        "[text|remove n|clear]",
        "add to what the goal asks for",
    )
    .takes(&["remove", "clear"]),
    both(
        "moa",
        "<prompt>",
        "have several models answer and one of them sum it up",
    ),
    both(
        "status",
        "",
        "show the conversation, the model and what is used",
    ),
    both("resume", "[name]", "go back to an earlier conversation").dynamic(),
    both(
        "sessions",
        "[--source s] [--limit n]",
        "browse earlier conversations",
    ),
    terminal("journey", "", "look back at what was learned over time"),
    messaging(
        "approve",
        "[session|always]",
        "allow what is being asked about",
    )
    .takes(&["session", "always"]),
    messaging("deny", "[reason]", "refuse what is being asked about"),
    messaging(
        "sethome",
        "",
        "have this chat receive what no chat asked for",
    ),
    messaging("topic", "[name]", "bind a conversation to this topic"),
    messaging("start", "", "say hello and show what to do first"),
    messaging("restart", "", "start the gateway again once it is idle"),
];

const SETTINGS: &[CommandInfo] = &[
    terminal("config", "", "show the settings in use"),
    both(
        "model",
        "[name] [--provider p] [--global|--session|--once] [--refresh] [--remove]",
        "choose the model of this conversation",
    )
    .dynamic(),
    terminal("provider", "[id]", "choose a model of one provider").dynamic(),
    both(
        "codex-runtime",
        "[on|off]",
        "let Codex run the turns of its models",
    )
    .takes(&["on", "off"]),
    both("personality", "[name]", "change how the agent speaks").dynamic(),
    terminal("statusbar", "", "show or hide the status bar").also(&["sb"]),
    terminal(
        "details",
        "[SECTION] hidden|collapsed|expanded",
        "how far thoughts and calls are unfolded in full screen",
    )
    .takes(&[
        "hidden",
        "collapsed",
        "expanded",
        "thinking",
        "tools",
        "subagents",
        "activity",
    ]),
    terminal(
        "mouse",
        "off|wheel|buttons|all",
        "what the mouse is used for in full screen",
    )
    .takes(&["off", "wheel", "buttons", "all"]),
    terminal(
        "timestamps",
        "[on|off]",
        "show or hide the time of each message",
    )
    .also(&["ts"])
    .takes(&["on", "off"]),
    terminal(
        "verbose",
        "",
        "choose what is shown of calls: none, new ones, all, everything",
    ),
    both("footer", "[on|off]", "show or hide the line below answers").takes(&["on", "off"]),
    both("yolo", "", "stop asking before risky actions, or ask again"),
    both(
        "reasoning",
        "[level|show|hide|full|clamp] [--global]",
        "choose how hard the model thinks and what you see of it",
    )
    .takes(&[
        "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra", "show", "hide",
        "full", "clamp",
    ]),
    both(
        "fast",
        "[on|off] [--global]",
        "pay more for quicker answers where a provider offers it",
    )
    .takes(&["on", "off"]),
    terminal("skin", "[name]", "change colours and words").dynamic(),
    terminal(
        "indicator",
        "[name]",
        "change what moves while the agent works",
    )
    .takes(&["kaomoji", "emoji", "unicode", "ascii"]),
    both("voice", "on|off|tts|status", "speak and be spoken to")
        .takes(&["on", "off", "tts", "status"]),
    terminal(
        "busy",
        "interrupt|queue|steer",
        "choose what a message does while the agent works",
    )
    .takes(&["interrupt", "queue", "steer"]),
];

const TOOLS: &[CommandInfo] = &[
    terminal(
        "tools",
        "[list|enable|disable] [name]",
        "see and choose the tools the agent has",
    )
    .takes(&["list", "enable", "disable"])
    .dynamic(),
    terminal("toolsets", "", "list the groups tools come in"),
    terminal(
        "skills",
        "[list|search|pending|…]",
        "list and find skills, and let changes of them through",
    )
    .takes(&[
        "list",
        "find",
        "browse",
        "search",
        "install",
        "inspect",
        "check",
        "update",
        "audit",
        "uninstall",
        "pending",
        "diff",
        "approve",
        "reject",
        "approval",
    ]),
    both(
        "memory",
        "[pending|approve|reject|undo|approval]",
        "see and decide what is remembered",
    )
    .takes(&[
        "list", "log", "pending", "approve", "reject", "undo", "approval",
    ]),
    both("bundles", "", "list the bundles of skills"),
    both(
        "learn",
        "[source]",
        "make a skill of a page, a file or what was just done",
    ),
    terminal(
        "cron",
        "[list|add|…]",
        "see and change what is done on a schedule",
    )
    .takes(&["list", "add", "edit", "pause", "resume", "run", "remove"]),
    both(
        "suggestions",
        "",
        "see what Hermes proposes to do for you regularly",
    ),
    both("blueprint", "[name]", "set up a schedule from a template")
        .also(&["bp"])
        .dynamic(),
    both(
        "curator",
        "[status|run|pause|resume]",
        "look after the skills the agent has written",
    )
    .takes(&[
        "status",
        "usage",
        "run",
        "pause",
        "resume",
        "pin",
        "unpin",
        "archive",
        "restore",
        "list-archived",
        "prune",
        "backup",
        "rollback",
    ]),
    both("kanban", "[…]", "work with the board of tasks"),
    terminal("reload", "", "read the secrets file again"),
    terminal("mcp", "", "show the MCP servers and how they are"),
    both(
        "reload-mcp",
        "[now|always]",
        "read the settings of MCP servers again",
    )
    .takes(&["now", "always"]),
    both("reload-skills", "", "look for skills again"),
    terminal(
        "browser",
        "connect|disconnect|status",
        "use a browser you have open",
    )
    .takes(&["connect", "disconnect", "status"]),
    terminal("plugins", "", "list the plugins and what they add"),
    both("pet", "[name|off]", "keep a small companion on the screen")
        .takes(&["off"])
        .dynamic(),
    terminal("hatch", "", "get a new companion"),
];

const INFO: &[CommandInfo] = &[
    both("help", "", "list commands"),
    both("whoami", "", "show who you are here and what you may do"),
    both(
        "profile",
        "",
        "show which profile is in use and where it lives",
    ),
    both(
        "usage",
        "",
        "show the tokens and money this conversation took",
    ),
    terminal(
        "context",
        "",
        "show what fills the context of a conversation",
    ),
    both("insights", "[days]", "show how Hermes was used over time"),
    terminal(
        "platforms",
        "",
        "show the messaging platforms and their state",
    )
    .also(&["gateway"]),
    messaging(
        "platform",
        "[list|pause|resume] [name]",
        "pause or resume a messaging platform",
    )
    .takes(&["list", "pause", "resume"]),
    messaging(
        "commands",
        "[page]",
        "list all commands and skills, page by page",
    ),
    terminal("copy", "[n]", "copy an answer to the clipboard"),
    terminal("paste", "", "attach the picture on the clipboard"),
    terminal("image", "<path>", "attach a picture").dynamic(),
    both("update", "", "bring Hermes up to date"),
    both("version", "", "show which version this is").also(&["v"]),
    both("debug", "", "collect what helps to find a fault"),
    terminal("subscription", "", "show your subscription or change it").also(&["upgrade"]),
    both("topup", "", "add credit to your account"),
    terminal("quit", "[--delete]", "leave")
        .also(&["exit"])
        .takes(&["--delete"])
        .destructive(),
];

/// The commands of a group, in the order help shows them.
pub fn group(group: Group) -> &'static [CommandInfo] {
    match group {
        Group::Session => SESSION,
        Group::Settings => SETTINGS,
        Group::Tools => TOOLS,
        Group::Info => INFO,
    }
}

/// Every command.
pub fn all() -> impl Iterator<Item = &'static CommandInfo> + Clone {
    Group::ALL.into_iter().flat_map(group)
}

/// The command of exactly this name or other name, in small letters.
pub fn find(name: &str) -> Option<&'static CommandInfo> {
    all().find(|info| info.names().any(|known| known == name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::commands::Surface;

    // CL-21
    #[test]
    fn the_required_commands_are_there() {
        let required = [
            "new",
            "reset",
            "model",
            "personality",
            "retry",
            "undo",
            "compress",
            "usage",
            "insights",
            "skills",
            "stop",
            "platforms",
            "status",
            "sethome",
        ];
        for name in required {
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(find("fork").map(|info| info.name), Some("branch"));
        assert_eq!(
            find("sethome").map(|info| info.surface),
            Some(Surface::Messaging)
        );
        assert_eq!(
            find("clear").map(|info| info.surface),
            Some(Surface::Terminal)
        );
        assert_eq!(find("New"), None);
    }

    #[test]
    fn names_are_unique_and_written_alike() {
        let mut seen = BTreeSet::new();
        for info in all() {
            for name in info.names() {
                assert!(seen.insert(name), "{name} is there twice");
                assert!(
                    name.chars()
                        .all(|letter| letter.is_ascii_lowercase() || letter == '-'),
                    "{name}"
                );
            }
            assert!(
                !info.about.is_empty() && !info.about.ends_with('.') && info.about.len() <= 70,
                "{}",
                info.name
            );
        }
        assert_eq!(all().count(), 87);
    }

    #[test]
    fn consent_is_taken_out_of_the_arguments_of_what_destroys() {
        let new = find("new").unwrap();
        assert_eq!(
            new.consent("my name --yes"),
            crate::commands::Consent {
                given: true,
                lasting: false,
                rest: "my name".into()
            }
        );
        assert!(new.consent("now").given && new.consent("-y").given);
        assert!(new.consent("--always").lasting);
        assert!(!new.consent("my  name").given);
        assert!(!find("title").unwrap().consent("now").given);
    }
}
