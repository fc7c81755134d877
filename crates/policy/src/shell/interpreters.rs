//! Shells and interpreters: where the text they run comes from.

use std::rc::Rc;

use super::carriers::option_values;
use super::code;
use super::field::{Carried, Field, HOLE};
use super::invocation::{Input, Sign};
use super::parameter::ARGUMENTS;
use super::resolve::{Given, Resolver};
use super::tree::Span;
use super::unwrap::{joined, wrapped};

impl Resolver<'_> {
    pub(super) fn shell(&mut self, argv: &[Field], given: &Given) -> Option<String> {
        let mut arguments = argv.iter().skip(1);
        let mut wants_text = false;
        let mut reads_input = false;
        let mut operand = None;
        while let Some(field) = arguments.next() {
            let text = field.text.as_str();
            let flags = text.strip_prefix('-').or_else(|| text.strip_prefix('+'));
            match flags {
                Some("-command") => wants_text = true,
                Some("-rcfile" | "-init-file") => {
                    if let Some(file) = arguments.next() {
                        self.source(&[field.clone(), file.clone()], given);
                    }
                }
                Some(long) if long.starts_with('-') => {}
                Some("") => reads_input = true,
                Some(flags) => {
                    wants_text |= flags.contains('c');
                    reads_input |= flags.contains('s');
                    if flags.ends_with(['o', 'O']) {
                        arguments.next();
                    }
                }
                None => {
                    operand = Some(field);
                    break;
                }
            }
        }
        match operand {
            Some(text) if wants_text => {
                let rest: Vec<String> = arguments.map(|field| field.text.clone()).collect();
                return self.shell_text(text, rest, given);
            }
            Some(file) if !reads_input => self.shell_file(file, argv, given),
            _ => self.fed(given),
        }
        None
    }

    /// A script that a shell is given by its path.
    fn shell_file(&mut self, file: &Field, argv: &[Field], given: &Given) {
        let is_input = matches!(
            file.text.as_str(),
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
        );
        match &file.carried {
            Some(carried) if !file.is_known() => self.fed_by(carried, given),
            _ if is_input => self.fed(given),
            _ => {
                let words = words_from(file, argv);
                self.run_script(file, words.get(1..).unwrap_or_default(), given);
                self.perhaps(words, given);
            }
        }
    }

    fn shell_text(&mut self, text: &Field, rest: Vec<String>, given: &Given) -> Option<String> {
        self.sign(Sign::ShellText, given.span);
        self.carried_text(text);
        let mut rest = rest.into_iter();
        if let Some(name) = rest.next() {
            self.store("0", false, vec![name]);
        }
        self.scope.set(ARGUMENTS, rest.collect());
        let starts_itself = text.text.matches("$0").count() > 1 && text.text.contains(['&', '|']);
        if starts_itself {
            self.sign(Sign::ForkBomb, text.span);
        }
        self.text(&text.text, text.span, given.input.clone())
    }

    /// Text that comes out of a substitution and is run.
    fn carried_text(&mut self, text: &Field) {
        if text.is_known() {
            return;
        }
        let sign = match &text.carried {
            Some(carried) if text.comes_from(&SETTERS) && !text.comes_from(&FETCHERS) => {
                let all_setters = carried.programs.iter().all(|name| {
                    SETTERS.contains(&name.as_str())
                        || matches!(name.as_str(), "command" | "cat" | "which")
                });
                if all_setters {
                    return;
                } else {
                    Sign::UnknownText
                }
            }
            Some(carried) => kind_of(&carried.programs, Sign::UnknownText),
            None => Sign::UnknownText,
        };
        self.sign(sign, text.span);
    }

    pub(super) fn eval(&mut self, argv: &[Field], given: &Given) -> Option<String> {
        for field in argv.iter().skip(1) {
            self.carried_text(field);
        }
        let text = joined(argv, 1);
        // Nothing but the unknown was signed for above.
        if text.chars().all(|c| c == HOLE || c == ' ') {
            return None;
        }
        self.text(&text, given.span, given.input.clone())
    }

    pub(super) fn source(&mut self, argv: &[Field], given: &Given) {
        let Some(file) = argv.get(1) else {
            return;
        };
        match &file.carried {
            Some(carried) => {
                let setters = carried
                    .programs
                    .iter()
                    .all(|name| SETTERS.contains(&name.as_str()));
                let completion = !file.comes_from(&FETCHERS)
                    && !file.comes_from(&DECODERS)
                    && carried.text.is_none()
                    && file.comes_from(&["kubectl", "helm", "npm", "gh", "docker", "poetry"]);
                if !setters && !completion {
                    self.fed_by(carried, given);
                }
            }
            None if file.text == "/dev/stdin" => self.fed(given),
            None => self.run_script(file, argv.get(2..).unwrap_or_default(), given),
        }
    }

    /// A shell that runs what a substitution prints.
    fn fed_by(&mut self, carried: &Carried, given: &Given) {
        let input = Input::Piped {
            programs: carried.programs.clone().into(),
            text: carried.text.clone().map(Rc::from),
        };
        self.fed(&Given {
            input,
            ..given.clone()
        });
    }

    /// A shell or interpreter that runs its standard input.
    pub(super) fn fed(&mut self, given: &Given) {
        let sign = match &given.input {
            Input::Nothing => {
                if let Some(text) = self.text_from_stream(given) {
                    self.text(&text, given.span, Input::Nothing);
                }
                return;
            }
            Input::Here(_) => Sign::HereText,
            Input::Piped { programs, .. } => kind_of(programs, Sign::PipedText),
        };
        self.sign(sign, given.span);
        if let Some(text) = given.input.known().map(str::to_owned) {
            self.text(&text, given.span, Input::Nothing);
        }
    }

    pub(super) fn interpreter(&mut self, language: code::Language, argv: &[Field], given: &Given) {
        let found = language.text(argv);
        let (text, span) = match found {
            code::Source::Text(field) => {
                self.sign(Sign::CodeText, given.span);
                self.carried_text(field);
                (field.text.clone(), field.span)
            }
            code::Source::File(file) => {
                if let Some(carried) = file.carried.as_ref().filter(|_| !file.is_known()) {
                    let sign = kind_of(&carried.programs, Sign::PipedText);
                    self.sign(sign, given.span);
                }
                self.run_program_text(file);
                self.perhaps(words_from(file, argv), given);
                return;
            }
            code::Source::Input => {
                let sign = match &given.input {
                    Input::Nothing => {
                        if let Some(text) = self.text_from_stream(given) {
                            self.written_code(&text, given.span);
                        }
                        return;
                    }
                    Input::Here(_) => Sign::HereText,
                    Input::Piped { programs, .. } => kind_of(programs, Sign::PipedText),
                };
                self.sign(sign, given.span);
                let text = given.input.known().unwrap_or_default().to_owned();
                (text, given.span)
            }
            code::Source::None => return self.module(language, argv, given),
        };
        self.code(&text, span, given);
    }

    /// `python -m timeit 'text'`: a module whose arguments, or whose input, are program text.
    fn module(&mut self, language: code::Language, argv: &[Field], given: &Given) {
        let modules = option_values(argv, &["-m"]);
        let texts = match modules.first().map_or("", |module| module.text.as_str()) {
            "timeit" => argv.get(1..).unwrap_or_default().to_vec(),
            // Most commands of the debugger only move on.
            "pdb" => {
                let texts = option_values(argv, &["-c", "--command"]).into_iter();
                texts
                    .filter(|text| text.text.contains(['!', '(']))
                    .collect()
            }
            "asyncio" | "code" | "IPython" => {
                let alone = argv.get(..1).unwrap_or_default();
                return self.interpreter(language, alone, given);
            }
            _ => return,
        };
        for field in texts {
            self.sign(Sign::CodeText, given.span);
            self.code(&field.text, field.span, given);
        }
    }

    /// Looks through the text of a program in another language.
    pub(super) fn code(&mut self, text: &str, span: Span, given: &Given) {
        if !self.spend(text.len()) {
            return;
        }
        let found = code::look(text);
        if found.forks {
            self.sign(Sign::ForkBomb, span);
        }
        for command in found.commands {
            self.text(&command, span, Input::Nothing);
        }
        for path in found.deletes {
            let words = ["rm", "-r", "-f", path.as_str()];
            let argv = words.map(|word| Field::literal(word, span)).to_vec();
            self.run(
                argv,
                Given {
                    span,
                    ..wrapped(given)
                },
            );
        }
    }
}

/// A script in a file and what stands behind it, which it may start as any program may.
fn words_from<'f>(file: &Field, argv: &'f [Field]) -> &'f [Field] {
    let at = argv.iter().position(|field| std::ptr::eq(field, file));
    at.and_then(|at| argv.get(at..)).unwrap_or_default()
}

/// Programs that bring text from elsewhere.
pub(crate) const FETCHERS: [&str; 14] = [
    "curl", "wget", "fetch", "aria2c", "lynx", "http", "https", "xh", "nc", "ncat", "netcat",
    "ftp", "sftp", "socat",
];

/// Programs that make one text out of another.
const DECODERS: [&str; 14] = [
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "tr", "rev", "gunzip", "zcat",
    "gzip", "gpg", "od", "xz",
];

/// Programs whose output is made to be run.
const SETTERS: [&str; 20] = [
    "ssh-agent",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "goenv",
    "jenv",
    "fnm",
    "brew",
    "starship",
    "zoxide",
    "opam",
    "dircolors",
    "conda",
    "mise",
    "asdf",
    "minikube",
    "luarocks",
    "keychain",
    "hermes",
];

/// By what brought it, how text came to a shell.
fn kind_of(programs: &[String], otherwise: Sign) -> Sign {
    let any = |names: &[&str]| programs.iter().any(|name| names.contains(&name.as_str()));
    if any(&FETCHERS) {
        Sign::FetchedText
    } else if any(&DECODERS) {
        Sign::DecodedText
    } else {
        otherwise
    }
}
