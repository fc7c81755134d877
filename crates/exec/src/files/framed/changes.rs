//! Several changes in one request.
//!
//! All contents arrive and are compared before the first name moves, and what moves them no longer needs the
//! connection: a change whose answer does not come was made wholly or not at all.

use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{FramedFiles, parse, text};
use crate::files::{Applied, Edit, FileHash, FilesError, MOST_EDITS};

/// How long the new states may take to come, when everything is done.
const STATES: Duration = Duration::from_secs(60);
/// Bytes told of each file.
const MAX_STATE: u64 = 256;

/// Makes all changes or none.
pub(super) async fn apply(files: &FramedFiles, edits: &[Edit]) -> Result<Applied, FilesError> {
    let Some(first) = edits.first() else {
        return Ok(Applied::default());
    };
    if edits.len() > MOST_EDITS {
        return Err(FilesError::TooMany(MOST_EDITS));
    }
    let mut contents: Vec<&[u8]> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for edit in edits {
        let (order, expected, like, bytes): (_, _, _, &[u8]) = match edit {
            Edit::Create { bytes, like, .. } => ("put", None, like.as_deref(), bytes),
            Edit::Replace { bytes, state, .. } => ("put", Some(state.hash), None, bytes),
            Edit::Remove { state, .. } => ("rm", Some(state.hash), None, &[]),
        };
        let expected = match expected {
            None => "none".to_owned(),
            Some(Some(hash)) => hash.to_string(),
            // It was read somewhere else.
            Some(None) => return Err(FilesError::Changed(edit.path().to_owned())),
        };
        let like = like.map_or(Ok(""), text)?;
        words.extend([order, text(edit.path())?].map(str::to_owned));
        words.extend([expected, like.to_owned(), bytes.len().to_string()]);
        words.push(FileHash(Sha256::digest(bytes).into()).to_string());
        contents.push(bytes);
    }
    let size: usize = contents.iter().map(|bytes| bytes.len()).sum();
    let tag = format!("{:016x}", files.random.next_u64());
    let head = ["apply".to_owned(), tag, size.to_string()];
    let words: Vec<&str> = head.iter().chain(&words).map(String::as_str).collect();
    let about: Vec<&Path> = edits.iter().map(Edit::path).collect();
    let (made, mut asked) = match files.ask(&about, &words, Some(&contents)).await {
        // It may have been made all the same.
        Err(FilesError::NoAnswer { path, cause }) => {
            return Err(FilesError::Unknown { path, cause });
        }
        answered => answered?,
    };
    let most = MAX_STATE * edits.len() as u64;
    let states = asked.rest(first.path(), most, STATES).await?;
    let states = String::from_utf8_lossy(&states);
    let stamps = states
        .lines()
        .map(|line| parse::stat(line).map(|stat| stat.stamp));
    Ok(Applied {
        made_directories: made == "made",
        stamps: stamps
            .chain(std::iter::repeat(None))
            .take(edits.len())
            .collect(),
    })
}
