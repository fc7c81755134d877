//! Known values: spellings, overlaps, markers, values learned later.

use std::borrow::Cow;

use hermes_secrets::{
    Redactor, RedactorHandle, Scope, Secret, SecretName, contains_marker, markers,
};

pub(crate) fn secret(name: &str, value: &str) -> Secret {
    Secret::new(SecretName::new(name).expect("a name"), value.to_owned(), []).expect("a secret")
}

#[track_caller]
fn check(values: &[(&str, &str)], text: &str, expected: &str) {
    let redactor = Redactor::new(values.iter().map(|(name, value)| secret(name, value)));
    assert_eq!(redactor.redact_in(Scope::Known, text), expected);
}

#[test]
fn a_value_is_replaced_by_its_name() {
    check(
        &[("KEY", "correct horse")],
        "say correct horse twice: correct horse.",
        "say [redacted:KEY] twice: [redacted:KEY].",
    );
}

#[test]
fn encoded_spellings_are_masked() {
    let key = [("KEY", "p@ss/w\"rd é1")];
    for text in [
        "p@ss/w\"rd é1",
        "p%40ss%2Fw%22rd+%C3%A91",
        "p%40ss%2fw%22rd%20%c3%a91",
        "p@ss/w\\\"rd é1",
        "p@ss/w\\\"rd \\u00e91",
        "p@ss\\/w\\\"rd é1",
    ] {
        check(&key, &format!("<{text}>"), "<[redacted:KEY]>");
    }
}

#[test]
fn base64_is_masked_at_every_alignment() {
    let redactor = Redactor::new([secret("KEY", "hunter2-hunter2")]);
    // base64 of "hunter2-hunter2", "u:hunter2-hunter2" and "us:hunter2-hunter2."
    for text in [
        "aHVudGVyMi1odW50ZXIy",
        "dTpodW50ZXIyLWh1bnRlcjI=",
        "dXM6aHVudGVyMi1odW50ZXIyLg==",
    ] {
        let redacted = redactor.redact_in(Scope::Known, text);
        assert!(contains_marker(&redacted), "{text} became {redacted}");
    }
}

#[test]
fn overlapping_values_leave_nothing_of_either() {
    check(
        &[("A", "abcdefXYZ9"), ("B", "XYZ9ghijkl")],
        "-abcdefXYZ9ghijkl-",
        "-[redacted:A]-",
    );
    check(
        &[("LONG", "prefix-secret-1"), ("SHORT", "secret-1")],
        "prefix-secret-1 secret-1",
        "[redacted:LONG] [redacted:SHORT]",
    );
}

#[test]
fn lines_of_a_long_value_are_masked_one_by_one() {
    let pem = "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nAoIBAQDZ0123456789abcdefgh\n-----END X-----";
    check(
        &[("PEM", pem)],
        "1: MIIEvQIBADANBgkqhkiG9w0BAQ",
        "1: [redacted:PEM]",
    );
}

#[test]
fn short_and_stand_in_values_are_left_alone() {
    check(
        &[
            ("A", "abc"),
            ("B", "secret"),
            ("C", "changeme"),
            ("D", "no-key-required"),
        ],
        "abc secret changeme no-key-required",
        "abc secret changeme no-key-required",
    );
    check(&[("A", "hunter2")], "hunter2", "[redacted:A]");
}

#[test]
fn clean_text_is_borrowed() {
    let redactor = Redactor::new([secret("KEY", "correct horse")]);
    assert!(matches!(
        redactor.redact("nothing to see here"),
        Cow::Borrowed(_)
    ));
}

#[test]
fn a_foreign_marker_does_not_carry_a_value_through() {
    check(
        &[("KEY", "hunter2hunter2")],
        "[redacted:hunter2hunter2]",
        "[redacted:[redacted:KEY]]",
    );
}

#[test]
fn markers_can_be_listed_so_that_writes_are_refused() {
    let text = "a [redacted:KEY] b [redacted:] c [redacted:x y] d [redacted:jwt]";
    assert_eq!(
        markers(text).collect::<Vec<_>>(),
        ["[redacted:KEY]", "[redacted:jwt]"]
    );
    let theirs = "key: «redacted:ghp_…» but not «redacted: or «redacted:\n»";
    assert_eq!(markers(theirs).collect::<Vec<_>>(), ["«redacted:ghp_…»"]);
    assert!(!contains_marker("nothing [redacted: here"));
}

#[test]
fn a_value_added_later_is_masked_from_then_on() {
    let handle = RedactorHandle::default();
    let other = handle.clone();
    assert_eq!(other.snapshot().redact("hunter2hunter2"), "hunter2hunter2");
    handle.add(&secret("KEY", "hunter2hunter2"));
    handle.add(&secret("KEY", "hunter2hunter2"));
    assert_eq!(other.snapshot().redact("hunter2hunter2"), "[redacted:KEY]");
    assert_eq!(
        format!("{:?}", other.snapshot()),
        "Redactor { secrets: [[secret KEY]] }"
    );
}

#[test]
fn the_list_of_values_is_bounded() {
    let handle = RedactorHandle::new([secret("FIRST", "first-value-0000")]);
    for i in 0..1024 {
        handle.add(&secret("ROTATING", &format!("rotating-value-{i:04}")));
    }
    let redactor = handle.snapshot();
    assert_eq!(
        redactor.redact("first-value-0000 rotating-value-1023"),
        "first-value-0000 [redacted:ROTATING]"
    );
}

#[test]
fn invalid_utf_8_passes_through() {
    let redactor = Redactor::new([secret("KEY", "hunter2hunter2")]);
    let redacted = redactor.redact_bytes(Scope::Log, b"\xff\xfehunter2hunter2\xff");
    assert_eq!(redacted.as_ref(), b"\xff\xfe[redacted:KEY]\xff");
}
