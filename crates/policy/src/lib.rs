//! What may be run, read, written and fetched, and who decides.
//!
//! Everything here is a pure function over data: nothing is spawned, no file is written, nobody is asked.
//! Carrying a decision out is left to others: asking to the engine, confining to `exec`, fetching to `http`.
//! A command goes through three steps, each a module:
//!
//! 1. `shell` parses the text and resolves wrappers until what would really run lies open;
//! 2. `rules` names every category it falls into, from rules that are data;
//! 3. `approval` turns the judgement, the mode and what was allowed before into the next step: run it,
//!    ask, or refuse.
//!
//! Beside them, `typed` is about what goes into a program that runs, `paths` is about the file tools, `website` about addresses, `tirith` reads the answers of a
//! scanner, `smart` asks a model, `answer` reads what people write and `threats` finds planted instructions.

mod answer;
mod approval;
pub mod confine;
mod guards;
mod judge;
mod kept;
mod paths;
mod places;
mod rules;
mod shell;
mod smart;
pub mod threats;
pub mod tirith;
mod typed;
mod website;
mod wildcard;

pub use answer::{Said, read_answer};
pub use approval::{
    Approvals, Audience, Because, Review, Standing, Step, Unattended, decide, decide_leaving,
    denial, denied_by, to_remember, uncovered,
};
pub use confine::{Confinement, Mode, Network};
pub use judge::{
    Finding, Isolation, Judgement, Surroundings, Verdict, judge, judge_in, judge_program,
};
pub use kept::Leaving;
pub use paths::{CrossProfile, FileRules, Names, PathRefusal, may_read, may_write, secrets};
pub use places::DOTENV_NAMES;
pub use rules::{Described, Severity, catalogue};
pub use shell::{Definitions, Span, layers};
pub use smart::{Reviewed, read_review, review_question};
pub use typed::{Typed, judge_typed};
pub use website::{Blocked, Blocklist};
