//! The table's own examples, and a list of things that must never be touched.

use std::borrow::Cow;

use hermes_secrets::{Redactor, SHAPES, Scope, contains_marker};

// EX-62
#[test]
fn every_hit_is_masked_exactly() {
    let redactor = Redactor::default();
    for shape in SHAPES.iter() {
        assert!(
            !shape.hits.is_empty() && !shape.misses.is_empty(),
            "{} needs examples",
            shape.name
        );
        for example in shape.hits {
            let example = example.replace('¦', "");
            let text = example.replace(['⟦', '⟧'], "");
            let (before, rest) = example.split_once('⟦').expect("an opening bracket");
            let (_, after) = rest.split_once('⟧').expect("a closing bracket");
            let expected = format!("{before}[redacted:{}]{after}", shape.name);
            assert_eq!(
                redactor.redact_in(Scope::Log, &text),
                expected,
                "row {}",
                shape.name
            );
        }
    }
}

#[test]
fn every_miss_stays_as_it_is() {
    let redactor = Redactor::default();
    for shape in SHAPES.iter() {
        for text in shape.misses {
            // A row only vouches for itself: another row may know better in logs.
            let redacted = redactor.redact_in(Scope::Log, text);
            assert!(
                !redacted.contains(&format!("[redacted:{}]", shape.name)),
                "row {}: {redacted}",
                shape.name
            );
        }
    }
}

#[test]
fn anchors_are_lower_case_and_part_of_every_hit() {
    for shape in SHAPES.iter() {
        for example in shape.hits {
            let text = example.replace(['¦', '⟦', '⟧'], "").to_lowercase();
            assert!(
                shape.anchors.iter().any(|anchor| text.contains(anchor)),
                "row {}: {text}",
                shape.name
            );
        }
        assert!(
            shape
                .anchors
                .iter()
                .all(|anchor| **anchor == anchor.to_lowercase()),
            "row {}",
            shape.name
        );
    }
}

const LOOK_ALIKES: &[&str] = &[
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "/usr/lib/x86_64-linux-gnu/libssl.so.3",
    "C:\\Users\\bob\\AppData\\Local\\Temp\\a1b2c3.tmp",
    "it costs $1,234.56 or 0.000015 per token",
    "max_tokens: 4096, temperature: 0.7",
    "the token was expired, ask for a new token",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "let token = self.tokens.next()?;",
    "def password(self) -> str: return self._password",
    "https://example.com/path?page=2&sort=asc#top",
    "see https://docs.rs/tokio/1.54.1/tokio/index.html",
    "2024-05-06T07:08:09.123456Z INFO task-0123456789abcdef started",
    "mac 12:AA:BB:CC:DD:EE and ipv6 fe80::1ff:fe23:4567:890a",
    "The secret to good bread: patience",
    "password: ********",
    "Enter password: ",
    "sk-learn is spelled scikit-learn",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0123456789abcdefghijklmnopqrstuvwxyz0 bob@host",
    "Schlüssel: ключ 鍵 🔑",
    "git@github.com:owner/repo.git",
    "if (token === undefined) { return null; }",
    "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
    "call 1-800-555-0199 between 9:00 and 17:00",
];

#[test]
fn look_alikes_are_never_mangled() {
    let redactor = Redactor::default();
    for scope in [Scope::Log, Scope::Chat, Scope::Code] {
        for text in LOOK_ALIKES {
            let redacted = redactor.redact_in(scope, text);
            assert!(
                matches!(redacted, Cow::Borrowed(_)),
                "{scope:?}: {text} became {redacted}"
            );
        }
    }
}

#[test]
fn scopes_differ_in_what_they_guess() {
    let redactor = Redactor::default();
    let masked = |scope, text: &str| contains_marker(&redactor.redact_in(scope, text));
    let table = [
        ("DB_PASSWORD=hunter2!", [true, true, false, false]),
        (
            "https://x.test/?token=abc123def456",
            [true, false, false, false],
        ),
        ("dial +4917012345678 now", [true, false, false, false]),
        ("postgres://u:hunter2@db/x", [true, true, true, false]),
    ];
    for (text, expected) in table {
        let found =
            [Scope::Log, Scope::Chat, Scope::Code, Scope::Known].map(|scope| masked(scope, text));
        assert_eq!(found, expected, "{text}");
    }
}
