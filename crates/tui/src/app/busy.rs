//! What becomes of a message that is sent while the agent works.

use std::str::FromStr;

/// What a message does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhileBusy {
    /// It stops the turn and is the next message.
    Interrupt,
    /// It waits for the end of the turn.
    Queue,
    /// It is a remark that the agent sees before its next call of the model.
    Steer,
}

impl WhileBusy {
    /// What is said about it once, to whoever sends a message for the first time while the agent works.
    pub(super) fn explained(self) -> &'static str {
        match self {
            Self::Interrupt => {
                "A message while the agent works stops the agent and is answered next; /busy steer or /busy queue \
                 changes that."
            }
            Self::Queue => {
                "A message while the agent works waits until it is done; /busy interrupt or /busy steer changes that."
            }
            Self::Steer => {
                "A message while the agent works is a remark for the agent; /busy interrupt or /busy queue changes \
                 that."
            }
        }
    }

    /// What the empty composer says meanwhile.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Interrupt => "a message stops it and is next; Esc only stops",
            Self::Queue => "a message waits for the end; Esc stops",
            Self::Steer => "a message is a remark for the agent; Esc stops",
        }
    }
}

impl FromStr for WhileBusy {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "interrupt" => Ok(Self::Interrupt),
            "queue" => Ok(Self::Queue),
            "steer" => Ok(Self::Steer),
            _ => Err(()),
        }
    }
}
