//! Keys that stand in the open.

use super::super::rule::{Category, Rule, Severity};

const fn rule(id: &'static str, pattern: &'static str, examples: [&'static str; 2]) -> Rule {
    Rule::new(
        Category::CredentialExposure,
        Severity::Critical,
        id,
        pattern,
        examples,
    )
}

pub(super) const RULES: &[Rule] = &[
    rule(
        "hardcoded_secret",
        r#"\b(?:api[_-]?key|secret(?:[_-]?key)?|token|password|passwd)["']?\s*[:=]\s*["'][A-Za-z0-9+/_=-]{20,}["']"#,
        [
            r#"api_key = "zq81Xw0c7Lk25Tn9Vb4R""#,
            r#"api_key = "your-api-key-goes-here""#,
        ],
    )
    .unless(r"your|example|placeholder|change[_-]?me|xxxx|dummy|insert|replace|\.\.\."),
    rule(
        "embedded_private_key",
        r"-----BEGIN\s+(?:\w+\s+)?PRIVATE\s+KEY(?:\s+BLOCK)?-----",
        [
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----",
        ],
    ),
    rule(
        "github_token_leaked",
        r"(?-i:\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{60,})",
        [
            "ghp_000000000000000000000000000000000000",
            "GITHUB_TOKEN=ghp_...",
        ],
    ),
    rule(
        "openai_key_leaked",
        r"(?-i:\bsk-(?:proj-|svcacct-)?[A-Za-z0-9]{20}[A-Za-z0-9_-]*)",
        ["sk-00000000000000000000000000000000", "sk-your-key"],
    ),
    rule(
        "anthropic_key_leaked",
        r"(?-i:\bsk-ant-[A-Za-z0-9_-]{24,})",
        ["sk-ant-api03-000000000000000000000000", "sk-ant-..."],
    ),
    rule(
        "aws_access_key_leaked",
        r"(?-i:\bAKIA[0-9A-Z]{16}\b)",
        ["AKIA0000111122223333", "AKIAIOSFODNN7EXAMPLE"],
    )
    .unless("EXAMPLE"),
];
