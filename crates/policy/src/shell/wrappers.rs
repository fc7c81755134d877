//! Programs that start the program named in their arguments.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::field::Field;
use super::invocation::program_name;
use super::tree::Span;

/// How to find the inner program.
pub(super) struct Wrapper {
    names: &'static [&'static str],
    /// Short options that take a value.
    valued: &'static str,
    /// Long options that take a value.
    long: &'static [&'static str],
    /// Arguments before the program.
    before: usize,
}

const fn plain(names: &'static [&'static str]) -> Wrapper {
    Wrapper {
        names,
        valued: "",
        long: &[],
        before: 0,
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo", "sudoedit"],
        valued: "ugpCDhRTrtU",
        long: &[
            "--user",
            "--group",
            "--prompt",
            "--chdir",
            "--host",
            "--chroot",
            "--role",
            "--type",
            "--close-from",
            "--command-timeout",
            "--other-user",
        ],
        before: 0,
    },
    Wrapper {
        names: &["doas", "pkexec"],
        valued: "uC",
        long: &["--user"],
        before: 0,
    },
    Wrapper {
        names: &["env"],
        valued: "uCS",
        long: &["--unset", "--chdir"],
        before: 0,
    },
    Wrapper {
        names: &["nice"],
        valued: "n",
        long: &["--adjustment"],
        before: 0,
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        valued: "sk",
        long: &["--signal", "--kill-after"],
        before: 1,
    },
    Wrapper {
        names: &["time", "gtime"],
        valued: "fo",
        long: &["--format", "--output"],
        before: 0,
    },
    Wrapper {
        names: &["stdbuf"],
        valued: "ioe",
        long: &["--input", "--output", "--error"],
        before: 0,
    },
    Wrapper {
        names: &["ionice"],
        valued: "cnpPu",
        long: &["--class", "--classdata"],
        before: 0,
    },
    Wrapper {
        names: &[
            "chrt",
            "taskset",
            "setarch",
            "gosu",
            "su-exec",
            "setpriority",
            "faketime",
            "setuidgid",
            "s6-setuidgid",
            "envdir",
            "s6-envdir",
        ],
        valued: "p",
        long: &[],
        before: 1,
    },
    Wrapper {
        names: &["xargs", "gxargs"],
        valued: "IinPLdaEsR",
        long: &[
            "--replace",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--arg-file",
            "--max-chars",
        ],
        before: 0,
    },
    Wrapper {
        names: &["strace", "ltrace", "truss"],
        valued: "eopPsSuaIbOEX",
        long: &["--output", "--trace", "--user"],
        before: 0,
    },
    Wrapper {
        names: &["chroot"],
        valued: "",
        long: &[],
        before: 1,
    },
    Wrapper {
        names: &[
            "unshare",
            "setpriv",
            "capsh",
            "firejail",
            "fakeroot",
            "eatmydata",
        ],
        valued: "lbSRGw",
        long: &[
            "--root",
            "--wd",
            "--reuid",
            "--regid",
            "--map-user",
            "--map-group",
        ],
        before: 0,
    },
    Wrapper {
        names: &["nsenter"],
        valued: "tSGrw",
        long: &["--target", "--setuid", "--setgid"],
        before: 0,
    },
    Wrapper {
        names: &["systemd-run", "systemd-inhibit"],
        valued: "pHMut",
        long: &[
            "--unit",
            "--property",
            "--slice",
            "--uid",
            "--gid",
            "--setenv",
            "--what",
            "--why",
        ],
        before: 0,
    },
    Wrapper {
        names: &["exec"],
        valued: "a",
        long: &[],
        before: 0,
    },
    Wrapper {
        names: &["lldb"],
        valued: "oOkKsSpncf",
        long: &["--one-line", "--source", "--file", "--core"],
        before: 0,
    },
    Wrapper {
        names: &["choom", "cpulimit", "uclampset"],
        valued: "nplemM",
        long: &["--adjust", "--limit", "--exe"],
        before: 0,
    },
    Wrapper {
        names: &["ssh-agent"],
        valued: "aOPt",
        long: &[],
        before: 0,
    },
    Wrapper {
        names: &["chpst", "softlimit"],
        valued: "uUbenlLmdofcprtas",
        long: &[],
        before: 0,
    },
    plain(&["prlimit", "numactl", "valgrind", "rr", "entr"]),
    plain(&[
        "linux32",
        "linux64",
        "i386",
        "x86_64",
        "uname26",
        "tini",
        "dumb-init",
        "catatonit",
        "dbus-launch",
        "nohup",
        "setsid",
        "command",
        "builtin",
        "busybox",
        "toybox",
        "caffeinate",
        "chronic",
        "unbuffer",
        "xvfb-run",
        "dbus-run-session",
        "catchsegv",
        "winpty",
        "nocache",
        "torsocks",
        "proxychains",
        "proxychains4",
        "torify",
        "rlwrap",
        "ts-node-dev",
        "coproc",
        "ccache",
        "!",
        "if",
        "elif",
        "while",
        "until",
        "{",
        "noglob",
        "nocorrect",
        "then",
        "do",
        "else",
        "sponge",
        "pee",
        "errno",
        "bwrap",
        "proot",
    ]),
];

static BY_NAME: LazyLock<HashMap<&str, &Wrapper>> = LazyLock::new(|| {
    let named = WRAPPERS
        .iter()
        .flat_map(|wrapper| wrapper.names.iter().map(move |name| (*name, wrapper)));
    named.collect()
});

/// The loader of programs can be called with one as its argument.
fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so"
}

/// The program that this one starts, with its arguments, and the assignments before it.
pub(super) fn inner<'f>(name: &str, argv: &'f [Field]) -> Option<(&'f [Field], &'f [Field])> {
    let loader = plain(&[]);
    let wrapper = match BY_NAME.get(name) {
        Some(wrapper) => *wrapper,
        None if is_loader(name) => &loader,
        None => return None,
    };
    let asks_only = |field: &Field| matches!(field.text.as_str(), "-v" | "-V");
    if name == "command" && argv.get(1).is_some_and(asks_only) {
        return None;
    }
    let mut at = 1 + options(wrapper, argv.get(1..).unwrap_or_default());
    at += wrapper.before;
    let start = at;
    while argv.get(at).is_some_and(is_assignment) {
        at += 1;
    }
    let assignments = argv.get(start..at).unwrap_or_default();
    let inner = argv.get(at..).filter(|inner| !inner.is_empty())?;
    Some((inner, assignments))
}

/// A call as it is written and what it starts, one wrapper less at a time.
pub fn layers<'w>(argv: &'w [&'w str]) -> Vec<&'w [&'w str]> {
    let nowhere = Span { start: 0, end: 0 };
    let fields = argv.iter().map(|word| Field::literal(*word, nowhere));
    let fields: Vec<Field> = fields.collect();
    let mut layers = vec![argv];
    let mut rest = fields.as_slice();
    while let Some((started, _)) = inner(&program_name(rest.first()), rest) {
        layers.extend(argv.get(argv.len() - started.len()..));
        rest = started;
    }
    layers
}

fn is_assignment(field: &Field) -> bool {
    field
        .text
        .split_once('=')
        .is_some_and(|(name, _)| super::read::is_name(name))
}

/// How many arguments are options and their values.
fn options(wrapper: &Wrapper, arguments: &[Field]) -> usize {
    let mut at = 0;
    while let Some(field) = arguments.get(at) {
        let text = field.text.as_str();
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') || text == "-" {
            return at + usize::from(text == "-");
        }
        at += 1;
        let takes_next = if text.starts_with("--") {
            wrapper.long.contains(&text)
        } else {
            let letters = text.get(1..).unwrap_or_default();
            letters
                .find(|c| wrapper.valued.contains(c))
                .is_some_and(|found| {
                    // A letter at the end has its value in the next argument.
                    letters
                        .get(found..)
                        .is_some_and(|rest| rest.chars().count() == 1)
                })
        };
        at += usize::from(takes_next);
    }
    at
}

/// Skips options of a program whose letters in `valued` take a value; what is left are operands.
pub(super) fn operands<'f>(valued: &'static str, argv: &'f [Field]) -> &'f [Field] {
    operands_of(valued, &[], argv)
}

/// As `operands`, with long options that take a value too.
pub(super) fn operands_of<'f>(
    valued: &'static str,
    long: &'static [&'static str],
    argv: &'f [Field],
) -> &'f [Field] {
    let wrapper = Wrapper {
        names: &[],
        valued,
        long,
        before: 0,
    };
    let arguments = argv.get(1..).unwrap_or_default();
    arguments
        .get(options(&wrapper, arguments)..)
        .unwrap_or_default()
}
