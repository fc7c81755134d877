//! The skills that come with the program, packed into it.

mod hash;
mod md5;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;

use crate::library::SKILL_FILE;
use crate::skill::Skill;

pub(crate) use hash::{files_of_directory, hash_of_directory, hash_of_files};

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bundled.bin"));
const PACKED_ID: &str = env!("HERMES_BUNDLED_ID");
/// Most bytes of all skills together.
const LARGEST: u64 = 64 * 1024 * 1024;
const DESCRIPTION_FILE: &str = "DESCRIPTION.md";

/// Where the skills that come with the program are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shipped {
    /// In the program.
    Embedded,
    /// In a directory, for those who make them.
    Directory(PathBuf),
    /// There are none.
    Nothing,
}

/// A skill that comes with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedSkill {
    pub name: String,
    /// Where it goes below the directory of skills: `category/directory`.
    pub place: String,
    /// Paths from its directory, and bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    pub hash: String,
}

/// All of them, and the files that describe their categories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    pub skills: Vec<ShippedSkill>,
    pub descriptions: BTreeMap<String, Vec<u8>>,
}

impl Shipped {
    /// Changes when any of the skills does.
    pub fn id(&self) -> String {
        match self {
            Self::Embedded => PACKED_ID.to_owned(),
            Self::Directory(_) => match self.files() {
                files if files.is_empty() => String::new(),
                files => hash_of_files(&files),
            },
            Self::Nothing => String::new(),
        }
    }

    /// Unpacks them.
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        let files = self.files();
        for (path, bytes) in &files {
            if path.ends_with(&format!("/{DESCRIPTION_FILE}")) {
                contents.descriptions.insert(path.clone(), bytes.clone());
            }
            let Some(place) = path.strip_suffix(&format!("/{SKILL_FILE}")) else {
                continue;
            };
            let prefix = format!("{place}/");
            let own: BTreeMap<String, Vec<u8>> = files
                .range(prefix.clone()..)
                .take_while(|(path, _)| path.starts_with(&prefix))
                .map(|(path, bytes)| (path.replacen(&prefix, "", 1), bytes.clone()))
                .collect();
            let directory = place.rsplit('/').next().unwrap_or(place);
            contents.skills.push(ShippedSkill {
                name: Skill::parse(&String::from_utf8_lossy(bytes), directory).name,
                place: place.to_owned(),
                hash: hash_of_files(&own),
                files: own,
            });
        }
        contents
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        match self {
            Self::Embedded => unpacked().unwrap_or_default(),
            Self::Directory(root) => {
                let mut files = BTreeMap::new();
                collect(root, root, &mut files);
                files
            }
            Self::Nothing => BTreeMap::new(),
        }
    }
}

/// Pairs of a length and as many bytes: a path, then what the file holds.
fn unpacked() -> Option<BTreeMap<String, Vec<u8>>> {
    let mut bytes = Vec::new();
    let decoder = DeflateDecoder::new(PACKED);
    decoder.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let mut files = BTreeMap::new();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let path = String::from_utf8(part(&mut rest)?.to_vec()).ok()?;
        let content = part(&mut rest)?.to_vec();
        files.insert(path, content);
    }
    Some(files)
}

fn part<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = behind;
    Some(part)
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if let (Ok(below), Ok(bytes)) = (path.strip_prefix(root), fs::read(&path)) {
            files.insert(below.to_string_lossy().into_owned(), bytes);
        }
    }
}
