//! What codes stand for.

/// The status a code stands for.
pub(super) fn implied(code: &str) -> Option<u16> {
    let code = code.to_lowercase();
    CODES
        .iter()
        .find(|(name, _)| *name == code)
        .map(|(_, status)| *status)
        .or_else(|| code.parse().ok().filter(|code| (400..600).contains(code)))
}

/// What the numbers of Z.AI stand for; nearly all of them come with status 429.
pub(super) fn implied_by_zai(code: &str) -> Option<u16> {
    match code {
        "1113" => Some(402),
        "1211" => Some(404),
        "1305" => Some(503),
        _ => None,
    }
}

/// What a code stands for when it comes without a status, as it does in the middle of an answer.
const CODES: &[(&str, u16)] = &[
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("failed_precondition", 400),
    ("validationexception", 400),
    ("context_length_exceeded", 400),
    ("invalid_prompt", 400),
    ("servicequotaexceededexception", 429),
    ("authentication_error", 401),
    ("invalid_api_key", 401),
    ("unauthenticated", 401),
    ("unrecognizedclientexception", 401),
    ("expiredtokenexception", 401),
    ("insufficient_quota", 402),
    ("billing_error", 402),
    ("payment_required", 402),
    ("insufficient_balance", 402),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("accessdeniedexception", 403),
    ("not_found_error", 404),
    ("not_found", 404),
    ("model_not_found", 404),
    ("resourcenotfoundexception", 404),
    ("timeout_error", 408),
    ("deadline_exceeded", 408),
    ("modeltimeoutexception", 408),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("throttlingexception", 429),
    ("usage_limit_reached", 429),
    ("modelnotreadyexception", 503),
    ("api_error", 500),
    ("server_error", 500),
    ("internal", 500),
    ("internal_error", 500),
    ("internalserverexception", 500),
    ("modelstreamerrorexception", 500),
    ("modelerrorexception", 500),
    ("overloaded_error", 529),
    ("overloaded", 529),
    ("unavailable", 503),
    ("serviceunavailableexception", 503),
    ("server_is_overloaded", 503),
    ("slow_down", 503),
];
