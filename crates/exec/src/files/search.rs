//! What can be searched for, and what is found.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use tokio_util::sync::CancellationToken;

use super::FilesError;

/// Most characters of a line that is shown.
const LONGEST: usize = 500;

/// What is wanted of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchFor {
    /// Lines that match, with their surroundings.
    Lines,
    /// How many lines of each file match.
    Counts,
    /// Files with a line that matches, newest first.
    Files,
    /// Files by their name, newest first.
    Names,
}

/// A search. Hidden and git-ignored files are left out.
#[derive(Clone)]
pub struct Search {
    /// Where: a directory or a file, links followed already.
    pub root: PathBuf,
    /// A regular expression, or a glob for names.
    pub pattern: String,
    /// What is wanted.
    pub what: SearchFor,
    /// Only files like this.
    pub file_glob: Option<String>,
    /// Lines to skip.
    pub offset: usize,
    /// Most lines.
    pub limit: usize,
    /// Lines around each.
    pub context: usize,
    /// How long it may take.
    pub time: Duration,
    /// Whether a file may be seen; others are only counted.
    pub may_see: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// What was found.
#[derive(Debug, Default)]
pub struct SearchFound {
    /// All files, in the order they are shown.
    pub files: Vec<FoundFile>,
    /// The lines of the page that was asked for.
    pub lines: Vec<FoundLine>,
    /// All lines that match.
    pub total: usize,
    /// Files left out because they may not be seen.
    pub omitted: usize,
    /// The search was ended by its time or a limit.
    pub incomplete: bool,
    /// Why there may be nothing although there should.
    pub doubt: Option<&'static str>,
    /// Who searched.
    pub by: SearchedBy,
}

/// A file with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// Lines that match.
    pub count: usize,
    /// When it was changed, where the order needs it.
    pub(super) modified: Option<(i64, u32)>,
}

/// A line that matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundLine {
    /// The file.
    pub path: PathBuf,
    /// Its number, from 1.
    pub line: u64,
    /// The line.
    pub content: String,
    /// Lines before it.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
}

/// Who searched, which decides what some patterns mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchedBy {
    /// ripgrep's libraries, here.
    #[default]
    Library,
    /// The `rg` that is there.
    Ripgrep,
    /// `grep` with Perl's expressions.
    PerlGrep,
    /// `grep` with extended expressions.
    PlainGrep,
}

impl SearchedBy {
    /// What is different from a search on this machine.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Library | Self::Ripgrep => None,
            Self::PerlGrep => Some(
                "searched with grep -P, as there is no rg: git-ignored files are not left out, and letters beyond \
                 ASCII count as several",
            ),
            Self::PlainGrep => Some(
                "searched with grep -E, as there is no rg: \\d and other shorthands may not work, git-ignored files \
                 are not left out, and letters beyond ASCII count as several",
            ),
        }
    }
}

impl Search {
    /// Whether files are shown in the order of their changes.
    pub(super) fn in_time_order(&self) -> bool {
        matches!(self.what, SearchFor::Files | SearchFor::Names)
    }

    /// The files that are wanted, as far as a glob says so.
    pub(super) fn wanted(&self) -> Result<Option<Override>, FilesError> {
        let Some(glob) = &self.file_glob else {
            return Ok(None);
        };
        let mut globs = OverrideBuilder::new(&self.root);
        let built = globs.add(glob).and_then(|globs| globs.build());
        built
            .map(Some)
            .map_err(|error| FilesError::Pattern(format!("file_glob is not a glob: {error}")))
    }
}

/// Puts files into the order they are shown in.
pub(super) fn sort(files: &mut [FoundFile]) {
    files.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
    });
}

/// The regular expression of a search, and whether it asks for something lines cannot have.
pub(super) fn matcher(pattern: &str) -> Result<(RegexMatcher, Option<&'static str>), FilesError> {
    let by_line = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern);
    match by_line {
        Ok(matcher) => Ok((matcher, None)),
        Err(_) => RegexMatcherBuilder::new()
            .build(pattern)
            .map(|matcher| {
                let doubt = "the pattern contains a line break, and lines are searched one by one";
                (matcher, Some(doubt))
            })
            .map_err(|error| {
                FilesError::Pattern(format!("the pattern is not a regular expression: {error}"))
            }),
    }
}

/// Which names a search for names wants.
pub(super) struct NamePattern {
    glob: GlobMatcher,
    whole_path: bool,
}

impl NamePattern {
    pub(super) fn new(pattern: &str) -> Result<Self, FilesError> {
        let is_glob = pattern.contains(['*', '?', '[', '{']);
        let whole_path = pattern.contains('/');
        let glob = match (is_glob, whole_path) {
            (false, false) => format!("*{}*", globset::escape(pattern)),
            (false, true) => format!("**{}*", globset::escape(pattern)),
            (true, true) if !pattern.starts_with("**") => {
                format!("**/{}", pattern.trim_start_matches('/'))
            }
            (true, _) => pattern.to_owned(),
        };
        let glob = GlobBuilder::new(&glob)
            .literal_separator(whole_path && is_glob)
            .build()
            .map_err(|error| FilesError::Pattern(format!("the pattern is not a glob: {error}")))?;
        Ok(Self {
            glob: glob.compile_matcher(),
            whole_path,
        })
    }

    pub(super) fn matches(&self, path: &Path, root: &Path) -> bool {
        if self.whole_path {
            self.glob.is_match(path.strip_prefix(root).unwrap_or(path))
        } else {
            path.file_name()
                .is_some_and(|name| self.glob.is_match(name))
        }
    }
}

/// A line as it is shown.
pub(super) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
