//! Documents as text.

mod excel;
mod notebook;
mod word;
mod xml;

use std::io::{Cursor, Read};

use hermes_exec::FilesError;
use tokio_util::sync::CancellationToken;
use zip::ZipArchive;

use super::kind::Format;

/// The largest document that is shown.
pub(super) const LARGEST: u64 = 128 << 20;
/// Most bytes of one part of a document once it is unpacked.
const LARGEST_PART: u64 = 64 << 20;
/// Most bytes of the text made from a document.
const LONGEST: usize = 8 << 20;

/// Stands where a document was too long.
const CUT: &str = "\n[The document is longer than what is shown here.]\n";

/// The text of a document; `None` when it is not one.
pub(super) fn render(
    bytes: Vec<u8>,
    format: Format,
    cancel: &CancellationToken,
) -> Result<Option<String>, FilesError> {
    if format == Format::Notebook {
        return Ok(notebook::render(&bytes));
    }
    let Ok(archive) = ZipArchive::new(Cursor::new(bytes)) else {
        return Ok(None);
    };
    let mut parts = Parts {
        archive,
        cancel: cancel.clone(),
    };
    let text = match format {
        Format::Word => word::render(&mut parts),
        Format::Excel => excel::render(&mut parts),
        Format::Notebook => None,
    };
    if cancel.is_cancelled() {
        return Err(FilesError::Stopped);
    }
    Ok(text)
}

/// The parts a document is packed from.
struct Parts {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    cancel: CancellationToken,
}

impl Parts {
    /// A part, unpacked; `None` when there is none or it is too large.
    fn read(&mut self, name: &str) -> Option<Vec<u8>> {
        let part = self.archive.by_name(name).ok()?;
        let mut bytes = Vec::new();
        part.take(LARGEST_PART + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= LARGEST_PART && !self.cancel.is_cancelled()).then_some(bytes)
    }
}

/// Adds to a text that has a limit. Says whether there was room.
fn push(out: &mut String, text: &str) -> bool {
    if out.len() + text.len() <= LONGEST {
        out.push_str(text);
        return true;
    }
    if !out.ends_with(CUT) {
        out.push_str(CUT);
    }
    false
}
