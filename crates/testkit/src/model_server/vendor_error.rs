//! Errors in the shape each vendor gives them.

use serde_json::{Value, json};

use super::protocol::Protocol;
use super::reply::Failure;
use super::wire::Plan;

/// The failure as a vendor of `protocol` would send it. Paths of no protocol get OpenAI's shape.
pub(super) fn plan(failure: &Failure, protocol: Option<Protocol>) -> Plan {
    let protocol = protocol.unwrap_or(Protocol::ChatCompletions);
    let kind = failure
        .kind
        .as_deref()
        .unwrap_or_else(|| kind(protocol, failure.status));
    let body = match &failure.body {
        Some(body) => body.clone(),
        None => body(protocol, kind, failure),
    };
    let mut plan = Plan::json(failure.status, &body);
    if let Some(seconds) = failure.retry_after_seconds {
        plan.headers
            .push(("retry-after".to_owned(), seconds.to_string()));
    }
    if protocol == Protocol::Converse {
        plan.headers
            .push(("x-amzn-errortype".to_owned(), kind.to_owned()));
    }
    plan
}

fn body(protocol: Protocol, kind: &str, failure: &Failure) -> Value {
    let status = failure.status;
    let message = match &failure.message {
        Some(message) => message.clone(),
        None => format!("scripted {status}"),
    };
    match protocol {
        Protocol::ChatCompletions | Protocol::Responses => {
            json!({"error": {"message": message, "type": kind, "code": null, "param": null}})
        }
        Protocol::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Protocol::Gemini => {
            let mut error = json!({"code": status, "message": message, "status": kind});
            if let Some(seconds) = failure.retry_after_seconds {
                error["details"] = json!([{
                    "@type": "type.googleapis.com/google.rpc.RetryInfo",
                    "retryDelay": format!("{seconds}s"),
                }]);
            }
            json!({"error": error})
        }
        Protocol::Converse => json!({"message": message}),
    }
}

/// What the vendor calls an error of this HTTP status.
fn kind(protocol: Protocol, status: u16) -> &'static str {
    match protocol {
        Protocol::ChatCompletions | Protocol::Responses => match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        },
        Protocol::Anthropic => match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        },
        Protocol::Gemini => match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            400..=499 => "INVALID_ARGUMENT",
            _ => "INTERNAL",
        },
        Protocol::Converse => match status {
            403 => "AccessDeniedException",
            404 => "ResourceNotFoundException",
            408 => "ModelTimeoutException",
            424 => "ModelErrorException",
            429 => "ThrottlingException",
            503 => "ServiceUnavailableException",
            400..=499 => "ValidationException",
            _ => "InternalServerException",
        },
    }
}
