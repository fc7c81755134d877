//! What could be meant by a word that is being written.

mod project;

use std::path::{Path, PathBuf};

use hermes_agent::commands::{all, find};
use hermes_agent::{personality, toolsets};
use hermes_config::{Config, Variable};
use hermes_tui::composer::complete::{Candidate, CommandEntry, Request, Subject};

use super::look::Look;
use crate::commands::chat::commands::skills::Callable;
use crate::commands::chat::commands::{Place, list, offers};
use crate::commands::chat::conversation::Conversation;
use crate::commands::tools::is_built_in;
use crate::context::Context;
use project::Project;

/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 2_000;

/// Most characters of what a skill says about itself.
const LONGEST_ABOUT: usize = 80;

/// The commands of a terminal, and those of the user's own.
pub(super) fn commands(config: &Config) -> Vec<CommandEntry> {
    let built_in = all()
        .filter(|command| Place::Screen.has(command))
        .map(|command| CommandEntry {
            name: command.name.to_owned(),
            aliases: command.aliases.iter().map(ToString::to_string).collect(),
            hint: command.hint.to_owned(),
            about: command.about.to_owned(),
            arguments: command.arguments.iter().map(ToString::to_string).collect(),
            asks: command.dynamic,
        });
    let own = config
        .quick_commands
        .iter()
        .filter(|(name, _)| find(name).is_none());
    let own = own.map(|(name, command)| CommandEntry {
        name: name.clone(),
        aliases: Vec::new(),
        hint: String::new(),
        about: match command.description.as_str() {
            "" => "yours".to_owned(),
            about => about.to_owned(),
        },
        arguments: Vec::new(),
        asks: false,
    });
    built_in.chain(own).collect()
}

/// Finds candidates.
#[derive(Default)]
pub(super) struct Completions {
    project: Project,
}

impl Completions {
    /// Candidates for a word. What takes a look at the disk is done on another thread.
    pub(super) async fn find(
        &self,
        request: Request,
        conversation: &Conversation,
        context: &Context,
    ) -> Vec<Candidate> {
        let directory = conversation.front().directory.clone();
        match &request.subject {
            Subject::Argument { command, given } => {
                let name = find(&command.to_lowercase()).map(|info| info.name);
                if matches!((name, given), (Some("image" | "save"), 0)) {
                    let (typed, home) = (request.typed, home(context));
                    return aside(move || files(Names::PLAIN, &typed, &directory, home.as_deref()))
                        .await;
                }
                arguments(name, *given, &request.typed, conversation, context).await
            }
            Subject::Command => callable(&Callable::find(conversation, context).await),
            Subject::Path => {
                let (typed, home) = (request.typed, home(context));
                aside(move || files(Names::PLAIN, &typed, &directory, home.as_deref())).await
            }
            Subject::Reference => {
                let typed = request.typed;
                for start in ["@file:", "@folder:"] {
                    if let Some(path) = typed.strip_prefix(start).map(str::to_owned) {
                        let home = home(context);
                        let names = Names {
                            start,
                            in_quotes: path.starts_with('"'),
                        };
                        let path = path.trim_start_matches('"').to_owned();
                        return aside(move || files(names, &path, &directory, home.as_deref()))
                            .await;
                    }
                }
                let project = self.project.clone();
                aside(move || project.find(typed.trim_start_matches('@'), &directory)).await
            }
        }
    }
}

/// Skills and bundles as commands. A name that is taken means something else.
fn callable(found: &Callable) -> Vec<Candidate> {
    let skills = found
        .skills
        .iter()
        .map(|skill| (&skill.command, &skill.about));
    let bundles = found
        .bundles
        .iter()
        .map(|bundle| (&bundle.name, &bundle.description));
    let mut candidates: Vec<Candidate> = Vec::new();
    for (name, about) in bundles.chain(skills) {
        let command = format!("/{name}");
        let known = candidates.iter().any(|other| other.value == command);
        if !known && find(name).is_none() {
            let about: String = about.chars().take(LONGEST_ABOUT).collect();
            candidates.push(Candidate::new(command, about));
        }
    }
    candidates
}

async fn aside(work: impl FnOnce() -> Vec<Candidate> + Send + 'static) -> Vec<Candidate> {
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

/// Arguments that only the program knows.
async fn arguments(
    command: Option<&str>,
    given: usize,
    typed: &str,
    conversation: &Conversation,
    context: &Context,
) -> Vec<Candidate> {
    let config = &conversation.house.models.loaded.config;
    match (command, given) {
        (Some("model" | "provider"), 0) => {
            let whole = command == Some("model") && typed.contains(':');
            let mut found: Vec<Candidate> = Vec::new();
            for offer in offers(conversation, context).await.unwrap_or_default() {
                let value = match (command, whole) {
                    (Some("provider"), _) => offer.provider,
                    (_, true) => format!("{}:{}", offer.provider, offer.model),
                    (_, false) => format!("{}:", offer.provider),
                };
                if found.last().is_none_or(|last| last.value != value) {
                    found.push(Candidate::new(value, ""));
                }
            }
            found
        }
        (Some("resume"), 0) => {
            let found = list(conversation).await.into_iter();
            found
                .map(|one| {
                    let about = if one.name.is_empty() {
                        one.preview
                    } else {
                        one.name
                    };
                    Candidate::new(one.id.to_string(), about)
                })
                .collect()
        }
        (Some("personality"), 0) => {
            let all = personality::all(config).into_iter();
            let none = Candidate::new("none", "only your own instructions");
            all.map(|(name, about)| Candidate::new(name, about))
                .chain([none])
                .collect()
        }
        (Some("skin"), 0) => {
            let names = Look::names(context).into_iter();
            let told = |name: String| {
                let about = Look::about(&name, context);
                Candidate::new(name, about)
            };
            names.map(told).collect()
        }
        (Some("tools"), 1..) => toolsets::toolsets()
            .iter()
            .filter(|set| is_built_in(set))
            .map(|set| Candidate::new(set.name, set.about))
            .collect(),
        _ => Vec::new(),
    }
}

/// Where `~` is.
fn home(context: &Context) -> Option<PathBuf> {
    context
        .environment
        .filled(&Variable::HOME)
        .map(PathBuf::from)
}

/// How files are written.
#[derive(Clone, Copy)]
struct Names {
    /// What stands in front of each.
    start: &'static str,
    /// Whether a quote was opened.
    in_quotes: bool,
}

impl Names {
    const PLAIN: Self = Self {
        start: "",
        in_quotes: false,
    };

    /// A reference ends at a space, unless it is in quotes. Those of a folder that is gone on with stay open.
    fn write(self, path: &str) -> String {
        let start = self.start;
        let spaced = self.in_quotes || path.contains(char::is_whitespace);
        match spaced && !start.is_empty() {
            false => format!("{start}{path}"),
            true if start == "@file:" && path.ends_with('/') => format!("{start}\"{path}"),
            true => format!("{start}\"{path}\""),
        }
    }
}

/// Files whose path begins as it is written, or folders alone where one is asked for.
fn files(names: Names, typed: &str, directory: &Path, home: Option<&Path>) -> Vec<Candidate> {
    let (folder, _) = typed
        .rsplit_once('/')
        .map_or(("", typed), |(folder, name)| (folder, name));
    let (shown, place) = match folder {
        "" if typed.starts_with('/') => ("/".to_owned(), Path::new("/").to_owned()),
        "" => (String::new(), directory.to_owned()),
        "~" => ("~/".to_owned(), home.unwrap_or(directory).to_owned()),
        folder => {
            let place = match (folder.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => directory.join(folder),
            };
            (format!("{folder}/"), place)
        }
    };
    let Ok(entries) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    let mut found: Vec<Candidate> = entries
        .take(MOST_ENTRIES)
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            if names.start == "@folder:" && !is_folder {
                return None;
            }
            let end = if is_folder { "/" } else { "" };
            let about = if is_folder { "folder" } else { "" };
            let path = format!("{shown}{name}{end}");
            Some(Candidate::new(names.write(&path), about))
        })
        .collect();
    found.sort_by(|one, other| one.value.cmp(&other.value));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-17
    #[test]
    fn references_with_spaces_are_in_quotes_and_folders_are_folders() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        std::fs::create_dir_all(path.join("my folder/in it")).unwrap();
        std::fs::write(path.join("my notes.txt"), "").unwrap();
        std::fs::write(path.join("plain.txt"), "").unwrap();
        let found = |start, in_quotes, typed: &str| -> Vec<String> {
            let found = files(Names { start, in_quotes }, typed, path, None);
            found.into_iter().map(|one| one.value).collect()
        };
        let all = [
            "@file:\"my folder/",
            "@file:\"my notes.txt\"",
            "@file:plain.txt",
        ];
        assert_eq!(found("@file:", false, ""), all);
        assert_eq!(found("@folder:", false, ""), ["@folder:\"my folder/\""]);
        let inside = ["@file:\"my folder/in it/"];
        assert_eq!(found("@file:", true, "my folder/"), inside);
    }
}
