//! The ways a known value may be spelled in text: as it is, URL-encoded, JSON-escaped, in base64, line by line.

use std::collections::BTreeSet;
use std::fmt::Write;

use url::form_urlencoded;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// An encoded form shorter than this would match by chance.
const MIN_ENCODED: usize = 8;
/// A single line of a multi-line value is only masked on its own when it is long enough to be key material.
const MIN_LINE: usize = 20;

/// Returns every spelling to look for, the value itself included, without duplicates.
pub(crate) fn forms(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    for encoded in url_encoded(value)
        .into_iter()
        .chain(json_escaped(value))
        .chain(base64_forms(value))
    {
        if encoded.len() >= MIN_ENCODED {
            forms.insert(encoded);
        }
    }
    if value.contains('\n') {
        let lines = value.lines().map(str::trim);
        forms.extend(
            lines
                .filter(|line| line.len() >= MIN_LINE && !line.contains("-----"))
                .map(str::to_owned),
        );
    }
    forms
}

fn url_encoded(value: &str) -> [String; 4] {
    let form: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let percent = form.replace('+', "%20");
    let lower = |text: &str| lower_case_escapes(text);
    [lower(&form), lower(&percent), form, percent]
}

fn lower_case_escapes(text: &str) -> String {
    let mut after_percent = 0;
    text.chars()
        .map(|c| {
            if c == '%' {
                after_percent = 2;
                c
            } else if after_percent > 0 {
                after_percent -= 1;
                c.to_ascii_lowercase()
            } else {
                c
            }
        })
        .collect()
}

/// As serde writes it, with escaped slashes, and in pure ASCII.
fn json_escaped(value: &str) -> [String; 3] {
    let plain = escape(value, Unicode::Kept);
    [
        plain.replace('/', "\\/"),
        escape(value, Unicode::Escaped),
        plain,
    ]
}

enum Unicode {
    Kept,
    Escaped,
}

fn escape(value: &str, unicode: Unicode) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || (matches!(unicode, Unicode::Escaped) && !c.is_ascii()) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// The whole value, and its inner part at each of the three alignments it can have inside a longer text.
fn base64_forms(value: &str) -> Vec<String> {
    let mut forms = Vec::with_capacity(8);
    for alphabet in [STANDARD, URL_SAFE] {
        forms.push(base64(value.as_bytes(), alphabet));
        for shift in 0..3_usize {
            let mut bytes = vec![0; shift];
            bytes.extend_from_slice(value.as_bytes());
            // Characters that share bits with what stands before or after the value are not fixed.
            let first = (shift * 8).div_ceil(6);
            let last = bytes.len() * 8 / 6;
            if let Some(inner) = base64(&bytes, alphabet).get(first..last) {
                forms.push(inner.to_owned());
            }
        }
    }
    forms
}

fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_usize, |word, i| {
            word << 8 | usize::from(chunk.get(i).copied().unwrap_or(0))
        });
        for i in 0..=chunk.len() {
            let six = word >> (18 - 6 * i) & 63;
            out.push(char::from(alphabet.get(six).copied().unwrap_or(b'A')));
        }
    }
    out
}
