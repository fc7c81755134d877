//! The list of skills in the prompt: a pure function, byte for byte the same for the same input.
//!
//! All skills with a short description when they fit. When they do not: the categories, the skills that
//! fit the first message best, and as many names of the others as there is room for; the rest is found
//! with `skills_list`.

mod layout;

use hermes_store::terms;

use crate::catalog::{Catalog, CatalogEntry};
use crate::conditions::{Circumstances, hidden};
use crate::rank::best;
use layout::{Layout, Shown, weight};

/// Most tokens of the whole part.
pub const MOST_TOKENS: usize = 1_500;
/// What the whole part may weigh. A token is four letters elsewhere in the program; lists of short names with dashes and
/// digits in them take more tokens than sentences do, and this leaves room for that.
const MOST_WEIGHT: usize = MOST_TOKENS * 10 / 3;
/// Most skills that are described because they fit the first message.
const MOST_MATCHES: usize = 25;
/// The part of the room that matches may take, in hundredths; the rest is for names.
const FOR_MATCHES: usize = 60;

const ABOUT: &str = "Skills are instructions for particular kinds of work, tried and kept. Before you start on a task, \
look whether one below fits it, even in part; if so, read it with skill_view and do as it says.";
const SOME: &str = "These are only some of them: skills_list with a query finds the others.";
const KEEP: &str = "When a skill turns out wrong or incomplete, mend it at once with skill_manage. When a task took many \
steps or a correction and will come again, keep what you learned as a skill with skill_manage, without being asked, and \
say so in a line.";
const NONE: &str = "Skills are instructions for particular kinds of work, kept for the next time. There is none yet. When a task \
took many steps or a correction and will come again, keep what you learned as a skill with skill_manage, without being \
asked, and say so in a line.";

/// The part of the prompt about skills; empty without a tool to read one with. Where there is no skill yet, it says
/// how the first one comes about.
pub fn index(catalog: &Catalog, around: &Circumstances<'_>, first_message: &str) -> String {
    let entries: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| hidden(entry, around).is_none())
        .collect();
    if !around.tools.contains(&"skill_view") {
        return String::new();
    }
    let keep = around.tools.contains(&"skill_manage");
    if entries.is_empty() {
        return if keep { NONE } else { "" }.to_owned();
    }
    let room = MOST_WEIGHT;
    // Where the names alone find no room, nothing has to be written to know that.
    let names: usize = entries.iter().map(|entry| entry.name.len()).sum();
    if names <= room {
        let whole = Layout::whole(&entries, catalog);
        let text = framed(&whole.text(), keep, false);
        if weight(&text) <= room {
            return text;
        }
    }
    let rest = room.saturating_sub(weight(&framed("", keep, true)));
    let mut layout = Layout::categories(&entries, catalog, rest / 2);
    let left = rest.saturating_sub(layout.length());
    let for_matches = left * FOR_MATCHES / 100;
    let matches = if terms(first_message).is_empty() {
        Vec::new()
    } else {
        best(&entries, first_message)
    };
    let mut used = 0;
    for entry in matches.into_iter().take(MOST_MATCHES) {
        let cost = layout.cost(entry, Shown::Described);
        if used + cost <= for_matches {
            layout.show(entry, Shown::Described);
            used += cost;
        }
    }
    layout.fill_with_names(&entries, rest);
    framed(&layout.text(), keep, true)
}

fn framed(list: &str, keep: bool, partial: bool) -> String {
    let mut text = format!("{ABOUT}\n");
    if partial {
        text.push_str(SOME);
        text.push('\n');
    }
    if keep {
        text.push_str(KEEP);
        text.push('\n');
    }
    text.push_str("<available_skills>\n");
    text.push_str(list);
    text.push_str("</available_skills>");
    text
}
