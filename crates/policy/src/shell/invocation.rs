//! One program with everything it gets, after all wrappers were taken off.

use std::ops::Deref;
use std::rc::Rc;

use unicode_normalization::UnicodeNormalization;

use super::carriers::option_values;
use super::field::{Field, HOLE};
use super::tree::Span;

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Where the command itself runs.
    Here,
    /// On another machine, over ssh or the like.
    Away,
    /// In a container the command starts or enters.
    Container,
}

/// What standard input is.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    Nothing,
    /// A text in the command itself.
    Here(Rc<str>),
    /// What these programs print; the text where it is known.
    Piped {
        programs: Rc<[String]>,
        text: Option<Rc<str>>,
    },
}

impl Input {
    /// The text, if it is known.
    pub(crate) fn known(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Here(text) => Some(text),
            Self::Piped { text, .. } => text.as_deref(),
        }
    }
}

/// A redirection to or from a file.
#[derive(Debug, Clone)]
pub(crate) enum Stream {
    In(Field),
    Out(Field),
}

/// A program and its arguments: those of another one from some place on, or all.
#[derive(Debug, Clone)]
pub(crate) struct Argv {
    all: Rc<Vec<Field>>,
    from: usize,
}

impl Argv {
    /// All of these.
    pub(crate) fn new(all: Vec<Field>) -> Self {
        Self {
            all: Rc::new(all),
            from: 0,
        }
    }

    /// The same from a place on.
    pub(super) fn from(&self, place: usize) -> Self {
        Self {
            all: Rc::clone(&self.all),
            from: self.from + place,
        }
    }
}

impl Deref for Argv {
    type Target = [Field];

    fn deref(&self) -> &[Field] {
        self.all.get(self.from..).unwrap_or_default()
    }
}

/// A program and what it gets.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    /// The name without directories, in small letters; empty for redirections alone.
    pub(crate) name: String,
    /// The program as written, and its arguments.
    pub(crate) argv: Argv,
    pub(crate) streams: Rc<[Stream]>,
    pub(crate) input: Input,
    pub(crate) cwd: Rc<str>,
    pub(crate) place: Place,
    pub(crate) span: Span,
    /// Whether another program starts it.
    pub(crate) wrapped: bool,
}

/// Something the way of running shows, whatever runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The text is not shell as we read it.
    Unreadable,
    /// A limit was reached.
    TooComplex,
    /// Which program runs is only known when it runs.
    UnknownProgram,
    /// Text that is run is only known when it runs.
    UnknownText,
    /// A function that multiplies.
    ForkBomb,
    /// A shell is handed a text with `-c`.
    ShellText,
    /// An interpreter is handed a text.
    CodeText,
    /// A shell or interpreter reads a here-document.
    HereText,
    /// A shell or interpreter reads what came over the network.
    FetchedText,
    /// A shell or interpreter reads what was decoded.
    DecodedText,
    /// A shell or interpreter reads what another program prints.
    PipedText,
    /// A library or start file is slipped into a program.
    InjectedCode,
    /// A variable lifts what the user has set up for us.
    LiftedRails,
}

/// A sign and where it was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signal {
    pub(crate) sign: Sign,
    pub(crate) span: Span,
    pub(crate) place: Place,
}

/// Programs worth finding behind a pattern such as `/bin/r?`.
const PATTERN_NAMES: [&str; 14] = [
    "rm", "dd", "mkfs", "sh", "bash", "shutdown", "reboot", "halt", "poweroff", "kill", "shred",
    "find", "sudo", "busybox",
];

/// The name rules know a program by.
pub(crate) fn program_name(program: Option<&Field>) -> String {
    let Some(program) = program else {
        return String::new();
    };
    // Letters that only look like others are none to a shell, but are to a person who reads.
    let folded: String;
    let text = if program.text.is_ascii() {
        program.text.as_str()
    } else {
        folded = program.text.nfkc().filter(|c| *c != HOLE).collect();
        &folded
    };
    // The shell that runs the command, by way of its own process.
    if text.starts_with("/proc/") && text.ends_with("/exe") {
        return "bash".to_owned();
    }
    let base = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let base = base.to_ascii_lowercase();
    let base = base.strip_suffix(".exe").unwrap_or(&base);
    if base.contains(['*', '?', '[']) {
        let mut names = PATTERN_NAMES.into_iter();
        if let Some(name) = names.find(|name| crate::wildcard::matches(base, name)) {
            return name.to_owned();
        }
    }
    base.to_owned()
}

impl Invocation {
    /// The arguments.
    pub(crate) fn arguments(&self) -> &[Field] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// The text of an argument, empty when there is none.
    pub(crate) fn argument(&self, index: usize) -> &str {
        self.arguments()
            .get(index)
            .map_or("", |field| field.text.as_str())
    }

    /// Arguments before `--` that begin with a dash.
    fn options(&self) -> impl Iterator<Item = &str> {
        let all = self.arguments().iter().map(|field| field.text.as_str());
        all.take_while(|text| *text != "--")
            .filter(|text| text.starts_with('-') && text.len() > 1)
    }

    /// Arguments that are not options; everything behind `--` is one.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Field> {
        let mut ended = false;
        self.arguments().iter().filter(move |field| {
            if !ended && field.text == "--" {
                ended = true;
                return false;
            }
            ended || !field.text.starts_with('-') || field.text == "-"
        })
    }

    /// Whether one of these letters is among the short options.
    pub(crate) fn short(&self, letters: &str) -> bool {
        let mut options = self.options().filter(|text| !text.starts_with("--"));
        options.any(|text| text.chars().skip(1).any(|c| letters.contains(c)))
    }

    /// Whether a long option is given, also shortened (`--recur`) or with a value.
    pub(crate) fn long(&self, name: &str) -> bool {
        self.options().any(|text| {
            let text = text.split('=').next().unwrap_or_default();
            text == name || text.len() >= 5 && text.starts_with("--") && name.starts_with(text)
        })
    }

    /// Whether an argument is exactly this.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.arguments().iter().any(|field| field.text == text)
    }

    /// The first value of one of these options: the argument behind it, or what follows `=` or the letter itself.
    pub(crate) fn value(&self, options: &[&str]) -> Option<Field> {
        option_values(&self.argv, options).into_iter().next()
    }

    /// The values of these options, each as often as it is given.
    pub(crate) fn values(&self, options: &[&str]) -> Vec<Field> {
        option_values(&self.argv, options)
    }

    /// Arguments that are neither options nor the values of these.
    pub(crate) fn words(&self, valued: &'static [&'static str]) -> impl Iterator<Item = &str> {
        let mut skip = false;
        let all = self.arguments().iter().map(|field| field.text.as_str());
        all.filter(move |text| {
            if std::mem::take(&mut skip) {
                return false;
            }
            skip = valued.contains(text);
            !text.starts_with('-')
        })
    }

    /// Whether the name is one of these.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    /// The program without its arguments and whatever else it gets.
    pub(crate) fn bare(&self) -> Self {
        Self {
            argv: Argv::new(self.argv.first().cloned().into_iter().collect()),
            streams: Rc::default(),
            input: Input::Nothing,
            ..self.clone()
        }
    }

    /// Equal for programs that no rule can tell apart.
    pub(crate) fn likeness(&self) -> String {
        let place = match self.place {
            Place::Here => 'h',
            Place::Away => 'a',
            Place::Container => 'c',
        };
        let mut text = String::from(place);
        text.push(if self.wrapped { 'w' } else { 'o' });
        text.push_str(&self.cwd);
        let streams = self.streams.iter().map(|stream| match stream {
            Stream::In(field) => ('<', field),
            Stream::Out(field) => ('>', field),
        });
        for (mark, field) in self.argv.iter().map(|field| (' ', field)).chain(streams) {
            text.push('\0');
            text.push(mark);
            text.push_str(&field.text);
            let carried = field.carried.iter().flat_map(|carried| &carried.programs);
            carried.for_each(|name| text.push_str(name));
        }
        match &self.input {
            Input::Nothing => {}
            Input::Here(body) => text.push_str(body),
            Input::Piped {
                programs,
                text: known,
            } => {
                programs.iter().for_each(|name| text.push_str(name));
                text.push_str(known.as_deref().unwrap_or_default());
            }
        }
        text
    }
}
