//! A file as a form, for services that take one.

use sha2::{Digest, Sha256};

use super::api::Payload;

/// A file with fields before it.
pub(crate) fn form(fields: &[(&str, &str)], name: &str, kind: &str, bytes: &[u8]) -> Payload {
    // No file holds the hash of itself.
    let hash = Sha256::digest(bytes);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let boundary = format!("----hermes-{}", hash.get(..32).unwrap_or(&hash));
    let mut head = String::new();
    for (key, value) in fields {
        head.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{key}\"\r\n\r\n{value}\r\n"
        ));
    }
    // A name stands between quotes on one line.
    let name = name.replace(|c: char| c.is_control() || matches!(c, '"' | '\\'), "_");
    head.push_str(&format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: {kind}\r\n\r\n"
    ));
    let mut body = head.into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    Payload::Bytes(
        format!("multipart/form-data; boundary={boundary}"),
        body.into(),
    )
}
