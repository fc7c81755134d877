//! What a failure means for the call, for the server and for what was asked.

use rmcp::model::ErrorCode;

use super::Failure;

/// How a lost session can look too; believed only when nothing else works either.
const SUSPICIOUS: &str = "invalid request parameters";

/// What a failed call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Ask for another token, connect again, try again.
    Reauthenticate,
    /// Connect again and try again: nothing was done.
    Reconnect,
    /// Connect again; try again only what may be done twice.
    ReconnectCarefully,
    /// Let the person open what the server names, then try again: nothing was done.
    Visit,
    /// Look whether the session works; if not, as above.
    Check,
    /// As `Check`, but nothing was done in any case.
    CheckRejected,
    /// Tell whoever asked.
    None,
}

impl Failure {
    pub(crate) fn remedy(&self) -> Remedy {
        match self {
            Self::Auth { .. } => Remedy::Reauthenticate,
            Self::NeedsVisit { .. } => Remedy::Visit,
            Self::SessionExpired | Self::RejectedBeforeExecution { .. } => Remedy::Reconnect,
            Self::TransportDied { sent: false, .. } => Remedy::Reconnect,
            Self::SessionLost { .. } | Self::TransportDied { sent: true, .. } => {
                Remedy::ReconnectCarefully
            }
            Self::Interrupted { .. } => Remedy::Check,
            Self::Rpc { message, .. } if message.to_lowercase().contains(SUSPICIOUS) => {
                Remedy::CheckRejected
            }
            Self::Rpc { .. }
            | Self::Status { .. }
            | Self::Timeout { .. }
            | Self::Cancelled
            | Self::Unusable { .. }
            | Self::Protocol { .. } => Remedy::None,
        }
    }

    /// Whether the same request may be answered a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Interrupted { .. } => true,
            Self::Status { status, .. } => *status >= 500 || *status == 429,
            Self::SessionExpired
            | Self::RejectedBeforeExecution { .. }
            | Self::SessionLost { .. }
            | Self::TransportDied { .. }
            | Self::Auth { .. }
            | Self::Rpc { .. }
            | Self::NeedsVisit { .. }
            | Self::Timeout { .. }
            | Self::Cancelled
            | Self::Unusable { .. }
            | Self::Protocol { .. } => false,
        }
    }

    /// Whether it says something bad about the server.
    pub(crate) fn is_strike(&self) -> bool {
        match self {
            // The caller asked for something wrong; the server is fine.
            Self::Rpc { code, .. } => {
                *code != ErrorCode::METHOD_NOT_FOUND.0 && *code != ErrorCode::INVALID_PARAMS.0
            }
            Self::Cancelled | Self::NeedsVisit { .. } => false,
            Self::SessionExpired
            | Self::RejectedBeforeExecution { .. }
            | Self::SessionLost { .. }
            | Self::TransportDied { .. }
            | Self::Interrupted { .. }
            | Self::Auth { .. }
            | Self::Status { .. }
            | Self::Timeout { .. }
            | Self::Unusable { .. }
            | Self::Protocol { .. } => true,
        }
    }

    /// Whether the request may have been carried out.
    pub(crate) fn may_have_run(&self) -> bool {
        match self {
            Self::TransportDied { sent, .. } | Self::Interrupted { sent, .. } => *sent,
            Self::SessionLost { .. }
            | Self::Timeout { .. }
            | Self::Protocol { .. }
            | Self::Cancelled => true,
            Self::Status { status, .. } => *status >= 500,
            Self::SessionExpired
            | Self::RejectedBeforeExecution { .. }
            | Self::Auth { .. }
            | Self::Rpc { .. }
            | Self::NeedsVisit { .. }
            | Self::Unusable { .. } => false,
        }
    }
}
