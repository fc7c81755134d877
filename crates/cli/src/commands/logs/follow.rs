//! What is logged from now on.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::backwards::{End, FileId};
use super::filter::Filter;
use super::record::{Form, Grouping, Record};
use super::{Log, unreadable};
use crate::complaint::Outcome;
use crate::output::Output;

/// How often the file is looked at, in milliseconds.
const INTERVAL: u8 = 200;
const BLOCK: usize = 64 * 1024;
/// A line longer than this is shown in pieces.
const LONGEST_LINE: usize = 1024 * 1024;

/// Prints new records until the reader goes away. Ctrl+C ends the program as usual.
pub(super) fn follow(
    log: &Log,
    end: Option<End>,
    filter: &Filter,
    form: Form<'_>,
    output: &mut Output,
) -> Outcome {
    let mut follower = Follower {
        log,
        opened: None,
        partial: Vec::new(),
    };
    follower.resume(end).map_err(unreadable(&log.path))?;
    loop {
        let mut lines = Vec::new();
        loop {
            let more = follower.read(&mut lines).map_err(unreadable(&log.path))?;
            for record in group(log.grouping, lines.drain(..)) {
                if filter.lets_through(&record) {
                    form.print(&record, output)?;
                }
            }
            if !more {
                break;
            }
        }
        output.flush()?;
        if reader_is_gone() {
            return Ok(());
        }
    }
}

/// Waits for the next look at the file, and ends the wait early when nobody reads our output any more.
fn reader_is_gone() -> bool {
    let stdout = io::stdout();
    // Asking for nothing still reports a closed pipe or terminal.
    let mut waiting = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    match poll(&mut waiting, PollTimeout::from(INTERVAL)) {
        Ok(_) | Err(Errno::EINTR) => waiting[0]
            .revents()
            .is_some_and(|seen| seen.intersects(PollFlags::POLLERR | PollFlags::POLLHUP)),
        Err(_) => true,
    }
}

/// Lines as records; what comes in one go belongs together, because records are written in one go.
fn group(grouping: Grouping, lines: impl Iterator<Item = Vec<u8>>) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in lines {
        let record = Record::of_line(&line);
        match records.last_mut() {
            Some(last)
                if grouping == Grouping::Records
                    && record.header.is_none()
                    && last.header.is_some() =>
            {
                last.push_line(&record.text);
            }
            _ => records.push(record),
        }
    }
    records
}

struct Follower<'a> {
    log: &'a Log,
    opened: Option<Opened>,
    /// A line without its end yet.
    partial: Vec<u8>,
}

struct Opened {
    file: File,
    id: FileId,
    position: u64,
}

impl Opened {
    fn at(file: File, position: u64) -> io::Result<Self> {
        let found = file.metadata()?;
        let mut opened = Self {
            file,
            id: (found.dev(), found.ino()),
            position,
        };
        opened.file.seek(SeekFrom::Start(position))?;
        Ok(opened)
    }
}

impl Follower<'_> {
    /// Goes on where the records shown so far ended, also when the file has another name by now.
    fn resume(&mut self, end: Option<End>) -> io::Result<()> {
        let Some(end) = end else { return Ok(()) };
        for path in self.log.files() {
            let Ok(file) = File::open(path) else { continue };
            let opened = Opened::at(file, end.position)?;
            if opened.id == end.file {
                self.opened = Some(opened);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads a block of what is new. Answers whether there may be more at once.
    fn read(&mut self, lines: &mut Vec<Vec<u8>>) -> io::Result<bool> {
        if self.opened.is_none() {
            let path = &self.log.path;
            match File::open(path) {
                Ok(file) => self.opened = Some(Opened::at(file, 0)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        // Looked at before reading: what is written before a rename is read before the next file.
        let next = self.next_file()?;
        let Some(opened) = &mut self.opened else {
            return Ok(false);
        };
        let mut block = vec![0_u8; BLOCK];
        let length = opened.file.read(&mut block)?;
        if length > 0 {
            opened.position += length as u64;
            block.truncate(length);
            self.split(&block, lines);
            return Ok(true);
        }
        match next {
            Some(next) => {
                if !self.partial.is_empty() {
                    lines.push(std::mem::take(&mut self.partial));
                }
                self.opened = Some(next);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The file to go on with once this one is read to its end; `None` while it is the current one.
    fn next_file(&self) -> io::Result<Option<Opened>> {
        let Some(opened) = &self.opened else {
            return Ok(None);
        };
        let current = match fs::metadata(&self.log.path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if (current.dev(), current.ino()) == opened.id {
            if current.len() >= opened.position {
                return Ok(None);
            }
            // Emptied in place.
            return Ok(Some(Opened::at(File::open(&self.log.path)?, 0)?));
        }
        // Moved away, perhaps more than once: the file after ours is the one with the number before it.
        // When ours is gone altogether, the current one is all there is.
        let mut newer = self.log.path.clone();
        for path in self.log.files() {
            match fs::metadata(&path) {
                Ok(found) if (found.dev(), found.ino()) == opened.id => {
                    return Ok(Some(Opened::at(File::open(newer)?, 0)?));
                }
                Ok(_) => newer = path,
                Err(_) => {}
            }
        }
        Ok(Some(Opened::at(File::open(&self.log.path)?, 0)?))
    }

    fn split(&mut self, block: &[u8], lines: &mut Vec<Vec<u8>>) {
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if self.partial.last() == Some(&b'\n') {
                self.partial.pop();
                lines.push(std::mem::take(&mut self.partial));
            } else if self.partial.len() > LONGEST_LINE {
                lines.push(std::mem::take(&mut self.partial));
            }
        }
    }
}
