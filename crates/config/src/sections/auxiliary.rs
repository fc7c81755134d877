//! `auxiliary`: the models for work on the side.

use std::collections::BTreeMap;
use std::time::Duration;

use super::effort::Effort;
use super::model::ApiMode;
use super::provider::Fallback;
use crate::macros::{secs, section, text};
use crate::setting::SecretText;
use crate::value::Value;

section! {
    /// The models for work on the side. Further names are tasks that plugins bring along.
    pub struct Auxiliary [..others: AuxiliaryTask] {
        /// Further attempts after a passing failure.
        transient_retries: u32 = 2, in 0..=6;
        /// Describing pictures.
        vision: VisionTask = VisionTask::default();
        /// Summarising web pages.
        web_extract: AuxiliaryTask = task(360), no_effect "as pages are read without a model";
        /// Summarising earlier conversations that a search found.
        @unlisted session_search: AuxiliaryTask = task(60);
        /// Summarising the older part of a conversation.
        compression: AuxiliaryTask = task(120);
        /// Searching and judging skills of the hub.
        skills_hub: AuxiliaryTask = task(30), no_effect "as skills of the hub are judged without a model";
        /// Judging commands when `approvals.mode` is `smart`.
        approval: AuxiliaryTask = task(30);
        /// Answering questions that MCP servers put to a model.
        mcp: AuxiliaryTask = task(30);
        /// Naming sessions.
        title_generation: TitleTask = TitleTask::default();
        /// Turning a message into a search of the memory.
        memory_query_rewrite: AuxiliaryTask = task(8);
        /// Marking up text for expressive speech.
        tts_audio_tags: AuxiliaryTask = task(30), no_effect "until there is speech";
        /// Fleshing out new cards of the board.
        triage_specifier: AuxiliaryTask = task(120), no_effect "until there is a board";
        /// Splitting cards of the board into smaller ones.
        kanban_decomposer: AuxiliaryTask = task(180), no_effect "until there is a board";
        /// Describing profiles.
        profile_describer: AuxiliaryTask = task(60), no_effect "until profiles are described";
        /// Judging whether a goal has been reached.
        goal_judge: AuxiliaryTask = task(60), no_effect "until goals can be set";
        /// Tidying up skills.
        curator: AuxiliaryTask = task(600);
        /// Watching over long work.
        monitor: AuxiliaryTask = task(60), no_effect "until long work is watched over";
        /// Learning from a finished turn.
        background_review: AuxiliaryTask = task(120);
        /// Answering side by side in a mixture of agents.
        moa_reference: AuxiliaryTask = task(900), no_effect "until several models answer together";
        /// Making one answer of theirs.
        moa_aggregator: AuxiliaryTask = task(900), no_effect "until several models answer together";
    }
}

section! {
    /// The model for one task on the side.
    pub struct AuxiliaryTask {
        /// Provider; `auto` tries that of the conversation first, `main` takes only that one.
        provider: String = text("auto");
        /// Name of the model; one that suits the provider when empty.
        model: String = String::new();
        /// Address of the API, in place of the provider's own.
        base_url: String = String::new();
        /// Key for that address.
        api_key: SecretText = SecretText::default();
        /// Environment variable that holds the key.
        @unlisted key_env: String = String::new();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Seconds one call may take.
        timeout: Duration = secs(30);
        /// Fields added to the request body.
        extra_body: BTreeMap<String, Value> = BTreeMap::new();
        /// Thinking the model does.
        reasoning_effort: Effort = Effort::Unset;
        /// Models to turn to when it fails.
        @unlisted fallback_chain: Vec<Fallback> = Vec::new();
    }
}

section! {
    /// The model that describes pictures.
    pub struct VisionTask {
        /// Provider; `auto` tries that of the conversation first, `main` takes only that one.
        provider: String = text("auto");
        /// Name of the model; one that suits the provider when empty.
        model: String = String::new();
        /// Address of the API, in place of the provider's own.
        base_url: String = String::new();
        /// Key for that address.
        api_key: SecretText = SecretText::default();
        /// Environment variable that holds the key.
        @unlisted key_env: String = String::new();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Seconds one call may take.
        timeout: Duration = secs(120);
        /// Fields added to the request body.
        extra_body: BTreeMap<String, Value> = BTreeMap::new();
        /// Thinking the model does.
        reasoning_effort: Effort = Effort::Unset;
        /// Seconds the download of a picture may take.
        download_timeout: Duration = secs(30), no_effect "until pictures are fetched";
        /// Most pictures described at once.
        @unlisted max_concurrency: Option<u32> = None;
        /// Models to turn to when it fails.
        @unlisted fallback_chain: Vec<Fallback> = Vec::new();
    }
}

section! {
    /// The model that names sessions.
    pub struct TitleTask {
        /// Names sessions.
        enabled: bool = true;
        /// Provider; `auto` tries that of the conversation first, `main` takes only that one.
        provider: String = text("auto");
        /// Name of the model; one that suits the provider when empty.
        model: String = String::new();
        /// Address of the API, in place of the provider's own.
        base_url: String = String::new();
        /// Key for that address.
        api_key: SecretText = SecretText::default();
        /// Environment variable that holds the key.
        @unlisted key_env: String = String::new();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Seconds one call may take.
        timeout: Duration = secs(30);
        /// Fields added to the request body.
        extra_body: BTreeMap<String, Value> = BTreeMap::new();
        /// Thinking the model does.
        reasoning_effort: Effort = Effort::Unset;
        /// Language of the names; that of the conversation when empty.
        language: String = String::new();
        /// Models to turn to when it fails.
        @unlisted fallback_chain: Vec<Fallback> = Vec::new();
    }
}

/// A task with its own time limit.
fn task(timeout: u64) -> AuxiliaryTask {
    AuxiliaryTask {
        timeout: secs(timeout),
        ..AuxiliaryTask::default()
    }
}
