//! What `hermes config check` has to say about a `.env` file that loads well.

use std::collections::BTreeMap;
use std::path::Path;

use super::scan::{Item, scan};
use super::write::{EnvName, EnvNameError};
use super::{EnvFault, EnvProblem, decode, glue};
use crate::files::{self, FileError};

/// Names that cannot be used or are set twice, and whether others can read the file.
pub fn inspect_env_file(path: &Path) -> Result<Vec<EnvProblem>, FileError> {
    let Some(bytes) = files::read(path)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    if let Some(mode) = files::open_to_others(path) {
        found.push((0, EnvFault::Readable { mode }));
    }
    let text = decode::text_of(&bytes).unwrap_or_default();
    let mut lines: BTreeMap<String, u32> = BTreeMap::new();
    for part in glue::separated(&text) {
        for item in scan(&part.text) {
            let line = part.line + item.line() - 1;
            let Item::Assignment(assignment) = item else {
                continue;
            };
            let name = assignment.name;
            match EnvName::new(&name) {
                Ok(_) => {}
                Err(EnvNameError::Invalid { name }) => {
                    found.push((line, EnvFault::BadName { name }));
                }
                Err(EnvNameError::Denied { name }) => {
                    found.push((line, EnvFault::Denied { name }));
                }
            }
            if let Some(earlier) = lines.insert(name.clone(), line) {
                found.push((line, EnvFault::Twice { name, earlier }));
            }
        }
    }
    let file = Some(path.to_owned());
    Ok(found
        .into_iter()
        .map(|(line, fault)| EnvProblem {
            file: file.clone(),
            line,
            fault,
        })
        .collect())
}
