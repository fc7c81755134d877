//! What kind of file it is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::edit::is_binary;
use crate::files::FileFault;

/// How much of a file is looked at.
const SAMPLE: u64 = 8_192;

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
    /// By its name and its first bytes.
    pub(super) fn of(path: &Path) -> Result<Self, FileFault> {
        let end = path
            .extension()
            .and_then(|end| end.to_str())
            .unwrap_or_default()
            .to_ascii_lowercase();
        match end.as_str() {
            "ipynb" => return Ok(Self::Document(Format::Notebook)),
            "docx" => return Ok(Self::Document(Format::Word)),
            "xlsx" => return Ok(Self::Document(Format::Excel)),
            end if IMAGES.contains(&end) => return Ok(Self::Image),
            end if BINARIES.contains(&end) => return Ok(Self::Binary),
            _ => {}
        }
        let mut sample = Vec::new();
        File::open(path)
            .and_then(|file| file.take(SAMPLE).read_to_end(&mut sample))
            .map_err(|error| FileFault::new(path, error))?;
        Ok(
            if sample.starts_with(b"\xFF\xFE") || sample.starts_with(b"\xFE\xFF") {
                Self::Utf16
            } else if is_binary(&sample) {
                Self::Binary
            } else {
                Self::Text
            },
        )
    }
}
