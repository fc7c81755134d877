//! Files the screen writes and lets the user write.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_config::Variable;
use hermes_tui::Failure;
use hermes_tui::app::{PasteNames, PasteTexts};
use hermes_tui::composer::history::block;
use tempfile::NamedTempFile;

use crate::context::Context;

/// Pastes of the same number and second that get names of their own.
const MOST_NAMESAKES: u32 = 100;
/// A longer paste was never kept.
const MOST_OF_PASTE: u64 = hermes_tui::composer::paste::MOST_BYTES as u64;
/// Bytes of the history that are read: more than its most entries have, unless they are pages.
const MOST_OF_HISTORY: u64 = 4 * 1024 * 1024;
/// The editor of those who named none.
const USUAL_EDITOR: &str = "vi";
/// How much older than now a text is made before an editor gets it.
const A_MOMENT: Duration = Duration::from_secs(2);

/// The time, in a form.
pub(super) fn stamp(context: &Context, form: &str) -> String {
    let now = context.clock().local();
    now.strftime(form).to_string()
}

/// Writes a new file below the home, and answers where it is.
pub(super) fn keep(context: &Context, path: impl AsRef<Path>, bytes: &[u8]) -> Option<PathBuf> {
    let kept = context.home().and_then(|home| {
        let path = home.path().join(path);
        home.create(path.parent().unwrap_or(home.path()))?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        file.write_all(bytes)?;
        Ok(path)
    });
    kept.inspect_err(|complaint| {
        tracing::warn!("a file was not saved: {}", complaint.cause());
    })
    .ok()
}

/// Names the files of pastes by number and time. Another program may have kept one in the same second.
pub(super) fn paste_names(context: &Context) -> PasteNames {
    let home = context.home().map(|home| home.path().to_owned());
    let home = home.unwrap_or_default();
    let clock = context.clock().clone();
    PasteNames::new(move |number| {
        let now = clock.local();
        let name = format!("pastes/paste_{number}_{}", now.strftime("%H%M%S"));
        let free = |name: &String| !home.join(name).exists();
        let others = (2..=MOST_NAMESAKES).map(|more| format!("{name}_{more}.txt"));
        let first = format!("{name}.txt");
        let mut names = std::iter::once(first.clone()).chain(others);
        names.find(free).unwrap_or(first)
    })
}

/// Finds the texts of pastes of earlier runs below the home.
pub(super) fn paste_texts(context: &Context) -> PasteTexts {
    let home = context.home().map(|home| home.path().to_owned());
    let home = home.unwrap_or_default();
    PasteTexts::new(move |path| {
        let path = home.join(path);
        let size = std::fs::metadata(&path).ok()?.len();
        let text = (size <= MOST_OF_PASTE).then(|| std::fs::read_to_string(&path));
        text?.ok()
    })
}

/// The end of a history file: as much of it as is looked at, from the beginning of an entry on.
pub(super) fn history(path: &Path) -> Vec<u8> {
    last_entries(path, MOST_OF_HISTORY).unwrap_or_default()
}

fn last_entries(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    if skipped > 0 {
        let whole = bytes.windows(2).position(|pair| pair == b"\n#");
        bytes.drain(..whole.unwrap_or(bytes.len()));
    }
    Ok(bytes)
}

/// Puts a line into the history.
pub(super) fn remember(history: &Path, line: &str, context: &Context) {
    let stamp = stamp(context, "%Y-%m-%d %H:%M:%S");
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        // What was said is for nobody else, here as in the database.
        .mode(0o600)
        .open(history)
        .and_then(|mut file| file.write_all(&block(line, &stamp)));
    if let Err(error) = written {
        tracing::warn!(%error, "the history was not written");
    }
}

/// Lets the user edit a text. Nothing when the editor left without saving.
pub(super) async fn edit(text: String, context: &Context) -> Result<Option<String>, Failure> {
    let environment = &context.environment;
    let editor = [Variable::VISUAL, Variable::EDITOR]
        .iter()
        .find_map(|variable| environment.filled(variable))
        .unwrap_or(USUAL_EDITOR)
        .to_owned();
    edited(&editor, &text, &context.temporary()).await
}

/// An editor that nobody waits for any more is ended.
async fn edited(editor: &str, text: &str, folder: &Path) -> Result<Option<String>, Failure> {
    let (file, untouched) = handed_over(text, folder).map_err(|error| unedited(&error))?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(USUAL_EDITOR);
    let failed = |message: String| Failure {
        message,
        next: Some("set VISUAL or EDITOR to an editor that works here".to_owned()),
    };
    let status = tokio::process::Command::new(program)
        .args(words)
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(|error| {
            failed(format!(
                "the editor {program} could not be started: {error}"
            ))
        })?;
    if !status.success() {
        let how = match status.code() {
            Some(code) => format!("ended with {code}"),
            None => "was killed".to_owned(),
        };
        return Err(failed(format!(
            "the editor {program} {how}; the text is as it was"
        )));
    }
    read_back(&file, untouched).map_err(|error| unedited(&error))
}

/// A text in a file in `folder`, and when that was written. Earlier than now, so that whoever saves it even as it is makes a
/// difference.
fn handed_over(text: &str, folder: &Path) -> std::io::Result<(NamedTempFile, SystemTime)> {
    let mut file = tempfile::Builder::new().suffix(".md").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let written = file.as_file().metadata()?.modified()?;
    file.as_file().set_modified(written - A_MOMENT)?;
    let untouched = file.as_file().metadata()?.modified()?;
    Ok((file, untouched))
}

/// What was saved, if it was. Some editors put another file in its place.
fn read_back(file: &NamedTempFile, untouched: SystemTime) -> std::io::Result<Option<String>> {
    let saved = std::fs::metadata(file.path())?.modified()? != untouched;
    match saved {
        true => Ok(Some(std::fs::read_to_string(file.path())?)),
        false => Ok(None),
    }
}

fn unedited(error: &dyn std::fmt::Display) -> Failure {
    Failure {
        message: format!("the text could not be handed to an editor: {error}"),
        next: Some("write it here; Alt+Enter begins a new line".to_owned()),
    }
}

/// What makes a terminal put a text on its clipboard.
pub(in crate::commands::chat) fn to_clipboard(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use hermes_tui::composer::history::parse;

    use super::*;

    // CL-17
    #[test]
    fn a_long_history_is_read_from_the_first_whole_entry_of_its_end() {
        let mut file = NamedTempFile::new().unwrap();
        for number in 0..100 {
            let entry = format!("entry {number}\nof two lines");
            file.write_all(&block(&entry, "2026-01-01 00:00:00"))
                .unwrap();
        }
        let all = parse(&last_entries(file.path(), u64::MAX).unwrap());
        assert_eq!(all.len(), 100);
        for most in 200..260 {
            let end = parse(&last_entries(file.path(), most).unwrap());
            assert!((2..8).contains(&end.len()), "{end:?}");
            assert!(all.ends_with(&end), "{end:?}");
        }
        assert!(history(Path::new("/nowhere/at/all")).is_empty());
    }
}
