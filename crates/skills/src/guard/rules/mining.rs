//! A machine that computes for somebody else.

use super::super::rule::{Category, Rule, Severity};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Mining, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Severity::Critical,
        "crypto_mining",
        r"\b(?:xmrig|minerd|cpuminer|coinhive|cryptonight|nbminer|phoenixminer)\b|\bstratum\+(?:tcp|ssl|tls)://",
        [
            "xmrig -o stratum+tcp://pool.test:3333",
            "Data mining finds patterns.",
        ],
    ),
    rule(
        Severity::Medium,
        "mining_indicators",
        r"\bhash\s?rate\b|\bmining\s+pool\b|\bmonero\s+wallet\b",
        [
            "Report the hashrate to the pool.",
            "Compute the hash of the file.",
        ],
    ),
];
