//! Where the pictures, sounds and files of answers are kept.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hermes_config::{FileError, create_directory, replace_file};
use hermes_core::{Media, MediaSource};
use hermes_store::Blobs;
use sha2::{Digest, Sha256};

/// Most bytes of one file.
const MOST_BYTES: usize = 50 * 1024 * 1024;
/// Hex digits of a name.
const DIGITS: usize = 12;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The folders of a home that answers are kept in.
#[derive(Debug, Clone)]
pub struct ShelfFolders {
    /// Pictures.
    pub images: PathBuf,
    /// Sounds.
    pub audio: PathBuf,
    /// Everything else.
    pub documents: PathBuf,
}

impl ShelfFolders {
    /// The usual ones of a home.
    pub fn of_home(home: &Path) -> Self {
        let cache = home.join("cache");
        Self {
            images: cache.join("images"),
            audio: cache.join("audio"),
            documents: cache.join("documents"),
        }
    }
}

/// Keeps files named by what is in them, readable by their owner only.
#[derive(Debug)]
pub struct Shelf {
    folders: ShelfFolders,
    blobs: Option<Blobs>,
}

/// Something that was kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) bytes: usize,
    pub(super) media: Option<Media>,
}

/// Why something was not kept. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum ShelfError {
    #[error("it is larger than {} MiB", MOST_BYTES / 1024 / 1024)]
    TooLarge,
    #[error("its data is not valid")]
    NotBase64,
    #[error("it is empty")]
    Empty,
    #[error("it is no picture of a known kind")]
    NotAnImage,
    #[error("the answer has too many files")]
    TooMany,
    #[error(transparent)]
    File(#[from] FileError),
}

impl Shelf {
    /// A shelf in these folders; pictures also go to `blobs`, from where models that can see get them.
    pub fn new(folders: ShelfFolders, blobs: Option<Blobs>) -> Self {
        Self { folders, blobs }
    }

    pub(super) fn keep_image(&self, data: &str, _mime: Option<&str>) -> Result<Kept, ShelfError> {
        let bytes = decoded(data)?;
        // What the bytes are counts, not what the server calls them.
        let kind = ImageKind::of(&bytes).ok_or(ShelfError::NotAnImage)?;
        let name = format!("img_{}.{}", digits(&bytes), kind.ending());
        let path = write(&self.folders.images, &name, &bytes)?;
        Ok(Kept {
            media: self.media(kind, &bytes, &name),
            bytes: bytes.len(),
            path,
        })
    }

    /// Keeps a picture of a question to a model, which needs no file of its own. The reason when it cannot be
    /// shown to one.
    pub(crate) fn picture(&self, data: &str) -> Result<Media, String> {
        let bytes = decoded(data).map_err(|error| error.to_string())?;
        let kind = ImageKind::of(&bytes).ok_or_else(|| ShelfError::NotAnImage.to_string())?;
        let name = format!("img_{}.{}", digits(&bytes), kind.ending());
        self.media(kind, &bytes, &name)
            .ok_or_else(|| "it cannot be shown to a model".to_owned())
    }

    pub(super) fn keep_audio(&self, data: &str, mime: Option<&str>) -> Result<Kept, ShelfError> {
        let bytes = decoded(data)?;
        let name = format!("audio_{}.{}", digits(&bytes), audio_ending(mime));
        Ok(Kept {
            path: write(&self.folders.audio, &name, &bytes)?,
            bytes: bytes.len(),
            media: None,
        })
    }

    pub(super) fn keep_document(
        &self,
        data: &str,
        mime: Option<&str>,
        name: &str,
    ) -> Result<Kept, ShelfError> {
        let bytes = decoded(data)?;
        let name = format!("doc_{}_{name}", digits(&bytes));
        let path = write(&self.folders.documents, &name, &bytes)?;
        let kind = mime
            .filter(|mime| mime.starts_with("image/"))
            .and_then(|_| ImageKind::of(&bytes));
        Ok(Kept {
            media: kind.and_then(|kind| self.media(kind, &bytes, &name)),
            bytes: bytes.len(),
            path,
        })
    }

    fn media(&self, kind: ImageKind, bytes: &[u8], name: &str) -> Option<Media> {
        let mime = kind.seen_as()?;
        match self.blobs.as_ref()?.put(bytes) {
            Ok(hash) => Some(Media {
                mime: mime.to_owned(),
                source: MediaSource::Blob(hash),
                name: Some(name.to_owned()),
            }),
            Err(error) => {
                // The file is there, so the picture is not lost.
                tracing::warn!("a picture cannot be shown to the model: {error}");
                None
            }
        }
    }
}

fn decoded(data: &str) -> Result<Vec<u8>, ShelfError> {
    // Before anything is copied: four characters hold three bytes.
    if data.len() / 4 > MOST_BYTES / 3 + 1 {
        return Err(ShelfError::TooLarge);
    }
    let packed: Vec<u8> = data
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let bytes = BASE64.decode(packed).map_err(|_| ShelfError::NotBase64)?;
    match bytes.len() {
        0 => Err(ShelfError::Empty),
        length if length > MOST_BYTES => Err(ShelfError::TooLarge),
        _ => Ok(bytes),
    }
}

fn digits(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.chars().take(DIGITS).collect()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, ShelfError> {
    create_directory(folder)?;
    let path = folder.join(name);
    replace_file(&path, bytes)?;
    Ok(path)
}

/// A kind of picture, told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImageKind {
    Png,
    Jpeg,
    Gif,
    Webp,
    Bmp,
}

impl ImageKind {
    fn of(bytes: &[u8]) -> Option<Self> {
        let starts = |magic: &[u8]| bytes.starts_with(magic);
        if starts(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if starts(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if starts(b"GIF87a") || starts(b"GIF89a") {
            Some(Self::Gif)
        } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else if starts(b"BM") && bytes.len() > 26 {
            Some(Self::Bmp)
        } else {
            None
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Bmp => "bmp",
        }
    }

    /// The media type, for kinds that models can see.
    fn seen_as(self) -> Option<&'static str> {
        match self {
            Self::Png => Some("image/png"),
            Self::Jpeg => Some("image/jpeg"),
            Self::Gif => Some("image/gif"),
            Self::Webp => Some("image/webp"),
            Self::Bmp => None,
        }
    }
}

fn audio_ending(mime: Option<&str>) -> &'static str {
    let mime = mime.unwrap_or_default();
    let mime = mime.split(';').next().unwrap_or_default().trim();
    match mime.to_ascii_lowercase().as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" => "m4a",
        "audio/aac" => "aac",
        "audio/webm" => "webm",
        // The most common kind, and players look at the bytes anyway.
        _ => "mp3",
    }
}
