//! What is asked: the words on the command line, what is piped in, and pictures.

use std::io::{IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_config::{Environment, Variable};
use hermes_core::{FailureKind, Media, MediaSource};
use hermes_store::Blobs;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::complaint::{Complaint, Outcome};
use crate::typed::MOST_TYPED;

/// How long what is piped in may take to begin before it is said that it is waited for.
const QUIET: Duration = Duration::from_secs(2);
/// How long it may take to begin where there are words to ask without it.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
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
        let piped = piped(words)?;
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

/// What is piped in beside these words. Programs hand on pipes that stay open and silent: with words there is a question
/// already, and after a while it is asked as it is.
pub(super) fn piped(words: &str) -> Outcome<String> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(String::new());
    }
    let patience = Patience {
        quiet: QUIET,
        longest: (!words.trim().is_empty()).then_some(LONGEST_SILENCE),
    };
    if !begins(&input, &patience, |note| {
        Ok(writeln!(std::io::stderr(), "note: {note}")?)
    })? {
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

/// How long an input that is open may say nothing.
struct Patience {
    /// After this long it is said what is waited for.
    quiet: Duration,
    /// After this long it is left alone, if ever.
    longest: Option<Duration>,
}

/// Waits for the first byte of an input, or its end; false when it was silent for too long.
fn begins(
    input: &impl AsFd,
    patience: &Patience,
    mut say: impl FnMut(&str) -> Outcome,
) -> Outcome<bool> {
    if is_ready(input, Some(patience.quiet)) {
        return Ok(true);
    }
    say("standard input is open and silent; waiting for it, which `</dev/null` leaves out")?;
    let rest = patience.longest;
    if is_ready(
        input,
        rest.map(|longest| longest.saturating_sub(patience.quiet)),
    ) {
        return Ok(true);
    }
    say("nothing came from standard input; asking without it")?;
    Ok(false)
}

/// Whether an input has something to read, or has ended, within this time.
fn is_ready(input: &impl AsFd, within: Option<Duration>) -> bool {
    let until = within.map(|within| Instant::now() + within);
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        let mut one = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        match poll(&mut one, left) {
            Err(Errno::EINTR) => {}
            // Where it cannot be waited, reading does.
            Err(_) => return true,
            Ok(ready) => return ready > 0,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How a wait ended, and how often something was said. What is said is answered with these bytes.
    fn waited(longest: Option<Duration>, ended: bool, answer: &[u8]) -> (bool, usize) {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut writer = (!ended).then_some(writer);
        let patience = Patience {
            quiet: Duration::ZERO,
            longest,
        };
        let mut said = 0;
        let begun = begins(&reader, &patience, |_| {
            said += 1;
            if let Some(writer) = &mut writer {
                writer.write_all(answer)?;
            }
            Ok(())
        });
        (begun.unwrap(), said)
    }

    // CL-42
    #[test]
    fn an_open_input_that_says_nothing_is_told_of_and_not_waited_for_for_ever() {
        let at_once = Some(Duration::ZERO);
        assert_eq!(waited(at_once, false, b""), (false, 2));
        assert_eq!(waited(at_once, true, b""), (true, 0));
        // Who has nothing else to ask waits until something comes.
        assert_eq!(waited(None, false, b"late"), (true, 1));
        assert_eq!(waited(at_once, false, b"late"), (true, 1));
    }
}
