//! A question of a command as a panel.

use hermes_tui::app::{Asked, Then};
use hermes_tui::panels::{
    Column, Confirm, Help, Item, Lasting, Panel, Picker, Section, Side, Takes,
};

use crate::commands::chat::ask::{Ask, List};
use crate::commands::chat::commands::{Place, groups};

/// The panel for it, and what follows from the answer.
pub(super) fn asked(ask: Ask) -> Asked {
    match ask {
        Ask::Confirm {
            title,
            text,
            yes,
            always,
        } => {
            let lasting = match always {
                Some(_) => Lasting::Offered,
                None => Lasting::Never,
            };
            Asked {
                panel: Panel::Confirm(Confirm::new(title, text, lasting)),
                then: Then::Each(std::iter::once(yes).chain(always).collect()),
            }
        }
        Ask::One(list) => {
            let at = list.entries.iter().position(|entry| entry.picked);
            let (mut picker, lines) = picker(list, Takes::One);
            if let Some(at) = at {
                picker.select(at);
            }
            Asked {
                panel: Panel::Picker(picker),
                then: Then::Each(lines),
            }
        }
        Ask::Several { command, list } => {
            let (picker, names) = picker(list, Takes::Many);
            Asked {
                panel: Panel::Picker(picker),
                then: Then::All { command, names },
            }
        }
    }
}

/// All commands of the screen, and its keys, below a title.
pub(super) fn help(title: &str) -> Asked {
    let sections = groups(Place::Screen).map(|(title, commands)| Section {
        title: title.to_owned(),
        entries: commands
            .iter()
            .map(|command| {
                let name = format!("/{} {}", command.name, command.hint);
                (name.trim_end().to_owned(), command.about.to_owned())
            })
            .collect(),
    });
    Asked {
        panel: Panel::Help(Help::new(title, sections.collect())),
        then: Then::Each(Vec::new()),
    }
}

fn picker(list: List, takes: Takes) -> (Picker, Vec<String>) {
    let columns = list.columns.into_iter().map(|(title, numbers)| Column {
        title: title.to_owned(),
        side: if numbers { Side::Right } else { Side::Left },
    });
    let (items, lines): (Vec<Item>, Vec<String>) = list
        .entries
        .into_iter()
        .map(|entry| {
            let item = Item {
                cells: entry.cells,
                also: entry.also,
                picked: entry.picked,
            };
            (item, entry.line)
        })
        .unzip();
    let picker = Picker::new(list.title, columns.collect(), items, takes);
    (picker, lines)
}
