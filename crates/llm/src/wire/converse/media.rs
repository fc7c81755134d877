//! Pictures as blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::{Media, MediaSource};
use serde_json::{Value as Json, json};

use crate::picture::kind;
use crate::wire::Dialect;

/// Media types of the pictures that are read, and the service's words for them.
const PICTURES: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
];

/// A medium as a block; what cannot be sent is named in a text.
pub(super) fn block(media: &Media, dialect: &Dialect<'_>) -> Json {
    let format = |mime: &str| PICTURES.iter().find(|(known, _)| *known == mime);
    let Some((_, said)) = format(&media.mime).filter(|_| !dialect.quirks.no_images) else {
        return note(media, "cannot be shown to this model");
    };
    let bytes = match &media.source {
        MediaSource::Blob(hash) => dialect.media.read(hash),
        // The service fetches nothing.
        MediaSource::Url(_) => {
            return note(media, "is only at an address, which this model cannot open");
        }
    };
    match bytes {
        Some(bytes) => {
            let format = format(kind(&bytes, &media.mime)).map_or(said, |(_, word)| word);
            json!({ "image": { "format": format, "source": { "bytes": STANDARD.encode(bytes) } } })
        }
        None => note(media, "is not available"),
    }
}

/// Says in place of a medium why it is not there.
pub(super) fn note(media: &Media, why: &str) -> Json {
    match &media.name {
        Some(name) => text(&format!("[{name} ({}) {why}]", media.mime)),
        None => text(&format!("[a file of type {} {why}]", media.mime)),
    }
}

/// A block of text.
pub(super) fn text(text: &str) -> Json {
    json!({ "text": text })
}
