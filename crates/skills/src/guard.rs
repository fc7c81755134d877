//! Looking for dangers in a skill before it is trusted.
//!
//! | module | holds |
//! |---|---|
//! | `rule` | what a rule is: id, category, severity, pattern, examples |
//! | `rules` | all rules as data, one file for each category, compiled once |
//! | `text` | a file as lines that cannot hide what they say |
//! | `invisible` | characters nobody sees |
//! | `structure` | what is wrong with a skill whatever its files say |
//! | `python` | a closer look at Python, on request |
//! | `scan` | all of these over all files |
//! | `report` | findings with their places, and the verdict |
//! | `policy` | who is trusted how far: one function over trust and verdict |
//! | `waiver` | findings a person has accepted |
//!
//! Every file that is text is read, whatever it is called. A command in a code fence of a Markdown file is
//! an example to a reader and weighs a step less than the same command in a script.

mod invisible;
mod policy;
mod python;
mod report;
mod rule;
mod rules;
mod scan;
mod structure;
mod text;
mod waiver;

pub use policy::{Decision, Trust, decide};
pub use report::{Finding, Report, Verdict};
pub use rule::{Category, Severity};
pub use scan::{Content, Depth, Entry, LARGEST_READ, SCANNER, ScanError, scan, scan_directory};
pub use structure::{LARGEST_FILE, LARGEST_TOTAL, MOST_FILES};
pub use waiver::Waiver;
