//! What a command asks before anything happens: a panel on the screen, numbers at the prompt.

use crate::complaint::Outcome;
use crate::output::{Output, one_line};
use crate::table::cut;
use crate::typed::Typed;

/// Entries that are listed at the prompt.
const MOST_LISTED: usize = 30;
/// Characters of an entry at the prompt.
const WIDEST: usize = 60;

/// A question of the program's own.
pub(super) enum Ask {
    /// Should this really happen?
    Confirm {
        title: String,
        text: String,
        /// The command that does it.
        yes: String,
        /// The command that does it and is not asked about again.
        always: Option<String>,
    },
    /// One of a list.
    One(List),
    /// Some of a list: a command that is followed by their names.
    Several { command: String, list: List },
}

/// What can be picked.
pub(super) struct List {
    pub(super) title: String,
    /// What stands above each column, and whether it holds numbers.
    pub(super) columns: Vec<(&'static str, bool)>,
    pub(super) entries: Vec<Entry>,
}

/// One of it.
pub(super) struct Entry {
    pub(super) cells: Vec<String>,
    /// What is found by typing besides the cells.
    pub(super) also: String,
    /// Whether it is the one in use, or among those.
    pub(super) picked: bool,
    /// The command it stands for, or its name among several.
    pub(super) line: String,
}

/// Puts a question at the prompt, and answers the command that was chosen.
pub(super) async fn at_prompt(
    ask: Ask,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome<Option<String>> {
    lines.set_aside();
    match &ask {
        Ask::Confirm {
            title,
            text,
            always,
            ..
        } => {
            output.line(format!("{title}? {text}"))?;
            let always = always.as_ref().map(|_| ", a = always without asking");
            output.line(format!(
                "y = this time{}, n = no",
                always.unwrap_or_default()
            ))?;
        }
        Ask::One(list) => show(list, "a number, or nothing to leave it", output)?,
        Ask::Several { list, .. } => show(list, "numbers, or nothing to leave it", output)?,
    }
    output.flush()?;
    let said = lines.fresh().await.unwrap_or_default();
    let chosen = answer(ask, said.trim());
    if chosen.is_none() {
        output.line("Nothing was changed.")?;
    }
    Ok(chosen)
}

fn show(list: &List, how: &str, output: &mut Output) -> Outcome {
    output.line(&list.title)?;
    for (at, entry) in list.entries.iter().take(MOST_LISTED).enumerate() {
        let mark = if entry.picked { "*" } else { " " };
        let cells: Vec<String> = entry
            .cells
            .iter()
            .filter(|cell| !cell.is_empty())
            .map(|cell| cut(&one_line(cell), WIDEST))
            .collect();
        output.line(format!("{mark}{:>3}. {}", at + 1, cells.join("  ")))?;
    }
    if let Some(more) = list
        .entries
        .len()
        .checked_sub(MOST_LISTED)
        .filter(|more| *more > 0)
    {
        output.line(format!("     … and {more} more; name one in full"))?;
    }
    Ok(output.line(format!("Say {how}."))?)
}

fn answer(ask: Ask, said: &str) -> Option<String> {
    let numbers = || said.split(|c: char| c == ',' || c.is_whitespace());
    let entry = |list: &List, word: &str| -> Option<String> {
        let at = word.parse::<usize>().ok()?.checked_sub(1)?;
        list.entries.get(at).map(|entry| entry.line.clone())
    };
    match ask {
        Ask::Confirm { yes, always, .. } => match said.to_lowercase().as_str() {
            "y" | "yes" => Some(yes),
            "a" | "always" => always,
            _ => None,
        },
        Ask::One(list) => entry(&list, said),
        Ask::Several { command, list } => {
            let names: Option<Vec<String>> = numbers()
                .filter(|word| !word.is_empty())
                .map(|word| entry(&list, word))
                .collect();
            let names = names.filter(|names| !names.is_empty())?;
            Some(format!("{command} {}", names.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let entry = |name: &str| Entry {
            cells: vec![name.to_owned()],
            also: String::new(),
            picked: false,
            line: name.to_owned(),
        };
        List {
            title: "Pick".to_owned(),
            columns: Vec::new(),
            entries: ["a", "b", "c"].map(entry).into(),
        }
    }

    #[test]
    fn numbers_pick_and_anything_else_leaves_it() {
        assert_eq!(answer(Ask::One(list()), "2").as_deref(), Some("b"));
        assert_eq!(answer(Ask::One(list()), "4"), None);
        assert_eq!(answer(Ask::One(list()), ""), None);
        let several = |said: &str| {
            let command = "/tools only".to_owned();
            answer(
                Ask::Several {
                    command,
                    list: list(),
                },
                said,
            )
        };
        assert_eq!(several("1, 3").as_deref(), Some("/tools only a c"));
        assert_eq!(several(""), None);
        assert_eq!(several("1 x"), None);
    }
}
