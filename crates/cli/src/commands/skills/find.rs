//! `hermes skills search` and `browse`.

use hermes_core::causes;
use hermes_skills::hub::{Found, Listing, Query, SourceName};
use serde_json::{Value, json};

use super::ground::Ground;
use crate::args::skills::{BrowseArgs, SearchArgs};
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, Style, one_line};
use crate::table::{Table, cut};

/// Most characters of a description in a table.
const WIDEST: usize = 60;
/// Most skills a service is asked for when all are paged through.
const MOST_BROWSED: usize = 2_000;

pub(super) fn search(args: &SearchArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let limit = args.limit as usize;
    let query = Query::new(&args.query.join(" "), place(args.source.as_deref())?, limit);
    let mut found = ground.wait(ground.hub()?.search(&query))?;
    let total = found.listings.len();
    found.listings.truncate(limit);
    if args.json {
        return Ok(output.json(&as_json(&found, total))?);
    }
    if found.listings.is_empty() {
        output.line("Nothing was found.")?;
    } else {
        table(&found.listings, output)?;
    }
    trouble(&found, output)
}

pub(super) fn browse(args: &BrowseArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let query = Query::new("", place(args.source.as_deref())?, MOST_BROWSED);
    let mut found = ground.wait(ground.hub()?.search(&query))?;
    let total = found.listings.len();
    let size = args.size as usize;
    let pages = total.div_ceil(size).max(1);
    let start = (args.page as usize - 1).saturating_mul(size);
    found.listings = found.listings.into_iter().skip(start).take(size).collect();
    if args.json {
        let mut value = as_json(&found, total);
        value["page"] = json!(args.page);
        value["pages"] = json!(pages);
        return Ok(output.json(&value)?);
    }
    if found.listings.is_empty() {
        output.line(format!("Page {} is empty; there are {pages}.", args.page))?;
    } else {
        table(&found.listings, output)?;
        output.line(format!("Page {} of {pages}, {total} skills.", args.page))?;
    }
    trouble(&found, output)
}

/// The place a word names.
fn place(word: Option<&str>) -> Outcome<Option<SourceName>> {
    let Some(word) = word.filter(|word| *word != "all") else {
        return Ok(None);
    };
    word.parse().map(Some).map_err(|()| {
        let known = SourceName::ALL.map(SourceName::word).join(", ");
        Complaint::bad_request(format!("there is no place called {word}"))
            .hint(format!("one of {known}"))
    })
}

fn table(listings: &[Listing], output: &mut Output) -> Outcome {
    let mut table = Table::new(["NAME", "SOURCE", "TRUST", "IDENTIFIER", "WHAT IT IS FOR"]);
    for listing in listings {
        table.row([
            cut(&one_line(&listing.name), 32),
            listing.source.to_string(),
            listing.trust.to_string(),
            listing.identifier.to_string(),
            cut(&one_line(&listing.description), WIDEST),
        ]);
    }
    Ok(table.print(output)?)
}

/// Places that did not answer: what they have may be missing from the list.
fn trouble(found: &Found, output: &mut Output) -> Outcome {
    for (place, error) in failures(found) {
        let line = format!("{place} did not answer: {}", one_line(&error));
        output.line(output.paint(Style::Warning, &line))?;
    }
    Ok(())
}

fn failures(found: &Found) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for answer in &found.answers {
        if let Err(error) = &answer.outcome {
            all.push((answer.source.to_string(), causes(error)));
        }
        for (part, error) in &answer.failed {
            all.push((format!("{} ({part})", answer.source), causes(error)));
        }
    }
    all
}

fn as_json(found: &Found, total: usize) -> Value {
    let failed: Vec<Value> = failures(found)
        .into_iter()
        .map(|(place, error)| json!({ "source": place, "error": error }))
        .collect();
    json!({
        "skills": found.listings,
        "total": total,
        "failed": failed,
        "covered_by_list": found.covered,
    })
}
