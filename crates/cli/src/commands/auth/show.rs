//! `hermes auth list` and `hermes auth status`: secrets are masked before they get here.

use std::time::Duration;

use hermes_core::FailureKind;
use hermes_llm::keys::{EntryKind, EntryView, ProviderStatus, Standing};
use hermes_llm::profile::{KeyNeed, Profile};
use hermes_llm::resolve::ResolveError;
use serde_json::{Value as Json, json};

use crate::complaint::{Complaint, Outcome};
use crate::models::Models;
use crate::output::Output;
use crate::table::Table;

pub(super) fn list(
    provider: Option<&str>,
    as_json: bool,
    models: &Models,
    output: &mut Output,
) -> Outcome {
    let mut all = models.keys.status()?;
    all.retain(|status| provider.is_none_or(|wanted| status.provider == wanted));
    all.sort_by(|one, other| one.provider.cmp(&other.provider));
    if as_json {
        let all: Vec<Json> = all.iter().map(document).collect();
        return Ok(output.json(&all)?);
    }
    if all.is_empty() {
        let whose = provider
            .map(|provider| format!(" for {provider}"))
            .unwrap_or_default();
        return Ok(output.line(format!(
            "There are no keys{whose}. hermes auth add {} adds one.",
            provider.unwrap_or("PROVIDER")
        ))?);
    }
    table(&all).print(output)?;
    Ok(())
}

/// Whether calls can be made; the exit code says it too.
pub(super) fn status(
    provider: &str,
    as_json: bool,
    models: &Models,
    output: &mut Output,
) -> Outcome {
    let entries = models.keys.entries(provider)?;
    let usable = entries.iter().any(is_usable);
    let status = ProviderStatus {
        provider: provider.to_owned(),
        active: false,
        entries,
    };
    let profile = models
        .profiles
        .of_route(provider)
        .map_err(ResolveError::from)?;
    let without = profile
        .as_deref()
        .is_some_and(|profile| profile.key == KeyNeed::Optional);
    if as_json {
        let mut document = document(&status);
        if let Some(fields) = document.as_object_mut() {
            fields.remove("active");
            fields.insert("usable".to_owned(), json!(usable || without));
        }
        output.json(&document)?;
        return if usable || without {
            Ok(())
        } else {
            Err(Complaint::Code(1))
        };
    }
    if !status.entries.is_empty() {
        table(&[status]).print(output)?;
    } else if without {
        output.line(format!("{provider} needs no key, and there is none."))?;
    }
    if usable || without {
        return Ok(());
    }
    let complaint = Complaint::new(
        FailureKind::NotFound,
        format!("no credential of {provider} can be used"),
    );
    Err(complaint.hint(next_step(provider, profile.as_deref())))
}

fn next_step(provider: &str, profile: Option<&Profile>) -> String {
    let mut ways = vec![format!("hermes auth add {provider}")];
    if let Some(profile) = profile {
        ways.extend(
            profile
                .key_env
                .first()
                .map(|name| format!("or set {name} in .env")),
        );
        ways.extend(
            profile
                .signup
                .as_ref()
                .map(|url| format!("keys are made at {url}")),
        );
    }
    ways.join("; ")
}

fn is_usable(entry: &EntryView) -> bool {
    entry.kind != EntryKind::Unsupported
        && match entry.standing {
            Standing::Good => true,
            Standing::Resting { .. } => entry.rest.is_none(),
            Standing::Dead { .. } => false,
        }
}

fn table(all: &[ProviderStatus]) -> Table {
    let mut table = Table::new([
        "PROVIDER", "#", "LABEL", "KIND", "KEY", "FROM", "CALLS", "STATE",
    ]);
    for status in all {
        for entry in &status.entries {
            table.row([
                status.provider.clone(),
                entry.index.to_string(),
                entry.label.clone(),
                kind(entry.kind).to_owned(),
                entry.masked.clone(),
                entry.source.clone(),
                entry.requests.to_string(),
                state(entry),
            ]);
        }
    }
    table
}

fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Key => "key",
        EntryKind::Login { .. } => "login",
        EntryKind::Unsupported => "unsupported",
    }
}

fn state(entry: &EntryView) -> String {
    match (entry.standing, entry.rest) {
        (Standing::Good, _) | (Standing::Resting { .. }, None) => "good".to_owned(),
        (Standing::Resting { code, .. }, Some(rest)) => {
            format!("rests for {} after {code}", span(rest))
        }
        (Standing::Dead { .. }, _) => "ended".to_owned(),
    }
}

pub(super) fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

fn document(status: &ProviderStatus) -> Json {
    let entries: Vec<Json> = status.entries.iter().map(entry_document).collect();
    json!({"provider": status.provider, "active": status.active, "entries": entries})
}

fn entry_document(entry: &EntryView) -> Json {
    let expires_at = match entry.kind {
        EntryKind::Login { expires_at } => expires_at,
        EntryKind::Key | EntryKind::Unsupported => None,
    };
    let (state, code) = match entry.standing {
        Standing::Good => ("good", None),
        Standing::Resting { .. } if entry.rest.is_none() => ("good", None),
        Standing::Resting { code, .. } => ("resting", Some(code)),
        Standing::Dead { .. } => ("ended", None),
    };
    json!({
        "number": entry.index,
        "id": entry.id,
        "label": entry.label,
        "kind": kind(entry.kind),
        "key": entry.masked,
        "from": entry.source,
        "calls": entry.requests,
        "state": state,
        "code": code,
        "rests_for_seconds": entry.rest.map(|rest| rest.as_secs()),
        "expires_at": expires_at.map(|time| time.to_string()),
    })
}
