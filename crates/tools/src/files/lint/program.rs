//! The programs that check, and how they are asked.

use std::path::Path;

/// Says by its exit code that a program is missing, and becomes it otherwise. Before its own arguments come a folder
/// and an ending, which it has no use for.
const BECOME: &str = "command -v \"$0\" >/dev/null 2>&1 || exit 127; shift 2; exec \"$0\" \"$@\"";
/// The same for a program that reads no input: it gets a file of that ending, alone in a folder below that one.
const BY_FILE: &str = "command -v \"$0\" >/dev/null 2>&1 || exit 127
umask 077; mkdir -p -- \"$1\"; folder=$(mktemp -d \"$1/hermes-check.XXXXXX\") || exit 126
trap 'rm -rf -- \"$folder\"' EXIT
cd -- \"$folder\" && cat >\"x.$2\" || exit 126
file=x.$2; shift 2; \"$0\" \"$@\" \"$file\"";
/// Nothing but reading the one file. The newest forms and both kinds of decorators are no mistakes.
const TYPESCRIPT: &[&str] = &[
    "--noEmit",
    "--noResolve",
    "--noLib",
    "--skipLibCheck",
    "--experimentalDecorators",
    "--target",
    "esnext",
    "--module",
    "esnext",
    "--jsx",
    "preserve",
    "--pretty",
    "false",
];
/// Reads a program from its input and says whether it can be compiled; nothing of it is run.
const COMPILE: &str = "import ast,sys\n\
try: ast.parse(sys.stdin.buffer.read())\n\
except SyntaxError as e: print('%s in line %s' % (e.msg, e.lineno)); sys.exit(1)\n\
except ValueError as e: print(e); sys.exit(1)";
/// Complaints about a form that only the project's settings allow.
const BY_SETTINGS: [u32; 2] = [1202, 1203];

/// What can check a kind of file without running anything of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Program {
    Python,
    /// JavaScript of the older form.
    Script,
    Module,
    /// JavaScript of which only the project knows the form.
    Either,
    Shell,
    Go,
    Rust,
    /// With the ending that tells its kind.
    TypeScript(&'static str),
}

/// What a complaint consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pieces {
    /// Each line stands for itself.
    Lines,
    /// What stands between empty lines belongs together.
    Paragraphs,
    /// There is only one.
    Whole,
}

impl Pieces {
    pub(super) fn of(self, complaint: &str) -> impl Iterator<Item = &str> {
        let pieces: Vec<&str> = match self {
            Self::Lines => complaint.lines().collect(),
            Self::Paragraphs => complaint.split("\n\n").collect(),
            Self::Whole => vec![complaint],
        };
        pieces.into_iter().filter(|piece| !piece.trim().is_empty())
    }

    pub(super) fn between(self) -> &'static str {
        match self {
            Self::Lines | Self::Whole => "\n",
            Self::Paragraphs => "\n\n",
        }
    }
}

impl Program {
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "py" => Some(Self::Python),
            "cjs" => Some(Self::Script),
            "mjs" => Some(Self::Module),
            "js" => Some(Self::Either),
            "sh" | "bash" => Some(Self::Shell),
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            "ts" => Some(Self::TypeScript("ts")),
            "tsx" => Some(Self::TypeScript("tsx")),
            "mts" => Some(Self::TypeScript("mts")),
            "cts" => Some(Self::TypeScript("cts")),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Script | Self::Module | Self::Either => "node",
            Self::Shell => "bash",
            Self::Go => "gofmt",
            Self::Rust => "rustfmt",
            Self::TypeScript(_) => "tsc",
        }
    }

    pub(super) fn missing(self) -> &'static str {
        match self {
            Self::Python => "python is not installed",
            Self::Script | Self::Module | Self::Either => "node is not installed",
            Self::Shell => "bash is not installed",
            Self::Go => "gofmt is not installed",
            Self::Rust => "rustfmt is not installed",
            Self::TypeScript(_) => "tsc is not installed",
        }
    }

    /// The shell's way to it, and the ending of the file it gets.
    pub(super) fn start(self) -> (&'static str, &'static str) {
        match self {
            Self::TypeScript(ending) => (BY_FILE, ending),
            Self::Python
            | Self::Script
            | Self::Module
            | Self::Either
            | Self::Shell
            | Self::Go
            | Self::Rust => (BECOME, ""),
        }
    }

    /// How its complaints are told apart.
    pub(super) fn pieces(self) -> Pieces {
        match self {
            Self::Python | Self::Shell | Self::Go | Self::TypeScript(_) => Pieces::Lines,
            Self::Rust => Pieces::Paragraphs,
            Self::Script | Self::Module | Self::Either => Pieces::Whole,
        }
    }

    /// Whether a line of what it says is part of a complaint about the text. One file alone says nothing about types,
    /// and where a program noticed something in its own source helps nobody.
    pub(super) fn counts(self, line: &str) -> bool {
        let start = line.trim_start();
        match self {
            Self::TypeScript(_) => syntax_error(line),
            Self::Python
            | Self::Script
            | Self::Module
            | Self::Either
            | Self::Shell
            | Self::Go
            | Self::Rust => {
                !start.starts_with("at ")
                    && !start.starts_with("Node.js v")
                    && !start.starts_with('(')
            }
        }
    }

    /// The arguments of each reading; the text comes on standard input.
    pub(super) fn arguments(self) -> &'static [&'static [&'static str]] {
        const SCRIPT: &[&str] = &["--check", "-"];
        const MODULE: &[&str] = &["--check", "--input-type=module", "-"];
        match self {
            Self::Python => &[&["-I", "-S", "-c", COMPILE]],
            Self::Script => &[SCRIPT],
            Self::Module => &[MODULE],
            Self::Either => &[SCRIPT, MODULE],
            Self::Shell => &[&["--norc", "--noprofile", "-n"]],
            // Without the list it prints the whole file.
            Self::Go => &[&["-e", "-l"]],
            // An attribute of a later edition is no mistake in an earlier one.
            Self::Rust => &[&["--quiet", "--edition", "2024"]],
            Self::TypeScript(_) => &[TYPESCRIPT],
        }
    }
}

/// Whether a line of `tsc` says that a text cannot be read, whatever the rest of its project is.
fn syntax_error(line: &str) -> bool {
    let code = line
        .split_once("error TS")
        .and_then(|(_, rest)| rest.split_once(':'))
        .and_then(|(code, _)| code.parse::<u32>().ok());
    code.is_some_and(|code| (1_000..2_000).contains(&code) && !BY_SETTINGS.contains(&code))
}
