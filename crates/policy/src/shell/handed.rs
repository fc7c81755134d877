//! Texts that programs get as files: what a substitution prints, and what the command itself wrote.
//!
//! What a program makes of a file only that program knows, and more of them run what stands in one than any
//! table holds. So every line of such a text is read as if it were a command, for what must never run. Where a
//! program is known to run a file it is told by an option, `scripts` hands the text to whoever reads its commands.

use std::collections::HashSet;

use super::carriers::option_values;
use super::field::{Field, HOLE};
use super::interpreters::FETCHERS;
use super::invocation::{Input, Place, Sign};
use super::perhaps::TAKE_WORDS;
use super::programs::is_copy;
use super::resolve::{Given, Resolver};
use super::scope::Scope;
use super::wrappers;
use crate::places;

/// Options that name a file with commands of the program itself.
const SCRIPTS: &[(&[&str], &[&str])] = &[
    (&["sed", "gsed"], &["-f", "--file"]),
    (&["gdb"], &["-x", "--command", "-ix", "--init-command"]),
    (&["lldb"], &["-s", "--source", "-S", "--source-before-file"]),
    (&["vim", "vi", "nvim", "gvim", "view"], &["-S", "-s", "-u"]),
    (&["sqlite3", "sqlite"], &["-init", "--init"]),
    (&["psql", "dc", "lftp"], &["-f", "--file"]),
    (&["ssh", "scp", "sftp", "sshfs", "autossh"], &["-F"]),
];

/// What a shell does itself, and programs that pass files on without looking into them.
const PASS_ON: [&str; 17] = [
    "", "cd", "pushd", "popd", "dirs", "export", "declare", "typeset", "local", "readonly", "set",
    "alias", "trap", "cp", "mv", "ln", "install",
];

/// The most marks on one line behind which a command is looked for.
const MAX_MARKS: usize = 4;

/// What was looked through already.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The files as they were then, and where the program ran that could read them.
    files: Option<(Scope, Place)>,
    texts: HashSet<(Place, String)>,
}

impl Resolver<'_> {
    /// Looks through the texts a program can read from files.
    pub(super) fn handed(&mut self, name: &str, argv: &[Field], given: &Given) {
        if self.suspecting || TAKE_WORDS.contains(&name) {
            return;
        }
        for field in argv {
            if let Some(text) = field.channel().and_then(|all| all.text.clone()) {
                self.mentioned(|this| this.lines(&text, field, given));
            }
        }
        if !PASS_ON.contains(&name) && wrappers::inner(name, argv).is_none() {
            self.files_so_far(given);
        }
    }

    /// Every file that was written until now: it need not be named to be read.
    fn files_so_far(&mut self, given: &Given) {
        let place = self.place;
        let before = self.seen.files.as_ref();
        if self.disk.len() == 0
            || before.is_some_and(|(files, at)| *at == place && files.is_same(&self.disk))
        {
            return;
        }
        if !self.spend(self.disk.len()) {
            return;
        }
        self.seen.files = Some((self.disk.clone(), place));
        for path in self.disk.all().into_iter().filter(|path| !is_copy(path)) {
            let texts: Vec<String> = self.disk.every(&path).flatten().cloned().collect();
            for text in texts {
                if text.chars().all(|c| c == HOLE) || !self.spend(text.len() / 64) {
                    continue;
                }
                if self.seen.texts.insert((place, text.clone())) {
                    let field = Field::literal(text.as_str(), given.span);
                    self.in_a_file(|this| this.lines(&text, &field, given));
                }
            }
        }
    }

    /// Reads a text in a language nobody told us about, whole and line by line. That it is too odd to be read as
    /// commands is to be expected.
    fn lines(&mut self, text: &str, field: &Field, given: &Given) {
        self.leniently(|this| this.read_as_command(text, field, given));
        let joined = text.replace("\\\n", " ");
        let several = joined.trim_end().contains('\n');
        for line in joined.lines().map(str::trim) {
            if several && !line.is_empty() {
                self.leniently(|this| this.read_as_command(line, field, given));
            }
            // Many consoles run what stands behind this mark.
            for (at, mark) in line.match_indices('!').take(MAX_MARKS) {
                let command = line.get(at + mark.len()..).unwrap_or_default();
                self.leniently(|this| {
                    this.text(command, field.span, Input::Nothing);
                });
            }
        }
    }

    /// The commands a program is told to read from files.
    pub(super) fn scripts(&mut self, name: &str, argv: &[Field]) -> Vec<Field> {
        let mut texts = Vec::new();
        for (_, options) in SCRIPTS.iter().filter(|(names, _)| names.contains(&name)) {
            for file in option_values(argv, options) {
                let text = self.text_of_file(&file, None);
                texts.extend(text.map(|text| Field::literal(text, file.span)));
            }
        }
        texts
    }

    /// The text of a file whose commands are run, if this command says it. Its name counts from a directory.
    pub(super) fn text_of_file(&mut self, file: &Field, from: Option<&str>) -> Option<String> {
        if let Some(carried) = file.channel() {
            if file.comes_from(&FETCHERS) {
                self.sign(Sign::FetchedText, file.span);
            }
            return carried.text.clone();
        }
        let path = places::absolute(&file.text, from.unwrap_or(&self.cwd));
        self.text_in(&path)
    }

    /// What a program with commands of its own reads: files it is told by options, and its input.
    pub(super) fn told_in_text(&mut self, name: &str, argv: &[Field], given: &Given) -> Vec<Field> {
        let mut texts = self.scripts(name, argv);
        let input = self.input_text(given);
        texts.extend(input.map(|text| Field::literal(text, given.span)));
        texts
    }
}
