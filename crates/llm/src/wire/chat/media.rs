//! Pictures as addresses a provider can read, or a note where there is no picture to show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hermes_core::{Media, MediaSource};

use crate::picture::kind;
use crate::wire::Dialect;
use crate::wire::legal::{Answer, UserPart};

/// What a tool without output answered; several providers reject an empty answer.
const NO_OUTPUT: &str = "(no output)";

/// What of a medium can be shown to a model.
pub(crate) enum Shown {
    /// The address of a picture, often a `data:` one.
    Picture(String),
    /// Text, also what the model is told instead of a medium.
    Text(String),
}

/// What of a user's turn can be shown.
pub(crate) fn show_user(parts: &[UserPart<'_>], dialect: &Dialect<'_>) -> Vec<Shown> {
    parts
        .iter()
        .map(|part| match part {
            UserPart::Text(text) => Shown::Text((*text).to_owned()),
            UserPart::Media(media) => show(media, dialect),
        })
        .collect()
}

/// What of a tool's answer can be shown; never nothing.
pub(crate) fn show_answer(answer: &Answer<'_>, dialect: &Dialect<'_>) -> Vec<Shown> {
    let mut shown = Vec::new();
    if !answer.content.trim().is_empty() {
        shown.push(Shown::Text(answer.content.clone().into_owned()));
    }
    for media in &answer.media {
        let quirks = &dialect.quirks;
        shown.push(match show(media, dialect) {
            Shown::Picture(_) if quirks.no_tool_images => Shown::Text(left_out(media)),
            Shown::Picture(_) if quirks.text_only_tool_results => {
                Shown::Text(note(media, "follows behind the results"))
            }
            shown => shown,
        });
    }
    if shown.is_empty() {
        shown.push(Shown::Text(NO_OUTPUT.to_owned()));
    }
    shown
}

/// Pictures of tools that cannot stand in the results themselves.
pub(crate) fn show_behind(answers: &[Answer<'_>], dialect: &Dialect<'_>) -> Vec<Shown> {
    let quirks = &dialect.quirks;
    if !quirks.text_only_tool_results || quirks.no_tool_images {
        return Vec::new();
    }
    let all = answers.iter().flat_map(|answer| &answer.media);
    all.map(|media| show(media, dialect))
        .filter(|shown| matches!(shown, Shown::Picture(_)))
        .collect()
}

/// The note for a picture of a tool where tools can give text only.
pub(crate) fn left_out(media: &Media) -> String {
    note(media, "left out: this provider takes text from tools")
}

/// All of it as one text, where there are no pictures.
pub(crate) fn plain(shown: &[Shown]) -> Option<String> {
    let texts: Option<Vec<&str>> = shown
        .iter()
        .map(|piece| match piece {
            Shown::Text(text) => Some(text.as_str()),
            Shown::Picture(_) => None,
        })
        .collect();
    texts.map(|texts| texts.join("\n\n"))
}

/// Shows a picture to models that see, and tells all others what they miss.
fn show(media: &Media, dialect: &Dialect<'_>) -> Shown {
    if !media.mime.starts_with("image/") {
        return Shown::Text(note(media, "cannot be shown to this model"));
    }
    if dialect.quirks.no_images {
        return Shown::Text(note(media, "not shown: this model cannot see images"));
    }
    match &media.source {
        MediaSource::Url(url) => Shown::Picture(url.clone()),
        MediaSource::Blob(hash) => match dialect.media.read(hash) {
            Some(bytes) => Shown::Picture(format!(
                "data:{};base64,{}",
                kind(&bytes, &media.mime),
                STANDARD.encode(bytes)
            )),
            None => Shown::Text(note(media, "is not available")),
        },
    }
}

/// Names a medium and says why it is not there.
pub(crate) fn note(media: &Media, why: &str) -> String {
    match &media.name {
        Some(name) => format!("[attachment {name} ({}) {why}]", media.mime),
        None => format!("[attachment ({}) {why}]", media.mime),
    }
}
