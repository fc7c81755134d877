//! Programs with commands of their own, some of which run others: debuggers, editors, clients of databases.

use super::carriers::option_values;
use super::field::Field;
use super::invocation::{Input, Sign};
use super::resolve::{Given, Resolver};
use super::tree::Span;
use super::unwrap::wrapped;

impl Resolver<'_> {
    /// Looks through what a program with commands of its own is given; whether it is one.
    pub(super) fn console(&mut self, name: &str, argv: &[Field], given: &Given) -> bool {
        let input = self.told_in_text(name, argv, given);
        match name {
            "gdb" | "lldb" => {
                self.debugged(argv, given);
                for field in option_values(argv, &DEBUGGER).iter().chain(&input) {
                    for line in field.text.lines() {
                        self.debugger(line, argv, field.span, given);
                    }
                    // A text of several lines belongs to one command.
                    self.debugger(&field.text, argv, field.span, given);
                }
            }
            "ed" | "ex" | "vi" | "vim" | "nvim" | "view" | "gvim" | "rvim" | "ftp" | "sftp"
            | "lftp" | "telnet" | "dc" | "gnuplot" => {
                let plus = argv.iter().filter(|field| field.text.starts_with('+'));
                let plus: Vec<Field> = plus.cloned().collect();
                // An editor's `-e` takes no value.
                let options: &[&str] = match name {
                    "dc" | "gnuplot" | "lftp" => &["-c", "-e"],
                    _ => &["-c", "--cmd"],
                };
                for field in option_values(argv, options)
                    .iter()
                    .chain(&plus)
                    .chain(&input)
                {
                    self.escapes(&field.text, field.span, given);
                }
            }
            "sqlite3" | "sqlite" => {
                for field in argv.iter().skip(1).chain(&input) {
                    self.sqlite(&field.text, field.span);
                }
            }
            "psql" | "mysql" | "mariadb" => {
                for field in argv.iter().skip(1).chain(&input) {
                    self.database(&field.text, field.span);
                }
            }
            "m4" | "gm4" => {
                for field in argv.iter().skip(1).chain(&input) {
                    self.macros(&field.text, field.span);
                }
            }
            "emacs" | "emacs-nox" | "emacsclient" => self.emacs(argv, given),
            _ => return self.reader(name, argv),
        }
        true
    }

    /// A command of a debugger.
    fn debugger(&mut self, line: &str, argv: &[Field], span: Span, given: &Given) {
        let mut line = line.trim();
        loop {
            if let Some(text) = line.strip_prefix('!') {
                self.text(text, span, Input::Nothing);
                return;
            }
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match word {
                "run" | "r" | "start" | "starti" => {
                    let mut operands = argv.iter().skip(1);
                    let program = operands.find(|field| !field.text.starts_with('-'));
                    if let Some(program) = program.filter(|_| !rest.is_empty()) {
                        self.text(&format!("{} {rest}", program.text), span, Input::Nothing);
                    }
                }
                "python" | "py" | "python-interactive" | "pi" | "script" | "guile" => {
                    self.sign(Sign::CodeText, span);
                    self.code(rest, span, given);
                }
                "pipe" | "|" => {
                    let text = rest.rsplit('|').next().unwrap_or_default();
                    self.text(text, span, Input::Nothing);
                }
                // Both are understood shortened.
                _ if word.len() > 1 && "platform".starts_with(word) => {
                    line = rest.trim_start();
                    continue;
                }
                _ if word.len() > 1 && "shell".starts_with(word) => {
                    self.text(rest, span, Input::Nothing);
                }
                _ => {}
            }
            return;
        }
    }

    /// Lines in which what follows `!` is run.
    fn escapes(&mut self, text: &str, span: Span, given: &Given) {
        for line in text.lines() {
            for (at, mark) in line.match_indices('!') {
                let command = line.get(at + mark.len()..).unwrap_or_default().trim();
                if !command.is_empty() {
                    self.text(command, span, Input::Nothing);
                }
            }
        }
        self.code(text, span, given);
    }

    /// `vim '+!text'` and `less '+!text'`.
    pub(super) fn editor_commands(&mut self, argv: &[Field], given: &Given) {
        for field in argv.iter().skip(1) {
            let text = field.text.trim_start_matches(['-', '+', ':']);
            if let Some(text) = text.strip_prefix('!') {
                self.text(text, field.span, Input::Nothing);
            } else if let Some((_, text)) = text.split_once("system(") {
                self.code(&format!("system({text}"), field.span, given);
            }
        }
    }

    /// `.shell text`, `.system text` (also shortened) and `.once |text`.
    fn sqlite(&mut self, text: &str, span: Span) {
        for line in text.lines() {
            let Some(command) = line.trim_start().strip_prefix('.') else {
                continue;
            };
            let (word, rest) = command
                .split_once(char::is_whitespace)
                .unwrap_or((command, ""));
            if word.len() > 1
                && ["shell", "system"]
                    .iter()
                    .any(|name| name.starts_with(word))
            {
                self.text(rest, span, Input::Nothing);
            }
            let rest = rest.trim_start_matches([' ', '"', '\'']);
            if let Some(piped) = rest
                .strip_prefix('|')
                .filter(|_| word.starts_with(['o', 'i', 'r']))
            {
                self.text(piped.trim_end_matches(['"', '\'']), span, Input::Nothing);
            }
        }
    }

    /// `\! text`, `system text`, `\g |text` and `program 'text'`.
    fn database(&mut self, text: &str, span: Span) {
        for (at, _) in text.match_indices('\\') {
            let behind = text.get(at + 1..).unwrap_or_default();
            let behind = behind.lines().next().unwrap_or_default();
            if let Some(command) = behind.strip_prefix('!') {
                self.text(command, span, Input::Nothing);
                continue;
            }
            let word = behind.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let named = behind.len() > word.len();
            if let Some(command) = word.trim_start().strip_prefix('|').filter(|_| named) {
                self.text(command, span, Input::Nothing);
            }
        }
        let small = text.to_ascii_lowercase();
        for (at, mark) in small.match_indices("program '") {
            let behind = text.get(at + mark.len()..).unwrap_or_default();
            let command = behind.split('\'').next().unwrap_or_default();
            self.text(command, span, Input::Nothing);
        }
        for statement in text.split([';', '\n']) {
            let statement = statement.trim_start();
            let (word, rest) = statement.split_once(' ').unwrap_or((statement, ""));
            if matches!(word.to_ascii_lowercase().as_str(), "system" | "pager") {
                self.text(rest, span, Input::Nothing);
            }
        }
    }

    /// `syscmd(text)`. Macros can hide it, so that it is there at all is worth a question.
    fn macros(&mut self, text: &str, span: Span) {
        if !text.contains("syscmd") {
            return;
        }
        self.sign(Sign::CodeText, span);
        for (at, mark) in text.match_indices("syscmd(") {
            let behind = text.get(at + mark.len()..).unwrap_or_default();
            let line = behind.lines().next().unwrap_or_default();
            let inside = line.rsplit_once(')').map_or(line, |(inside, _)| inside);
            let command = inside.trim().trim_matches(['`', '\'', '"']);
            self.text(command, span, Input::Nothing);
        }
    }

    /// Lisp: texts in quotes may be a command or its words.
    fn emacs(&mut self, argv: &[Field], given: &Given) {
        for field in option_values(argv, &["--eval", "-eval", "--execute", "-execute"]) {
            self.sign(Sign::CodeText, field.span);
            self.code(&format!("system {}", field.text), field.span, given);
        }
        let has = |names: &[&str]| {
            argv.iter()
                .any(|field| names.contains(&field.text.as_str()))
        };
        if has(&["--batch", "-batch"]) && has(&["-f", "--funcall", "-funcall"]) {
            self.sign(Sign::CodeText, given.span);
        }
    }

    /// `gdb --args program arguments` and `lldb program -- arguments`, whatever options stand before.
    fn debugged(&mut self, argv: &[Field], given: &Given) {
        let parts = |field: &Field| matches!(field.text.as_str(), "--args" | "-args" | "--");
        let Some(at) = argv.iter().position(parts) else {
            return;
        };
        let (before, behind) = argv.split_at(at);
        let arguments = behind.get(1..).unwrap_or_default();
        self.run(arguments.to_vec(), wrapped(given));
        let program = before.iter().skip(1).next_back();
        if let Some(program) = program.filter(|field| !field.text.starts_with('-')) {
            let mut inner = vec![program.clone()];
            inner.extend_from_slice(arguments);
            self.run(inner, wrapped(given));
        }
    }
}

const DEBUGGER: [&str; 13] = [
    "-ex",
    "--ex",
    "-iex",
    "--iex",
    "-eval-command",
    "--eval-command",
    "-init-eval-command",
    "--init-eval-command",
    "-o",
    "-O",
    "-k",
    "--one-line",
    "--one-line-before-file",
];
