//! The lines of the list, and what they cost.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, CatalogEntry};

/// Most characters of a description.
const LONGEST: usize = 60;
const ELLIPSIS: &str = "...";

/// What a text weighs, in letters of which four are a token; a character of another script is a token by itself.
pub(super) fn weight(text: &str) -> usize {
    let others = text.chars().filter(|character| !character.is_ascii());
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii + 4 * others.count()
}

/// How a skill is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// On a line with its description.
    Described,
    /// By its name, with others.
    Named,
}

/// The list as it grows.
pub(super) struct Layout<'a> {
    categories: BTreeMap<&'a str, Category<'a>>,
    /// Categories there was no room for.
    left_out: usize,
}

struct Category<'a> {
    /// Its line.
    head: String,
    described: Vec<&'a CatalogEntry>,
    named: Vec<&'a CatalogEntry>,
}

impl Category<'_> {
    fn new(head: String) -> Self {
        Self {
            head,
            described: Vec::new(),
            named: Vec::new(),
        }
    }
}

impl<'a> Layout<'a> {
    /// Everything, described.
    pub(super) fn whole(entries: &[&'a CatalogEntry], catalog: &Catalog) -> Self {
        let mut layout = Self::empty();
        for entry in entries {
            let name = entry.shown_category();
            let about = catalog.categories.get(name).map_or("", String::as_str);
            let category = layout.categories.entry(name);
            let category = category.or_insert_with(|| Category::new(head(plain(name), about)));
            category.described.push(entry);
        }
        layout
    }

    /// The categories alone, each with how many skills it holds, as far as there is room.
    pub(super) fn categories(entries: &[&'a CatalogEntry], catalog: &Catalog, room: usize) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in entries {
            *counts.entry(entry.shown_category()).or_insert(0) += 1;
        }
        let mut layout = Self::empty();
        let mut used = 0;
        for (name, count) in counts {
            let about = catalog.categories.get(name).map_or("", String::as_str);
            let head = head(format!("{} ({count})", plain(name)), about);
            used += weight(&head) + 1;
            if used > room {
                layout.left_out += 1;
            } else {
                layout.categories.insert(name, Category::new(head));
            }
        }
        layout
    }

    fn empty() -> Self {
        Self {
            categories: BTreeMap::new(),
            left_out: 0,
        }
    }

    /// What showing a skill adds; nothing can be shown in a category that is not.
    pub(super) fn cost(&self, entry: &CatalogEntry, shown: Shown) -> usize {
        match (self.categories.get(entry.shown_category()), shown) {
            (None, _) => usize::MAX / 2,
            (Some(_), Shown::Described) => weight(&line(entry)) + 1,
            (Some(category), Shown::Named) if category.named.is_empty() => {
                NAMES.len() + weight(&plain(&entry.name)) + 1
            }
            (Some(_), Shown::Named) => weight(&plain(&entry.name)) + 2,
        }
    }

    pub(super) fn show(&mut self, entry: &'a CatalogEntry, shown: Shown) {
        if let Some(category) = self.categories.get_mut(entry.shown_category()) {
            match shown {
                Shown::Described => category.described.push(entry),
                Shown::Named => category.named.push(entry),
            }
        }
    }

    /// Uses what room is left for names, one from each category in turn, so that none is empty while
    /// another is whole.
    pub(super) fn fill_with_names(&mut self, entries: &[&'a CatalogEntry], room: usize) {
        let mut waiting: BTreeMap<&str, Vec<&'a CatalogEntry>> = BTreeMap::new();
        for entry in entries {
            let category = self.categories.get(entry.shown_category());
            let known = category.is_none_or(|category| {
                let mut described = category.described.iter();
                described.any(|other| other.directory == entry.directory)
            });
            if !known {
                waiting
                    .entry(entry.shown_category())
                    .or_default()
                    .push(entry);
            }
        }
        let most = waiting.values().map(Vec::len).max().unwrap_or(0);
        let mut length = self.length();
        for turn in 0..most {
            for names in waiting.values() {
                let Some(entry) = names.get(turn) else {
                    continue;
                };
                let cost = self.cost(entry, Shown::Named);
                if length + cost > room {
                    return;
                }
                self.show(entry, Shown::Named);
                length += cost;
            }
        }
    }

    pub(super) fn length(&self) -> usize {
        weight(&self.text())
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for category in self.categories.values() {
            text.push_str(&category.head);
            text.push('\n');
            let mut described: Vec<String> =
                category.described.iter().map(|one| line(one)).collect();
            described.sort();
            for line in described {
                text.push_str(&line);
                text.push('\n');
            }
            if !category.named.is_empty() {
                let names: Vec<String> = category
                    .named
                    .iter()
                    .map(|entry| plain(&entry.name))
                    .collect();
                text.push_str(NAMES);
                text.push_str(&names.join(", "));
                text.push('\n');
            }
        }
        if self.left_out > 0 {
            text.push_str(&format!("and {} more categories\n", self.left_out));
        }
        text
    }
}

const NAMES: &str = "- also: ";

fn head(name: String, about: &str) -> String {
    match plain(about) {
        about if about.is_empty() => format!("{name}:"),
        about => format!("{name}: {}", cut(&about)),
    }
}

fn line(entry: &CatalogEntry) -> String {
    let name = plain(&entry.name);
    match plain(&entry.description) {
        about if about.is_empty() => format!("- {name}"),
        about => format!("- {name}: {}", cut(&about)),
    }
}

/// Nothing a skill says about itself may close the list it stands in.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '<' | '>') && !character.is_control())
        .collect()
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST - ELLIPSIS.len()).collect();
    kept + ELLIPSIS
}
