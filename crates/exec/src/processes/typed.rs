//! What was typed into a process. It is kept with the process, because whoever judges what comes next has to
//! know it, whichever tool, turn or conversation typed it.

use super::ProcessError;

/// Bytes that are kept, the last ones, from the beginning of a line.
const LONGEST: usize = 64 << 10;

/// What was typed into a process up to now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypedSoFar {
    /// The last lines of it; the last one may be unfinished.
    pub text: String,
    /// Whether the line that is being typed is longer than what is kept, so that its beginning is missing.
    pub beginning_lost: bool,
    /// Changes with everything that is typed.
    pub(super) version: u64,
}

/// Keeps it.
#[derive(Default)]
pub(super) struct Record {
    kept: Vec<u8>,
    beginning_lost: bool,
    version: u64,
    /// What is being handed over. It counts as typed until it is known how much of it was.
    under_way: Option<Vec<u8>>,
}

impl Record {
    pub(super) fn so_far(&self) -> TypedSoFar {
        let under_way = self.under_way.as_deref().unwrap_or_default();
        let all = [&self.kept, under_way].concat();
        TypedSoFar {
            text: String::from_utf8_lossy(&all).into_owned(),
            beginning_lost: self.beginning_lost,
            version: self.version,
        }
    }

    /// Takes down what is about to be typed, by somebody who knew what was typed `after` which it comes.
    pub(super) fn begin(&mut self, bytes: &[u8], after: Option<u64>) -> Result<(), ProcessError> {
        if after.is_some_and(|version| version != self.version) {
            return Err(ProcessError::TypedMeanwhile);
        }
        if self.under_way.is_some() {
            return Err(ProcessError::NoInput("it does not read it"));
        }
        self.under_way = Some(bytes.to_vec());
        self.version += 1;
        Ok(())
    }

    /// What was under way is typed, but for its last `left` bytes.
    pub(super) fn finish(&mut self, left: usize) {
        let Some(mut typed) = self.under_way.take() else {
            return;
        };
        typed.truncate(typed.len().saturating_sub(left));
        if left > 0 {
            self.version += 1;
        }
        self.kept.append(&mut typed);
        self.shorten();
    }

    fn shorten(&mut self) {
        let line_end = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'\n');
        if self.beginning_lost
            && let Some(end) = line_end(&self.kept)
        {
            self.kept.drain(..=end);
            self.beginning_lost = false;
        }
        let Some(over) = self
            .kept
            .len()
            .checked_sub(LONGEST)
            .filter(|over| *over > 0)
        else {
            return;
        };
        // From the beginning of a line, or half a command would be judged.
        match self.kept.get(over - 1..).and_then(line_end) {
            Some(end) => drop(self.kept.drain(..over + end)),
            None => {
                self.kept.drain(..over);
                self.beginning_lost = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(record: &mut Record, text: &str) {
        record.begin(text.as_bytes(), None).unwrap();
        record.finish(0);
    }

    // EX-52, EX-58
    #[test]
    fn the_last_lines_are_kept_and_an_unfinished_one_is_never_forgotten() {
        let mut record = Record::default();
        typed(&mut record, "one\n");
        typed(&mut record, "two");
        assert_eq!(record.so_far().text, "one\ntwo");
        for line in 0..20_000 {
            typed(&mut record, &format!("line {line}\n"));
        }
        let kept = record.so_far();
        assert!(kept.text.len() <= LONGEST && kept.text.starts_with("line "));
        assert!(kept.text.ends_with("\nline 19999\n") && !kept.beginning_lost);
        for _ in 0..2 * LONGEST / 8 {
            typed(&mut record, "        ");
        }
        let kept = record.so_far();
        assert!(kept.beginning_lost && kept.text.len() == LONGEST);
        typed(&mut record, "/");
        assert!(record.so_far().beginning_lost);
        typed(&mut record, "\nnext");
        let kept = record.so_far();
        assert_eq!((kept.text.as_str(), kept.beginning_lost), ("next", false));
        // A line of just this length is whole.
        typed(&mut record, "\n");
        typed(&mut record, &"x".repeat(LONGEST));
        assert!(!record.so_far().beginning_lost);
        assert_eq!(record.so_far().text.len(), LONGEST);
    }

    // EX-52, EX-58
    #[test]
    fn what_is_under_way_counts_and_what_was_not_taken_does_not() {
        let mut record = Record::default();
        typed(&mut record, "echo ");
        let before = record.so_far();
        record.begin(b"# no", Some(before.version)).unwrap();
        assert_eq!(record.so_far().text, "echo # no");
        assert!(matches!(
            record.begin(b"x", None),
            Err(ProcessError::NoInput(_))
        ));
        let during = record.so_far();
        record.finish(3);
        assert_eq!(record.so_far().text, "echo #");
        for seen in [before.version, during.version] {
            assert!(matches!(
                record.begin(b"x", Some(seen)),
                Err(ProcessError::TypedMeanwhile)
            ));
        }
        let now = record.so_far().version;
        record.begin(b"x", Some(now)).unwrap();
    }
}
