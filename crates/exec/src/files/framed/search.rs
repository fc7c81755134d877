//! Searching on the far side, with what is there.
//!
//! One request finds files and counts, as a search here does; another fetches the lines of the page that is
//! shown. What a glob means is decided here, so it means the same everywhere.

use std::path::{Path, PathBuf};

use ignore::overrides::Override;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

use super::{FramedFiles, broken, first_line, parse, text};
use crate::Input;
use crate::files::search::{NamePattern, matcher, shown, sort};
use crate::files::{FilesError, FoundFile, FoundLine, Search, SearchFor, SearchFound, SearchedBy};

const SEARCH: &str = include_str!("../search.sh");
/// Most bytes of an answer.
const MOST: u64 = 64 << 20;
/// Most bytes of a line that are sent, its number among them.
const LONGEST: &str = "2100";

/// Searches over there.
pub(super) async fn run(files: &FramedFiles, search: &Search) -> Result<SearchFound, FilesError> {
    let deadline = Instant::now() + search.time;
    let work = Work {
        files,
        search,
        deadline,
        wanted: search.wanted()?,
    };
    work.run().await
}

struct Work<'s> {
    files: &'s FramedFiles,
    search: &'s Search,
    deadline: Instant,
    wanted: Option<Override>,
}

/// What is asked over there, and what is decided here.
struct Asked {
    words: Vec<String>,
    /// The names that are looked for, when names are.
    names: Option<NamePattern>,
    /// What may be wrong with the pattern.
    doubt: Option<&'static str>,
}

impl Asked {
    fn of(search: &Search) -> Result<Self, FilesError> {
        let (pattern, root) = (search.pattern.as_str(), text(&search.root)?);
        let glob = simple_glob(search.file_glob.as_deref().unwrap_or_default());
        let order = match search.what {
            SearchFor::Names => {
                return Ok(Self {
                    words: vec!["names".to_owned(), root.to_owned(), narrowed(pattern)],
                    names: Some(NamePattern::new(pattern)?),
                    doubt: None,
                });
            }
            SearchFor::Files => "files",
            SearchFor::Lines | SearchFor::Counts => "counts",
        };
        let (_, doubt) = matcher(pattern)?;
        Ok(Self {
            words: [order, root, pattern, glob].map(str::to_owned).to_vec(),
            names: None,
            doubt,
        })
    }
}

/// What came of one request.
struct Said {
    by: SearchedBy,
    bytes: Vec<u8>,
    /// It broke off.
    incomplete: bool,
}

impl Work<'_> {
    async fn run(&self) -> Result<SearchFound, FilesError> {
        let search = self.search;
        let Asked {
            words,
            names,
            doubt,
        } = Asked::of(search)?;
        let said = self.ask(&words).await?;
        let mut found = SearchFound {
            incomplete: said.incomplete,
            doubt,
            by: said.by,
            ..SearchFound::default()
        };
        // The last line of an answer that broke off may be half of one.
        let end = match said.incomplete {
            true => memchr::memrchr(b'\n', &said.bytes).unwrap_or(0),
            false => said.bytes.len(),
        };
        for line in said
            .bytes
            .get(..end)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n')
        {
            let Some(file) = self.file(line) else {
                continue;
            };
            let named = names
                .as_ref()
                .is_none_or(|names| names.matches(&file.path, &search.root));
            if !named || !self.is_wanted(&file.path) {
                continue;
            }
            if (search.may_see)(&file.path) {
                found.total += file.count;
                found.files.push(file);
            } else {
                found.omitted += 1;
            }
        }
        sort(&mut found.files);
        if search.what == SearchFor::Lines && !found.files.is_empty() {
            let (lines, incomplete) = self.page(&found.files).await?;
            found.lines = lines;
            found.incomplete |= incomplete;
        }
        Ok(found)
    }

    /// A file of the answer: with its time where the order needs it, else with its number of matches.
    fn file(&self, line: &[u8]) -> Option<FoundFile> {
        if self.search.in_time_order() {
            let middle = memchr::memchr(b'/', line)?;
            let (time, name) = line.split_at(middle);
            let time = String::from_utf8_lossy(time);
            let (seconds, rest) = time.split_once(' ')?;
            return Some(FoundFile {
                path: self.absolute(name.get(1..)?),
                count: 1,
                modified: Some((seconds.parse().ok()?, parse::nanoseconds(rest))),
            });
        }
        let middle = memchr::memrchr(b':', line)?;
        let (name, count) = line.split_at(middle);
        let count = std::str::from_utf8(count.get(1..)?).ok()?.parse().ok()?;
        Some(FoundFile {
            path: self.absolute(name),
            count,
            modified: None,
        })
    }

    /// A name of the answer as a path. The root itself may be a file.
    fn absolute(&self, name: &[u8]) -> PathBuf {
        let name = parse::path(name.strip_prefix(b"./").unwrap_or(name));
        let root = &self.search.root;
        let is_root = root.file_name() == Some(name.as_os_str());
        let base = match root.parent() {
            Some(parent) if is_root && name.components().count() == 1 => parent,
            _ => root.as_path(),
        };
        base.join(name)
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_none_or(|wanted| !wanted.matched(path, false).is_ignore())
    }

    /// The lines of one page, and whether they broke off.
    async fn page(&self, files: &[FoundFile]) -> Result<(Vec<FoundLine>, bool), FilesError> {
        let search = self.search;
        let context = search.context.to_string();
        let mut words: Vec<String> = ["lines", "/", &search.pattern, &context, LONGEST]
            .map(str::to_owned)
            .to_vec();
        let (mut skip, mut room) = (search.offset, search.limit);
        let mut shares = Vec::new();
        for file in files {
            if skip >= file.count {
                skip -= file.count;
                continue;
            }
            if room == 0 {
                break;
            }
            let taken = (file.count - skip).min(room);
            words.extend([text(&file.path)?.to_owned(), (skip + taken).to_string()]);
            shares.push((file, skip));
            room -= taken;
            skip = 0;
        }
        let said = self.ask(&words).await?;
        let mut lines = Vec::new();
        let parts = said.bytes.split(|byte| *byte == 1).skip(1);
        for (part, (file, skip)) in parts.zip(shares) {
            let part = part.strip_prefix(b"\n").unwrap_or(part);
            lines.extend(
                matches(part, &file.path, search.context)
                    .into_iter()
                    .skip(skip),
            );
        }
        Ok((lines, said.incomplete))
    }

    async fn ask(&self, words: &[String]) -> Result<Said, FilesError> {
        let root = &self.search.root;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut asked, _) = self.files.start(SEARCH, &words, Input::None).await?;
        let mut bytes = Vec::new();
        let reading = async {
            let line = first_line(&mut asked).await?;
            let mut answer = (&mut asked.answer).take(MOST);
            while answer.read_buf(&mut bytes).await? > 0 {}
            Ok::<_, std::io::Error>(line)
        };
        let cancelled = self.search.cancel.cancelled();
        let line = tokio::select! {
            biased;
            () = cancelled => {
                asked.end().await;
                return Err(FilesError::Stopped);
            }
            line = timeout_at(self.deadline, reading) => line,
        };
        let (line, mut incomplete) = match line {
            Ok(line) => (Some(line.map_err(|source| broken(root, source))?), false),
            Err(_) => (None, true),
        };
        if incomplete || bytes.len() as u64 >= MOST {
            incomplete = true;
            asked.end().await;
        }
        let by = match line.as_deref() {
            Some("ok perl") => SearchedBy::PerlGrep,
            Some("ok plain") => SearchedBy::PlainGrep,
            // One that did not get that far has nothing to explain.
            Some("ok rg") | None => SearchedBy::Ripgrep,
            Some(_) => return Err(FilesError::Denied(root.clone())),
        };
        Ok(Said {
            by,
            bytes,
            incomplete,
        })
    }
}

/// The matches of one file: `12:text` for a line that matches, `12-text` for one around it.
fn matches(part: &[u8], path: &Path, context: usize) -> Vec<FoundLine> {
    let mut lines: Vec<FoundLine> = Vec::new();
    let mut before = Vec::new();
    let mut last = None;
    for line in part.split(|byte| *byte == b'\n') {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = line.split_at(digits);
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse::<u64>().ok());
        let (Some(number), Some((kind, content))) = (number, rest.split_first()) else {
            // Between two groups of lines.
            before.clear();
            last = None;
            continue;
        };
        match kind {
            b':' => {
                lines.push(FoundLine {
                    path: path.to_owned(),
                    line: number,
                    content: shown(content),
                    before: std::mem::take(&mut before),
                    after: Vec::new(),
                });
                last = Some(lines.len() - 1);
            }
            _ => match last.and_then(|last| lines.get_mut(last)) {
                Some(found) if found.after.len() < context => found.after.push(shown(content)),
                _ => before.push(shown(content)),
            },
        }
    }
    lines
}

/// A glob that `find -name` understands as we do; nothing for others, which are then applied to what comes.
fn simple_glob(glob: &str) -> &str {
    let special = ['/', '{', '}', '!', '\\', '[', ']'];
    if glob.contains(special) || glob.contains("**") {
        ""
    } else {
        glob
    }
}

/// What the names that a pattern wants have in common, for `find -name`.
fn narrowed(pattern: &str) -> String {
    if pattern.contains(['*', '?']) {
        return simple_glob(pattern).to_owned();
    }
    match simple_glob(pattern) {
        "" => String::new(),
        word => format!("*{word}*"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_a_match_belong_to_it() {
        let part = b"1-a\n2:b:c\n3-d\n--\n8:e\n9:f\n10-g\n11-h\n12:i\n";
        let found = matches(part, Path::new("x"), 1);
        let told: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.line,
                    one.content.as_str(),
                    one.before.len(),
                    one.after.len(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (2, "b:c", 1, 1),
                (8, "e", 0, 0),
                (9, "f", 0, 1),
                (12, "i", 1, 0)
            ]
        );
    }

    #[test]
    fn only_globs_that_mean_the_same_there_are_sent() {
        assert_eq!(narrowed("*.rs"), "*.rs");
        assert_eq!(narrowed("main"), "*main*");
        assert_eq!(narrowed("src/main"), "");
        assert_eq!(narrowed("*.{a,b}"), "");
        assert_eq!(simple_glob("!*.rs"), "");
    }

    // EX-46
    #[test]
    fn without_rg_grep_searches_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (programs, tree) = (folder.path().join("bin"), folder.path().join("tree"));
        std::fs::create_dir_all(tree.join(".hidden")).unwrap();
        std::fs::create_dir(&programs).unwrap();
        for name in [
            "grep", "find", "stat", "tr", "xargs", "cut", "cat", "head", "wc", "printf",
        ] {
            let found = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
            let found = found.into_iter().find(|path| path.exists()).unwrap();
            std::os::unix::fs::symlink(found, programs.join(name)).unwrap();
        }
        std::fs::write(tree.join("a: 1.txt"), "one 11\ntwo\nthree 33\n").unwrap();
        std::fs::write(tree.join("b.txt"), "none").unwrap();
        std::fs::write(tree.join(".hidden/c"), "44").unwrap();
        let said = |words: &[&str]| {
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", SEARCH, "files"])
                .args(words)
                .env_clear()
                .env("PATH", &programs)
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let root = tree.to_str().unwrap();
        assert_eq!(
            said(&["counts", root, "\\d+", ""]),
            "ok perl\n./a: 1.txt:2\n"
        );
        assert_eq!(said(&["counts", root, "\\d+", "b*"]), "ok perl\n");
        let file = tree.join("a: 1.txt");
        let lines = said(&["lines", "/", "\\d+", "0", "8", file.to_str().unwrap(), "1"]);
        assert_eq!(lines, "ok perl\n\u{1}\n1:one 11\n");
        assert!(said(&["files", root, "\\d+", ""]).ends_with("/./a: 1.txt\n"));
        assert_eq!(said(&["names", root, "*.txt"]).lines().count(), 3);
    }
}
