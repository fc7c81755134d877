//! `Config`: all of `config.yaml`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{section, texts};
use crate::sections::{
    Agent, Approvals, Auxiliary, Bedrock, Browser, Checkpoints, Clarify, CodeExecution,
    Compression, ComputerUse, Context, Cron, Curator, Dashboard, Delegation, Desktop,
    DirectMessages, Discord, Display, Fallback, Gateway, Goals, Hook, HumanDelay, Kanban, Learning,
    Logging, Lsp, Matrix, Mattermost, Mcp, McpServer, MediaGeneration, Memory, Moa, Model,
    ModelAlias, ModelCatalog, Network, Onboarding, OpenRouter, Personality, Platform, PlatformHint,
    Plugins, PoolStrategy, Privacy, ProfileRoute, PromptCaching, Provider, ProviderRouting,
    QuickCommand, Secrets, Security, SessionReset, Sessions, Skills, Slack, Streaming, Stt,
    Telegram, Terminal, ToolLoopGuardrails, ToolOutput, Tools, Tts, Updates, Vertex, Voice, Web,
    WhatsApp, XSearch,
};
use crate::setting::Either;
use crate::value::Value;
use crate::zone::Zone;

section! {
    /// All settings.
    pub struct Config {
        /// The model that answers, and how to reach it.
        model: Model = Model::default();
        /// Endpoints of your own and settings of built-in providers, by name.
        providers: BTreeMap<String, Provider> = BTreeMap::new();
        /// Endpoints of your own as a list, as older versions wrote them.
        @unlisted custom_providers: Vec<Provider> = Vec::new();
        /// Models to turn to when the main one fails, in order.
        fallback_providers: Vec<Fallback> = Vec::new();
        /// A model to turn to after those, as older versions wrote it.
        @unlisted fallback_model: Vec<Fallback> = Vec::new();
        /// Which of several credentials is taken next, by provider.
        credential_pool_strategies: BTreeMap<String, PoolStrategy> = BTreeMap::new();
        /// Short names for models.
        @unlisted model_aliases: BTreeMap<String, ModelAlias> = BTreeMap::new();
        /// Which upstream providers OpenRouter may pick.
        @unlisted provider_routing: ProviderRouting = ProviderRouting::default();
        /// Choosing a cheaper model for simple messages.
        @unlisted smart_model_routing: BTreeMap<String, Value> = BTreeMap::new(), no_effect "until Hermes chooses a model for each message";
        /// Toolsets offered in the terminal.
        toolsets: Vec<String> = texts(["hermes-cli"]);
        /// Toolsets and MCP servers offered on single platforms.
        @unlisted platform_toolsets: BTreeMap<String, Vec<String>> = BTreeMap::new();
        /// Toolsets of plugins that were seen before, by platform.
        @unlisted known_plugin_toolsets: BTreeMap<String, Value> = BTreeMap::new(), no_effect "until plugins bring toolsets";
        /// MCP servers, by name.
        @unlisted mcp_servers: BTreeMap<String, McpServer> = BTreeMap::new();
        /// Which plugins are loaded.
        @unlisted plugins: Plugins = Plugins::default();
        /// Most turns in chats at once; no limit when null.
        max_concurrent_sessions: Option<u32> = None, no_effect "until there is a gateway";
        /// Most conversations kept in memory.
        max_live_sessions: u32 = 16, in 0..=1_000_000;
        /// How a turn is run.
        agent: Agent = Agent::default();
        /// Where and how commands run.
        terminal: Terminal = Terminal::default();
        /// Searching the web and reading pages.
        web: Web = Web::default();
        /// Driving a web browser.
        browser: Browser = Browser::default(), no_effect "until there is a browser";
        /// Snapshots of your files that `/rollback` restores.
        checkpoints: Checkpoints = Checkpoints::default();
        /// Characters of a project's instruction file that are used; 20,000 to 500,000 by window when null.
        context_file_max_chars: Option<u32> = None;
        /// Characters one reading of a file returns.
        file_read_max_chars: u32 = 100_000, in 100..=1_000_000_000;
        /// Seconds the first turn waits for MCP servers.
        mcp_discovery_timeout: Duration = Duration::from_millis(1500);
        /// How MCP servers are kept up.
        mcp: Mcp = Mcp::default();
        /// How much of one tool result reaches the model.
        tool_output: ToolOutput = ToolOutput::default();
        /// Noticing a model that goes round in circles.
        tool_loop_guardrails: ToolLoopGuardrails = ToolLoopGuardrails::default();
        /// Summarising the older part of a conversation.
        compression: Compression = Compression::default();
        /// The board of work that agents take cards from.
        kanban: Kanban = Kanban::default(), no_effect "until there is a board";
        /// Paying less for the part of the prompt that stays the same.
        prompt_caching: PromptCaching = PromptCaching::default();
        /// OpenRouter.
        openrouter: OpenRouter = OpenRouter::default();
        /// AWS Bedrock.
        bedrock: Bedrock = Bedrock::default();
        /// The models for work on the side.
        auxiliary: Auxiliary = Auxiliary::default();
        /// What you see in the terminal and in chats.
        display: Display = Display::default();
        /// The web page of Hermes.
        dashboard: Dashboard = Dashboard::default(), no_effect "until there is a dashboard";
        /// What the model learns about people.
        privacy: Privacy = Privacy::default();
        /// Turning text into speech.
        tts: Tts = Tts::default(), no_effect "until there is speech";
        /// Turning voice messages into text.
        stt: Stt = Stt::default(), no_effect "until there is speech";
        /// Talking with the agent in the terminal.
        voice: Voice = Voice::default(), no_effect "until there is speech";
        /// Making pictures.
        @unlisted image_gen: MediaGeneration = MediaGeneration::default(), no_effect "until pictures are made";
        /// Making films.
        @unlisted video_gen: MediaGeneration = MediaGeneration::default(), no_effect "until films are made";
        /// Holding chat answers back a little.
        human_delay: HumanDelay = HumanDelay::default(), no_effect "until there is a gateway";
        /// What keeps the conversation within the window.
        context: Context = Context::default(), no_effect "until plugins bring other engines";
        /// What the agent remembers between sessions.
        memory: Memory = Memory::default();
        /// Agents the agent sends off with parts of its work.
        delegation: Delegation = Delegation::default(), no_effect "until work is delegated";
        /// JSON file with messages put in front of every conversation.
        prefill_messages_file: String = String::new();
        /// Goals that the agent pursues over several turns.
        goals: Goals = Goals::default(), no_effect "until goals can be set";
        /// Several models answering together.
        moa: Moa = Moa::default(), no_effect "until several models answer together";
        /// Instructions the agent reads when it needs them.
        skills: Skills = Skills::default();
        /// Tidying up skills the agent has written.
        curator: Curator = Curator::default();
        /// Looking back behind answers for what is worth keeping.
        learning: Learning = Learning::default();
        /// Settings of the external memory Honcho.
        honcho: BTreeMap<String, Value> = BTreeMap::new(), no_effect "as they are read from `honcho.json`";
        /// Time zone that times are told in and scripts run in, such as `Europe/Vienna`; that of the machine when empty.
        timezone: Zone = Zone::default();
        /// Slack.
        slack: Slack = Slack::default(), no_effect "until there is a gateway";
        /// Discord.
        discord: Discord = Discord::default(), no_effect "until there is a gateway";
        /// WhatsApp.
        whatsapp: WhatsApp = WhatsApp::default(), no_effect "until there is a gateway";
        /// Telegram.
        telegram: Telegram = Telegram::default(), no_effect "until there is a gateway";
        /// Mattermost.
        mattermost: Mattermost = Mattermost::default(), no_effect "until there is a gateway";
        /// Matrix.
        matrix: Matrix = Matrix::default(), no_effect "until there is a gateway";
        /// Who allows dangerous commands.
        approvals: Approvals = Approvals::default();
        /// Commands and kinds of commands that run without asking.
        command_allowlist: Vec<String> = Vec::new();
        /// Slash commands of your own.
        quick_commands: BTreeMap<String, QuickCommand> = BTreeMap::new();
        /// What the model is told about single platforms; plain text is added to the built-in one.
        platform_hints: BTreeMap<String, Either<String, PlatformHint>> = BTreeMap::new();
        /// Commands that run when something happens, by event.
        hooks: BTreeMap<String, Vec<Hook>> = BTreeMap::new(), no_effect "until hooks are run";
        /// Runs new hooks without asking once.
        hooks_auto_accept: bool = false, no_effect "until hooks are run";
        /// Personalities of yours for `/personality`, next to the built-in ones.
        personalities: BTreeMap<String, Either<String, Personality>> = BTreeMap::new();
        /// What the agent may reach and what it may show.
        security: Security = Security::default();
        /// Scheduled jobs.
        cron: Cron = Cron::default(), no_effect "until there are scheduled jobs";
        /// Scripts the model writes to call several tools at once.
        code_execution: CodeExecution = CodeExecution::default();
        /// How tools are offered to the model.
        tools: Tools = Tools::default();
        /// The log files in the home.
        logging: Logging = Logging::default();
        /// The list of recommended models of the reference.
        model_catalog: ModelCatalog = ModelCatalog::default(), no_effect "as Hermes asks the providers themselves";
        /// How Hermes uses the network.
        network: Network = Network::default();
        /// The service that connects chats.
        gateway: Gateway = Gateway::default(), no_effect "until there is a gateway";
        /// Showing answers in chats while they are written.
        streaming: Streaming = Streaming::default(), no_effect "until there is a gateway";
        /// How long conversations are kept.
        sessions: Sessions = Sessions::default();
        /// Questions of the agent in the terminal.
        @unlisted clarify: Clarify = Clarify::default();
        /// Hints for new users.
        onboarding: Onboarding = Onboarding::default();
        /// Updating Hermes.
        updates: Updates = Updates::default(), no_effect "until Hermes updates itself";
        /// Language servers that check files the agent has edited.
        lsp: Lsp = Lsp::default();
        /// Searching posts on X.
        x_search: XSearch = XSearch::default(), no_effect "until posts on X are searched";
        /// Password managers that keys are fetched from.
        secrets: Secrets = Secrets::default(), no_effect "until password managers are asked";
        /// Works in a new git worktree every time.
        @unlisted worktree: bool = false, no_effect "until Hermes makes worktrees";
        /// Begins worktrees at the latest upstream commit.
        @unlisted worktree_sync: bool = true, no_effect "until Hermes makes worktrees";
        /// Lines from which pasted text is put into a file; 0 never.
        paste_collapse_threshold: u32 = 5;
        /// The same for terminals that do not mark pasted text.
        paste_collapse_threshold_fallback: u32 = 5;
        /// Characters from which pasted text is put into a file; 0 never.
        paste_collapse_char_threshold: u32 = 2000;
        /// Driving the desktop of this machine.
        computer_use: ComputerUse = ComputerUse::default(), no_effect "until Hermes drives desktops";
        /// The desktop program.
        desktop: Desktop = Desktop::default(), no_effect "as there is no desktop program";
        /// Google Vertex AI.
        vertex: Vertex = Vertex::default();

        /// Chat platforms, by name.
        @unlisted platforms: BTreeMap<String, Platform> = BTreeMap::new(), no_effect "until there is a gateway";
        /// Only answers in groups when it is mentioned, on every platform.
        @unlisted require_mention: Option<bool> = None, no_effect "until there is a gateway";
        /// What happens to a direct message of someone unknown; `pair` when unset.
        @unlisted unauthorized_dm_behavior: Option<DirectMessages> = None, no_effect "until there is a gateway";
        /// Gives everyone in a group a session of their own; on when unset.
        @unlisted group_sessions_per_user: Option<bool> = None, no_effect "until there is a gateway";
        /// Gives everyone in a thread a session of their own; off when unset.
        @unlisted thread_sessions_per_user: Option<bool> = None, no_effect "until there is a gateway";
        /// When a chat begins a new session by itself.
        @unlisted session_reset: Option<SessionReset> = None, no_effect "until there is a gateway";
        /// The same for kinds of chats: `dm`, `group`, `thread`.
        @unlisted reset_by_type: BTreeMap<String, SessionReset> = BTreeMap::new(), no_effect "until there is a gateway";
        /// The same for platforms.
        @unlisted reset_by_platform: BTreeMap<String, SessionReset> = BTreeMap::new(), no_effect "until there is a gateway";
        /// Messages that begin a new session; `/new` and `/reset` when unset.
        @unlisted reset_triggers: Option<Vec<String>> = None, no_effect "until there is a gateway";
        /// Keeps a copy of everything sent to chats in a log; on when unset.
        @unlisted always_log_local: Option<bool> = None, no_effect "until there is a gateway";
        /// Also writes the list of chats to `sessions.json`; as `gateway.write_sessions_json` when unset.
        @unlisted write_sessions_json: Option<bool> = None, no_effect "until there is a gateway";
        /// Holds back answers that only say that there is nothing to say; on when unset.
        @unlisted filter_silence_narration: Option<bool> = None, no_effect "until there is a gateway";
        /// Shows the text of voice messages in the chat; as `stt.echo_transcripts` when unset.
        @unlisted stt_echo_transcripts: Option<bool> = None, no_effect "until there is a gateway";
        /// Days a chat without messages is remembered; 90 when unset.
        @unlisted session_store_max_age_days: Option<u32> = None, no_effect "until there is a gateway";
        /// Seconds between signs of life to systemd; none when unset or 0.
        @unlisted systemd_watchdog_seconds: Option<Duration> = None, no_effect "until there is a gateway";
        /// Serves all profiles from one process; off when unset.
        @unlisted multiplex_profiles: Option<bool> = None, no_effect "until there is a gateway";
        /// Which chats belong to which profile.
        @unlisted profile_routes: Vec<ProfileRoute> = Vec::new(), no_effect "until there is a gateway";
        /// Signal.
        @unlisted signal: Option<Platform> = None, no_effect "until there is a gateway";
        /// WhatsApp through Meta's cloud.
        @unlisted whatsapp_cloud: Option<Platform> = None, no_effect "until there is a gateway";
        /// E-mail.
        @unlisted email: Option<Platform> = None, no_effect "until there is a gateway";
        /// Home Assistant.
        @unlisted homeassistant: Option<Platform> = None, no_effect "until there is a gateway";
        /// Text messages through Twilio.
        @unlisted sms: Option<Platform> = None, no_effect "until there is a gateway";
        /// Webhooks.
        @unlisted webhook: Option<Platform> = None, no_effect "until there is a gateway";
        /// The API for other programs.
        @unlisted api_server: Option<Platform> = None, no_effect "until there is a gateway";
        /// DingTalk.
        @unlisted dingtalk: Option<Platform> = None, no_effect "until there is a gateway";
        /// Feishu and Lark.
        @unlisted feishu: Option<Platform> = None, no_effect "until there is a gateway";
        /// WeCom.
        @unlisted wecom: Option<Platform> = None, no_effect "until there is a gateway";
        /// WeCom through callbacks.
        @unlisted wecom_callback: Option<Platform> = None, no_effect "until there is a gateway";
        /// Weixin.
        @unlisted weixin: Option<Platform> = None, no_effect "until there is a gateway";
        /// iMessage through BlueBubbles.
        @unlisted bluebubbles: Option<Platform> = None, no_effect "until there is a gateway";
        /// QQ.
        @unlisted qqbot: Option<Platform> = None, no_effect "until there is a gateway";
        /// Yuanbao.
        @unlisted yuanbao: Option<Platform> = None, no_effect "until there is a gateway";
        /// Microsoft Teams.
        @unlisted teams: Option<Platform> = None, no_effect "until there is a gateway";
        /// Google Chat.
        @unlisted google_chat: Option<Platform> = None, no_effect "until there is a gateway";
        /// LINE.
        @unlisted line: Option<Platform> = None, no_effect "until there is a gateway";
        /// ntfy.
        @unlisted ntfy: Option<Platform> = None, no_effect "until there is a gateway";
        /// IRC.
        @unlisted irc: Option<Platform> = None, no_effect "until there is a gateway";
        /// SimpleX.
        @unlisted simplex: Option<Platform> = None, no_effect "until there is a gateway";
        /// Microsoft Graph notifications.
        @unlisted msgraph_webhook: Option<Platform> = None, no_effect "until there is a gateway";
        /// A relay that connects platforms elsewhere.
        @unlisted relay: Option<Platform> = None, no_effect "until there is a gateway";

        /// Version of the file's layout, kept up by Hermes.
        config_version as "_config_version": u32 = 33;
    }
}
