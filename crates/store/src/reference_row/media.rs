//! Media inside list content: bytes in the text become blobs, and blobs become bytes again.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_PAD_INDIFFERENT};
use hermes_core::{Media, MediaSource};
use serde_json::{Value as Json, json};

use crate::blobs::Blobs;
use crate::error::StoreError;

/// How media of the blob folder appear in an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MediaForm {
    /// By name: `blob:image/png;sha256,…`. The bytes are not in the export.
    #[default]
    Hash,
    /// As `data:` addresses, so that the export stands alone.
    Inline,
}

/// Where an item of list content keeps its medium.
struct Slot {
    pointer: &'static str,
    /// The media type beside bytes that stand without an address around them.
    bare: Option<String>,
    /// The media type when nothing says it.
    assumed: &'static str,
    name: Option<&'static str>,
}

const ANY_IMAGE: &str = "image/*";
const ANY_FILE: &str = "application/octet-stream";

/// Moves the bytes in list content to the blob folder.
pub(super) fn keep(content: &mut Json, blobs: &Blobs) -> Result<(), StoreError> {
    for item in content.as_array_mut().into_iter().flatten() {
        let Some(slot) = slot(item) else { continue };
        let Some(Json::String(text)) = item.pointer_mut(slot.pointer) else {
            continue;
        };
        let found = match (text.strip_prefix("data:"), &slot.bare) {
            (Some(rest), _) => rest.split_once(";base64,"),
            (None, Some(mime)) if !is_address(text) => Some((mime.as_str(), text.as_str())),
            (None, _) => None,
        };
        // What cannot be decoded stays as it is: better an odd address than a lost one.
        if let Some((mime, encoded)) = found
            && let Ok(bytes) = STANDARD_PAD_INDIFFERENT.decode(encoded.trim())
        {
            *text = blob_address(mime, &blobs.put(&bytes)?);
        }
    }
    Ok(())
}

/// Puts the bytes of blobs back into list content; a blob that is gone stays a name.
pub(super) fn inline(content: &mut Json, blobs: &Blobs) -> Result<(), StoreError> {
    for item in content.as_array_mut().into_iter().flatten() {
        let Some(slot) = slot(item) else { continue };
        let Some(Json::String(text)) = item.pointer_mut(slot.pointer) else {
            continue;
        };
        let Some((mime, hash)) = read_blob_address(text) else {
            continue;
        };
        if !blobs.contains(hash) {
            continue;
        }
        let bytes = blobs.get(hash)?;
        *text = match slot.bare {
            Some(_) => STANDARD.encode(bytes),
            None => data_address(mime, &bytes),
        };
    }
    Ok(())
}

/// The medium an item of list content holds, once `keep` was there.
pub(super) fn read(item: &Json) -> Option<Media> {
    let slot = slot(item)?;
    let address = item.pointer(slot.pointer)?.as_str()?;
    let (mime, source) = match read_blob_address(address) {
        Some((mime, hash)) => (mime, MediaSource::Blob(hash.to_owned())),
        None => (slot.assumed, MediaSource::Url(address.to_owned())),
    };
    let name = slot.name.and_then(|name| item.pointer(name)?.as_str());
    Some(Media {
        mime: mime.to_owned(),
        source,
        name: name.map(ToOwned::to_owned),
    })
}

/// A medium as an item of list content.
pub(super) fn write(media: &Media) -> Json {
    let address = match &media.source {
        MediaSource::Blob(hash) => blob_address(&media.mime, hash),
        MediaSource::Url(url) => url.clone(),
    };
    let format = match media.mime.as_str() {
        "audio/wav" => Some("wav"),
        "audio/mpeg" => Some("mp3"),
        _ => None,
    };
    match (&media.source, format, &media.name) {
        (MediaSource::Blob(_), Some(format), None) => {
            json!({ "type": "input_audio", "input_audio": { "data": address, "format": format } })
        }
        (_, _, None) if media.mime.starts_with("image/") => {
            json!({ "type": "image_url", "image_url": { "url": address } })
        }
        (_, _, Some(name)) if media.mime.starts_with("image/") => {
            json!({ "type": "image_url", "image_url": { "url": address }, "name": name })
        }
        (_, _, None) => json!({ "type": "file", "file": { "file_data": address } }),
        (_, _, Some(name)) => {
            json!({ "type": "file", "file": { "filename": name, "file_data": address } })
        }
    }
}

fn slot(item: &Json) -> Option<Slot> {
    let plain = |pointer, assumed, name| Slot {
        pointer,
        bare: None,
        assumed,
        name: Some(name),
    };
    let bare = |pointer, mime: String| Slot {
        pointer,
        bare: Some(mime),
        assumed: ANY_FILE,
        name: None,
    };
    let text_at = |pointer| item.pointer(pointer).and_then(Json::as_str);
    let slot = match item.get("type")?.as_str()? {
        "image_url" | "input_image" if text_at("/image_url/url").is_some() => {
            plain("/image_url/url", ANY_IMAGE, "/name")
        }
        "image_url" | "input_image" => plain("/image_url", ANY_IMAGE, "/name"),
        "input_audio" => {
            let format = text_at("/input_audio/format").unwrap_or("wav");
            let kind = if format == "mp3" { "mpeg" } else { format };
            bare("/input_audio/data", format!("audio/{kind}"))
        }
        "image" if text_at("/source/url").is_some() => plain("/source/url", ANY_IMAGE, "/name"),
        "image" => {
            let mime = text_at("/source/media_type").unwrap_or(ANY_IMAGE);
            bare("/source/data", mime.to_owned())
        }
        "file" => plain("/file/file_data", ANY_FILE, "/file/filename"),
        "input_file" => plain("/file_data", ANY_FILE, "/filename"),
        _ => return None,
    };
    text_at(slot.pointer).is_some().then_some(slot)
}

/// Bytes as an address that holds them.
pub(crate) fn data_address(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}

/// Whether a text names a blob; the hash in it is no secret.
pub(crate) fn is_blob_address(text: &str) -> bool {
    read_blob_address(text).is_some()
}

fn is_address(text: &str) -> bool {
    text.contains(':')
}

fn blob_address(mime: &str, hash: &str) -> String {
    format!("blob:{mime};sha256,{hash}")
}

fn read_blob_address(text: &str) -> Option<(&str, &str)> {
    let (mime, hash) = text.strip_prefix("blob:")?.split_once(";sha256,")?;
    is_hash(hash).then_some((mime, hash))
}

/// Whether a text can be the name of a blob.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
