//! What holds for any text and any secret.

use std::borrow::Cow;
use std::io::Write;

use hermes_secrets::{RedactingWriter, Redactor, RedactorHandle, Scope};
use proptest::prelude::*;

use super::masking::secret;

/// Values of at least eight characters that are not part of a marker's own text.
fn value() -> impl Strategy<Value = String> {
    "[!-~ äжé\n]{8,40}".prop_filter("part of a marker", |value| {
        !"[redacted:KEY_0]".contains(value.as_str())
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Log),
        Just(Scope::Chat),
        Just(Scope::Code),
        Just(Scope::Known)
    ]
}

fn redactor(values: &[String]) -> Redactor {
    Redactor::new(
        values
            .iter()
            .enumerate()
            .map(|(i, value)| secret(&format!("KEY_{i}"), value)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_spliced_secret_never_survives(
        values in prop::collection::vec(value(), 1..4),
        pieces in prop::collection::vec(any::<String>(), 1..5),
        scope in scope(),
    ) {
        let mut text = String::new();
        for (i, piece) in pieces.iter().enumerate() {
            text.push_str(piece);
            text.push_str(&values[i % values.len()]);
        }
        let redactor = redactor(&values);
        let redacted = redactor.redact_in(scope, &text);
        for value in &values {
            prop_assert!(!redacted.contains(value.as_str()), "{value:?} in {redacted:?}");
        }
        prop_assert_eq!(redactor.redact_in(scope, &redacted), redacted.as_ref());
    }

    #[test]
    fn a_secret_split_over_writes_never_survives(
        value in value(),
        before in "[ -~\n]{0,60}",
        after in "[ -~\n]{0,60}",
        size in 1_usize..40,
        flush in any::<bool>(),
    ) {
        let handle = RedactorHandle::new([secret("KEY", &value)]);
        let mut writer = RedactingWriter::new(Vec::new(), handle, Scope::Log);
        for chunk in format!("{before}{value}{after}").as_bytes().chunks(size) {
            writer.write_all(chunk)?;
            if flush {
                writer.flush()?;
            }
        }
        let text = String::from_utf8_lossy(&writer.finish()?).into_owned();
        prop_assert!(!text.contains(&value), "{value:?} in {text:?}");
    }

    #[test]
    fn redacting_twice_changes_nothing(text in "[ -~\n]{0,200}", scope in scope()) {
        let redactor = Redactor::default();
        let once = redactor.redact_in(scope, &text).into_owned();
        prop_assert_eq!(redactor.redact_in(scope, &once), once.as_str());
    }

    #[test]
    fn secret_looking_text_is_stable_too(
        parts in prop::collection::vec(
            prop_oneof![
                Just("Authorization: Bearer "), Just("password="), Just("\"token\": \""), Just("Cookie: a="),
                Just("https://u:"), Just("@host/?key="), Just("sk-ant-0123456789abcdefgh"), Just("[redacted:jwt]"),
                Just("\n"), Just(" "), Just(";"), Just("\""), Just("abc123def456"), Just("postgres://a:b"), Just("[redacted:"),
            ], 0..14),
        scope in scope(),
    ) {
        let redactor = Redactor::default();
        let once = redactor.redact_in(scope, &parts.concat()).into_owned();
        prop_assert_eq!(redactor.redact_in(scope, &once), once.as_str());
    }

    #[test]
    fn text_without_secrets_is_unchanged(words in prop::collection::vec("[a-z]{1,9}", 0..30)) {
        let text = words.join(" ");
        let redactor = Redactor::new([secret("KEY", "Correct-Horse-9")]);
        prop_assert!(matches!(redactor.redact(&text), Cow::Borrowed(_)));
    }
}
