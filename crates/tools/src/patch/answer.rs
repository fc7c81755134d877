//! What the model is told about a change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::{ToolContext, ToolError};
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::plan::{Change, Kind};
use crate::edit::{HunkFault, Refusal, Text, regions, suggestion, unified};
use crate::files::{Shared, refused_with};
use crate::lsp::Changed;

/// An error answer longer than this would be cut by the engine.
const LONGEST_ERROR: usize = 1_900;
/// Failures in a row after which the model is told to stop guessing.
const MANY_MISSES: u32 = 3;
/// Places that are listed.
const MOST_PLACES: usize = 50;

/// What may be told of the files of a change: as little as `read_file` would show.
#[derive(Clone)]
pub(super) struct Sight {
    pub(super) shared: Arc<Shared>,
    /// Files that may be changed and not be read.
    pub(super) closed: Vec<PathBuf>,
}

impl Sight {
    pub(super) fn is_open(&self, path: &Path) -> bool {
        !self.closed.iter().any(|closed| closed == path)
    }

    /// The text of a file with secrets masked, when it may be shown at all. Lines are counted in it, so one with a
    /// secret of several lines is not.
    pub(super) fn of(&self, path: &Path, text: &Text) -> Option<String> {
        let shown = self.is_open(path).then(|| self.shared.masked(&text.body))?;
        (shown.lines().count() == text.body.lines().count()).then_some(shown)
    }

    /// What was done to a file, or that it is not told.
    fn diff(&self, change: &Change) -> String {
        let name = change.path.display();
        if change.diff.is_empty() {
            return String::new();
        }
        if !self.is_open(&change.path) {
            return format!("{name} holds secrets; what changed is not shown\n");
        }
        if !change.keyed {
            return self.shared.masked(&change.diff);
        }
        // A key of several lines is known by its first one, which need not be near the change.
        let [before, after] = [&change.before, &change.after]
            .map(|body| self.shared.masked(body.as_deref().unwrap_or_default()));
        let told = unified(name.to_string().trim_start_matches('/'), &before, &after);
        match told.is_empty() {
            true => format!("{name}: only secrets changed, which are not shown\n"),
            false => told,
        }
    }
}

/// What was found wrong with changed files.
pub(super) struct Found {
    pub(super) lint: Option<Json>,
    pub(super) diagnostics: Option<String>,
}

/// What was changed.
pub(super) fn done(
    sight: &Sight,
    changes: &[Change],
    found: Found,
    mut warnings: Vec<String>,
) -> String {
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
    let diff: String = changes.iter().map(|change| sight.diff(change)).collect();
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
    if let Some(lint) = found.lint {
        put("lint", lint);
    }
    if let Some(diagnostics) = found.diagnostics {
        put("lsp_diagnostics", json!(diagnostics));
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
    sight: &Sight,
    changes: &[Change],
    cancel: &CancellationToken,
) -> Option<Json> {
    let lint = sight.shared.lint();
    let mut reports = Map::new();
    for change in told(sight, changes) {
        if let Some(after) = &change.after {
            let mut report = lint
                .report(&change.path, change.before.as_deref(), after, cancel)
                .await;
            // Programs quote the line they complain about.
            if let Some(Json::String(output)) = report.get_mut("output") {
                *output = sight.shared.masked(output);
            }
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

/// The `lsp_diagnostics` field: what language servers find wrong since the change.
pub(super) async fn diagnostics(
    sight: &Sight,
    changes: &[Change],
    context: &ToolContext,
) -> Option<String> {
    let changed: Vec<Changed<'_>> = told(sight, changes)
        .filter_map(|change| {
            Some(Changed {
                path: &change.path,
                before: change.before.as_deref(),
                after: change.after.as_deref()?,
            })
        })
        .collect();
    let found = sight.shared.diagnostics(&changed, context).await?;
    Some(sight.shared.masked(&found))
}

/// The changes others may look at and speak about.
fn told<'c>(sight: &Sight, changes: &'c [Change]) -> impl Iterator<Item = &'c Change> {
    let told = move |change: &&Change| change.is_real() && sight.is_open(&change.path);
    changes.iter().filter(told)
}

/// Why nothing was replaced, with what may help of what may be shown.
pub(super) fn refusal(
    refusal: &Refusal,
    shown: Option<String>,
    old: &str,
    misses: u32,
) -> ToolError {
    let mut out = json!({ "success": false, "error": refusal.to_string() });
    if let Refusal::Ambiguous { lines } = refusal {
        put(
            &mut out,
            "match_lines",
            json!(lines.iter().take(MOST_PLACES).collect::<Vec<_>>()),
        );
        put(&mut out, "match_count", json!(lines.len()));
    }
    if matches!(refusal, Refusal::Absent { .. }) {
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
        help(&mut out, shown, old);
    }
    refused_with(out)
}

/// Why a hunk does not fit, with what may help of what may be shown.
pub(super) fn hunk_fault(fault: &HunkFault, path: &str, shown: Option<String>) -> ToolError {
    let mut out = json!({
        "success": false,
        "error": format!("{path}: {fault}; no file was changed"),
    });
    if !fault.is_ambiguous() {
        help(&mut out, shown, &fault.wanted);
    }
    refused_with(out)
}

/// Adds what looks like the text that was not found, as far as there is room.
fn help(out: &mut Json, shown: Option<String>, old: &str) {
    let Some(shown) = shown else { return };
    if let Some(found) = suggestion(&shown, old) {
        put(out, "suggestion", json!(found));
    }
    let mut regions = regions(&shown, old);
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
