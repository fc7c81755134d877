//! What the reader makes of a script: the parts a judgement needs, nothing else.

use std::rc::Rc;

use serde::Serialize;

/// A stretch of the command, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// Where it starts.
    pub start: usize,
    /// Where it ends, exclusive.
    pub end: usize,
}

/// A text that was read, with the here-documents that belong to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parsed {
    pub(crate) script: Rc<Script>,
    pub(crate) bodies: Rc<Vec<Word>>,
}

/// Pipelines in the order they stand. Each may run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    pub(crate) pipelines: Vec<Pipeline>,
}

/// Stages joined by `|`.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    pub(crate) background: bool,
    pub(crate) joint: Joint,
}

impl Pipeline {
    /// One stage that always runs.
    pub(crate) fn of(stage: Stage) -> Self {
        Self {
            stages: vec![stage],
            background: false,
            joint: Joint::Then,
        }
    }
}

/// How a pipeline depends on what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// Not at all.
    Then,
    /// It runs when that went well.
    And,
    /// It runs when that failed.
    Or,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) body: Body,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

/// What a stage does.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// A program with arguments, or assignments alone.
    Simple {
        assignments: Vec<Assignment>,
        words: Vec<Word>,
    },
    /// Braces.
    Group(Script),
    /// Parentheses: directory and variables do not leave.
    Subshell(Script),
    /// `if` and `case`: at most one of them runs, and always one of them if they are complete.
    Branches {
        branches: Vec<Branch>,
        complete: bool,
    },
    /// `while`, `until` and the `for` that counts.
    While { condition: Script, body: Script },
    /// `for` and `select`.
    Loop {
        variable: String,
        values: Vec<Word>,
        body: Script,
    },
    /// A definition; nothing runs yet.
    Function { name: String, body: Rc<Script> },
}

/// What may run, and what runs before to find out.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) guard: Script,
    pub(crate) body: Script,
    /// Whether it may also run behind the one before it.
    pub(crate) follows: bool,
}

/// `name=value`, `name+=value`, `name[index]=value` or `name=(…)`.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<Vec<Part>>,
    pub(crate) append: bool,
    pub(crate) array: bool,
    pub(crate) values: Vec<Word>,
}

/// A redirection.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) flow: Flow,
    pub(crate) target: Target,
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// From a file.
    In,
    /// To a file, or both ways.
    Out,
    /// To the end of a file.
    Append,
    /// From a text in the script.
    Here,
}

/// What a redirection names.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A file, a descriptor or the text of a here-string.
    Word(Word),
    /// The here-document with this number.
    Body(usize),
}

/// A word before expansion.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text {
        text: String,
        quoted: bool,
    },
    Variable {
        parameter: Parameter,
        quoted: bool,
    },
    /// `$(…)` and backticks.
    Output {
        parsed: Parsed,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Channel(Parsed),
    /// Arithmetic, with what runs inside it.
    Number(Vec<Part>),
}

/// `$name` or `${name…}`.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// `${!name}`.
    pub(crate) indirect: bool,
    /// `${name[index]}`.
    pub(crate) index: Option<Vec<Part>>,
    pub(crate) operation: Option<Operation>,
}

/// What is done to a value before it is used.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) operator: &'static str,
    pub(crate) operand: Vec<Part>,
}
