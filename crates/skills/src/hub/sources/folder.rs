//! A folder of this machine, or one that somebody packed.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, json};

use super::SourceName;
use crate::guard::Trust;
use crate::hub::archive::unzip;
use crate::hub::bundle::{Bundle, Files, LARGEST_TOTAL, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::{Identifier, PACKED};
use crate::hub::shelf::{self, Reading};

/// Reads it. That it lies here says nothing about who wrote it: it is trusted no more than what comes from elsewhere.
pub(super) fn fetch(path: &str, identifier: &Identifier) -> Result<Bundle, HubError> {
    let failed = HubError::of_source(SourceName::Folder, identifier);
    let place = Path::new(path);
    let files = match place.is_dir() {
        true => shelf::read(place, Reading::Offered),
        false if path.ends_with(PACKED) && place.is_file() => packed(place),
        false => Err(SourceError::NotFound {
            what: "a folder or a .zip".to_owned(),
        }),
    };
    let files = files.map_err(failed)?;
    let mut metadata = Map::new();
    metadata.insert("path".to_owned(), json!(path));
    let origin = Origin {
        source: SourceName::Folder,
        identifier: identifier.clone(),
        trust: Trust::Community,
        metadata,
    };
    Bundle::new(origin, files)
}

fn packed(path: &Path) -> Result<Files, SourceError> {
    let limit = LARGEST_TOTAL;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(shelf::unreadable)?;
    file.take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(shelf::unreadable)?;
    if bytes.len() > limit {
        let what = path.display().to_string();
        return Err(SourceError::TooLarge { what, limit });
    }
    unzip(&bytes)
}
