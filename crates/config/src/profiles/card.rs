//! `profile.yaml`: what a profile is for.

use std::path::Path;

use super::error::ProfileError;
use crate::files;
use crate::value::{KeyPath, Value};
use crate::yaml::Document;

const FILE: &str = "profile.yaml";
const DESCRIPTION: &str = "description";

pub(super) fn description(home: &Path) -> Result<Option<String>, ProfileError> {
    let path = home.join(FILE);
    let card = open(&path)?;
    let value = card
        .value()
        .map_err(|source| ProfileError::Yaml { path, source })?;
    let text = value.child(DESCRIPTION).and_then(crate::value::Node::text);
    Ok(text.filter(|text| !text.is_empty()))
}

pub(super) fn describe(home: &Path, text: &str) -> Result<(), ProfileError> {
    let path = home.join(FILE);
    let mut card = open(&path)?;
    let key = KeyPath::of([DESCRIPTION]);
    let text = text.trim();
    let changed = if text.is_empty() {
        card.remove(&key).map(|_| ())
    } else {
        card.set(&key, &Value::Text(text.to_owned()))
    };
    changed.map_err(|source| ProfileError::Yaml {
        path: path.clone(),
        source,
    })?;
    files::create_directory(home)?;
    Ok(files::replace(&path, card.text().as_bytes())?)
}

fn open(path: &Path) -> Result<Document, ProfileError> {
    let bytes = files::read(path)?.unwrap_or_default();
    Document::new(String::from_utf8_lossy(&bytes)).map_err(|source| ProfileError::Yaml {
        path: path.to_owned(),
        source,
    })
}
