//! Looks through one-liners in other languages for calls that run or delete something.
//!
//! Not a parser of five languages: the names of the calls and the texts in quotes are enough to see what
//! is not hidden on purpose, and a one-liner is asked about anyway.

use std::sync::LazyLock;

use regex::Regex;

use super::field::Field;

/// Where an interpreter's program text is.
pub(super) enum Source<'f> {
    /// In an argument.
    Text(&'f Field),
    /// In a file.
    File(&'f Field),
    /// On standard input.
    Input,
    /// Nowhere: it only tells about itself, or runs a module.
    None,
}

/// A language, by how its interpreter takes text.
#[derive(Clone, Copy)]
pub(super) struct Language {
    /// Short options whose value is program text.
    letters: &'static str,
    /// Long ones.
    long: &'static [&'static str],
    /// Short options that mean a module or a question, not a text.
    other: &'static str,
    /// Short options whose value is something else.
    valued: &'static str,
    /// Long ones.
    valued_long: &'static [&'static str],
    /// A word whose next one is program text.
    verb: Option<&'static str>,
}

const NODE_VALUED: &[&str] = &[
    "require",
    "import",
    "loader",
    "experimental-loader",
    "conditions",
    "env-file",
    "input-type",
    "inspect-port",
    "icu-data-dir",
    "redirect-warnings",
    "diagnostic-dir",
    "disable-warning",
    "openssl-config",
    "title",
    "unhandled-rejections",
    "preload",
    "cwd",
    "config",
];

/// What a short option means for the text.
enum Meaning<'l> {
    /// Its value is the text; what is attached to it.
    Text(&'l str),
    /// Its value is something else; what is attached to it.
    Value(&'l str),
    /// There is no text.
    Other,
    /// Nothing.
    Plain,
}

/// The language an interpreter runs.
pub(super) fn language(name: &str) -> Option<Language> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    type Long = &'static [&'static str];
    let (letters, long, other): (_, Long, _) = match base {
        "python" | "pypy" | "ipython" => ("c", &[], "mVh"),
        "perl" => ("eE", &[], "vVh"),
        "ruby" | "jruby" => ("e", &[], "vh"),
        "node" | "nodejs" | "bun" => ("ep", &["eval", "print"], "vh"),
        "deno" if name == "deno" => ("", &[], "hV"),
        "php" => (
            "rBRE",
            &["run", "process-begin", "process-code", "process-end"],
            "vmihS",
        ),
        "lua" | "luajit" => ("e", &[], "v"),
        "rscript" | "r" => ("e", &[], ""),
        "osascript" => ("e", &[], ""),
        "tclsh" | "expect" => ("c", &[], ""),
        _ => return None,
    };
    let (valued, valued_long): (_, Long) = match base {
        "python" | "pypy" | "ipython" => ("WX", &["check-hash-based-pycs"]),
        "perl" => ("IMm", &[]),
        "ruby" | "jruby" => (
            "rICE",
            &["encoding", "external-encoding", "internal-encoding"],
        ),
        "node" | "nodejs" | "bun" => ("rC", NODE_VALUED),
        "php" => ("dczt", &["define", "php-ini", "zend-extension"]),
        "lua" | "luajit" => ("l", &[]),
        "rscript" | "r" => ("dg", &[]),
        "osascript" => ("ls", &[]),
        _ => ("", &[]),
    };
    Some(Language {
        letters,
        long,
        other,
        valued,
        valued_long,
        verb: (name == "deno").then_some("eval"),
    })
}

impl Language {
    /// Where the text is that this call runs.
    pub(super) fn text<'f>(&self, argv: &'f [Field]) -> Source<'f> {
        let mut arguments = argv.iter().skip(1).peekable();
        // A word with a dash is rather read as an option than passed over as the value of one.
        let is_value = |field: &&Field| !field.text.starts_with('-');
        while let Some(field) = arguments.next() {
            let text = field.text.as_str();
            if text == "-" {
                return Source::Input;
            }
            if let Some(long) = text.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or_default();
                if self.long.contains(&name) {
                    let value = if long.contains('=') {
                        Some(field)
                    } else {
                        arguments.next()
                    };
                    return value.map_or(Source::None, Source::Text);
                }
                if matches!(name, "version" | "help") {
                    return Source::None;
                }
                if self.valued_long.contains(&long) {
                    arguments.next_if(is_value);
                }
                continue;
            }
            if self.verb == Some(text) {
                let value = arguments.find(|field| !field.text.starts_with('-'));
                return value.map_or(Source::None, Source::Text);
            }
            let Some(letters) = text.strip_prefix('-') else {
                return Source::File(field);
            };
            match self.meaning(letters) {
                Meaning::Text("") => return arguments.next().map_or(Source::None, Source::Text),
                Meaning::Text(_) => return Source::Text(field),
                Meaning::Value("") => drop(arguments.next_if(is_value)),
                Meaning::Other => return Source::None,
                Meaning::Value(_) | Meaning::Plain => {}
            }
        }
        Source::Input
    }

    /// What short options written together mean: the first that takes a value takes all that follows.
    fn meaning<'l>(&self, letters: &'l str) -> Meaning<'l> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            if self.letters.contains(letter) {
                return Meaning::Text(rest.as_str());
            }
            if self.valued.contains(letter) {
                return Meaning::Value(rest.as_str());
            }
        }
        match letters.contains(|c| self.other.contains(c)) {
            true => Meaning::Other,
            false => Meaning::Plain,
        }
    }
}

/// What a text does.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Texts it may hand to a shell.
    pub(super) commands: Vec<String>,
    /// Paths it deletes.
    pub(super) deletes: Vec<String>,
    /// Whether it forks without end.
    pub(super) forks: bool,
}

/// The most quoted texts that are looked at.
const MAX_TEXTS: usize = 200;

struct Patterns {
    runs: Regex,
    /// A command without quotes, as in Tcl.
    bare: Regex,
    deletes: Regex,
    forks: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        runs: Regex::new(
            r"(?i)\b(system|popen\w*|subprocess|check_(output|call)|exec\w*|spawn\w*|child_process|shell_exec|passthru|proc_open|qx|os\.exec|posix_spawn|do shell script|pty\.)",
        )
        .ok()?,
        bare: Regex::new(r#"(?m)\b(?:exec|spawn|system)\s+([A-Za-z/][^"'();\]\n]*)"#).ok()?,
        deletes: Regex::new(
            r"(?i)(rmtree|remove_tree|rm_rf|rm_r|rmsync|rmdirsync|unlinksync|unlink|os\.remove|os\.rmdir|removedirs|file\.delete|fs\.rm\w*|rimraf|remove_entry\w*|deno\.remove\w*)\b",
        )
        .ok()?,
        forks: Regex::new(r"(?i)fork\s*(\(\))?\s*while\s+(fork|1|true)|while[^;]{0,40}fork|loop\s*\{\s*fork|fork\s*;\s*redo").ok()?,
    })
});

/// Looks through a text.
pub(super) fn look(text: &str) -> Found {
    let Some(patterns) = PATTERNS.as_ref() else {
        return Found::default();
    };
    let mut found = Found {
        forks: patterns.forks.is_match(text),
        ..Found::default()
    };
    if patterns.runs.is_match(text) || text.contains('`') {
        let texts = quoted(text);
        // A list of arguments is a command with its words apart.
        found.commands.push(texts.join(" "));
        found.commands.extend(texts);
    }
    for call in patterns.bare.captures_iter(text).take(MAX_TEXTS) {
        let command = call.get(1).map_or("", |found| found.as_str());
        found.commands.push(command.to_owned());
    }
    for call in patterns.deletes.find_iter(text).take(MAX_TEXTS) {
        let rest = text.get(call.end()..).unwrap_or_default();
        let arguments = rest.split([')', ';', '\n']).next().unwrap_or_default();
        let paths = quoted(arguments);
        if paths.is_empty() {
            found.deletes.push(super::field::HOLE.to_string());
        }
        found.deletes.extend(paths);
    }
    found
}

/// The texts in quotes.
fn quoted(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut escaped = false;
    for c in text.chars() {
        match &mut open {
            Some((_, inside)) if escaped => {
                inside.push(c);
                escaped = false;
            }
            Some(_) if c == '\\' => escaped = true,
            Some((quote, inside)) if c == *quote => {
                texts.push(std::mem::take(inside));
                open = None;
                if texts.len() == MAX_TEXTS {
                    return texts;
                }
            }
            Some((_, inside)) => inside.push(c),
            None if matches!(c, '\'' | '"' | '`') => open = Some((c, String::new())),
            None => {}
        }
    }
    texts
}
