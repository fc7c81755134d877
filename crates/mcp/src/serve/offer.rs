//! The tools, as data.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use super::parameter::{Kind, Parameter, schema};

/// A tool that is offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    ConversationsList,
    ConversationGet,
    MessagesRead,
    AttachmentsFetch,
    EventsPoll,
    EventsWait,
    ChannelsList,
}

const SESSION: Parameter = Parameter {
    name: "session_key",
    about: "the conversation, by the session_key of conversations_list",
    kind: Kind::Required,
};
const ONLY_SESSION: Parameter = Parameter {
    name: "session_key",
    about: "leaves out every other conversation",
    kind: Kind::Text,
};
const PLATFORM: Parameter = Parameter {
    name: "platform",
    about: "leaves out everything from elsewhere, such as cli or telegram",
    kind: Kind::Text,
};
const AFTER: Parameter = Parameter {
    name: "after_cursor",
    about: "the cursor of the last event you know; 0 for all that are kept",
    kind: Kind::Whole {
        least: 0,
        usual: 0,
        most: u64::MAX >> 12,
    },
};

const fn limit(usual: u64) -> Parameter {
    Parameter {
        name: "limit",
        about: "most entries to give",
        kind: Kind::Whole {
            least: 1,
            usual,
            most: 200,
        },
    }
}

impl Offer {
    pub(super) const ALL: [Self; 7] = [
        Self::ConversationsList,
        Self::ConversationGet,
        Self::MessagesRead,
        Self::AttachmentsFetch,
        Self::EventsPoll,
        Self::EventsWait,
        Self::ChannelsList,
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|offer| offer.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ConversationsList => "conversations_list",
            Self::ConversationGet => "conversation_get",
            Self::MessagesRead => "messages_read",
            Self::AttachmentsFetch => "attachments_fetch",
            Self::EventsPoll => "events_poll",
            Self::EventsWait => "events_wait",
            Self::ChannelsList => "channels_list",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::ConversationsList => {
                "Conversations of this Hermes, the latest first. `search` looks at titles, names and first words."
            }
            Self::ConversationGet => "What is known about one conversation.",
            Self::MessagesRead => {
                "The latest messages of a conversation, oldest first: what people and the model said, \
                 without tools. Long ones are cut."
            }
            Self::AttachmentsFetch => {
                "Pictures, sounds and files of one message, and where they are."
            }
            Self::EventsPoll => "What happened after a cursor, without waiting.",
            Self::EventsWait => "Waits for the next thing that happens after a cursor.",
            Self::ChannelsList => {
                "The channels of chat platforms that are known here, and what each is called in a target."
            }
        }
    }

    pub(super) fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::ConversationsList => {
                const {
                    &[
                        PLATFORM,
                        limit(50),
                        Parameter {
                            name: "search",
                            about: "a part of the title, the name or the first words",
                            kind: Kind::Text,
                        },
                    ]
                }
            }
            Self::ConversationGet => const { &[SESSION] },
            Self::MessagesRead => const { &[SESSION, limit(50)] },
            Self::AttachmentsFetch => {
                const {
                    &[
                        SESSION,
                        Parameter {
                            name: "message_id",
                            about: "the message, by the id of messages_read",
                            kind: Kind::Required,
                        },
                    ]
                }
            }
            Self::EventsPoll => const { &[AFTER, ONLY_SESSION, limit(20)] },
            Self::EventsWait => {
                const {
                    &[
                        AFTER,
                        ONLY_SESSION,
                        Parameter {
                            name: "timeout_ms",
                            about: "how long to wait, in milliseconds",
                            kind: Kind::Whole {
                                least: 0,
                                usual: 30_000,
                                most: 300_000,
                            },
                        },
                    ]
                }
            }
            Self::ChannelsList => const { &[PLATFORM] },
        }
    }

    /// The tool as clients see it.
    pub(super) fn tool(self) -> Tool {
        Tool::new(
            self.name(),
            self.about(),
            Arc::new(schema(self.parameters())),
        )
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    }
}
