//! The latest records of a log.

use std::io;

use super::Log;
use super::backwards::{Backwards, End};
use super::filter::Filter;
use super::record::{Grouping, Record};

/// More lines without a form in a row than this are no continuation of anything.
const MOST_CONTINUATION: usize = 1024 * 1024;

/// The latest records that pass, oldest first, and where the current file ended.
pub(super) struct Tail {
    pub(super) records: Vec<Record>,
    /// `None` when there is no file.
    pub(super) end: Option<End>,
}

pub(super) fn tail(log: &Log, filter: &Filter, count: usize) -> io::Result<Tail> {
    let mut lines = Backwards::new(log.files());
    let mut found = Latest {
        filter,
        count,
        records: Vec::new(),
        is_done: false,
    };
    // Lines that belong to a record whose first line is still to come, last one first.
    let mut further: Vec<Record> = Vec::new();
    let mut held = 0;
    while let Some(line) = lines.next_line()? {
        let mut record = Record::of_line(&line);
        if record.header.is_some() {
            for line in further.drain(..).rev() {
                record.push_line(&line.text);
            }
            held = 0;
            found.take(record);
        } else if log.grouping == Grouping::Lines {
            found.take(record);
        } else {
            held += line.len() + 1;
            further.push(record);
        }
        if held > MOST_CONTINUATION {
            further.drain(..).for_each(|line| found.take(line));
            held = 0;
        }
        if found.is_done || found.records.len() >= count {
            further.clear();
            break;
        }
    }
    further.into_iter().for_each(|line| found.take(line));
    let mut records = found.records;
    records.reverse();
    Ok(Tail {
        records,
        end: lines.end(),
    })
}

struct Latest<'a> {
    filter: &'a Filter,
    count: usize,
    /// Newest first.
    records: Vec<Record>,
    is_done: bool,
}

impl Latest<'_> {
    fn take(&mut self, record: Record) {
        self.is_done |= self.filter.is_past(&record);
        if self.records.len() < self.count && self.filter.lets_through(&record) {
            self.records.push(record);
        }
    }
}
