//! The blocks of an answer, one after the other.

use hermes_core::Media;
use serde_json::Value as Json;

use super::file_name::file_name;
use super::shelf::{Shelf, ShelfError};

/// Most blocks of one answer that are read.
const MOST_BLOCKS: usize = 1_000;
/// Most files one answer may leave.
const MOST_FILES: usize = 64;

/// Reads the blocks of one answer and collects what belongs to it.
pub(super) struct Reading<'a> {
    server: &'a str,
    read_resource: Option<&'a str>,
    shelf: &'a Shelf,
    media: Vec<Media>,
    files: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(server: &'a str, read_resource: Option<&'a str>, shelf: &'a Shelf) -> Self {
        Self {
            server,
            read_resource,
            shelf,
            media: Vec::new(),
            files: 0,
        }
    }

    pub(super) fn into_media(self) -> Vec<Media> {
        self.media
    }

    /// The text of a block or a list of blocks, one a line.
    pub(super) fn blocks(&mut self, content: Option<&Json>) -> String {
        let blocks = match content {
            Some(Json::Array(blocks)) => blocks.as_slice(),
            Some(Json::Null) | None => &[],
            Some(one) => std::slice::from_ref(one),
        };
        self.joined(blocks, Self::block)
    }

    /// The same for the contents of a resource.
    pub(super) fn contents(&mut self, contents: Option<&Json>) -> String {
        let contents = contents.and_then(Json::as_array);
        self.joined(contents.map_or(&[], Vec::as_slice), Self::resource)
    }

    fn joined(&mut self, all: &[Json], read: fn(&mut Self, &Json) -> Option<String>) -> String {
        let mut texts: Vec<String> = all
            .iter()
            .take(MOST_BLOCKS)
            .filter_map(|block| read(self, block))
            .collect();
        if all.len() > MOST_BLOCKS {
            texts.push(format!(
                "[{} more blocks are left out]",
                all.len() - MOST_BLOCKS
            ));
        }
        texts.join("\n")
    }

    fn block(&mut self, block: &Json) -> Option<String> {
        match text(block, "type") {
            Some("text") => text(block, "text").map(str::to_owned),
            Some("image") => Some(self.saved(block, "image", Shelf::keep_image)),
            Some("audio") => Some(self.saved(block, "sound", Shelf::keep_audio)),
            Some("resource") => self.resource(block.get("resource")?),
            Some("resource_link") => self.link(block),
            kind => {
                tracing::warn!(
                    server = self.server,
                    kind = kind.unwrap_or("none"),
                    "an answer has a block of an unknown kind; it is left out"
                );
                None
            }
        }
    }

    /// Keeps the bytes of a picture or sound and says where.
    fn saved(
        &mut self,
        block: &Json,
        what: &str,
        keep: fn(&Shelf, &str, Option<&str>) -> Result<super::shelf::Kept, ShelfError>,
    ) -> String {
        let data = text(block, "data").unwrap_or_default();
        let mime = text(block, "mimeType");
        match self
            .one_more_file()
            .and_then(|()| keep(self.shelf, data, mime))
        {
            Ok(kept) => {
                self.media.extend(kept.media);
                format!("MEDIA:{}", kept.path.display())
            }
            Err(error) => self.lost(what, &error),
        }
    }

    /// A resource inside an answer: its text, or a note about the file its bytes went to.
    fn resource(&mut self, resource: &Json) -> Option<String> {
        if let Some(text) = text(resource, "text") {
            return Some(text.to_owned());
        }
        let data = text(resource, "blob")?;
        let uri = text(resource, "uri").unwrap_or_default();
        let mime = text(resource, "mimeType");
        let kept = self
            .one_more_file()
            .and_then(|()| self.shelf.keep_document(data, mime, &file_name(uri)));
        Some(match kept {
            Ok(kept) => {
                self.media.extend(kept.media);
                format!(
                    "[resource saved to {} ({}, {} bytes)]",
                    kept.path.display(),
                    mime.unwrap_or("unknown type"),
                    kept.bytes
                )
            }
            Err(error) => self.lost("resource", &error),
        })
    }

    fn link(&self, block: &Json) -> Option<String> {
        let uri = text(block, "uri")?;
        let mut note = format!("[resource {uri}");
        if let Some(name) = text(block, "name").filter(|name| *name != uri) {
            note.push_str(&format!(", {name}"));
        }
        if let Some(mime) = text(block, "mimeType") {
            note.push_str(&format!(", {mime}"));
        }
        if let Some(tool) = self.read_resource {
            note.push_str(&format!("; read it with {tool}"));
        }
        note.push(']');
        Some(note)
    }

    fn one_more_file(&mut self) -> Result<(), ShelfError> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(ShelfError::TooMany);
        }
        Ok(())
    }

    fn lost(&self, what: &str, error: &ShelfError) -> String {
        tracing::warn!(
            server = self.server,
            "a {what} of an answer is lost: {error}"
        );
        format!("[a {what} could not be kept: {error}]")
    }
}

fn text<'j>(json: &'j Json, field: &str) -> Option<&'j str> {
    json.get(field).and_then(Json::as_str)
}
