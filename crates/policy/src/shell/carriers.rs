//! Programs that are told in an option, or behind their own words, what else to run.

use super::field::{Field, HOLE};
use super::invocation::{Input, Place, Sign};
use super::resolve::{Given, Resolver};
use super::tree::Span;
use super::unwrap::{joined, wrapped};
use super::wrappers;

/// Options whose value is handed to a shell.
const TEXTS: &[(&[&str], &[&str])] = &[
    (&["mapfile", "readarray", "compgen", "complete"], &["-C"]),
    (&["split", "gsplit"], &["--filter"]),
    (&["rsync"], &["-e", "--rsh"]),
    (&["nodemon"], &["-x", "--exec"]),
    (
        &["hyperfine"],
        &[
            "-p",
            "--prepare",
            "-s",
            "--setup",
            "-c",
            "--cleanup",
            "--conclude",
        ],
    ),
    (&["entr"], &["-s"]),
    (&["mysql", "mariadb"], &["--pager"]),
];

/// The same for programs in which this is not all that they start.
const ALSO_TEXTS: &[(&[&str], &[&str])] = &[
    (&["ag", "bat", "batcat", "delta"], &["--pager"]),
    (&["go"], &["-exec", "-toolexec", "-vettool"]),
    (&["npm", "npx", "pnpm", "yarn"], &["--script-shell"]),
    (&["scp", "sftp"], &["-S"]),
    (&["tcpdump"], &["-z"]),
    (&["wget"], &["--use-askpass"]),
    (&["zip"], &["-TT", "--unzip-command"]),
];

/// Parts of the names of cargo's settings whose value is run.
const CARGO_SETTINGS: [&str; 5] = ["runner", "linker", "rustc", "rustdoc", "browser"];

const TERMINALS: [&str; 13] = [
    "xterm",
    "uxterm",
    "urxvt",
    "rxvt",
    "st",
    "konsole",
    "alacritty",
    "gnome-terminal",
    "xfce4-terminal",
    "mate-terminal",
    "terminator",
    "tilix",
    "x-terminal-emulator",
];

impl Resolver<'_> {
    /// Looks through what a program is told to run besides what a wrapper starts; whether it is known how.
    pub(super) fn told(&mut self, name: &str, argv: &[Field], given: &Given) -> bool {
        let mut known = false;
        for (_, options) in TEXTS.iter().filter(|(names, _)| names.contains(&name)) {
            self.texts(&option_values(argv, options));
            known = true;
        }
        self.carried(name, argv, given);
        match name {
            "start-stop-daemon" => self.daemon(argv, given),
            "perf" | "rr" => self.recorded(argv, given),
            "hyperfine" => self.measured(argv),
            "watchexec" => {
                let text = joined(wrappers::operands_of("wefidsoWE", WATCH_LONG, argv), 0);
                self.text(&text, given.span, Input::Nothing);
            }
            "cargo" if argv.iter().any(|field| field.text == "watch") => {
                self.texts(&option_values(argv, &["-s", "--shell"]));
            }
            "direnv" if argv.get(1).is_some_and(|field| field.text == "exec") => {
                let inner = argv.get(3..).unwrap_or_default().to_vec();
                self.run(inner, wrapped(given));
            }
            "ansible" => self.ansible(argv, given),
            "pssh" | "parallel-ssh" | "pdsh" | "clush" => {
                let words = wrappers::operands_of("hHlptOoexXwgRufM", HOSTS_LONG, argv);
                self.away(&joined(words, 0), given);
            }
            "hg" => self.mercurial(argv),
            _ if TERMINALS.contains(&name) => self.window(argv, given),
            _ => return self.console(name, argv, given) || known,
        }
        true
    }

    /// Looks through what options say of programs that are known for something else.
    fn carried(&mut self, name: &str, argv: &[Field], given: &Given) {
        let own = ALSO_TEXTS.iter().filter(|(names, _)| names.contains(&name));
        for (_, options) in own {
            self.texts(&option_values(argv, options));
        }
        match name {
            "cargo" => self.cargo_settings(argv),
            // Words to choose from are expanded.
            "compgen" | "complete" => {
                for words in option_values(argv, &["-W"]) {
                    self.evaluated(&words.text, words.span);
                }
            }
            "ssh" | "scp" | "sftp" | "sshfs" | "autossh" => {
                for setting in option_values(argv, &["-o"]) {
                    if let Some(text) = ssh_command(&setting.text) {
                        self.text(text, setting.span, Input::Nothing);
                    }
                }
                for settings in self.scripts(name, argv) {
                    for text in settings.text.lines().filter_map(ssh_command) {
                        self.text(text, settings.span, Input::Nothing);
                    }
                }
            }
            // Their report can go to a program.
            "strace" | "ltrace" => {
                for field in option_values(argv, &["-o", "--output"]) {
                    if let Some(text) = field.text.strip_prefix(['!', '|']) {
                        self.text(text, field.span, Input::Nothing);
                    }
                }
            }
            // What a document runs then stands in the document.
            "tex" | "latex" | "pdftex" | "pdflatex" | "xelatex" | "lualatex" | "latexmk" => {
                let escapes = |field: &&Field| {
                    let option = field.text.trim_start_matches('-');
                    matches!(option, "shell-escape" | "enable-write18")
                };
                if let Some(option) = argv.iter().find(escapes) {
                    self.sign(Sign::UnknownText, option.span);
                }
            }
            "gcc" | "g++" | "cc" | "c++" | "gfortran" => {
                for field in option_values(argv, &["-wrapper"]) {
                    let words = field.text.split(',');
                    let words = words.map(|word| Field::literal(word, field.span));
                    self.run(words.collect(), wrapped(given));
                }
            }
            _ => {}
        }
    }

    pub(super) fn texts(&mut self, values: &[Field]) {
        for field in values {
            self.text(&field.text, field.span, Input::Nothing);
        }
    }

    /// A text that names a program for later. Where a part of it is open, as in `$HOST-gcc`, it is only looked at for
    /// what must never run.
    pub(super) fn later(&mut self, text: &str, span: Span) {
        match text.contains(HOLE) {
            true => self.mentioned(|this| drop(this.text(text, span, Input::Nothing))),
            false => drop(self.text(text, span, Input::Nothing)),
        }
    }

    fn away(&mut self, text: &str, given: &Given) {
        self.inside(Place::Away, |this| {
            this.text(text, given.span, Input::Nothing);
        });
    }

    /// `start-stop-daemon --start --exec /bin/x -- arguments`.
    fn daemon(&mut self, argv: &[Field], given: &Given) {
        let dashes = argv.iter().position(|field| field.text == "--");
        let arguments = dashes.and_then(|at| argv.get(at + 1..)).unwrap_or_default();
        // A word of its own, not `--startas` shortened.
        let options = argv.iter().filter(|field| field.text != "--start");
        let options: Vec<Field> = options.cloned().collect();
        for program in option_values(&options, &["-x", "--exec", "-a", "--startas"]) {
            let mut inner = vec![program];
            inner.extend_from_slice(arguments);
            self.run(inner, wrapped(given));
        }
    }

    /// `perf stat -e x program`, also with two words as in `perf sched record program`.
    fn recorded(&mut self, argv: &[Field], given: &Given) {
        const VERBS: [&str; 12] = [
            "stat",
            "record",
            "trace",
            "sched",
            "mem",
            "c2c",
            "lock",
            "kmem",
            "kvm",
            "ftrace",
            "timechart",
            "top",
        ];
        const LONG: &[&str] = &[
            "--event",
            "--pid",
            "--tid",
            "--cpu",
            "--repeat",
            "--output",
            "--freq",
            "--count",
            "--call-graph",
            "--delay",
            "--interval-print",
            "--field-separator",
            "--mmap-pages",
        ];
        let mut rest = argv;
        loop {
            let operands = wrappers::operands_of("eptCroIxGDMmFcujk", LONG, rest);
            let Some(first) = operands.first() else {
                return;
            };
            if !VERBS.contains(&first.text.as_str()) {
                // Without a verb there is nothing that perf would start.
                if rest.len() < argv.len() {
                    self.run(operands.to_vec(), wrapped(given));
                }
                return;
            }
            rest = operands;
        }
    }

    /// `hyperfine 'text' 'text'`: every operand is a text.
    fn measured(&mut self, argv: &[Field]) {
        const VALUED: [&str; 19] = [
            "-w",
            "--warmup",
            "-r",
            "--runs",
            "-m",
            "--min-runs",
            "-M",
            "--max-runs",
            "-n",
            "--command-name",
            "-u",
            "--time-unit",
            "-S",
            "--shell",
            "--style",
            "--export-json",
            "--export-markdown",
            "--export-csv",
            "--output",
        ];
        let mut arguments = argv.iter().skip(1);
        while let Some(field) = arguments.next() {
            if VALUED.contains(&field.text.as_str()) {
                arguments.next();
            } else if !field.text.starts_with('-') {
                self.text(&field.text, field.span, Input::Nothing);
            }
        }
    }

    /// `ansible hosts -a 'text'`, where no module is named that means something else by it.
    fn ansible(&mut self, argv: &[Field], given: &Given) {
        let module = option_values(argv, &["-m", "--module-name"]).pop();
        let runs = module.is_none_or(|field| {
            let name = field.text.rsplit('.').next().unwrap_or_default();
            matches!(name, "command" | "shell" | "raw" | "script")
        });
        for field in option_values(argv, &["-a", "--args"]) {
            if runs {
                self.away(&field.text, given);
            }
        }
    }

    /// `cargo --config 'target.x.runner="text"'`, also with a list of words or in a table.
    fn cargo_settings(&mut self, argv: &[Field]) {
        for field in option_values(argv, &["--config"]) {
            for (at, sign) in field.text.match_indices('=') {
                let (key, value) = field.text.split_at(at);
                let key = key.trim_end_matches([' ', '"', '\'']);
                let key = key.rsplit(['.', '{', ',', ' ']).next().unwrap_or_default();
                let key = key.trim_start_matches(['"', '\'']);
                if CARGO_SETTINGS.iter().any(|name| key.starts_with(name)) {
                    let value = value.get(sign.len()..).unwrap_or_default();
                    if !self.spend(value.len()) {
                        return;
                    }
                    self.text(&of_toml(value.trim_start()), field.span, Input::Nothing);
                }
            }
        }
    }

    /// `hg --config alias.x='!text'` and other settings that are run.
    fn mercurial(&mut self, argv: &[Field]) {
        for field in option_values(argv, &["--config"]) {
            let Some((key, value)) = field.text.split_once('=') else {
                continue;
            };
            let key = key.to_ascii_lowercase();
            let run = key.starts_with("hooks.")
                || key.starts_with("alias.") && value.starts_with('!')
                || matches!(
                    key.as_str(),
                    "ui.ssh" | "ui.editor" | "ui.merge" | "pager.pager"
                );
            if run {
                let text = value.trim_start_matches('!');
                self.text(text, field.span, Input::Nothing);
            }
        }
    }

    /// `xterm -e program arguments`, or one text.
    fn window(&mut self, argv: &[Field], given: &Given) {
        let starts = |field: &Field| matches!(field.text.as_str(), "-e" | "-x" | "--");
        if let Some(at) = argv.iter().position(starts) {
            match argv.get(at + 1..).unwrap_or_default() {
                [text] => {
                    self.text(&text.text, text.span, Input::Nothing);
                }
                words => {
                    self.run(words.to_vec(), wrapped(given));
                }
            }
        }
        self.texts(&option_values(argv, &["--command", "--execute"]));
    }
}

/// A text of TOML, or a list of them as words for a shell.
fn of_toml(value: &str) -> String {
    let quote = match value.chars().next() {
        Some('[') => return value.replace(['[', ']', ',', '}'], " "),
        Some(quote @ ('"' | '\'')) => quote,
        _ => return value.to_owned(),
    };
    let inside = value.trim_start_matches(quote);
    let closes = |at: &usize| {
        !inside
            .get(..*at)
            .is_some_and(|before| before.ends_with('\\'))
    };
    let mut quotes = inside.match_indices(quote).map(|(at, _)| at);
    let end = quotes.find(closes).unwrap_or(inside.len());
    inside.get(..end).unwrap_or_default().replace("\\\"", "\"")
}

const WATCH_LONG: &[&str] = &[
    "--watch",
    "--exts",
    "--filter",
    "--ignore",
    "--debounce",
    "--signal",
    "--stop-signal",
    "--on-busy-update",
    "--workdir",
    "--env",
];

const HOSTS_LONG: &[&str] = &[
    "--hosts",
    "--host",
    "--user",
    "--par",
    "--timeout",
    "--outdir",
    "--errdir",
    "--options",
];

/// The command in a setting of ssh, where it is one that is run.
pub(crate) fn ssh_command(setting: &str) -> Option<&str> {
    const KEYS: [&str; 3] = ["proxycommand", "localcommand", "knownhostscommand"];
    let setting = setting.trim_start();
    let (key, text) = setting.split_once(|c: char| c == '=' || c.is_whitespace())?;
    let text = text.trim_start_matches([' ', '=', '\t']);
    let runs = KEYS.contains(&key.to_ascii_lowercase().as_str());
    (runs && !text.eq_ignore_ascii_case("none")).then_some(text)
}

/// The values of these options, behind them, attached to them or among other letters, before any `--`.
pub(crate) fn option_values(argv: &[Field], options: &[&str]) -> Vec<Field> {
    let mut values = Vec::new();
    let mut arguments = argv.iter().skip(1);
    while let Some(field) = arguments.next() {
        let text = field.text.as_str();
        if text == "--" {
            break;
        }
        match options.iter().find_map(|option| attached(text, option)) {
            Some("") => values.extend(arguments.next().cloned()),
            Some(value) => values.push(Field {
                text: value.to_owned(),
                ..field.clone()
            }),
            None => {}
        }
    }
    values
}

/// What follows an option in its own argument; empty when the value is the next one.
fn attached<'t>(text: &'t str, option: &str) -> Option<&'t str> {
    let letter = option.strip_prefix('-').filter(|rest| rest.len() == 1);
    if let Some(letter) = letter {
        let letters = text
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))?;
        return letters.split_once(letter).map(|(_, value)| value);
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let shortened = name.len() > 4 && name.starts_with("--") && option.starts_with(name);
    (name == option || shortened).then(|| value.unwrap_or_default())
}
