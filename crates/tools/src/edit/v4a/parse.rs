//! Reading a patch.

use super::{Body, Hunk, Operation};

/// Most files of one patch.
const MOST_OPERATIONS: usize = 500;

/// A patch that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {cause}")]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) cause: Cause,
}

/// Why it cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Cause {
    #[error("there is no file header before it; begin with *** Update File: path")]
    NoHeader,
    #[error("unknown header; use Update File, Add File, Delete File, Move File or Move to")]
    UnknownHeader,
    #[error("the header names no file")]
    NoPath,
    #[error("a path must not contain `..`")]
    Upwards,
    #[error("a path that ends with a slash names a directory; name a file")]
    Directory,
    #[error("a move is written as `*** Move File: old -> new`")]
    NoArrow,
    #[error("`*** Move to:` stands right after `*** Update File:`")]
    StrayMove,
    #[error("lines of a new file begin with `+`")]
    NotAdded,
    #[error("a deleted or moved file has no lines")]
    StrayLine,
    #[error("the file is updated but nothing in it is changed")]
    NoChange,
    #[error("the patch changes nothing")]
    Empty,
    #[error("more than {MOST_OPERATIONS} files")]
    TooMany,
}

/// Reads a patch.
pub(crate) fn parse(patch: &str) -> Result<Vec<Operation>, Fault> {
    let mut reader = Reader::default();
    for (index, line) in patch.lines().enumerate() {
        reader.line = index + 1;
        reader.take(line.strip_suffix('\r').unwrap_or(line))?;
        if reader.ended {
            break;
        }
    }
    reader.close()?;
    if reader.done.is_empty() {
        return Err(reader.fault(Cause::Empty));
    }
    Ok(reader.done)
}

#[derive(Default)]
struct Reader {
    line: usize,
    open: Option<Operation>,
    done: Vec<Operation>,
    ended: bool,
}

enum Header<'l> {
    Begin,
    End,
    EndOfFile,
    Update(&'l str),
    Add(&'l str),
    Delete(&'l str),
    Move(&'l str),
    MoveTo(&'l str),
    Unknown,
}

impl Reader {
    fn fault(&self, cause: Cause) -> Fault {
        Fault {
            line: self.line,
            cause,
        }
    }

    fn take(&mut self, line: &str) -> Result<(), Fault> {
        match header(line) {
            Some(header) => self.header(header),
            None => self.content(line),
        }
    }

    fn header(&mut self, header: Header<'_>) -> Result<(), Fault> {
        let next = match header {
            Header::Begin => return Ok(()),
            Header::End => {
                self.ended = true;
                return Ok(());
            }
            Header::EndOfFile => {
                return match self.hunk() {
                    Some(hunk) => {
                        hunk.at_end = true;
                        Ok(())
                    }
                    None => Err(self.fault(Cause::StrayLine)),
                };
            }
            Header::MoveTo(path) => {
                let path = self.path(path)?;
                return match &mut self.open {
                    Some(Operation::Update { move_to, hunks, .. }) if hunks.is_empty() => {
                        *move_to = Some(path);
                        Ok(())
                    }
                    _ => Err(self.fault(Cause::StrayMove)),
                };
            }
            Header::Unknown => return Err(self.fault(Cause::UnknownHeader)),
            Header::Update(path) => Operation::Update {
                path: self.path(path)?,
                move_to: None,
                hunks: Vec::new(),
            },
            Header::Add(path) => Operation::Add {
                path: self.path(path)?,
                content: String::new(),
            },
            Header::Delete(path) => Operation::Delete {
                path: self.path(path)?,
            },
            Header::Move(paths) => {
                let (from, to) = paths
                    .split_once("->")
                    .ok_or_else(|| self.fault(Cause::NoArrow))?;
                Operation::Move {
                    path: self.path(from)?,
                    to: self.path(to)?,
                }
            }
        };
        self.close()?;
        if self.done.len() >= MOST_OPERATIONS {
            return Err(self.fault(Cause::TooMany));
        }
        self.open = Some(next);
        Ok(())
    }

    fn path(&self, text: &str) -> Result<String, Fault> {
        let path = text.trim().trim_matches(['`', '"']);
        if path.is_empty() {
            return Err(self.fault(Cause::NoPath));
        }
        if path.split(['/', '\\']).any(|part| part == "..") {
            return Err(self.fault(Cause::Upwards));
        }
        if path.ends_with('/') {
            return Err(self.fault(Cause::Directory));
        }
        Ok(path.to_owned())
    }

    /// The hunk that takes the next line; the first one needs no header.
    fn hunk(&mut self) -> Option<&mut Hunk> {
        let Some(Operation::Update { hunks, .. }) = &mut self.open else {
            return None;
        };
        if hunks.last().is_none_or(|hunk| hunk.at_end) {
            hunks.push(Hunk {
                line: self.line,
                ..Hunk::default()
            });
        }
        hunks.last_mut()
    }

    fn content(&mut self, line: &str) -> Result<(), Fault> {
        let blank = line.trim().is_empty();
        match &mut self.open {
            None if blank => Ok(()),
            None => Err(self.fault(Cause::NoHeader)),
            Some(Operation::Delete { .. } | Operation::Move { .. }) if blank => Ok(()),
            Some(Operation::Delete { .. } | Operation::Move { .. }) => {
                Err(self.fault(Cause::StrayLine))
            }
            Some(Operation::Add { content, .. }) => match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                    Ok(())
                }
                None if blank => Ok(()),
                None => Err(self.fault(Cause::NotAdded)),
            },
            Some(Operation::Update { hunks, .. }) => {
                if let Some(rest) = line.strip_prefix("@@") {
                    place(hunks, self.line, rest);
                } else if !(blank && hunks.is_empty())
                    && let Some(body) = body(line)
                    && let Some(hunk) = self.hunk()
                {
                    hunk.body.push(body);
                }
                Ok(())
            }
        }
    }

    fn close(&mut self) -> Result<(), Fault> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if let Operation::Update { hunks, move_to, .. } = &mut open {
            // Hunks that only show what is there say nothing.
            hunks.retain(|hunk| hunk.body.iter().any(|line| !matches!(line, Body::Keep(_))));
            if hunks.is_empty() && move_to.is_none() {
                return Err(self.fault(Cause::NoChange));
            }
        }
        self.done.push(open);
        Ok(())
    }
}

/// Begins a hunk at `@@`, or adds a hint to one that has nothing yet.
fn place(hunks: &mut Vec<Hunk>, line: usize, rest: &str) {
    if hunks.last().is_none_or(|hunk| !hunk.body.is_empty()) {
        hunks.push(Hunk {
            line,
            ..Hunk::default()
        });
    }
    let Some(hunk) = hunks.last_mut() else { return };
    let rest = rest.trim();
    let (range, hint) = match rest.split_once("@@") {
        Some((range, hint)) => (range.trim(), hint.trim()),
        None => (rest, ""),
    };
    let numbered = range
        .strip_prefix('-')
        .filter(|range| range.contains('+'))
        .and_then(|range| range.split([',', ' ']).next())
        .and_then(|number| number.parse().ok());
    hunk.near = hunk.near.or(numbered);
    let hint = if numbered.is_some() { hint } else { range };
    if !hint.is_empty() {
        hunk.hints.push(hint.to_owned());
    }
}

fn body(line: &str) -> Option<Body> {
    let mut characters = line.chars();
    Some(match characters.next() {
        Some('+') => Body::Insert(characters.as_str().to_owned()),
        Some('-') => Body::Remove(characters.as_str().to_owned()),
        Some(' ') => Body::Keep(characters.as_str().to_owned()),
        // A remark such as "no newline at end of file".
        Some('\\') => return None,
        // An empty line that lost its blank, or text without any mark.
        _ => Body::Keep(line.to_owned()),
    })
}

fn header(line: &str) -> Option<Header<'_>> {
    let rest = line.strip_prefix("***")?.trim_start();
    let after = |name: &str| {
        let head = rest.get(..name.len())?;
        head.eq_ignore_ascii_case(name)
            .then(|| rest.get(name.len()..).unwrap_or_default())
    };
    Some(if after("Begin Patch").is_some() {
        Header::Begin
    } else if after("End Patch").is_some() {
        Header::End
    } else if after("End of File").is_some() {
        Header::EndOfFile
    } else if let Some(path) = after("Update File:") {
        Header::Update(path)
    } else if let Some(path) = after("Add File:") {
        Header::Add(path)
    } else if let Some(path) = after("Delete File:") {
        Header::Delete(path)
    } else if let Some(paths) = after("Move File:") {
        Header::Move(paths)
    } else if let Some(path) = after("Move to:") {
        Header::MoveTo(path)
    } else {
        Header::Unknown
    })
}
