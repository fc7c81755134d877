//! What the model is told about a change.

use hermes_core::ToolError;
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::plan::{Change, Kind};
use crate::edit::{HunkFault, Refusal, Text, regions, suggestion};
use crate::files::{Lint, refused_with};

/// An error answer longer than this would be cut by the engine.
const LONGEST_ERROR: usize = 1_900;
/// Failures in a row after which the model is told to stop guessing.
const MANY_MISSES: u32 = 3;
/// Places that are listed.
const MOST_PLACES: usize = 50;

/// What was changed.
pub(super) fn done(changes: &[Change], lint: Option<Json>, mut warnings: Vec<String>) -> String {
    let of = |kind: Kind| -> Vec<String> {
        changes
            .iter()
            .filter(|change| change.kind == kind)
            .map(|change| change.path.display().to_string())
            .collect()
    };
    let mut out = Map::new();
    let mut put = |name: &str, value: Json| out.insert(name.to_owned(), value);
    put("success", json!(true));
    let diff: String = changes.iter().map(|change| change.diff.as_str()).collect();
    put("diff", json!(diff));
    put("files_modified", json!(of(Kind::Modified)));
    for (name, kind) in [
        ("files_created", Kind::Created),
        ("files_deleted", Kind::Deleted),
    ] {
        let files = of(kind);
        if !files.is_empty() {
            put(name, json!(files));
        }
    }
    if let [only] = changes {
        put("resolved_path", json!(only.path));
    }
    if changes.iter().all(|change| !change.is_real()) {
        put("already_applied", json!(true));
    }
    places(changes, &mut put);
    if let Some(lint) = lint {
        put("lint", lint);
    }
    for change in changes {
        warnings.extend(change.warnings.iter().cloned());
    }
    if !warnings.is_empty() {
        put("_warning", json!(warnings.join("; ")));
    }
    Json::Object(out).to_string()
}

/// How and where the old text was found.
fn places(changes: &[Change], put: &mut impl FnMut(&str, Json) -> Option<Json>) {
    let all: Vec<_> = changes
        .iter()
        .flat_map(|change| change.places.iter().map(move |place| (change, place)))
        .collect();
    if let [(_, (strategy, lines))] = all.as_slice() {
        put("match_strategy", json!(strategy.name()));
        put("lines", json!(lines));
    } else if let [(_, (strategy, _)), ..] = all.as_slice() {
        let one_file = changes.len() == 1;
        if one_file && all.iter().all(|(_, (other, _))| other == strategy) {
            put("match_strategy", json!(strategy.name()));
            let lines: Vec<_> = all.iter().take(MOST_PLACES).map(|(_, (_, l))| l).collect();
            put("lines", json!(lines));
        } else {
            let hunks: Vec<_> = all
                .iter()
                .take(MOST_PLACES)
                .map(|(change, (strategy, lines))| {
                    json!({"path": change.path, "match_strategy": strategy.name(), "lines": lines})
                })
                .collect();
            put("hunks", json!(hunks));
        }
        put("replacements", json!(all.len()));
    }
}

/// The `lint` field: of one file its report, of several those with new errors.
pub(super) async fn lint(
    lint: &Lint,
    changes: &[Change],
    cancel: &CancellationToken,
) -> Option<Json> {
    let mut reports = Map::new();
    for change in changes.iter().filter(|change| change.is_real()) {
        if let Some(after) = &change.after {
            let report = lint
                .report(&change.path, change.before.as_deref(), after, cancel)
                .await;
            if changes.len() == 1 {
                return Some(report);
            }
            if report.get("status").and_then(Json::as_str) == Some("error") {
                reports.insert(change.path.display().to_string(), report);
            }
        }
    }
    (!reports.is_empty()).then_some(Json::Object(reports))
}

/// Why nothing was replaced, with what may help.
pub(super) fn refusal(refusal: &Refusal, text: &Text, old: &str, misses: u32) -> ToolError {
    let mut out = json!({ "success": false, "error": refusal.to_string() });
    if let Refusal::Ambiguous { lines } = refusal {
        put(
            &mut out,
            "match_lines",
            json!(lines.iter().take(MOST_PLACES).collect::<Vec<_>>()),
        );
        put(&mut out, "match_count", json!(lines.len()));
    }
    if matches!(refusal, Refusal::Absent) {
        if old.contains("[redacted:") {
            put(
                &mut out,
                "_hint",
                json!(
                    "A masked value is not in the file as it was shown; choose lines without it."
                ),
            );
        } else if misses >= MANY_MISSES {
            put(
                &mut out,
                "_hint",
                json!(format!(
                    "Nothing was found {misses} times in a row. Read the file again and copy the lines exactly, or write it anew."
                )),
            );
        }
        help(&mut out, text, old);
    }
    refused_with(out)
}

/// Why a hunk does not fit, with what may help.
pub(super) fn hunk_fault(fault: &HunkFault, path: &str, text: &Text) -> ToolError {
    let mut out = json!({
        "success": false,
        "error": format!("{path}: {fault}; no file was changed"),
    });
    if !fault.is_ambiguous() {
        help(&mut out, text, &fault.wanted);
    }
    refused_with(out)
}

/// Adds what looks like the text that was not found, as far as there is room.
fn help(out: &mut Json, text: &Text, old: &str) {
    if let Some(found) = suggestion(&text.body, old) {
        put(out, "suggestion", json!(found));
    }
    let mut regions = regions(&text.body, old);
    while !regions.is_empty() {
        put(out, "closest_regions", json!(regions));
        if out.to_string().chars().count() <= LONGEST_ERROR {
            return;
        }
        regions.pop();
    }
    if let Some(fields) = out.as_object_mut() {
        fields.remove("closest_regions");
    }
}

fn put(out: &mut Json, name: &str, value: Json) {
    if let Some(fields) = out.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
