//! Jobs that name skills, in `HOME/cron/jobs.json`. Everything else in that file is somebody else's and stays.

use std::path::Path;

use hermes_config::{FileError, read_file, replace_file};
use serde_json::Value as Json;

use super::report::{Absorbed, Rewrite};

/// The skills that jobs name; none when the file cannot be read.
pub(super) fn skills_of(home: &Path) -> Vec<String> {
    let Ok(Some(bytes)) = read_file(&home.join("cron/jobs.json")) else {
        return Vec::new();
    };
    let file: Json = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut names: Vec<String> = jobs(&file).iter().flat_map(named).collect();
    names.sort();
    names.dedup();
    names
}

/// Puts the names of skills back into jobs as they were in `then`. Jobs that came or went since are left alone.
pub(super) fn restore(home: &Path, then: &[u8]) -> Result<(), FileError> {
    let path = home.join("cron/jobs.json");
    let (Some(bytes), Ok(then)) = (read_file(&path)?, serde_json::from_slice::<Json>(then)) else {
        return Ok(());
    };
    let Ok(mut now) = serde_json::from_slice::<Json>(&bytes) else {
        return Ok(());
    };
    let before = now.clone();
    let list = match now.get_mut("jobs") {
        Some(list) => list.as_array_mut(),
        None => now.as_array_mut(),
    };
    for job in list.into_iter().flatten().filter_map(Json::as_object_mut) {
        let same = jobs(&then)
            .iter()
            .find(|old| old.get("id") == job.get("id"));
        for key in ["skill", "skills"] {
            if let Some(value) = same.and_then(|old| old.get(key)) {
                job.insert(key.to_owned(), value.clone());
            }
        }
    }
    if now != before {
        let text = serde_json::to_string_pretty(&now).unwrap_or_default();
        replace_file(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Makes jobs that name absorbed skills name those that hold them now.
pub(super) fn follow(home: &Path, absorbed: &[Absorbed]) -> Result<Vec<Rewrite>, FileError> {
    let path = home.join("cron/jobs.json");
    let mut rewrites = Vec::new();
    if absorbed.is_empty() {
        return Ok(rewrites);
    }
    let Some(bytes) = read_file(&path)? else {
        return Ok(rewrites);
    };
    let Ok(mut file) = serde_json::from_slice::<Json>(&bytes) else {
        return Ok(rewrites);
    };
    let list = match file.get_mut("jobs") {
        Some(list) => list.as_array_mut(),
        None => file.as_array_mut(),
    };
    for job in list.into_iter().flatten().filter_map(Json::as_object_mut) {
        let id = job.get("id").cloned().unwrap_or_default();
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let mut renamed = |name: &Json| {
            let into = absorbed
                .iter()
                .find(|one| Some(&*one.name) == name.as_str());
            let Some(Absorbed { name, into }) = into else {
                return name.clone();
            };
            rewrites.push(Rewrite {
                job: id.clone(),
                from: name.clone(),
                to: into.clone(),
            });
            Json::String(into.clone())
        };
        if let Some(one) = job.get_mut("skill") {
            *one = renamed(one);
        }
        if let Some(several) = job.get_mut("skills").and_then(Json::as_array_mut) {
            let mut names: Vec<Json> = Vec::new();
            for name in several.iter().map(&mut renamed) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            *several = names;
        }
    }
    if !rewrites.is_empty() {
        let text = serde_json::to_string_pretty(&file).unwrap_or_default();
        replace_file(&path, text.as_bytes())?;
    }
    Ok(rewrites)
}

/// The jobs of a file, which may be a bare list.
fn jobs(file: &Json) -> &[Json] {
    let list = file.get("jobs").unwrap_or(file);
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn named(job: &Json) -> Vec<String> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let several = job.get("skills").and_then(Json::as_array);
    let several = several.into_iter().flatten().filter_map(text);
    job.get("skill")
        .and_then(text)
        .into_iter()
        .chain(several)
        .collect()
}
