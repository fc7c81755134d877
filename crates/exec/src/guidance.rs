//! What is said about a command before and after it runs. Pure functions over its text.

use std::time::Duration;

use hermes_policy::layers;
use hermes_secrets::Scope;

use crate::shell::commands::commands;
use crate::shell::lexer::{Kind, Token, tokens};

/// Programs that take a command out of our sight.
const DETACHING: [&str; 3] = ["nohup", "disown", "setsid"];
/// Programs that fetch the one after them and run it.
const FETCHING: [&str; 2] = ["npx", "bunx"];
const ASKS_ABOUT_ITSELF: [&str; 4] = ["--help", "-h", "--version", "-V"];
/// Commands that serve until they are stopped: each is what its first words can be.
const SERVERS: &[&[&[&str]]] = &[
    &[
        &["npm", "pnpm", "yarn", "bun"],
        &["dev", "start", "serve", "watch"],
    ],
    &[
        &["npm", "pnpm", "yarn", "bun"],
        &["run"],
        &["dev", "start", "serve", "watch"],
    ],
    &[&["docker", "podman"], &["compose"], &["up"]],
    &[&["docker-compose", "podman-compose"], &["up"]],
    &[&["next"], &["dev"]],
    &[&["vite"], &["dev", "serve", "preview"]],
    &[&["nodemon", "uvicorn", "gunicorn"]],
    &[&["python", "python3"], &["-m"], &["http.server"]],
];
/// Arguments with which such a program comes back at once. The same letter means other things to others.
const RETURNS: &[(&[&str], &[&str])] = &[
    (
        &["docker", "podman", "docker-compose", "podman-compose"],
        &["-d", "--detach"],
    ),
    (&["gunicorn"], &["-D", "--daemon"]),
];

/// What is masked in what commands print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Masking {
    /// Known secrets, and what looks like one.
    #[default]
    Guessing,
    /// Known secrets only: the user switched the guessing off.
    Known,
}

impl Masking {
    /// How hard a command's output is looked at for secrets: those that print the environment print names with
    /// values.
    pub fn of_command(self, command: &str) -> Scope {
        match self {
            Self::Guessing => output_scope(command),
            Self::Known => Scope::Known,
        }
    }

    /// The same for the output of a script.
    pub fn of_script(self) -> Scope {
        match self {
            Self::Guessing => Scope::Code,
            Self::Known => Scope::Known,
        }
    }
}

fn output_scope(command: &str) -> Scope {
    const DUMPS: [&str; 5] = ["env", "printenv", "set", "export", "declare"];
    let dumps = command
        .split(|c: char| c.is_whitespace() || ";|&()".contains(c))
        .any(|word| DUMPS.contains(&word));
    if dumps { Scope::Chat } else { Scope::Code }
}

/// Why a command should not run in the foreground, as the model is told; `None` when it may.
pub fn foreground_refusal(command: &str) -> Option<String> {
    const INSTEAD: &str =
        "Start it with background=true; it is then followed, and can be read and stopped";
    for simple in &commands(command) {
        let argv = simple.argv();
        if argv.iter().any(|word| ASKS_ABOUT_ITSELF.contains(word)) {
            continue;
        }
        for called in layers(argv).into_iter().map(fetched) {
            let Some((name, arguments)) = called.split_first() else {
                continue;
            };
            let name = program_name(name);
            if DETACHING.contains(&name) {
                return Some(format!("`{name}` hides a process from us. {INSTEAD}"));
            }
            if is_server(&[&[name][..], arguments].concat()) {
                return Some(format!(
                    "`{}` does not end by itself. {INSTEAD}",
                    called.join(" ")
                ));
            }
        }
    }
    stands_alone(&tokens(command))
        .then(|| format!("`&` leaves a process behind that nobody follows. {INSTEAD}"))
}

/// Whether something goes to the background. At the end of a group in parentheses, as in `(helper &)`, that is meant:
/// such a helper ends with its command where commands are confined, and with us where they are not.
fn stands_alone(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let last = tokens
            .get(index + 1)
            .is_some_and(|next| next.kind == Kind::Close);
        token.kind == Kind::Background && !last
    })
}

/// The name of a program that may be called by its path.
fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_server(argv: &[&str]) -> bool {
    let known = SERVERS.iter().any(|pattern| {
        pattern.len() <= argv.len()
            && pattern
                .iter()
                .zip(argv)
                .all(|(choices, word)| choices.contains(word))
    });
    // Without a word that says something else, `vite` serves.
    let vite = match argv {
        ["vite"] => true,
        ["vite", next, ..] => next.starts_with('-'),
        _ => false,
    };
    let returns = RETURNS.iter().any(|(programs, arguments)| {
        let program = argv.first().is_some_and(|name| programs.contains(name));
        program && argv.iter().any(|word| arguments.contains(word))
    });
    (known || vite) && !returns
}

/// The program that is fetched, with its arguments, or the call itself.
fn fetched<'s, 'w>(argv: &'s [&'w str]) -> &'s [&'w str] {
    match argv {
        [first, rest @ ..]
            if FETCHING.contains(first)
                && rest.first().is_some_and(|next| !next.starts_with('-')) =>
        {
            rest
        }
        _ => argv,
    }
}

/// How long a foreground command may take, or why not that long. What the user set as usual holds where nothing
/// is asked for.
pub fn foreground_timeout(
    asked: Option<Duration>,
    usual: Duration,
    most: Duration,
) -> Result<Duration, String> {
    match asked {
        Some(asked) if asked.is_zero() => {
            Err("timeout is at least 1 s; leave it out for the usual time".to_owned())
        }
        Some(asked) if asked > most => Err(format!(
            "a command in the foreground may take {} s at most, not {}; start longer ones with \
             background=true and notify_on_complete=true",
            most.as_secs(),
            asked.as_secs()
        )),
        Some(asked) => Ok(asked),
        None => Ok(usual),
    }
}

/// The first character that a working directory must not have.
pub fn bad_workdir_character(workdir: &str) -> Option<char> {
    workdir
        .chars()
        .find(|c| !(c.is_alphanumeric() || " /\\:_-.~+@=,".contains(*c)))
}

/// Ends what is said of a code with which a command answers, and does not fail.
pub const NOT_AN_ERROR: &str = "this is not an error";

/// Commands whose exit codes other than 0 are not failures, the code, and what it means.
const NOTES: &[(&[&str], i32, &str)] = &[
    (
        &["grep", "egrep", "fgrep", "rg", "ag", "ack"],
        1,
        "nothing matched; this is not an error",
    ),
    (
        &["diff", "colordiff"],
        1,
        "the files differ; this is not an error",
    ),
    (
        &["find"],
        1,
        "some places could not be searched; what was found is listed",
    ),
    (
        &["test", "["],
        1,
        "the condition is false; this is not an error",
    ),
    (
        &["git"],
        1,
        "git often says with this that something differs or is absent, not that it failed",
    ),
    (&["curl"], 6, "the host's name could not be resolved"),
    (&["curl"], 7, "the host could not be connected to"),
    (&["curl"], 22, "the server answered with an error status"),
    (&["curl"], 28, "the time for the transfer was up"),
];

/// What an exit code means for the command that gave it, where that is not obvious.
pub fn exit_code_note(command: &str, code: i32) -> Option<&'static str> {
    let commands = commands(command);
    let argv = commands.last()?.argv();
    let name = program_name(argv.first()?);
    NOTES
        .iter()
        .find(|(names, number, _)| names.contains(&name) && *number == code)
        .map(|(_, _, note)| *note)
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-9
    #[test]
    fn what_would_not_end_is_refused_in_the_foreground() {
        let refused = [
            "nohup ./server",
            "make && setsid x",
            "sleep 5 &",
            "(a; b) & wait",
            "npm run dev",
            "cd web && PORT=3 yarn start",
            "docker compose up",
            "npx vite",
            "uvicorn app:app",
            "python3 -m http.server 8000",
            "sudo nohup x",
            "timeout 3 nohup sleep 1",
            "nice -n 5 env -i A=1 setsid x",
            "timeout -k 1 60 npm run dev",
            "time npx vite",
            "bun watch",
            "/usr/bin/nohup ./server",
            "env /usr/bin/setsid x",
            "/usr/local/bin/uvicorn app:app",
            "(a & b)",
            "{ a & }; b",
            "(a &) && b & c",
        ];
        for command in refused {
            assert!(foreground_refusal(command).is_some(), "{command}");
        }
        let accepted = [
            "echo 'nohup x &'",
            "grep -r \"npm start\" .",
            "npm run build",
            "npm start --help",
            "vite build",
            "vite --version",
            "docker compose up -d",
            "a && b 2>&1 &>log",
            "echo nohup",
            "python3 -m pytest",
            "cat <<E\nnohup x &\nE",
            "curl 'http://x/?a=1&b=2'",
            "(sleep 60 &) ; echo ok",
            "( a; b & ) && c",
            "ls /usr/bin/nohup",
        ];
        for command in accepted {
            assert_eq!(foreground_refusal(command), None, "{command}");
        }
    }

    // EX-9
    #[test]
    fn times_and_directories_have_limits() {
        let seconds = Duration::from_secs;
        let check =
            |asked: Option<u64>| foreground_timeout(asked.map(seconds), seconds(180), seconds(600));
        assert_eq!(check(None), Ok(seconds(180)));
        assert_eq!(check(Some(600)), Ok(seconds(600)));
        assert!(check(Some(601)).is_err());
        assert!(check(Some(0)).is_err());
        assert_eq!(check(Some(1)), Ok(seconds(1)));
        assert_eq!(
            foreground_timeout(None, seconds(900), seconds(600)),
            Ok(seconds(900))
        );
        assert_eq!(bad_workdir_character("/a b/ü_c-d.e~+@=,:\\x"), None);
        for bad in ["/a;b", "$(x)", "a\nb", "a'b", "a`b", "a|b", "a&b"] {
            assert!(bad_workdir_character(bad).is_some(), "{bad}");
        }
    }

    // EX-10
    #[test]
    fn codes_that_are_no_failures_are_explained() {
        let explained = [
            ("grep x f", 1),
            ("cat f | rg x", 1),
            ("cd a && LC_ALL=C diff a b", 1),
            ("find / -name x", 1),
            ("[ -f x ]", 1),
            ("/usr/bin/git diff --exit-code", 1),
            ("curl http://x", 6),
            ("curl http://x", 28),
        ];
        for (command, code) in explained {
            assert!(exit_code_note(command, code).is_some(), "{command}");
        }
        let harmless = |command, code| {
            let note = exit_code_note(command, code);
            note.is_some_and(|note| note.ends_with(NOT_AN_ERROR))
        };
        assert!(harmless("grep x f", 1) && harmless("diff a b", 1) && harmless("[ -f x ]", 1));
        assert!(!harmless("curl http://x", 7) && !harmless("git push", 1));
        let plain = [
            ("grep x f", 2),
            ("grep x f | sort", 1),
            ("echo 'grep x'", 1),
            ("make", 1),
            ("", 1),
        ];
        for (command, code) in plain {
            assert_eq!(exit_code_note(command, code), None, "{command}");
        }
    }
}
