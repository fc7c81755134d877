//! What kind of file it is.

use std::path::Path;

use crate::edit::is_binary;

const IMAGES: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "bmp", "webp", "ico", "tiff", "tif", "heic", "avif",
];
const BINARIES: &[&str] = &[
    "mp4", "mkv", "avi", "mov", "webm", "mp3", "wav", "ogg", "flac", "m4a", "aac", "opus", "zip",
    "tar", "gz", "bz2", "xz", "7z", "rar", "zst", "exe", "dll", "so", "dylib", "bin", "o", "a",
    "class", "jar", "war", "doc", "xls", "ppt", "pptx", "odt", "ods", "ttf", "otf", "woff",
    "woff2", "eot", "pyc", "pyo", "wasm", "db", "sqlite", "sqlite3", "mdb", "psd", "ai", "sketch",
    "fig", "xd", "blend", "dat", "data", "lockb", "iso", "dmg", "deb", "rpm",
];

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Utf16,
    Image,
    Binary,
    Document(Format),
}

/// Documents that are shown as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Notebook,
    Word,
    Excel,
}

impl Format {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Notebook => "ipynb",
            Self::Word => "docx",
            Self::Excel => "xlsx",
        }
    }
}

impl Kind {
    /// By its name, when that says enough.
    pub(super) fn by_name(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        match end.as_str() {
            "ipynb" => Some(Self::Document(Format::Notebook)),
            "docx" => Some(Self::Document(Format::Word)),
            "xlsx" => Some(Self::Document(Format::Excel)),
            end if IMAGES.contains(&end) => Some(Self::Image),
            end if BINARIES.contains(&end) => Some(Self::Binary),
            _ => None,
        }
    }

    /// By its first bytes.
    pub(super) fn by_head(head: &[u8]) -> Self {
        if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
            Self::Utf16
        } else if is_binary(head) {
            Self::Binary
        } else {
            Self::Text
        }
    }
}

/// Whether a file that begins like this has lines of single bytes.
pub(super) fn is_text(head: &[u8]) -> bool {
    Kind::by_head(head) == Kind::Text
}
