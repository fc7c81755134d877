//! The picture on the clipboard.

use std::time::Duration;

use hermes_config::program_on;
use hermes_program::{Limits, ProgramError};
use tokio::process::Command;

/// A program that cannot reach a clipboard says so at once; one that hangs is not waited for.
const LIMIT: Duration = Duration::from_secs(3);
/// No picture that a model takes is larger.
const LARGEST: usize = 20 * 1024 * 1024;
/// As digits a picture is twice as long.
const LIMITS: Limits = Limits {
    time: LIMIT,
    printed: 2 * LARGEST + 64,
    complaint: 0,
};
/// What a PNG begins with.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// What stands around the digits of a picture that is written in hexadecimal.
const HEXADECIMAL: (&[u8], &[u8]) = ("«data PNGf".as_bytes(), "»".as_bytes());

/// Programs that print a picture of the clipboard, the likeliest first.
const READERS: &[&[&str]] = &[
    &["wl-paste", "--no-newline", "--type", "image/png"],
    &["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
    &["pngpaste", "-"],
    // It comes with macOS, and writes bytes as digits.
    &["osascript", "-e", "the clipboard as «class PNGf»"],
    &[
        "powershell.exe",
        "-NoProfile",
        "-Command",
        "$p = Get-Clipboard -Format Image; if ($p) { $s = New-Object IO.MemoryStream; \
         $p.Save($s, 'Png'); $o = [Console]::OpenStandardOutput(); $o.Write($s.ToArray(), 0, $s.Length) }",
    ],
];

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nothing {
    /// Nobody here can look.
    NoReader,
    /// The one who could did not answer.
    Silent(&'static str),
    /// There is one that nobody would take.
    TooLarge,
    /// There is none.
    Empty,
}

impl Nothing {
    /// The words for it.
    pub(super) fn told(&self) -> String {
        match self {
            Self::NoReader => "no program here reads pictures from the clipboard".to_owned(),
            Self::Silent(name) => format!("{name} did not answer within {} s", LIMIT.as_secs()),
            Self::TooLarge => format!(
                "the picture on the clipboard is larger than {} MB",
                LARGEST / (1024 * 1024)
            ),
            Self::Empty => "there is no picture on the clipboard".to_owned(),
        }
    }

    /// What helps.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::NoReader => {
                "install wl-clipboard (Wayland) or xclip (X11), or attach a file with /image PATH"
            }
            Self::Silent(_) => "try again, or attach a file with /image PATH",
            Self::TooLarge => "make it smaller, or attach a file with /image PATH",
            Self::Empty => "copy one first, or attach a file with /image PATH",
        }
    }
}

/// The bytes of the picture, from the first program that has one. `search` is where programs are.
pub(super) async fn picture(search: &str) -> Result<Vec<u8>, Nothing> {
    let mut why = Nothing::NoReader;
    for reader in READERS {
        let Some((name, arguments)) = reader.split_first() else {
            continue;
        };
        let Some(program) = program_on(search, name) else {
            continue;
        };
        let mut command = Command::new(&program);
        command.args(arguments);
        match hermes_program::run(command, &[], LIMITS).await {
            Ok(ended) => match of(ended.printed) {
                Some(picture) if picture.len() > LARGEST => why = Nothing::TooLarge,
                Some(picture) => return Ok(picture),
                None => why = Nothing::Empty,
            },
            Err(ProgramError::TooMuch(_)) => why = Nothing::TooLarge,
            Err(ProgramError::TooSlow(_)) => why = Nothing::Silent(name),
            Err(ProgramError::NotStarted(_) | ProgramError::Lost(_)) => why = Nothing::Empty,
        }
    }
    Err(why)
}

/// The picture that was printed as it is, or in digits.
fn of(printed: Vec<u8>) -> Option<Vec<u8>> {
    let (open, close) = HEXADECIMAL;
    let digits = printed
        .trim_ascii()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close));
    let picture = match digits {
        Some(digits) => bytes_of(digits)?,
        None => printed,
    };
    picture.starts_with(PNG).then_some(picture)
}

/// What digits stand for, two for a byte.
fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(value(*high)? * 16 + value(*low)?).ok(),
        _ => None,
    });
    pairs.collect()
}
