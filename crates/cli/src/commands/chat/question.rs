//! What is asked: the words on the command line, what is piped in, and pictures.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use hermes_config::{Environment, Variable};
use hermes_core::{FailureKind, Media, MediaSource};
use hermes_store::Blobs;

use crate::complaint::{Complaint, Outcome};
use crate::typed::MOST_TYPED;

/// Most bytes of a picture.
const MOST_IMAGE: u64 = 20 * 1024 * 1024;

/// One question.
pub(super) struct Question {
    pub(super) text: String,
    images: Vec<(PathBuf, &'static str)>,
}

impl Question {
    /// Puts the words and what is piped in together.
    pub(super) fn read(words: &str, images: &[PathBuf]) -> Outcome<Self> {
        let piped = piped()?;
        let text = match (words.trim(), piped.trim_end()) {
            ("", "") => return Err(none()),
            (words, "") => words.to_owned(),
            ("", piped) => piped.to_owned(),
            (words, piped) => format!("{words}\n\n{piped}"),
        };
        Ok(Self {
            text,
            images: kinds(images)?,
        })
    }

    /// Takes the pictures into the store.
    pub(super) fn media(&self, blobs: &Blobs) -> Outcome<Vec<Media>> {
        stored(&self.images, blobs)
    }
}

/// Nothing was asked.
pub(super) fn none() -> Complaint {
    Complaint::bad_request("there is no question").hint(
        "hermes -z 'QUESTION', hermes chat -q 'QUESTION', or pipe it in; hermes chat --plain reads lines from a pipe",
    )
}

/// Takes pictures into the store.
pub(super) fn pictures(paths: &[PathBuf], blobs: &Blobs) -> Outcome<Vec<Media>> {
    stored(&kinds(paths)?, blobs)
}

/// The picture a path names, or why there is none. `~` is where the user is at home.
pub(super) fn picture(
    path: &str,
    directory: &Path,
    environment: &Environment,
) -> Result<PathBuf, String> {
    let path = directory.join(expanded(path, environment));
    match (path.is_file(), kind(&path).is_ok()) {
        (true, true) => Ok(path),
        (true, false) => Err(format!("{} is no picture that models take", path.display())),
        (false, _) => Err(format!("there is no file {}", path.display())),
    }
}

/// A path as the shell takes it.
fn expanded(path: &str, environment: &Environment) -> PathBuf {
    let home = environment.filled(&Variable::HOME);
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => PathBuf::from(path),
    }
}

fn kinds(paths: &[PathBuf]) -> Outcome<Vec<(PathBuf, &'static str)>> {
    paths
        .iter()
        .map(|path| Ok((path.clone(), kind(path)?)))
        .collect()
}

fn stored(images: &[(PathBuf, &'static str)], blobs: &Blobs) -> Outcome<Vec<Media>> {
    images
        .iter()
        .map(|(path, mime)| {
            let unreadable = |error: std::io::Error| {
                Complaint::new(
                    FailureKind::NotFound,
                    format!("{}: {error}", path.display()),
                )
                .hint("--image takes the path of a picture; see that it is there and can be read")
            };
            let size = std::fs::metadata(path).map_err(unreadable)?.len();
            if size > MOST_IMAGE {
                return Err(Complaint::bad_request(format!(
                    "{} has {size} bytes, more than the {MOST_IMAGE} a picture may have",
                    path.display()
                )));
            }
            let bytes = std::fs::read(path).map_err(unreadable)?;
            Ok(Media {
                mime: (*mime).to_owned(),
                source: MediaSource::Blob(blobs.put(&bytes)?),
                name: path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
            })
        })
        .collect()
}

fn piped() -> Outcome<String> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let most = MOST_TYPED as u64 + 1;
    input.lock().take(most).read_to_end(&mut bytes)?;
    if bytes.len() > MOST_TYPED {
        let said = format!("more than {MOST_TYPED} bytes were piped in");
        return Err(too_long(said));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is said of a line that no message may be.
pub(super) fn line_too_long() -> Complaint {
    too_long(format!(
        "a line of more than {MOST_TYPED} bytes was left out"
    ))
}

fn too_long(said: String) -> Complaint {
    Complaint::bad_request(said).hint("put it into a file and ask about the file")
}

fn kind(path: &Path) -> Outcome<&'static str> {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    match extension.as_str() {
        "png" => Ok("image/png"),
        "jpg" | "jpeg" => Ok("image/jpeg"),
        "gif" => Ok("image/gif"),
        "webp" => Ok("image/webp"),
        _ => Err(Complaint::bad_request(format!(
            "{} is not a picture models take",
            path.display()
        ))
        .hint("use a png, jpeg, gif or webp file")),
    }
}
