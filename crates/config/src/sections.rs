//! Every section of `config.yaml`, one small type each; `Config` composes them.

mod agent;
mod approvals;
mod automatic;
mod auxiliary;
mod browser;
mod chat;
mod checkpoints;
mod command_provider;
mod compression;
mod cron;
mod dashboard;
mod delegation;
mod discord;
mod display;
mod effort;
mod extension;
mod gateway;
mod guardrails;
mod kanban;
mod learning;
mod logging;
mod lsp;
mod mcp;
mod media;
mod memory;
mod moa;
mod model;
mod names;
mod platform;
mod provider;
mod route;
mod secrets;
mod security;
mod sessions;
mod skills;
mod skills_hub;
mod streaming;
mod stt;
mod terminal;
mod tool_output;
mod tools;
mod tts;
mod updates;
mod vendors;
mod voice;
mod web;

pub use agent::{Agent, CodingContext, ImageInput, Personality};
pub use approvals::{ApprovalMode, Approvals, CronApproval};
pub use automatic::Automatic;
pub use auxiliary::{Auxiliary, AuxiliaryTask, TitleTask, VisionTask};
pub use browser::{Browser, Camofox, DialogPolicy, Engine};
pub use chat::{Matrix, Mattermost, Slack, Telegram, TelegramExtra, WhatsApp};
pub use checkpoints::Checkpoints;
pub use command_provider::CommandProvider;
pub use compression::{CacheTtl, CodexCompaction, Compression, Context, PromptCaching};
pub use cron::{Chronos, Cron};
pub use dashboard::{Dashboard, DashboardLogin, DashboardOAuth, Desktop, DrainAuth};
pub use delegation::{Delegation, Goals};
pub use discord::{Discord, MissedMessages, VoiceEffects};
pub use display::{
    BusyMode, CopyShortcut, DetailsMode, Display, DisplayPlatform, Interface, LiveStatus,
    LongRunNotice, MarkdownMode, MemoryNotice, MessagePreview, MouseTracking, Pet, ProcessNotice,
    ProgressGrouping, ReasoningStyle, ResumeDisplay, RuntimeFooter, StatusBar, StatusIndicator,
    ToolProgress,
};
pub use effort::Effort;
pub use extension::{Hook, PlatformHint, Plugins, QuickAction, QuickCommand};
pub use gateway::{ApiServer, Gateway, MessageTimestamps, RespawnStorm, RestartGuard, ScaleToZero};
pub use guardrails::{LoopLimits, ToolLoopGuardrails};
pub use kanban::Kanban;
pub use learning::Learning;
pub use logging::{DelayMode, HumanDelay, LogLevel, Logging, Privacy};
pub use lsp::{InstallStrategy, Lsp, WaitMode};
pub use mcp::{
    Mcp, McpElicitation, McpGrant, McpIdentityProvider, McpLifecycle, McpOAuth, McpSampling,
    McpSandbox, McpServer, McpTools, McpTrust,
};
pub use media::MediaGeneration;
pub use memory::Memory;
pub use moa::{Fanout, Moa, MoaModel, MoaPreset};
pub use model::{ApiMode, LoadMode, Model, ModelAlias};
pub use names::NameList;
pub use platform::{
    AccessPolicy, ChannelOverride, DirectMessages, HomeChannel, NoticeDelivery, Platform, ReplyMode,
};
pub use provider::{Fallback, PoolStrategy, Provider, ProviderModel, ProviderRouting, RoutingSort};
pub use route::ProfileRoute;
pub use secrets::{Bitwarden, OnePassword, Secrets};
pub use security::{Security, WebsiteBlocklist};
pub use sessions::{Clarify, ResetMode, SessionReset, Sessions};
pub use skills::{Curator, CuratorBackup, Skills};
pub use skills_hub::SkillsHub;
pub use streaming::{StreamTransport, Streaming};
pub use stt::{DeepInfraEar, ElevenLabsEar, LocalEar, MistralEar, OpenAiEar, Stt};
pub use terminal::{
    Backend, HomeMode, ModalMode, SandboxMode, SandboxNetwork, Terminal, TerminalSandbox,
};
pub use tool_output::ToolOutput;
pub use tools::{CodeExecution, CodeMode, ComputerUse, ToolSearch, Tools};
pub use tts::{
    DeepInfraVoice, EdgeVoice, ElevenLabsVoice, GeminiVoice, KittenVoice, MiniMaxVoice,
    MistralVoice, NeuVoice, OpenAiVoice, PiperVoice, Tts, XaiVoice,
};
pub use updates::{LocalChanges, Onboarding, ProfileBuild, UpdateBackup, Updates};
pub use vendors::{
    Bedrock, BedrockDiscovery, BedrockGuardrail, GuardrailStream, GuardrailTrace, ModelCatalog,
    Network, OpenRouter, Vertex,
};
pub use voice::Voice;
pub use web::{Web, XSearch};
