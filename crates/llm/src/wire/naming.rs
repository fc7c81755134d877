//! Names and ids in the characters that every provider allows.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The longest name that is sent as it is.
const LONGEST: usize = 64;
/// Bytes of the hash that keep apart what would look the same.
const HASH_BYTES: usize = 5;

/// A name or id of letters, digits, `_` and `-`. It depends on nothing but the name, so a call and its
/// answer get the same one in every request.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_allowed) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(made(name))
    }
}

/// The name of a tool: as [`wire_name`], and it begins with a letter or `_`. Models make names up, and
/// no provider takes back all of them.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if begins_well {
        wire_name(name)
    } else {
        Cow::Owned(made(&format!("_{name}")))
    }
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}

fn made(name: &str) -> String {
    let mut made: String = name
        .chars()
        .map(|character| {
            if is_allowed(character) {
                character
            } else {
                '_'
            }
        })
        .take(LONGEST - 2 * HASH_BYTES - 1)
        .collect();
    made.push('_');
    for byte in Sha256::digest(name.as_bytes()).iter().take(HASH_BYTES) {
        made.push_str(&format!("{byte:02x}"));
    }
    made
}
