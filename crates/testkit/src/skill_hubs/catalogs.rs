//! Everything that is not GitHub: lists, archives and plain files.

use axum::http::{Uri, header};
use axum::response::{IntoResponse, Json, Response};
use serde_json::{Value, json};

use super::{State, parameter};
use crate::clouds::locked;

/// The answer to a path; `None` when nothing is there.
pub(super) fn answer(state: &State, path: &str, uri: &Uri) -> Option<Response> {
    if path == "/sh/api/search" {
        return Some(search(state, uri));
    }
    if let Some(rest) = path.strip_prefix("/claw/api/v1/") {
        return clawhub(state, rest, uri);
    }
    let page = locked(&state.pages).get(path).cloned()?;
    let (content_type, bytes) = page;
    Some(([(header::CONTENT_TYPE, content_type)], bytes).into_response())
}

fn search(state: &State, uri: &Uri) -> Response {
    let words = parameter(uri, "q").unwrap_or_default().to_lowercase();
    let rows = locked(&state.listed).clone();
    let fits = |row: &Value| {
        let name = row["name"].as_str().unwrap_or_default();
        words.split_whitespace().all(|word| name.contains(word))
    };
    let skills: Vec<Value> = rows.into_iter().filter(fits).collect();
    Json(json!({ "query": words, "searchType": "fuzzy", "count": skills.len(), "skills": skills }))
        .into_response()
}

fn clawhub(state: &State, rest: &str, uri: &Uri) -> Option<Response> {
    let packed = locked(&state.packed).clone();
    let newest = |slug: &str| packed.iter().rev().find(|row| row.0 == slug);
    let summary = |row: &(String, String, axum::body::Bytes, String)| json!({ "slug": row.0, "displayName": row.0, "summary": row.3, "stats": { "downloads": 7 } });
    match rest {
        "search" => {
            let words = parameter(uri, "q").unwrap_or_default();
            let results: Vec<Value> = packed
                .iter()
                .filter(|row| row.0.contains(&words))
                .map(summary)
                .collect();
            Some(Json(json!({ "results": results })).into_response())
        }
        "skills" => {
            let items: Vec<Value> = packed.iter().map(summary).collect();
            Some(Json(json!({ "items": items, "nextCursor": null })).into_response())
        }
        "download" => {
            let slug = parameter(uri, "slug")?;
            let version = parameter(uri, "version")?;
            let row = packed
                .iter()
                .find(|row| row.0 == slug && row.1 == version)?;
            let kind = [(header::CONTENT_TYPE, "application/zip")];
            Some((kind, row.2.clone()).into_response())
        }
        _ => {
            let slug = rest.strip_prefix("skills/")?;
            if let Some(slug) = slug.strip_suffix("/versions") {
                let version = &newest(slug)?.1;
                return Some(Json(json!({ "items": [{ "version": version }] })).into_response());
            }
            let row = newest(slug)?;
            let detail = json!({
                "skill": summary(row),
                "latestVersion": { "version": row.1, "changelog": "" },
                "owner": { "handle": "somebody" },
            });
            Some(Json(detail).into_response())
        }
    }
}
