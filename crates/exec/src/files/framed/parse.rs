//! What requests are answered with.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::files::{FileEntry, FileKind, FileStamp, FileStat, FilesError, Line, Located};

/// What is told of a file: `request.sh` says in which order.
pub(super) fn stat(line: &str) -> Option<FileStat> {
    let mut words = line.splitn(6, ' ');
    let mode = u32::from_str_radix(words.next()?, 16).ok()?;
    let size = words.next()?.parse().ok()?;
    let modified_at = words.next()?.parse().ok()?;
    let links = words.next()?.parse().ok()?;
    let inode = words.next()?.parse().ok()?;
    Some(FileStat {
        kind: match mode & 0o170_000 {
            0o100_000 => FileKind::File,
            0o040_000 => FileKind::Directory,
            0o120_000 => FileKind::Link,
            _ => FileKind::Other,
        },
        mode: mode & 0o7777,
        links,
        stamp: FileStamp {
            size,
            modified_at,
            nanoseconds: nanoseconds(words.next().unwrap_or_default()),
            inode,
        },
    })
}

/// The fraction of a second in a time, in whatever form it is written.
pub(super) fn nanoseconds(time: &str) -> u32 {
    const DIGITS: usize = 9;
    let fraction = time.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction
        .chars()
        .take_while(char::is_ascii_digit)
        .chain(std::iter::repeat('0'))
        .take(DIGITS);
    digits.collect::<String>().parse().unwrap_or(0)
}

/// The entries of a directory.
pub(super) fn list(bytes: &[u8]) -> Vec<FileEntry> {
    let mut entries = Vec::new();
    for entry in bytes.split(|byte| *byte == 1).skip(1) {
        let entry = entry.strip_suffix(b"\n").unwrap_or(entry);
        let Some(middle) = memchr::memchr(2, entry) else {
            continue;
        };
        let (facts, name) = entry.split_at(middle);
        let name = name.get(1..).unwrap_or_default();
        if let Some(stat) = stat(&String::from_utf8_lossy(facts)) {
            entries.push(FileEntry {
                name: path(name.strip_prefix(b"./").unwrap_or(name)),
                stat,
            });
        }
    }
    entries
}

/// Lines with their lengths, and how many there are.
pub(super) fn lines(bytes: &[u8]) -> Option<(Vec<Line>, usize)> {
    let mut lines = Vec::new();
    let mut rest = bytes;
    loop {
        let end = memchr::memchr(b'\n', rest)?;
        let (record, after) = rest.split_at(end);
        rest = after.get(1..)?;
        let middle = memchr::memchr(b' ', record)?;
        let (number, content) = record.split_at(middle);
        let content = content.get(1..)?;
        if number == b"=" {
            return Some((lines, std::str::from_utf8(content).ok()?.parse().ok()?));
        }
        lines.push(Line {
            bytes: content.to_vec(),
            length: std::str::from_utf8(number).ok()?.parse().ok()?,
        });
    }
}

/// Where a path leads.
pub(super) fn located(asked: &Path, bytes: &[u8]) -> Result<Located, FilesError> {
    let mut real = None;
    let mut found = Located {
        real: PathBuf::new(),
        hops: Vec::new(),
        stat: None,
        home: None,
    };
    for record in bytes.split(|byte| *byte == 0) {
        match record.split_first() {
            Some((b'h', hop)) => found.hops.push(path(hop)),
            Some((b'r', at)) => real = Some(path(at)),
            Some((b'H', home)) => found.home = Some(path(home)),
            Some((b's', facts)) => found.stat = stat(&String::from_utf8_lossy(facts)),
            Some((b'c', _)) => return Err(FilesError::Circle(asked.to_owned())),
            Some((b'm', _)) => return Err(FilesError::Missing(asked.to_owned())),
            Some((b'd', _)) => return Err(FilesError::Denied(asked.to_owned())),
            _ => {}
        }
    }
    found.real = real.ok_or_else(|| super::odd(asked))?;
    Ok(found)
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_in_both_forms() {
        let gnu = stat("81a4 12 1700000000 1 99 2023-11-14 22:13:20.012345678 +0000").unwrap();
        assert_eq!(gnu.kind, FileKind::File);
        assert_eq!((gnu.mode, gnu.links), (0o644, 1));
        assert_eq!(gnu.stamp.nanoseconds, 12_345_678);
        let other = stat("81a4 12 1700000000 1 99 1700000000.012345678").unwrap();
        assert_eq!(other, gnu);
        assert_eq!(
            stat("81a4 12 1700000000 1 99").unwrap().stamp.nanoseconds,
            0
        );
        assert_eq!(stat("81a4 x"), None);
    }

    #[test]
    fn an_answer_that_breaks_off_is_none() {
        assert_eq!(lines(b"3 abc\n"), None);
        let (read, total) = lines(b"3 abc\n0 \n9 a b\n= 7\n").unwrap();
        assert_eq!(total, 7);
        assert_eq!(read[2].bytes, b"a b");
        assert_eq!((read[1].length, read[2].length), (0, 9));
    }
}
