//! Pictures and documents as blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::{Media, MediaSource};
use serde_json::{Value as Json, json};

use crate::picture::kind;
use crate::wire::Dialect;
use crate::wire::chat::media::note;

/// The kinds of pictures the provider reads.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A medium as a block; what cannot be sent is named in a text.
pub(super) fn block(media: &Media, dialect: &Dialect<'_>) -> Json {
    let form = match media.mime.as_str() {
        mime if PICTURES.contains(&mime) && !dialect.quirks.no_images => "image",
        "application/pdf" if !dialect.quirks.no_images => "document",
        _ => return text(&note(media, "cannot be shown to this model")),
    };
    let source = match &media.source {
        MediaSource::Url(address) => json!({ "type": "url", "url": address }),
        MediaSource::Blob(hash) => match dialect.media.read(hash) {
            Some(bytes) => json!({
                "type": "base64",
                "media_type": kind(&bytes, &media.mime),
                "data": STANDARD.encode(bytes),
            }),
            None => return text(&note(media, "is not available")),
        },
    };
    json!({ "type": form, "source": source })
}

/// A block of text.
pub(super) fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}
