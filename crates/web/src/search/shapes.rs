//! What each service calls the parts of a result.

use serde_json::Value as Json;

use super::Found;

/// Characters of what is told of a page.
const LONGEST: usize = 2_000;

pub(super) fn tavily(answer: &Json) -> Option<Vec<Found>> {
    list(answer.get("results")?, |one| found(one, "content"))
}

pub(super) fn exa(answer: &Json) -> Option<Vec<Found>> {
    list(answer.get("results")?, |one| Found {
        description: joined(one.get("highlights")),
        ..found(one, "")
    })
}

pub(super) fn parallel(answer: &Json) -> Option<Vec<Found>> {
    list(answer.get("results")?, |one| Found {
        description: joined(one.get("excerpts")),
        ..found(one, "")
    })
}

/// Firecrawl sorts its results by kind; earlier versions of it did not.
pub(super) fn firecrawl(answer: &Json) -> Option<Vec<Found>> {
    let data = answer.get("data")?;
    list(data.get("web").unwrap_or(data), |one| {
        found(one, "description")
    })
}

/// Its results come from several places, each with a score of its own.
pub(super) fn searxng(answer: &Json) -> Option<Vec<Found>> {
    let mut results = answer.get("results")?.as_array()?.clone();
    let score = |one: &Json| one.get("score").and_then(Json::as_f64).unwrap_or_default();
    results.sort_by(|one, other| score(other).total_cmp(&score(one)));
    list(&Json::Array(results), |one| found(one, "content"))
}

pub(super) fn brave(answer: &Json) -> Option<Vec<Found>> {
    // Without results the whole part is missing.
    let Some(web) = answer.get("web") else {
        return answer.is_object().then(Vec::new);
    };
    list(web.get("results")?, |one| found(one, "description"))
}

/// An answer in words, whose sources are marked in it.
pub(super) fn xai(answer: &Json) -> Option<Vec<Found>> {
    let items = answer.get("output")?.as_array()?;
    let parts = items
        .iter()
        .filter_map(|item| item.get("content")?.as_array())
        .flatten();
    let mut all: Vec<Found> = Vec::new();
    for part in parts {
        let words = text(part, "text");
        let notes = part.get("annotations").and_then(Json::as_array);
        for note in notes.into_iter().flatten() {
            let url = text(note, "url");
            if url.is_empty() || all.iter().any(|known| known.url == url) {
                continue;
            }
            let title = text(note, "title");
            all.push(Found {
                title: if title.is_empty() { url.clone() } else { title },
                url,
                description: around(&words, note),
            });
        }
    }
    Some(all)
}

/// The words a mark stands behind.
fn around(words: &str, note: &Json) -> String {
    const BEFORE: usize = 300;
    let end = note.get("start_index").and_then(Json::as_u64);
    let end = end.map_or(BEFORE, |end| usize::try_from(end).unwrap_or(usize::MAX));
    let start = end.saturating_sub(BEFORE);
    let piece: String = words.chars().skip(start).take(end - start).collect();
    piece.trim().to_owned()
}

fn list(results: &Json, one: impl Fn(&Json) -> Found) -> Option<Vec<Found>> {
    Some(results.as_array()?.iter().map(one).collect())
}

fn found(one: &Json, description: &str) -> Found {
    let words: String = text(one, description).chars().take(LONGEST).collect();
    Found {
        title: text(one, "title"),
        url: text(one, "url"),
        description: words,
    }
}

fn joined(pieces: Option<&Json>) -> String {
    let pieces = pieces.and_then(Json::as_array).into_iter().flatten();
    let all: Vec<&str> = pieces.filter_map(Json::as_str).collect();
    all.join(" … ").chars().take(LONGEST).collect()
}

fn text(one: &Json, name: &str) -> String {
    one.get(name)
        .and_then(Json::as_str)
        .unwrap_or_default()
        .trim()
        .to_owned()
}
