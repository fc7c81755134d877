//! Commands of the shell itself that change its variables, its arguments or where it goes on.

use super::field::{Field, HOLE};
use super::invocation::Input;
use super::parameter::ARGUMENTS;
use super::prints;
use super::read::is_name;
use super::resolve::{Given, Resolver};
use super::scope::Kind;
use super::tree::Span;

/// Whether what a command does to variables stays: it is run by the shell itself.
pub(super) fn change_the_shell(name: &str) -> bool {
    const OWN: [&str; 26] = [
        "",
        "cd",
        "pushd",
        "popd",
        "eval",
        "source",
        ".",
        "set",
        "shift",
        "read",
        "mapfile",
        "readarray",
        "printf",
        "unset",
        "trap",
        "alias",
        "unalias",
        "getopts",
        "let",
        "wait",
        "command",
        "builtin",
        "time",
        ":",
        "[[",
        "exec",
    ];
    OWN.contains(&name) || declares(name)
}

/// Whether a command gives variables their values and kinds.
pub(super) fn declares(name: &str) -> bool {
    matches!(
        name,
        "export" | "declare" | "typeset" | "local" | "readonly"
    )
}

/// The variable and the line of a `read` that is given its text in the command itself.
fn given_line<'a>(arguments: &'a [Field], input: &Input) -> Option<(&'a str, String)> {
    let (name, raw) = match arguments {
        [flag, name] if flag.text == "-r" => (name, true),
        [name] => (name, false),
        _ => return None,
    };
    let Input::Here(text) = input else {
        return None;
    };
    let line = text.lines().next().unwrap_or_default().trim();
    let whole = raw || !line.contains('\\');
    (whole && is_name(&name.text)).then(|| (name.text.as_str(), line.to_owned()))
}

impl Resolver<'_> {
    /// What a command of the shell does to it, besides what it runs.
    pub(super) fn builtin(&mut self, name: &str, argv: &[Field], given: &Given) {
        let arguments = argv.get(1..).unwrap_or_default();
        match name {
            "break" | "continue" | "return" | "exit" => self.leave(),
            "shift" => self.shift(arguments),
            "unset" => self.unset(arguments),
            "unalias" => {
                for field in arguments {
                    self.scope.set(&alias_of(&field.text), Vec::new());
                }
            }
            "read" => match given_line(arguments, &given.input) {
                Some((name, line)) => self.store(name, false, vec![line]),
                None => self.filled(arguments, "dnNptui", "REPLY"),
            },
            "mapfile" | "readarray" => self.filled(arguments, "dnOsucC", "MAPFILE"),
            "getopts" => {
                self.filled(arguments.get(1..2).unwrap_or_default(), "", "");
                self.forget_variable("OPTARG", given.span);
            }
            "wait" => {
                let variable = value_behind(arguments, "-p");
                self.filled(variable, "", "");
            }
            "printf" => self.print_into(arguments, given.span),
            "let" => {
                for field in arguments {
                    self.arithmetic(&field.text, field.span);
                }
            }
            "[[" => {
                const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
                let numbers = |field: &Field| NUMBERS.contains(&field.text.as_str());
                if arguments.iter().any(numbers) {
                    for field in arguments {
                        self.arithmetic(&field.text, field.span);
                    }
                }
                self.asked_for(arguments);
            }
            "test" | "[" => self.asked_for(arguments),
            _ => {}
        }
    }

    /// `-v name` asks whether an element is set, and works its index out.
    fn asked_for(&mut self, arguments: &[Field]) {
        for field in value_behind(arguments, "-v") {
            self.named(&field.text, field.span);
        }
    }

    fn shift(&mut self, arguments: &[Field]) {
        self.settle(ARGUMENTS);
        let by = arguments.first().map_or("1", |field| field.text.as_str());
        let left = match (self.scope.get(ARGUMENTS), by.parse::<usize>()) {
            (Some(all), Ok(by)) if !all.iter().any(|one| one.contains(HOLE)) => {
                all.get(by..).unwrap_or(all).to_vec()
            }
            _ => vec![HOLE.to_string()],
        };
        self.scope.set(ARGUMENTS, left);
    }

    fn unset(&mut self, arguments: &[Field]) {
        let functions = arguments.iter().any(|field| field.text == "-f");
        for field in arguments
            .iter()
            .filter(|field| !field.text.starts_with('-'))
        {
            self.named(&field.text, field.span);
            match field.text.split_once('[') {
                Some((name, _)) => self.store(name, false, vec![HOLE.to_string()]),
                None if functions => self.scope.set(&function_of(&field.text), Vec::new()),
                None => self.scope.set(&field.text, Vec::new()),
            }
        }
    }

    /// Variables that get what is read.
    fn filled(&mut self, arguments: &[Field], valued: &str, otherwise: &str) {
        let mut named = false;
        let mut fields = arguments.iter();
        while let Some(field) = fields.next() {
            match field.text.strip_prefix('-') {
                Some(letters) => {
                    let ends = letters.ends_with(|c: char| valued.contains(c));
                    if ends {
                        fields.next();
                    }
                }
                None => {
                    named = true;
                    self.forget_variable(&field.text, field.span);
                }
            }
        }
        if !named && !otherwise.is_empty() {
            self.scope.set(otherwise, vec![HOLE.to_string()]);
        }
    }

    /// From here on the value of a variable is only known when the command runs.
    fn forget_variable(&mut self, name: &str, span: Span) {
        self.named(name, span);
        let base = name.split('[').next().unwrap_or_default();
        self.store(base, false, vec![HOLE.to_string()]);
    }

    /// `printf -v name format …`.
    fn print_into(&mut self, arguments: &[Field], span: Span) {
        let Some(name) = value_behind(arguments, "-v").first() else {
            return;
        };
        let at = arguments.iter().position(|field| std::ptr::eq(field, name));
        let rest = at.and_then(|at| arguments.get(at + 1..));
        let text = prints::output("printf", rest.unwrap_or_default(), None);
        match text.filter(|_| is_name(&name.text)) {
            Some(text) => self.store(&name.text, false, vec![text]),
            None => self.forget_variable(&name.text, span),
        }
    }

    /// `set`: options, then arguments if there are any.
    pub(super) fn positional(&mut self, argv: &[Field]) {
        let mut rest = argv.get(1..).unwrap_or_default();
        let mut given = false;
        while let Some((first, behind)) = rest.split_first() {
            match first.text.as_str() {
                "--" | "-" => {
                    given = true;
                    rest = behind;
                    break;
                }
                "-o" | "+o" => {
                    let option = behind.first().map_or("", |field| field.text.as_str());
                    self.resolved.defines |= option == "allexport";
                    rest = behind.get(1..).unwrap_or_default();
                }
                text if text.starts_with(['-', '+']) => {
                    // From now on every variable is handed on.
                    self.resolved.defines |= text.contains('a');
                    rest = behind;
                }
                _ => break,
            }
        }
        if given || !rest.is_empty() {
            let all = rest.iter().map(|field| field.text.clone()).collect();
            self.scope.set(ARGUMENTS, all);
        }
    }

    pub(super) fn declare(&mut self, argv: &[Field]) {
        let name = argv.first().map_or("", |field| field.text.as_str());
        let arguments = argv.get(1..).unwrap_or_default();
        let options: String = arguments
            .iter()
            .filter_map(|field| field.text.strip_prefix('-'))
            .collect();
        let has = |letter: char| options.contains(letter) && name != "export";
        let exports = name == "export" || has('x');
        self.resolved.defines |= exports;
        let inside = !self.calling.is_empty() && name != "export" && name != "readonly";
        for field in arguments
            .iter()
            .filter(|field| !field.text.starts_with(['-', '+']))
        {
            let (target, value) = match field.text.split_once('=') {
                Some((target, value)) => (target, Some(value)),
                None => (field.text.as_str(), None),
            };
            let append = target.ends_with('+');
            let target = target.trim_end_matches('+');
            self.named(target, field.span);
            let base = target.split('[').next().unwrap_or_default();
            if inside && !has('g') {
                self.locals.push(base.to_owned());
            }
            if has('n') {
                self.scope.set_kind(base, Kind::Reference);
                self.named(value.unwrap_or_default(), field.span);
            }
            if has('i') {
                self.scope.set_kind(base, Kind::Integer);
            }
            match value {
                // A list in quotes is evaluated like one without.
                Some(list) if list.starts_with('(') && (has('a') || has('A')) => {
                    self.evaluated(list, field.span);
                    self.placed(list, field.span);
                    self.store(base, false, vec![HOLE.to_string()]);
                }
                Some(value) if base == target => {
                    self.environment(base, value, field.span, false);
                    self.store(base, append, vec![value.to_owned()]);
                }
                Some(_) => self.store(base, false, vec![HOLE.to_string()]),
                None if exports => self.exported(base, field.span),
                None => {}
            }
            if has('r') || name == "readonly" {
                self.scope.set_kind(base, Kind::Kept);
            }
        }
    }
}

/// The argument behind an option.
fn value_behind<'f>(arguments: &'f [Field], option: &str) -> &'f [Field] {
    let at = arguments.iter().position(|field| field.text == option);
    at.and_then(|at| arguments.get(at + 1..at + 2))
        .unwrap_or_default()
}

/// The name under which it is known what a function is; no variable can have it.
pub(super) fn function_of(name: &str) -> String {
    format!("{name}()")
}

/// The same for an alias.
pub(super) fn alias_of(name: &str) -> String {
    format!("alias {name}")
}
