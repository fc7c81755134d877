//! The writer: chunk borders, lines, blocks, flush.

use std::io::Write;

use hermes_secrets::{RedactingWriter, Redactor, RedactorHandle, Scope};

use super::masking::secret;

fn handle() -> RedactorHandle {
    RedactorHandle::new([
        secret("KEY", "hunter2hunter2"),
        secret("PEM", "first-line-1\nsecond-line-2\nthird-line-3"),
    ])
}

fn in_chunks(text: &str, size: usize) -> String {
    let mut writer = RedactingWriter::new(Vec::new(), handle(), Scope::Log);
    for chunk in text.as_bytes().chunks(size) {
        writer.write_all(chunk).expect("a write");
        writer.flush().expect("a flush");
    }
    String::from_utf8(writer.finish().expect("the end")).expect("text")
}

#[test]
fn every_chunk_size_gives_the_same_text() {
    let text = "start hunter2hunter2 middle\nfirst-line-1\nsecond-line-2\nthird-line-3\nfirst-line-1\nother\n\
                -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123\nAAAABBBB\n-----END RSA PRIVATE KEY-----\n\
                Authorization: Bearer abcdef0123456789 and token 123456789:AAabcdefghijklmnopqrstuvwxyz0123456\nend hunter2hunter2";
    let expected = handle().snapshot().redact_in(Scope::Log, text).into_owned();
    assert_eq!(expected.matches("[redacted:").count(), 6);
    for size in 1..text.len() {
        assert_eq!(in_chunks(text, size), expected, "chunks of {size}");
    }
}

#[test]
fn whole_lines_pass_at_once_and_flush_shows_a_harmless_rest() {
    let mut seen = Vec::new();
    let mut writer = RedactingWriter::new(&mut seen, handle(), Scope::Log);
    writer.write_all(b"one\ntwo, is it? ").expect("a write");
    writer.flush().expect("a flush");
    std::mem::forget(writer);
    assert_eq!(seen, b"one\ntwo, is it? ");
}

#[test]
fn flush_keeps_back_what_may_become_a_secret() {
    for (start, rest) in [
        ("say hunter2", "hunter2\n"),
        ("Authorization: Bear", "er abcdef0123456789\n"),
        ("x 123456789", ":AAabcdefghijklmnopqrstuvwxyz0123456\n"),
    ] {
        let mut writer = RedactingWriter::new(Vec::new(), handle(), Scope::Log);
        writer.write_all(start.as_bytes()).expect("a write");
        writer.flush().expect("a flush");
        writer.write_all(rest.as_bytes()).expect("a write");
        let text = String::from_utf8(writer.finish().expect("the end")).expect("text");
        assert_eq!(
            text,
            Redactor::clone(&handle().snapshot()).redact_in(Scope::Log, &format!("{start}{rest}"))
        );
        assert!(text.contains("[redacted:"), "{text}");
    }
}

#[test]
fn a_line_without_end_is_passed_on_in_bounded_parts() {
    let mut writer = RedactingWriter::new(Vec::new(), handle(), Scope::Log);
    let filler = "word ".repeat(20_000);
    writer.write_all(filler.as_bytes()).expect("a write");
    writer.write_all(b"hunter2hunter2 ").expect("a write");
    writer.write_all(filler.as_bytes()).expect("a write");
    let text = String::from_utf8(writer.finish().expect("the end")).expect("text");
    assert_eq!(text, format!("{filler}[redacted:KEY] {filler}"));
}

#[test]
fn dropping_the_writer_writes_the_rest() {
    let mut seen = Vec::new();
    let mut writer = RedactingWriter::new(&mut seen, handle(), Scope::Log);
    writer
        .write_all(b"no newline hunter2hunter2")
        .expect("a write");
    drop(writer);
    assert_eq!(seen, b"no newline [redacted:KEY]");
}
