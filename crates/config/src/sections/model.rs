//! `model` and `model_aliases`: the model that answers.

use std::collections::BTreeMap;

use crate::macros::{choice, section, text};
use crate::setting::SecretText;
use crate::value::Value;

choice! {
    /// The wire protocol an endpoint speaks.
    pub enum ApiMode {
        /// Found out from provider, address and model.
        Unset = "",
        /// OpenAI Chat Completions.
        ChatCompletions = "chat_completions",
        /// OpenAI Responses.
        Responses = "codex_responses",
        /// Anthropic Messages.
        AnthropicMessages = "anthropic_messages",
        /// AWS Bedrock Converse.
        BedrockConverse = "bedrock_converse",
        /// JSON-RPC to a `codex` child process.
        CodexAppServer = "codex_app_server",
    }
}

choice! {
    /// Who loads a model into LM Studio.
    pub enum LoadMode {
        /// Hermes asks the server to load it with a large enough window.
        Explicit = "explicit",
        /// The server loads it on the first request.
        JustInTime = "jit",
    }
}

section! {
    /// The model that answers, and how to reach it. Plain text in place of the map is the model's name.
    pub struct Model {
        /// Name of the model; the provider's recommended one when empty.
        @unlisted default: String = String::new();
        /// Provider that serves it; `auto` takes the first one with credentials.
        @unlisted provider: String = text("auto");
        /// Address of the API, in place of the provider's own.
        @unlisted base_url: String = String::new();
        /// Key for that address; better kept in `.env`.
        @unlisted api_key: SecretText = SecretText::default();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Size of the context window in tokens, when detection gets it wrong.
        @unlisted context_length: Option<u32> = None;
        /// Most tokens of one answer.
        @unlisted max_tokens: Option<u32> = None;
        /// Whether the model takes images, when detection gets it wrong.
        @unlisted supports_vision: Option<bool> = None;
        /// Way of signing in; `entra_id` uses Microsoft Entra in place of a key.
        @unlisted auth_mode: String = String::new();
        /// Options of the Microsoft Entra sign-in.
        @unlisted entra: BTreeMap<String, Value> = BTreeMap::new(), no_effect "as variables say who signs in";
        /// HTTP headers added to every request to the model.
        @unlisted extra_headers: BTreeMap<String, String> = BTreeMap::new();
        /// HTTP headers added to every request unless the provider sets them itself.
        @unlisted default_headers: BTreeMap<String, String> = BTreeMap::new();
        /// `codex_app_server` would run OpenAI's models through the `codex` program; Hermes does not and says so.
        @unlisted openai_runtime: String = String::new();
        /// Context window in tokens asked of Ollama.
        @unlisted ollama_num_ctx: Option<u32> = None;
        /// Who loads the model into LM Studio.
        @unlisted lmstudio_load_mode: Option<LoadMode> = None;
        /// Keeps a `/model` switch for later sessions without `--global`.
        @unlisted persist_switch_by_default: bool = false;
        /// Short names for models, as in `model_aliases`.
        @unlisted aliases: BTreeMap<String, Value> = BTreeMap::new();
    }
}

section! {
    /// A short name for a model.
    pub struct ModelAlias {
        /// Name of the model.
        model: String = String::new();
        /// Provider that serves it; the current one when empty.
        provider: String = String::new();
        /// Address of the API, in place of the provider's own.
        base_url: String = String::new();
    }
}
