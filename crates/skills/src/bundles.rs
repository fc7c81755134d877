//! Bundles: several skills under one name, each a small file in `HOME/skill-bundles`.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::{FileError, Layer, Value, create_directory, parse, replace_file, to_yaml};
use serde_json::json;

use crate::frontmatter::{text_of, words_of};
use crate::slash::command_name;

/// Most bundles that are read.
const MOST: usize = 200;
/// Most bytes of a bundle's file.
const LARGEST: u64 = 64 * 1024;

/// Skills that are asked for together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its name as a command.
    pub name: String,
    pub description: String,
    /// The names of the skills.
    pub skills: Vec<String>,
    /// What is to be done with them.
    pub instruction: String,
    pub file: PathBuf,
}

/// A bundle that could not be written or found.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{name:?} is no name for a bundle")]
    Name { name: String },
    #[error("a bundle needs at least one skill")]
    Empty,
    #[error("there is a bundle {name} already")]
    Exists { name: String },
    #[error("there is no bundle {name}")]
    Unknown { name: String },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} cannot be removed", path.display())]
    Remove {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl BundleError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Name { .. } => "use letters, digits and -",
            Self::Empty => "name the skills behind the name of the bundle",
            Self::Exists { .. } => "delete it first, or choose another name",
            Self::Unknown { .. } => "hermes bundles list shows them",
            Self::File(error) => error.hint(),
            Self::Remove { .. } => "check who owns the file",
        }
    }
}

/// The bundles of a directory, sorted by name. Files nobody can read are left out.
pub fn bundles(directory: &Path) -> Vec<Bundle> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("yaml" | "yml"))
        })
        .collect();
    files.sort();
    files.truncate(MOST);
    let mut bundles: Vec<Bundle> = Vec::new();
    for bundle in files.iter().filter_map(|file| read(file)) {
        if !bundles.iter().any(|known| known.name == bundle.name) {
            bundles.push(bundle);
        }
    }
    bundles.sort_by(|left, right| left.name.cmp(&right.name));
    bundles
}

fn read(file: &Path) -> Option<Bundle> {
    let left_out = |why: &str| {
        tracing::warn!(file = %file.display(), "the bundle was left out: {why}");
        None
    };
    let facts = fs::metadata(file).ok()?;
    if !facts.is_file() || facts.len() > LARGEST {
        return left_out("it is no small file");
    }
    let text = String::from_utf8_lossy(&fs::read(file).ok()?).into_owned();
    let node = match parse(&text, Layer::File) {
        Ok(node) => node,
        Err(error) => return left_out(&error.to_string()),
    };
    let field = |key| node.child(key).and_then(text_of);
    let stem = file.file_stem()?.to_str()?;
    let name = command_name(&field("name").unwrap_or_else(|| stem.to_owned()));
    let skills = words_of(node.child("skills"));
    if name.is_empty() || skills.is_empty() {
        return left_out("it needs a name and skills");
    }
    Some(Bundle {
        name,
        description: field("description").unwrap_or_default(),
        skills,
        instruction: field("instruction").unwrap_or_default(),
        file: file.to_owned(),
    })
}

/// Writes a new bundle and says where.
pub fn create_bundle(
    directory: &Path,
    name: &str,
    description: &str,
    skills: &[String],
    instruction: &str,
) -> Result<PathBuf, BundleError> {
    let command = command_name(name);
    if command.is_empty() {
        return Err(BundleError::Name {
            name: name.to_owned(),
        });
    }
    if skills.is_empty() {
        return Err(BundleError::Empty);
    }
    if bundles(directory)
        .iter()
        .any(|bundle| bundle.name == command)
    {
        return Err(BundleError::Exists { name: command });
    }
    create_directory(directory)?;
    let mut fields = json!({"name": command, "skills": skills});
    if let Some(fields) = fields.as_object_mut() {
        for (key, text) in [("description", description), ("instruction", instruction)] {
            if !text.is_empty() {
                fields.insert(key.to_owned(), text.into());
            }
        }
    }
    let file = directory.join(format!("{command}.yaml"));
    let text = to_yaml(&Value::from_json(fields));
    replace_file(&file, text.as_bytes())?;
    Ok(file)
}

/// Removes a bundle and says which file it was.
pub fn delete_bundle(directory: &Path, name: &str) -> Result<PathBuf, BundleError> {
    let wanted = command_name(name);
    let found = bundles(directory)
        .into_iter()
        .find(|bundle| bundle.name == wanted);
    let Some(bundle) = found else {
        return Err(BundleError::Unknown {
            name: name.to_owned(),
        });
    };
    fs::remove_file(&bundle.file).map_err(|source| BundleError::Remove {
        path: bundle.file.clone(),
        source,
    })?;
    Ok(bundle.file)
}
