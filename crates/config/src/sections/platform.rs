//! `platforms.<name>`: one chat platform.

use std::collections::BTreeMap;

use super::names::NameList;
use crate::macros::{choice, section};
use crate::setting::{Either, SecretText};
use crate::value::Value;

choice! {
    /// What happens to a direct message of someone unknown.
    pub enum DirectMessages {
        /// They get a code to be let in with.
        Pair = "pair" | "on",
        /// Nothing.
        Ignore = "ignore" | "off",
    }
}

choice! {
    /// Which message an answer refers to.
    pub enum ReplyMode {
        /// The first part to the question.
        First = "first" | "on",
        /// No part.
        Off = "off",
        /// Every part to the question.
        All = "all",
    }
}

choice! {
    /// Who may talk to the agent.
    pub enum AccessPolicy {
        /// Everyone.
        Open = "open",
        /// Those on the list.
        Allowlist = "allowlist",
        /// Those who were let in with a code.
        Pairing = "pairing",
        /// Nobody.
        Disabled = "disabled" | "off",
    }
}

choice! {
    /// Who sees notices in a group.
    pub enum NoticeDelivery {
        /// The group.
        Public = "public",
        /// The one they concern.
        Private = "private",
    }
}

section! {
    /// One chat platform. Further keys are the platform's own.
    pub struct Platform [..rest: Value] {
        /// Connects it; unset connects it when its credentials are there.
        @unlisted enabled: Option<bool> = None;
        /// Token of the bot; better kept in `.env`.
        @unlisted token: SecretText = SecretText::default();
        /// Key of its API; better kept in `.env`.
        @unlisted api_key: SecretText = SecretText::default();
        /// Where messages go that no chat asked for.
        @unlisted home_channel: Option<Either<HomeChannel, String>> = None;
        /// Which message an answer refers to.
        @unlisted reply_to_mode: Option<ReplyMode> = None;
        /// Says in chats that the gateway was restarted.
        @unlisted gateway_restart_notification: bool = true;
        /// Shows that the agent is typing.
        @unlisted typing_indicator: bool = true;
        /// Words shown while it is.
        @unlisted typing_status_text: String = String::new();
        /// Model and prompt of single chats.
        @unlisted channel_overrides: BTreeMap<String, ChannelOverride> = BTreeMap::new();
        /// Text added to the system prompt in single chats.
        @unlisted channel_prompts: BTreeMap<String, String> = BTreeMap::new();
        /// Skills loaded from the start in single chats.
        @unlisted channel_skill_bindings: Option<Value> = None;
        /// What happens to a direct message of someone unknown.
        @unlisted unauthorized_dm_behavior: Option<DirectMessages> = None;
        /// Who sees notices in a group.
        @unlisted notice_delivery: Option<NoticeDelivery> = None;
        /// Text in front of every answer.
        @unlisted reply_prefix: Option<String> = None;
        /// Answers in a thread.
        @unlisted reply_in_thread: Option<bool> = None;
        /// Where the result of a job can be answered: `thread` or `in_channel`.
        @unlisted cron_continuable_surface: String = String::new();
        /// Only answers in groups when it is mentioned.
        @unlisted require_mention: Option<bool> = None;
        /// Chats where it answers without being mentioned.
        @unlisted free_response_channels: NameList = NameList::default();
        /// Regular expressions that count as a mention.
        @unlisted mention_patterns: Vec<String> = Vec::new();
        /// Stays silent when another bot is mentioned.
        @unlisted exclusive_bot_mentions: Option<bool> = None;
        /// Who may send direct messages.
        @unlisted dm_policy: Option<AccessPolicy> = None;
        /// Who is on the list for that.
        @unlisted allow_from: NameList = NameList::default();
        /// Who may talk to it in groups.
        @unlisted group_policy: Option<AccessPolicy> = None;
        /// Who is on the list for that.
        @unlisted group_allow_from: NameList = NameList::default();
        /// Who may use every slash command.
        @unlisted allow_admin_from: NameList = NameList::default();
        /// Slash commands everyone may use.
        @unlisted user_allowed_commands: NameList = NameList::default();
        /// Who may use every slash command in groups.
        @unlisted group_allow_admin_from: NameList = NameList::default();
        /// Slash commands everyone may use in groups.
        @unlisted group_user_allowed_commands: NameList = NameList::default();
        /// The platform's own settings.
        @unlisted extra: BTreeMap<String, Value> = BTreeMap::new();
    }
}

section! {
    /// Where messages go that no chat asked for.
    pub struct HomeChannel {
        /// Platform, when it is another.
        @unlisted platform: String = String::new();
        /// The chat.
        chat_id: String = String::new();
        /// Name shown for it.
        @unlisted name: String = String::new();
        /// Thread of the chat.
        @unlisted thread_id: Option<String> = None;
    }
}

section! {
    /// Model and prompt of one chat.
    pub struct ChannelOverride {
        /// Name of the model.
        @unlisted model: String = String::new();
        /// Provider that serves it.
        @unlisted provider: String = String::new();
        /// Text added to the system prompt.
        @unlisted system_prompt: String = String::new();
    }
}
