//! The lines of files from the last one on, without reading more than is asked for.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const BLOCK: u64 = 64 * 1024;
/// A line longer than this comes in pieces.
const LONGEST_LINE: usize = 1024 * 1024;

/// Which file it is, whatever it is called now.
pub(super) type FileId = (u64, u64);

/// Where the newest file ended when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) file: FileId,
    pub(super) position: u64,
}

/// Walks from the end of the newest file to the beginning of the oldest.
pub(super) struct Backwards {
    /// Oldest first, so that the next one is popped.
    waiting: Vec<PathBuf>,
    opened: Option<Opened>,
    /// A file that was moved to another name while we read must not be read twice.
    seen: HashSet<FileId>,
    end: Option<End>,
}

struct Opened {
    file: File,
    /// Everything before this is still to be read.
    position: u64,
    /// What was read from `position` on and not handed out yet.
    held: Vec<u8>,
}

impl Backwards {
    /// `files` are newest first.
    pub(super) fn new(mut files: Vec<PathBuf>) -> Self {
        files.reverse();
        Self {
            waiting: files,
            opened: None,
            seen: HashSet::new(),
            end: None,
        }
    }

    /// Where the first file that could be opened ended; `None` when none could.
    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// The line before the one handed out last, without its line end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(opened) = &mut self.opened {
                if let Some(line) = opened.last_line()? {
                    return Ok(Some(line));
                }
                self.opened = None;
            }
            let Some(path) = self.waiting.pop() else {
                return Ok(None);
            };
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let found = file.metadata()?;
            let id = (found.dev(), found.ino());
            if !self.seen.insert(id) {
                continue;
            }
            self.end.get_or_insert(End {
                file: id,
                position: found.len(),
            });
            self.opened = Opened::new(file, found.len())?;
        }
    }
}

impl Opened {
    fn new(file: File, length: u64) -> io::Result<Option<Self>> {
        if length == 0 {
            return Ok(None);
        }
        let mut opened = Self {
            file,
            position: length,
            held: Vec::new(),
        };
        opened.read_block()?;
        // The end of the last line does not begin another one.
        if opened.held.last() == Some(&b'\n') {
            opened.held.pop();
        }
        Ok(Some(opened))
    }

    fn last_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(newline) = self.held.iter().rposition(|byte| *byte == b'\n') {
                let line = self.held.split_off(newline + 1);
                self.held.pop();
                return Ok(Some(line));
            }
            if self.position == 0 {
                // An empty rest is still a line when a line end stood behind it; that cannot be told
                // from being done, and an empty first line is nothing to show.
                let rest = std::mem::take(&mut self.held);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            if self.held.len() > LONGEST_LINE {
                return Ok(Some(std::mem::take(&mut self.held)));
            }
            self.read_block()?;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        let length = self.position.min(BLOCK);
        self.position -= length;
        self.file.seek(SeekFrom::Start(self.position))?;
        let mut block = Vec::with_capacity(length as usize + self.held.len());
        (&self.file).take(length).read_to_end(&mut block)?;
        block.append(&mut self.held);
        self.held = block;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(contents: &[&[u8]]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (number, content) in contents.iter().enumerate() {
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, content).unwrap();
            paths.push(path);
        }
        let mut backwards = Backwards::new(paths);
        let mut lines = Vec::new();
        while let Some(line) = backwards.next_line().unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        lines
    }

    #[test]
    fn lines_come_from_the_end() {
        assert_eq!(lines_of(&[b"c\n\nd\n", b"a\nb"]), ["d", "", "c", "b", "a"]);
        assert_eq!(lines_of(&[b"", b"only\n"]), ["only"]);
        assert!(lines_of(&[b""]).is_empty());
    }

    #[test]
    fn lines_across_blocks_stay_whole() {
        let long = "x".repeat(70_000);
        let text = format!("{long}1\n{long}2\nend\n");
        assert_eq!(
            lines_of(&[text.as_bytes()]),
            ["end".to_owned(), format!("{long}2"), format!("{long}1")]
        );
    }
}
