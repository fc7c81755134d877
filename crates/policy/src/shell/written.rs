//! Files the command itself writes: what is in them runs when they do.

use super::carriers::option_values;
use super::code;
use super::field::{Field, HOLE};
use super::invocation::{Input, Sign, Stream};
use super::parameter::ARGUMENTS;
use super::resolve::{Given, Resolver};
use super::scope::Kind;
use super::tree::Span;
use crate::{places, wildcard};

/// A file that gets what is printed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: String,
    pub(super) append: bool,
}

impl Resolver<'_> {
    /// Remembers what files hold from now on.
    pub(super) fn write(&mut self, files: &[Written], text: Option<&str>) {
        for file in files {
            self.settle_on_disk(&file.path);
            if file.path.contains(HOLE) {
                // It may be any file, and another one next time.
                self.disk.set_kind(&file.path, Kind::Kept);
            }
            let unknown = HOLE.to_string();
            let text = text.unwrap_or(&unknown);
            let before = self.disk.get(&file.path).and_then(<[String]>::first);
            let before = before.filter(|_| file.append).cloned().unwrap_or_default();
            self.disk.set(&file.path, vec![before + text]);
        }
    }

    /// `tee`, `cp` and the like write what they are given or what another file holds.
    pub(super) fn copy_text(&mut self, name: &str, argv: &[Field], given: &Given) {
        let flag = |letters: &str| argv.iter().any(|field| field.text.starts_with(letters));
        match name {
            "tee" => {
                let append = flag("-a") || flag("-ia") || flag("--append");
                let files = self.operands(argv).into_iter();
                let files = files.map(|path| Written { path, append });
                let files: Vec<Written> = files.collect();
                self.write(&files, given.input.known());
            }
            "dd" => {
                let files = argv
                    .iter()
                    .filter_map(|field| field.text.strip_prefix("of="));
                let files = files.map(|path| Written {
                    path: places::absolute(path, &self.cwd),
                    append: false,
                });
                let files: Vec<Written> = files.collect();
                self.write(&files, given.input.known());
            }
            "sort" => {
                let files = option_values(argv, &["-o", "--output"]).into_iter();
                let files = files.map(|file| Written {
                    path: places::absolute(&file.text, &self.cwd),
                    append: false,
                });
                let files: Vec<Written> = files.collect();
                self.write(&files, None);
            }
            "sed" | "perl" if flag("-i") => {
                for path in self.operands(argv) {
                    if self.disk.count(&path) > 0 {
                        self.disk.set(&path, vec![HOLE.to_string()]);
                    }
                }
            }
            "cp" | "mv" | "ln" | "install" => self.copy_files(argv),
            _ => {}
        }
    }

    fn operands(&self, argv: &[Field]) -> Vec<String> {
        let arguments = argv.iter().skip(1);
        let operands = arguments.filter(|field| !field.text.starts_with('-'));
        operands
            .map(|field| places::absolute(&field.text, &self.cwd))
            .collect()
    }

    fn copy_files(&mut self, argv: &[Field]) {
        let operands = argv.iter().skip(1);
        let operands = operands.filter(|field| !field.text.starts_with('-'));
        let operands: Vec<&Field> = operands.collect();
        let folders = option_values(argv, &["-t", "--target-directory"]);
        let (from, to) = match (folders.first(), operands.as_slice()) {
            (Some(folder), all) => (all, folder),
            (None, [from @ .., to]) => (from, *to),
            (None, []) => return,
        };
        let to = places::absolute(&to.text, &self.cwd);
        for from in from {
            let text = match from.channel() {
                Some(carried) => Some(carried.text.clone().unwrap_or(HOLE.to_string())),
                None => self.text_in(&places::absolute(&from.text, &self.cwd)),
            };
            let Some(text) = text else {
                continue;
            };
            let base = from.text.rsplit('/').next().unwrap_or_default();
            self.disk.set(&format!("{to}/{base}"), vec![text.clone()]);
            self.disk.set(&to, vec![text]);
        }
    }

    /// The text of a file, if the command itself wrote it.
    pub(super) fn text_in(&mut self, path: &str) -> Option<String> {
        self.settle_on_disk(path);
        self.disk.get(path)?.first().cloned()
    }

    /// What `cat` prints of such files.
    pub(super) fn text_of_files(&mut self, name: &str, arguments: &[Field]) -> Option<String> {
        if name != "cat" || arguments.is_empty() || self.disk.len() == 0 {
            return None;
        }
        let paths = arguments
            .iter()
            .filter(|field| !field.text.starts_with('-'));
        let paths: Vec<String> = paths
            .map(|field| places::absolute(&field.text, &self.cwd))
            .collect();
        let texts: Option<Vec<String>> = paths.iter().map(|path| self.text_in(path)).collect();
        texts
            .filter(|texts| !texts.is_empty())
            .map(|texts| texts.concat())
    }

    /// Walks a script that a shell is given by its path.
    pub(super) fn run_script(&mut self, file: &Field, arguments: &[Field], given: &Given) {
        let path = places::absolute(&file.text, &self.cwd);
        let Some(text) = self.text_in(&path) else {
            return self.any_written(&path, file.span);
        };
        if text.chars().all(|c| c == HOLE) && !text.is_empty() {
            return self.sign(Sign::UnknownText, file.span);
        }
        self.once(&path, &text, |this| {
            if !arguments.is_empty() {
                let all = arguments.iter().map(|field| field.text.clone()).collect();
                this.scope.set(ARGUMENTS, all);
            }
            this.text(&text, file.span, given.input.clone());
        });
    }

    /// A script whose path is not known may be one of those that were written.
    fn any_written(&mut self, path: &str, span: Span) {
        if self.disk.len() == 0 || !path.contains(['*', '?', '[', HOLE]) {
            return;
        }
        let pattern = path.replace(HOLE, "*");
        for name in self.disk.all() {
            if !wildcard::matches(&pattern, &name) {
                continue;
            }
            let texts: Vec<String> = self.disk.every(&name).flatten().cloned().collect();
            for text in &texts {
                self.once(&name, text, |this| {
                    this.mentioned(|this| {
                        this.text(text, span, Input::Nothing);
                    });
                });
            }
        }
    }

    /// Looks through a program in another language that is given by its path.
    pub(super) fn run_program_text(&mut self, file: &Field) {
        if let Some(text) = self.text_of_file(file, None) {
            self.once(&file.text, &text, |this| {
                this.written_code(&text, file.span);
            });
        }
    }

    /// Walks a file that is started itself.
    pub(super) fn run_written(&mut self, argv: &[Field], given: &Given) {
        let Some((program, arguments)) = argv.split_first() else {
            return;
        };
        if self.disk.len() == 0 {
            return;
        }
        let path = match program.text.contains('/') {
            true => places::absolute(&program.text, &self.cwd),
            false => match self.on_path(&program.text) {
                Some(path) => path,
                None => return,
            },
        };
        let Some(text) = self.text_in(&path) else {
            return;
        };
        let first = text.lines().next().unwrap_or_default();
        let interpreter = first.strip_prefix("#!").unwrap_or_default();
        let mut words = interpreter.split_whitespace();
        let name = words.find(|word| !word.ends_with("/env") && !word.starts_with('-'));
        let name = name.and_then(|name| name.rsplit('/').next());
        let file = Field {
            text: path,
            ..program.clone()
        };
        match name.and_then(code::language) {
            Some(_) => self.run_program_text(&file),
            None => self.run_script(&file, arguments, given),
        }
    }

    /// A file that was written where programs are looked for.
    fn on_path(&self, name: &str) -> Option<String> {
        let home = &self.around.home;
        let places = [
            "/usr/local/bin".to_owned(),
            "/usr/local/sbin".to_owned(),
            "/usr/bin".to_owned(),
            "/bin".to_owned(),
            "/usr/sbin".to_owned(),
            "/sbin".to_owned(),
            format!("{home}/bin"),
            format!("{home}/.local/bin"),
            format!("{home}/.cargo/bin"),
        ];
        let mut paths = places.iter().map(|place| format!("{place}/{name}"));
        paths.find(|path| self.disk.count(path) > 0)
    }

    /// What standard input is when it comes from a file the command wrote.
    pub(super) fn text_from_stream(&mut self, given: &Given) -> Option<String> {
        let from = given.streams.iter().rev().find_map(|stream| match stream {
            Stream::In(field) => Some(places::absolute(&field.text, &self.cwd)),
            Stream::Out(_) => None,
        });
        self.text_in(&from?)
    }

    /// Does some work on the text of a file, unless that is being done already.
    pub(super) fn once(&mut self, path: &str, text: &str, work: impl FnOnce(&mut Self)) {
        let calling = format!("file {path}\n{text}");
        if self.calling.contains(&calling) {
            return;
        }
        self.calling.push(calling);
        work(self);
        self.calling.pop();
    }

    /// Calls of a program that was written and is run. A text in it may be there to be read, as in any program.
    pub(super) fn written_code(&mut self, text: &str, span: Span) {
        if !self.spend(text.len()) {
            return;
        }
        let found = code::look(text);
        let deletes = found.deletes.iter();
        let deletes = deletes.map(|path| format!("rm -rf '{}'", path.replace('\'', r"'\''")));
        let commands: Vec<String> = found.commands.into_iter().chain(deletes).collect();
        self.mentioned(|this| {
            for command in &commands {
                this.text(command, span, Input::Nothing);
            }
        });
    }
}
