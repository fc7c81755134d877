//! What a model is told about memory, field by field.

use hermes_memory::{
    Changed, Contents, Effect, Entry, MemoryError, Refusal, Target, Why, preview, shown,
};
use serde_json::{Value as Json, json};

/// Said along with every change that was made.
const NOTE: &str = "It is on disk now. Your prompt stays as it is in this session and shows it from the next one on.";

/// A change that was made.
pub(super) fn changed(changed: &Changed) -> Json {
    let contents = &changed.contents;
    json!({
        "success": true,
        "done": true,
        "target": contents.target,
        "usage": contents.usage(),
        "entry_count": contents.entries.len(),
        "message": message(changed.effect),
        "note": NOTE,
    })
}

/// Everything there is.
pub(super) fn read(contents: &Contents) -> Json {
    let entries = contents.entries.iter().map(|entry| {
        json!({
            "id": entry.id,
            "text": shown(contents.target, &entry.text),
            "chars": length(entry),
        })
    });
    json!({
        "success": true,
        "target": contents.target,
        "usage": contents.usage(),
        "entry_count": contents.entries.len(),
        "entries": entries.collect::<Vec<_>>(),
    })
}

/// Why nothing was changed, with what helps to do better.
pub(super) fn refused(refusal: &Refusal, contents: &Contents) -> Json {
    let error = refusal.to_string();
    match &refusal.why {
        Why::Full {
            needed,
            limit,
            merge,
        } => {
            let mut answer = json!({
                "success": false,
                "error": format!(
                    "{error}. Merge, shorten or remove entries and add again, all in one call with operations; \
                     leave it if nothing there is worth less."
                ),
                "current_entries": texts(contents),
                "sizes": sizes(contents),
                "usage": contents.short_usage(),
                "over_by": needed.saturating_sub(*limit),
            });
            if let (Some(merge), Some(fields)) = (merge, answer.as_object_mut()) {
                fields.insert("suggested_merge".to_owned(), json!(merge));
            }
            answer
        }
        Why::Missing { .. } => json!({
            "success": false,
            "error": error,
            "current_entries": texts(contents),
            "sizes": sizes(contents),
        }),
        Why::Ambiguous { matches, .. } => {
            let show = |entry: &Entry| preview(&shown(contents.target, &entry.text));
            let ids: Vec<&str> = matches.iter().map(|entry| entry.id.as_str()).collect();
            json!({
                "success": false,
                "error": error,
                "matches": matches.iter().map(show).collect::<Vec<_>>(),
                "match_ids": ids,
            })
        }
        Why::Unnamed { .. } => json!({
            "success": false,
            "error": error,
            "current_entries": texts(contents),
            "usage": contents.short_usage(),
        }),
        Why::Empty { .. } | Why::Threat { .. } | Why::Separator | Why::Count { .. } => {
            json!({"success": false, "error": error})
        }
    }
}

/// The end of trying.
pub(super) fn enough(refusal: &Refusal) -> Json {
    json!({
        "success": false,
        "done": true,
        "error": format!(
            "{refusal}. This has failed too often in this turn: stop changing memory now and go on with the task. \
             Nothing that was kept before is lost."
        ),
    })
}

/// A file that something else edited.
pub(super) fn drifted(error: &MemoryError) -> Json {
    let MemoryError::Drifted { backup, target, .. } = error else {
        return json!({"success": false, "error": error.to_string()});
    };
    json!({
        "success": false,
        "error": error.to_string(),
        "drift_backup": backup,
        "remediation": format!(
            "Do not try again in this turn. Tell the user that the file was edited in a way that saving would \
             undo; `hermes memory tidy {}` takes their edit over.",
            target.word()
        ),
    })
}

/// A file the settings switch off.
pub(super) fn switched_off(target: Target) -> Json {
    let key = match target {
        Target::Memory => "memory.memory_enabled",
        Target::User => "memory.user_profile_enabled",
    };
    json!({
        "success": false,
        "done": true,
        "error": format!("the user switched this off ({key}); nothing is kept there"),
    })
}

/// What the person is told when there is no room.
pub(super) fn full_for_people(contents: &Contents) -> String {
    let target = contents.target;
    format!(
        "{} has no room for what the agent wants to remember ({}). `hermes memory list` shows \
         what is kept, memory.{}_char_limit gives more room.",
        target.file_name(),
        contents.usage(),
        target.word()
    )
}

fn texts(contents: &Contents) -> Vec<String> {
    let show = |entry: &Entry| shown(contents.target, &entry.text).into_owned();
    contents.entries.iter().map(show).collect()
}

/// Ids and sizes, in the order of the texts.
fn sizes(contents: &Contents) -> Vec<Json> {
    let size = |entry: &Entry| json!({"id": entry.id, "chars": length(entry)});
    contents.entries.iter().map(size).collect()
}

fn length(entry: &Entry) -> usize {
    entry.text.chars().count()
}

fn message(effect: Effect) -> String {
    let parts = [
        (effect.added, "added"),
        (effect.replaced, "replaced"),
        (effect.removed, "removed"),
        (effect.present, "already there"),
    ];
    let said: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match said.as_slice() {
        [only] if effect.present == 1 && only.starts_with('1') => {
            "This was already there; nothing was added.".to_owned()
        }
        said => format!("Entries: {}.", said.join(", ")),
    }
}
