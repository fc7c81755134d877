//! What stands above a conversation. Nothing is waited for: skills and servers are told as they were last known.

use hermes_agent::toolsets;
use hermes_tui::{Banner, Server, model_label};

use crate::commands::chat::conversation::Conversation;
use crate::commands::chat::profile;
use crate::context::Context;

const SURFACE: &str = "cli";

/// Things worth trying, one of them at each start.
const TIPS: [&str; 14] = [
    "@ and a few letters put a file of the project into your message",
    "Ctrl+G opens what you write in your editor",
    "Ctrl+R finds what you wrote in earlier days",
    "a message that begins with a picture's path takes the picture along",
    "hermes doctor finds out what does not work and says what helps",
    "hermes --continue goes on with the latest conversation",
    "hermes --tui uses all of the terminal, with a list of sessions on F2",
    "hermes -z QUESTION prints nothing but the answer, for scripts",
    "/background lets a second agent work beside this one",
    "/compress makes room in a conversation that became long",
    "/details says how much is shown of thoughts and calls",
    "/skin lists other colours, and skins of your own can be added",
    "/usage tells what this conversation has used",
    "Alt+Enter begins another line",
];

/// What is known when a session starts.
pub(super) fn of(conversation: &Conversation, context: &Context) -> Banner {
    let front = conversation.front();
    let route = front.route();
    let house = &conversation.house;
    let tip = usize::try_from(house.random.below(TIPS.len() as u64)).unwrap_or_default();
    Banner {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: model_label(&route.model, None),
        vendor: route.provider.clone(),
        directory: front.directory.display().to_string(),
        session: front.id().to_string(),
        profile: profile(context),
        tools: tools(conversation),
        skills: skills(conversation),
        servers: servers(conversation),
        warning: (!front.is_asking()).then(|| "risky commands run without asking".to_owned()),
        tip: TIPS.get(tip).map(|tip| (*tip).to_owned()),
    }
}

/// The toolsets that are on and the tools in them, each tool once.
fn tools(conversation: &Conversation) -> Vec<(String, Vec<String>)> {
    let house = &conversation.house;
    // The small model inside the program uses none.
    if house.course.route().is_embedded() {
        return Vec::new();
    }
    let config = &house.models.loaded.config;
    let manner = conversation.manner();
    let chosen = toolsets::chosen(config, SURFACE, manner.toolsets.as_deref());
    let specs = hermes_tools::specs();
    let mut listed: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for set in toolsets::toolsets() {
        let tools: Vec<&str> = set
            .tools
            .iter()
            .copied()
            .filter(|tool| chosen.has(tool) && !listed.contains(tool))
            .filter(|tool| specs.iter().any(|spec| spec.name == *tool))
            .collect();
        if !tools.is_empty() {
            let names = tools.iter().map(ToString::to_string).collect();
            found.push((set.name.to_owned(), names));
            listed.extend(tools);
        }
    }
    found
}

fn skills(conversation: &Conversation) -> Vec<String> {
    let known = conversation.house.hands.skills().library.remembered();
    let entries = known.iter().flat_map(|catalog| &catalog.entries);
    entries.map(|entry| entry.name.clone()).collect()
}

/// The servers that are on. One that was not asked yet is no worse for that.
fn servers(conversation: &Conversation) -> Vec<Server> {
    let all = conversation.house.servers.status().into_iter();
    all.filter(|status| !status.disabled)
        .map(|status| Server {
            tools: status.error.is_none().then_some(status.tools),
            name: status.name,
        })
        .collect()
}
