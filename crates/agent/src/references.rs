//! `@`-references: files, folders, changes and pages that a message names are attached to it.
//!
//! | module | holds |
//! |---|---|
//! | `parse` | finding references in a text |
//! | `guard` | what may be read |
//! | `files` | files and folders |
//! | `git` | changes and commits |

mod files;
mod git;
mod guard;
mod parse;

use std::path::Path;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_policy::FileRules;

use crate::batch::present;
use crate::turn::text_tokens;
use crate::typed::{ATTACHED, NOT_ATTACHED};
use guard::Guard;
use parse::{Found, Reference};

pub use git::{Git, Starting};
pub(crate) use guard::Guard as KeyGuard;

/// Most references one message may have.
const MOST_REFERENCES: usize = 25;

/// Reads pages of the web.
pub trait Pages: Send + Sync {
    /// The text of a page, or why there is none.
    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// Where references are resolved.
pub(crate) struct References<'a> {
    /// The workspace; nothing outside it is read.
    pub(crate) directory: &'a Path,
    /// What may be read at all.
    pub(crate) rules: &'a Arc<FileRules>,
    /// The model's window in tokens.
    pub(crate) window: u32,
    /// Reads pages.
    pub(crate) pages: &'a dyn Pages,
    /// Starts git.
    pub(crate) git: &'a dyn Git,
}

impl References<'_> {
    fn repository<'g>(&'g self, guard: &'g Guard) -> git::Repository<'g> {
        git::Repository {
            directory: self.directory,
            git: self.git,
            guard,
        }
    }
}

/// A message with what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// The message for the model; as it was when nothing was attached.
    pub(crate) text: String,
    /// What did not work, for the user. The model is told too.
    pub(crate) warnings: Vec<String>,
    /// Why nothing was attached although something was asked for.
    pub(crate) refused: Option<String>,
}

/// Attaches what a message refers to. Dropping the future ends everything it started.
pub(crate) async fn expand(text: &str, facts: &References<'_>) -> Expanded {
    let found = parse::find(text);
    if found.is_empty() {
        return unchanged(text, None);
    }
    let mut warnings = Vec::new();
    if found.len() > MOST_REFERENCES {
        warnings.push(format!(
            "only the first {MOST_REFERENCES} of {} references are attached",
            found.len()
        ));
    }
    // More than half the window is refused, so no more than that is ever read.
    let most = facts.window as usize * 2;
    let guard = Guard::new(facts.rules);
    let mut blocks: Vec<String> = Vec::new();
    for reference in found.iter().take(MOST_REFERENCES) {
        match attach(&reference.what, facts, &guard, most).await {
            Ok(block) if blocks.contains(&block) => {}
            Ok(block) => blocks.push(block),
            Err(problem) => {
                let written = text.get(reference.range.clone()).unwrap_or_default();
                warnings.push(format!("{written}: {problem}"));
            }
        }
    }
    let tokens: u32 = blocks.iter().map(|block| text_tokens(block)).sum();
    if u64::from(tokens) * 2 > u64::from(facts.window) {
        let refused = format!(
            "what the message refers to takes {tokens} tokens, more than half of the model's window of {}; \
             nothing was attached",
            facts.window
        );
        return unchanged(text, Some(refused));
    }
    if u64::from(tokens) * 4 > u64::from(facts.window) {
        warnings.push(format!(
            "what is attached takes {tokens} tokens, more than a quarter of the model's window of {}",
            facts.window
        ));
    }
    Expanded {
        text: joined(&without(text, &found), &blocks, &warnings),
        warnings,
        refused: None,
    }
}

fn unchanged(text: &str, refused: Option<String>) -> Expanded {
    Expanded {
        text: text.to_owned(),
        warnings: Vec::new(),
        refused,
    }
}

async fn attach(
    what: &Reference,
    facts: &References<'_>,
    guard: &Guard,
    most: usize,
) -> Result<String, String> {
    let repository = facts.repository(guard);
    match what {
        Reference::File { path, lines } => {
            let file = guard.resolve(path, facts.directory)?;
            files::file(path, file, *lines, most).await
        }
        Reference::Folder(path) => {
            let folder = guard.resolve(path, facts.directory)?;
            files::folder(path, folder, guard.clone()).await
        }
        Reference::Diff => git::diff(repository, git::Changes::Unstaged, most).await,
        Reference::Staged => git::diff(repository, git::Changes::Staged, most).await,
        Reference::Commits(count) => git::commits(repository, *count, most).await,
        Reference::Url(url) => {
            let page = facts.pages.read(url).await?;
            Ok(format!("Page {url}:\n{}", present::fence("url", &page)))
        }
    }
}

/// The text with the references taken out, and the space they leave.
fn without(text: &str, found: &[Found]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for reference in found.iter().take(MOST_REFERENCES) {
        out.push_str(text.get(at..reference.range.start).unwrap_or_default());
        at = reference.range.end;
        let rest = text.get(at..).unwrap_or_default();
        if out.is_empty() || out.ends_with(char::is_whitespace) {
            at += rest.len() - rest.trim_start_matches(' ').len();
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out.trim().to_owned()
}

fn joined(text: &str, blocks: &[String], warnings: &[String]) -> String {
    let mut out = text.to_owned();
    if !blocks.is_empty() {
        out.push_str(ATTACHED);
        out.push_str(&blocks.join("\n\n"));
    }
    if !warnings.is_empty() {
        out.push_str(NOT_ATTACHED);
        for warning in warnings {
            out.push_str(&format!("\n- {warning}"));
        }
    }
    out.trim_start().to_owned()
}

/// Encloses a text in a fence that nothing inside it closes.
fn fenced(language: &str, text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
