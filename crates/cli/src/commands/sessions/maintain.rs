//! `hermes sessions stats`, `optimize` and `repair`

use hermes_core::FailureKind;
use hermes_store::{Check, KeepCopy, Repair};
use serde_json::json;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::logging;
use crate::number;
use crate::output::{Output, Style, one_line};
use crate::size;

pub(crate) fn stats(json: bool, context: &Context, output: &mut Output) -> Outcome {
    let stats = context.conversations()?.stats().wait()?;
    if json {
        let sources: Vec<_> = stats
            .by_source
            .iter()
            .map(|source| json!({ "source": source.source, "sessions": source.sessions, "messages": source.messages }))
            .collect();
        return Ok(output.json(&json!({
            "sessions": stats.sessions,
            "archived": stats.archived,
            "messages": stats.messages,
            "tool_calls": stats.tool_calls,
            "usage": stats.usage,
            "database_bytes": stats.database_bytes,
            "text_bytes": stats.text_bytes,
            "index_bytes": stats.index_bytes,
            "sources": sources,
        }))?);
    }
    output.line(format!(
        "{}, {} of them archived",
        number::of(stats.sessions, "conversation"),
        stats.archived
    ))?;
    output.line(format!(
        "{}, {}",
        number::of(stats.messages, "message"),
        number::of(stats.tool_calls, "tool call")
    ))?;
    output.line(format!("{} tokens", stats.usage.total()))?;
    for source in &stats.by_source {
        output.line(format!(
            "  {}: {}, {}",
            one_line(&source.source),
            number::of(source.sessions, "conversation"),
            number::of(source.messages, "message")
        ))?;
    }
    output.line(format!(
        "database {}, search index {}",
        size::show(stats.database_bytes),
        size::show(stats.index_bytes)
    ))?;
    Ok(())
}

pub(crate) fn optimize(context: &Context, output: &mut Output) -> Outcome {
    let done = context.store()?.optimize().wait()?;
    output.line(format!(
        "database {} → {}",
        size::show(done.bytes_before),
        size::show(done.bytes_after)
    ))?;
    if done.blobs_removed > 0 {
        output.line(format!("{} unused media files removed", done.blobs_removed))?;
    }
    Ok(())
}

pub(crate) fn repair(
    check_only: bool,
    no_backup: bool,
    json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let path = context.home()?.database();
    if !path.exists() {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("{} does not exist yet", path.display()),
        ));
    }
    if check_only {
        let check = context.store()?.check().wait()?;
        print_check(&check, json, output)?;
        return if check.is_clean() {
            Ok(())
        } else {
            Err(Complaint::Code(1))
        };
    }
    let stamp = context
        .clock()
        .local()
        .strftime("%Y%m%d-%H%M%S")
        .to_string();
    let copy = if no_backup {
        KeepCopy::No
    } else {
        KeepCopy::Yes
    };
    logging::start(context);
    let repaired = hermes_store::repair(&path, &stamp, copy)?;
    if !repaired.found.as_ref().is_some_and(Check::is_clean) {
        tracing::warn!(
            "database repaired: {} rows saved, {} messages indexed",
            repaired.rows_saved,
            repaired.reindexed
        );
    }
    if json {
        return Ok(output.json(&json!({
            "clean_before": repaired.found.as_ref().is_some_and(Check::is_clean),
            "reindexed": repaired.reindexed,
            "rows_saved": repaired.rows_saved,
            "damaged_file": repaired.kept,
            "copy": repaired.copy,
        }))?);
    }
    print_repaired(&repaired, output)
}

/// What was done, and that nothing could be done.
fn print_repaired(repaired: &Repair, output: &mut Output) -> Outcome {
    if let Some(check) = &repaired.found {
        print_check(check, false, output)?;
    }
    if let Some(copy) = &repaired.copy {
        output.line(format!("kept a copy as {}", copy.display()))?;
    }
    if let Some(kept) = &repaired.kept {
        output.line(format!(
            "{} rows saved; the damaged file is {}",
            repaired.rows_saved,
            kept.display()
        ))?;
    }
    if repaired.kept.is_some() && repaired.rows_saved == 0 {
        return Err(Complaint::new(
            FailureKind::Damaged,
            "not one row of the damaged file could be read",
        )
        .hint("hermes import BACKUP puts a backup back"));
    }
    if repaired.reindexed > 0 {
        output.line(format!(
            "search index rebuilt over {} messages",
            repaired.reindexed
        ))?;
    }
    Ok(())
}

fn print_check(check: &Check, json: bool, output: &mut Output) -> Outcome {
    if json {
        return Ok(output.json(&json!({
            "clean": check.is_clean(),
            "integrity": check.integrity,
            "dangling_rows": check.dangling,
            "unindexed_messages": check.unindexed,
            "stale_index_entries": check.stale,
            "index": check.index,
        }))?);
    }
    if check.is_clean() {
        let line = output.paint(Style::Good, "the database is sound");
        return Ok(output.line(line)?);
    }
    for fault in check.faults() {
        output.line(fault)?;
    }
    Ok(())
}
