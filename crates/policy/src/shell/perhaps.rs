//! Programs nobody told us about: what stands behind them may be what they start.
//!
//! There are more launchers than any table holds, and an option missing from the table hides a program as
//! well. So every end of the arguments of such a program is looked at as if it were a command, and so is
//! every text among them. What is found is kept apart from what surely runs: rules weigh it differently.

use std::rc::Rc;

use super::field::Field;
use super::invocation::{Argv, Input, Invocation, Sign, Signal, program_name};
use super::resolve::{Given, Resolved, Resolver};
use super::unwrap::{joined, wrapped};

/// The most words of one program that are tried as the beginning of a command.
const MAX_WORDS: usize = 1_024;

/// The most texts of one program that are read.
const MAX_TEXTS: usize = 64;

/// Programs that start nothing and take any words, and those of a shell that no other program can start.
pub(super) const TAKE_WORDS: [&str; 92] = [
    ":",
    "true",
    "false",
    "echo",
    "printf",
    "cat",
    "tac",
    "nl",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "paste",
    "tr",
    "column",
    "fold",
    "tee",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "ls",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "mkdir",
    "touch",
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "truncate",
    "chmod",
    "chown",
    "chgrp",
    "test",
    "[",
    "[[",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "whereis",
    "type",
    "hash",
    "help",
    "apropos",
    "whatis",
    "info",
    "tldr",
    "diff",
    "cmp",
    "comm",
    "jq",
    "yq",
    "gh",
    "kill",
    "pkill",
    "killall",
    "pgrep",
    "pidof",
    "ps",
    "last",
    "getent",
    "systemctl",
    "loginctl",
    "shutdown",
    "logger",
    "notify-send",
    "wall",
    "mail",
    "curl",
    "wget",
    "http",
    "read",
    "unset",
    "printenv",
    "history",
    "exit",
    "return",
    "shift",
    "hermes",
    "complete",
    "bind",
];

/// What only a shell itself understands, and a word that stands in every other sentence.
const NOT_STARTED: [&str; 16] = [
    "cd", "pushd", ".", "source", "eval", "trap", "alias", "export", "declare", "typeset", "local",
    "readonly", "set", "command", "builtin", "at",
];

/// Options whose value is a command to most programs that have them.
const COMMANDS: [&str; 14] = [
    "--command",
    "--cmd",
    "--exec",
    "--execute",
    "--run",
    "--eval",
    "--call",
    "--wrap",
    "--shell",
    "--shell-command",
    "--script",
    "--pager",
    "--editor",
    "--rsh",
];

/// What may run.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// Words behind a program, and what it is told to run.
    pub(crate) likely: Found,
    /// Commands in texts it is given for whatever purpose.
    pub(crate) mentioned: Found,
    /// Commands in files that were written.
    pub(crate) written: Found,
}

/// Programs, and ways of running them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) invocations: Vec<Invocation>,
    pub(crate) signals: Vec<Signal>,
}

impl Found {
    fn add(&mut self, invocations: Vec<Invocation>, signals: Vec<Signal>) {
        self.invocations.extend(invocations);
        // That a word is no program and a text no shell script is to be expected here.
        let telling = signals.into_iter().filter(|signal| match signal.sign {
            Sign::Unreadable | Sign::TooComplex | Sign::UnknownProgram => false,
            Sign::UnknownText
            | Sign::ForkBomb
            | Sign::ShellText
            | Sign::CodeText
            | Sign::HereText
            | Sign::FetchedText
            | Sign::DecodedText
            | Sign::PipedText
            | Sign::InjectedCode
            | Sign::LiftedRails => true,
        });
        self.signals.extend(telling);
    }

    fn take(&mut self, other: Self) {
        self.add(other.invocations, other.signals);
    }
}

impl Resolver<'_> {
    /// Looks through the arguments and the input of a program as if it started them.
    pub(super) fn perhaps(&mut self, argv: &[Field], given: &Given) {
        let name = program_name(argv.first());
        let idle = argv.len() < 2 && given.input.known().is_none();
        if idle || self.suspecting || TAKE_WORDS.contains(&name.as_str()) {
            return;
        }
        let found = self.apart(|this| {
            this.ends(argv, given);
            this.commands(argv, given);
        });
        let suspects = &mut self.resolved.suspects;
        suspects.likely.add(found.invocations, found.signals);
        suspects.likely.take(found.suspects.likely);
        suspects.mentioned.take(found.suspects.mentioned);
        suspects.written.take(found.suspects.written);

        self.mentioned(|this| this.mentions(argv, given));
    }

    /// Keeps what some work finds as what is only spoken of.
    pub(super) fn mentioned(&mut self, work: impl FnOnce(&mut Self)) {
        let found = self.apart(work);
        let suspects = &mut self.resolved.suspects;
        suspects.mentioned.add(found.invocations, found.signals);
        suspects.mentioned.take(found.suspects.likely);
        suspects.mentioned.take(found.suspects.mentioned);
        suspects.written.take(found.suspects.written);
    }

    /// Keeps what some work finds as what stands in a file.
    pub(super) fn in_a_file(&mut self, work: impl FnOnce(&mut Self)) {
        let found = self.apart(work);
        let written = &mut self.resolved.suspects.written;
        written.add(found.invocations, found.signals);
        written.take(found.suspects.likely);
        written.take(found.suspects.mentioned);
        written.take(found.suspects.written);
    }

    /// What some work finds, without leaving anything behind.
    fn apart(&mut self, work: impl FnOnce(&mut Self)) -> Resolved {
        let own = std::mem::take(&mut self.resolved);
        let state = self.state();
        let left = self.left.take();
        work(self);
        self.left = left;
        self.put(state);
        std::mem::replace(&mut self.resolved, own)
    }

    /// Every end of the arguments that may be a program with its own.
    fn ends(&mut self, argv: &[Field], given: &Given) {
        if argv.len() > MAX_WORDS {
            self.exhausted = true;
            return;
        }
        let all = Argv::new(argv.to_vec());
        let inner = Given {
            streams: Rc::default(),
            ..wrapped(given)
        };
        self.suspecting = true;
        for (at, field) in argv.iter().enumerate().skip(1) {
            if may_start(field) {
                self.start(all.from(at), inner.clone());
            }
        }
        self.suspecting = false;
    }

    /// The values of options that usually are commands: a text, or a program whose arguments follow.
    fn commands(&mut self, argv: &[Field], given: &Given) {
        let pairs = argv.iter().zip(argv.iter().skip(1));
        let behind = pairs.filter(|(option, _)| takes_command(&option.text));
        let behind = behind.map(|(_, value)| (value.text.as_str(), value));
        let attached = argv.iter().skip(1).filter_map(|field| {
            let (option, value) = field.text.split_once('=')?;
            COMMANDS.contains(&option).then_some((value, field))
        });
        let values: Vec<(&str, &Field)> = behind.chain(attached).collect();
        self.exhausted |= values.len() > MAX_TEXTS;
        for (text, field) in values {
            if text.contains(char::is_whitespace) {
                self.read_as_command(text, field, given);
            } else if field.text.len() > text.len() {
                let rest = argv.iter().skip_while(|other| !std::ptr::eq(*other, field));
                let program = Field::literal(text, field.span);
                let inner = std::iter::once(program).chain(rest.skip(1).cloned());
                self.suspecting = true;
                self.run(inner.collect(), wrapped(given));
                self.suspecting = false;
            }
        }
    }

    /// Texts among the arguments, alone and with what follows, and the input.
    fn mentions(&mut self, argv: &[Field], given: &Given) {
        let texts = argv.iter().enumerate().skip(1);
        let texts = texts.filter(|(_, field)| field.text.contains(char::is_whitespace));
        let texts: Vec<(usize, &Field)> = texts.collect();
        self.exhausted |= texts.len() > MAX_TEXTS;
        for (at, field) in texts.into_iter().take(MAX_TEXTS) {
            self.read_as_command(&field.text, field, given);
            for (behind, _) in field.text.match_indices('=').take(2) {
                let text = field.text.get(behind + 1..).unwrap_or_default();
                self.read_as_command(text, field, given);
            }
            if at + 1 < argv.len() {
                self.text(&joined(argv, at), field.span, Input::Nothing);
            }
        }
        if let Some(text) = given.input.known().map(str::to_owned) {
            let field = Field::literal(text.as_str(), given.span);
            self.read_as_command(&text, &field, given);
        }
    }

    /// A text, for a shell or in another language.
    pub(super) fn read_as_command(&mut self, text: &str, field: &Field, given: &Given) {
        // Consoles mark what is for a shell.
        let command = text.trim_start_matches([' ', '!', ':', '@']);
        self.text(command, field.span, Input::Nothing);
        self.code(text, field.span, given);
    }
}

/// Whether a word can be the name of a program.
fn may_start(field: &Field) -> bool {
    let text = field.text.as_str();
    let in_directory = |part: &str| matches!(part, "bin" | "sbin");
    let named = !text.contains('/') || text.split('/').any(in_directory);
    let plain = !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace);
    plain && named && field.is_known() && !NOT_STARTED.contains(&text)
}

/// Whether what follows is a command to most programs: `-c`, `-lc`, `-e`, `-x` and words that say so.
fn takes_command(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|rest| {
        !rest.is_empty() && rest.len() < 4 && rest.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    letters.is_some_and(|letters| letters.ends_with(['c', 'e', 'x'])) || COMMANDS.contains(&option)
}
