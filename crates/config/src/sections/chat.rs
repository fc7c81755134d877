//! `slack`, `telegram`, `mattermost`, `matrix` and `whatsapp`: what these platforms have of their own.

use std::collections::BTreeMap;

use super::names::NameList;
use crate::macros::section;
use crate::value::Value;

section! {
    /// Slack. Takes the keys of `platforms.<name>` as well.
    pub struct Slack [..rest: Value] {
        /// Only answers in channels when it is mentioned.
        require_mention: bool = true;
        /// Channels where it answers without being mentioned.
        free_response_channels: NameList = NameList::default();
        /// The only channels it answers in; all when empty.
        allowed_channels: NameList = NameList::default();
        /// Text added to the system prompt in single channels.
        channel_prompts: BTreeMap<String, String> = BTreeMap::new();
    }
}

section! {
    /// Mattermost. Takes the keys of `platforms.<name>` as well.
    pub struct Mattermost [..rest: Value] {
        /// Only answers in channels when it is mentioned.
        require_mention: bool = true;
        /// Channels where it answers without being mentioned.
        free_response_channels: NameList = NameList::default();
        /// The only channels it answers in; all when empty.
        allowed_channels: NameList = NameList::default();
        /// Text added to the system prompt in single channels.
        channel_prompts: BTreeMap<String, String> = BTreeMap::new();
    }
}

section! {
    /// Matrix. Takes the keys of `platforms.<name>` as well.
    pub struct Matrix [..rest: Value] {
        /// Only answers in rooms when it is mentioned.
        require_mention: bool = true;
        /// Rooms where it answers without being mentioned.
        free_response_rooms: NameList = NameList::default();
        /// The only rooms it answers in; all when empty.
        allowed_rooms: NameList = NameList::default();
    }
}

section! {
    /// Telegram. Takes the keys of `platforms.<name>` as well.
    pub struct Telegram [..rest: Value] {
        /// Shows with an emoji on your message that it is being worked on.
        reactions: bool = false;
        /// Text added to the system prompt in single chats.
        channel_prompts: BTreeMap<String, String> = BTreeMap::new();
        /// The only chats it answers in; all when empty.
        allowed_chats: NameList = NameList::default();
        /// The only groups it answers in; all when empty.
        @unlisted group_allowed_chats: NameList = NameList::default();
        /// The only topics it answers in; all when empty.
        @unlisted allowed_topics: NameList = NameList::default();
        /// Reads messages in groups that it does not answer.
        @unlisted observe_unmentioned_group_messages: bool = false;
        /// Further settings.
        extra: TelegramExtra = TelegramExtra::default();
    }
}

section! {
    /// Further settings of Telegram.
    pub struct TelegramExtra [..rest: Value] {
        /// Sends tables and lists in Telegram's own form.
        rich_messages: bool = false;
        /// Does so while an answer is written, too.
        rich_drafts: bool = false;
    }
}

section! {
    /// WhatsApp. Takes the keys of `platforms.<name>`.
    pub struct WhatsApp [..rest: Value] {
        /// Text in front of every answer; a built-in one when unset.
        @unlisted reply_prefix: Option<String> = None;
    }
}
