//! The tools, as data.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use super::parameter::{Kind, Parameter, schema};
use super::permissions::Answer;

/// A tool that is offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    ConversationsList,
    ConversationGet,
    MessagesRead,
    AttachmentsFetch,
    EventsPoll,
    EventsWait,
    MessagesSend,
    ChannelsList,
    PermissionsListOpen,
    PermissionsRespond,
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

const TARGET: Parameter = Parameter {
    name: "target",
    about: "the channel, by the target of channels_list: platform:id",
    kind: Kind::Required,
};
const MESSAGE: Parameter = Parameter {
    name: "message",
    about: "what to say",
    kind: Kind::Required,
};
const APPROVAL: Parameter = Parameter {
    name: "id",
    about: "what is answered, by the id of permissions_list_open",
    kind: Kind::Required,
};
const DECISION: Parameter = Parameter {
    name: "decision",
    about: "what is said to it",
    kind: Kind::OneOf(&Answer::WORDS),
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
    pub(super) const ALL: [Self; 10] = [
        Self::ConversationsList,
        Self::ConversationGet,
        Self::MessagesRead,
        Self::AttachmentsFetch,
        Self::EventsPoll,
        Self::EventsWait,
        Self::MessagesSend,
        Self::ChannelsList,
        Self::PermissionsListOpen,
        Self::PermissionsRespond,
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
            Self::MessagesSend => "messages_send",
            Self::ChannelsList => "channels_list",
            Self::PermissionsListOpen => "permissions_list_open",
            Self::PermissionsRespond => "permissions_respond",
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
            Self::MessagesSend => {
                "Sends a message to a channel of a chat platform. Needs the gateway; without one nothing is sent, \
                 and the error says so."
            }
            Self::PermissionsListOpen => {
                "What sessions of this Hermes wait for a yes for, oldest first, and what can be said to it."
            }
            Self::PermissionsRespond => {
                "Answers what a session waits for, in the place of the person at it. Ask your user first: after a yes \
                 the action is carried out on this machine."
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
            Self::MessagesSend => const { &[TARGET, MESSAGE] },
            Self::ChannelsList => const { &[PLATFORM] },
            Self::PermissionsListOpen => &[],
            Self::PermissionsRespond => const { &[APPROVAL, DECISION] },
        }
    }

    /// What clients may expect of it.
    fn annotations(self) -> ToolAnnotations {
        let plain = ToolAnnotations::new();
        match self {
            Self::ConversationsList
            | Self::ConversationGet
            | Self::MessagesRead
            | Self::AttachmentsFetch
            | Self::EventsPoll
            | Self::EventsWait
            | Self::ChannelsList
            | Self::PermissionsListOpen => plain.read_only(true).open_world(false),
            Self::MessagesSend => plain.read_only(false).destructive(false).open_world(true),
            Self::PermissionsRespond => plain.read_only(false).destructive(true).open_world(false),
        }
    }

    /// The tool as clients see it.
    pub(super) fn tool(self) -> Tool {
        Tool::new(
            self.name(),
            self.about(),
            Arc::new(schema(self.parameters())),
        )
        .with_annotations(self.annotations())
    }
}
