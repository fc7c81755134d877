//! `agent`: how a turn is run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::automatic::Automatic;
use super::effort::Effort;
use crate::macros::{choice, secs, section};
use crate::setting::Either;

choice! {
    /// When the agent works as a programmer.
    pub enum CodingContext {
        /// On a coding surface inside a project.
        Auto = "auto",
        /// As on, with the tools cut down to those of a programmer.
        Focus = "focus",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

choice! {
    /// How pictures reach the model.
    pub enum ImageInput {
        /// As pictures when the model sees, otherwise described.
        Auto = "auto",
        /// As pictures.
        Native = "native",
        /// Described by the vision helper first.
        Text = "text",
    }
}

section! {
    /// How a turn is run: its limits, its guidance to the model, and how long chats wait for it.
    pub struct Agent {
        /// Model calls one message may lead to.
        max_turns: u32 = 90, in 1..=1_000_000;
        /// Seconds without any activity after which a turn in a chat is stopped; 0 never.
        gateway_timeout: Duration = secs(1800), no_effect "until there is a gateway";
        /// Seconds a restarting gateway waits for running turns; 0 interrupts them at once.
        restart_drain_timeout: Duration = secs(0), no_effect "until there is a gateway";
        /// Attempts of one model call before another provider is tried.
        api_max_retries: u32 = 3, in 0..=100;
        /// Service tier asked of OpenAI, Azure, OpenRouter and endpoints of your own, such as `priority`; theirs when empty.
        service_tier: String = String::new();
        /// Thinking the model does before it answers.
        @unlisted reasoning_effort: Effort = Effort::Unset;
        /// Reminds models to act with tools: on, off, `auto` by model family, or a list of parts of model names.
        tool_use_enforcement: Either<Automatic, Vec<String>> = Either::First(Automatic::Auto);
        /// Asks once more when the model only announces what it will do; `auto` on the Responses protocol.
        intent_ack_continuation: Either<Automatic, Vec<String>> = Either::First(Automatic::Auto);
        /// Tells the model to finish the job before it stops.
        task_completion_guidance: bool = true;
        /// Tells the model to make independent tool calls together.
        parallel_tool_call_guidance: bool = true;
        /// Tells the model which programming tools the machine has.
        environment_probe: bool = true;
        /// A note of yours about the machine, shown to the model.
        environment_hint: String = String::new();
        /// When the agent works as a programmer.
        coding_context: CodingContext = CodingContext::Auto;
        /// Instructions of yours that only count while it programs.
        coding_instructions: String = String::new();
        /// Tells the model to check its work.
        verify_guidance: bool = true;
        /// Times a plugin may send the model back to check its work in one turn.
        max_verify_nudges: u32 = 3, in 0..=100, no_effect "until plugins send the model back";
        /// Sends the model back to run a check after it changed code; `auto` outside of chats.
        verify_on_stop: Automatic = Automatic::Auto;
        /// Seconds without activity after which a chat is warned that its turn will be stopped; 0 never.
        gateway_timeout_warning: Duration = secs(900), no_effect "until there is a gateway";
        /// Seconds a question to the user in a chat stays open.
        clarify_timeout: Duration = secs(3600), no_effect "until there is a gateway";
        /// Seconds between notices in a chat that a long turn is still running; 0 none.
        gateway_notify_interval: Duration = secs(180), no_effect "until there is a gateway";
        /// Seconds after a restart during which an interrupted turn is taken up again.
        gateway_auto_continue_freshness: Duration = secs(3600), no_effect "until there is a gateway";
        /// Seconds a model on this machine or network may be silent before its stream is given up.
        local_stream_stale_timeout: Duration = secs(900);
        /// How pictures reach the model.
        image_input_mode: ImageInput = ImageInput::Auto;
        /// Toolsets that are never offered, whatever else is set.
        disabled_toolsets: Vec<String> = Vec::new();
        /// Thinking effort for models of these names.
        reasoning_overrides: BTreeMap<String, Effort> = BTreeMap::new();
        /// Text added to the system prompt.
        @unlisted system_prompt: String = String::new();
        /// Personalities of yours for `/personality`, next to the built-in ones.
        @unlisted personalities: BTreeMap<String, Either<String, Personality>> = BTreeMap::new();
        /// Shows more of what the agent does.
        @unlisted verbose: bool = false, no_effect "as `--verbose` asks for it";
    }
}

section! {
    /// A way of speaking that `/personality` can put on.
    pub struct Personality {
        /// What lists say about it.
        @unlisted description: String = String::new();
        /// Text it adds to the system prompt.
        @unlisted system_prompt: String = String::new();
        /// Tone of voice.
        @unlisted tone: String = String::new();
        /// Style of writing.
        @unlisted style: String = String::new();
    }
}
