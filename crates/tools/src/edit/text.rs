//! Bytes as text that goes back to the same bytes.

use std::borrow::Cow;

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LITTLE_MARK: &[u8] = b"\xFF\xFE";
const UTF16_BIG_MARK: &[u8] = b"\xFE\xFF";
/// How much is looked at to tell text from other things.
const SAMPLE: usize = 8_192;
/// Control characters in a sample that make it no text, in percent.
const MOST_CONTROL_PERCENT: usize = 30;

/// How a file's bytes stand for characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Utf8,
    /// Nobody knows. One character stands for one byte, so that every byte comes back.
    Bytes,
    Utf16Little,
    Utf16Big,
}

/// Bytes that cannot be edited as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotText {
    #[error("it is a binary file")]
    Binary,
    #[error("it is UTF-16 with a broken character, which would not come back unchanged")]
    BrokenUtf16,
}

/// New text that the file's encoding has no unmistakable bytes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the file is not UTF-8 and its encoding is not known, so only ASCII or characters beside the replaced \
     ones that are spelled the same way can be put into it"
)]
pub(crate) struct NoSpelling;

/// The content of a file without its byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) body: String,
    form: Form,
    marked: bool,
}

/// How a request's characters are written in a file of unknown encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As they are: the file's body is made of characters.
    Plain,
    /// As UTF-8, byte by byte.
    Utf8Bytes,
    /// One byte each.
    SingleBytes,
}

impl Text {
    /// Text of a new file.
    pub(crate) fn new(body: String) -> Self {
        Self {
            body,
            form: Form::Utf8,
            marked: false,
        }
    }

    /// Reads a file's bytes.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, NotText> {
        for (mark, form) in [
            (UTF16_LITTLE_MARK, Form::Utf16Little),
            (UTF16_BIG_MARK, Form::Utf16Big),
        ] {
            if let Some(rest) = bytes.strip_prefix(mark) {
                let body = utf16(rest, form).ok_or(NotText::BrokenUtf16)?;
                return Ok(Self {
                    body,
                    form,
                    marked: true,
                });
            }
        }
        if is_binary(bytes.get(..SAMPLE).unwrap_or(&bytes)) {
            return Err(NotText::Binary);
        }
        let marked = bytes.starts_with(UTF8_MARK);
        let bytes = if marked {
            bytes.get(UTF8_MARK.len()..).unwrap_or_default().to_vec()
        } else {
            bytes
        };
        Ok(match String::from_utf8(bytes) {
            Ok(body) => Self {
                body,
                form: Form::Utf8,
                marked,
            },
            Err(error) => Self {
                body: error.as_bytes().iter().copied().map(char::from).collect(),
                form: Form::Bytes,
                marked,
            },
        })
    }

    /// The same file with another body.
    pub(crate) fn with_body(&self, body: String) -> Self {
        Self { body, ..*self }
    }

    /// The bytes of a file whose body became `body`.
    pub(crate) fn encode<'b>(&self, body: &'b str) -> Cow<'b, [u8]> {
        let mark = match self.form {
            Form::Utf8 if !self.marked => return Cow::Borrowed(body.as_bytes()),
            Form::Bytes if !self.marked => &[],
            Form::Utf8 | Form::Bytes => UTF8_MARK,
            Form::Utf16Little => UTF16_LITTLE_MARK,
            Form::Utf16Big => UTF16_BIG_MARK,
        };
        let mut out = Vec::with_capacity(body.len() + mark.len());
        out.extend_from_slice(mark);
        match self.form {
            Form::Utf8 => out.extend_from_slice(body.as_bytes()),
            // Every character was made from a byte or spelled as bytes.
            Form::Bytes => out.extend(body.chars().map(|c| u8::try_from(c).unwrap_or(b'?'))),
            Form::Utf16Little => out.extend(body.encode_utf16().flat_map(u16::to_le_bytes)),
            Form::Utf16Big => out.extend(body.encode_utf16().flat_map(u16::to_be_bytes)),
        }
        Cow::Owned(out)
    }

    /// The ways a request may be written in this file, likeliest first.
    pub(crate) fn spellings(&self) -> &'static [Spelling] {
        match self.form {
            Form::Bytes => &[Spelling::Utf8Bytes, Spelling::SingleBytes],
            Form::Utf8 | Form::Utf16Little | Form::Utf16Big => &[Spelling::Plain],
        }
    }

    /// A whole new body with the line breaks this one mostly has.
    pub(crate) fn with_own_breaks<'n>(&self, new: &'n str) -> Cow<'n, str> {
        let all = memchr::memchr_iter(b'\n', self.body.as_bytes()).count();
        let double = memchr::memmem::find_iter(self.body.as_bytes(), "\r\n").count();
        if double * 2 > all && !new.contains("\r\n") {
            Cow::Owned(new.replace('\n', "\r\n"))
        } else {
            Cow::Borrowed(new)
        }
    }

    /// Whether the file's encoding is known.
    pub(crate) fn is_known(&self) -> bool {
        self.form != Form::Bytes
    }
}

impl Spelling {
    /// The text as it stands in a body.
    pub(crate) fn spell(self, text: &str) -> Result<Cow<'_, str>, NoSpelling> {
        Ok(match self {
            Self::Plain => Cow::Borrowed(text),
            _ if text.is_ascii() => Cow::Borrowed(text),
            Self::Utf8Bytes => Cow::Owned(text.bytes().map(char::from).collect()),
            Self::SingleBytes => {
                if text.chars().any(|c| u32::from(c) > 0xFF) {
                    return Err(NoSpelling);
                }
                Cow::Borrowed(text)
            }
        })
    }

    /// The new text for an old one that was found in this spelling. An ASCII text is found in every
    /// spelling, so it says nothing about how other characters are to be written.
    pub(crate) fn spell_beside<'t>(
        self,
        new: &'t str,
        old: &str,
    ) -> Result<Cow<'t, str>, NoSpelling> {
        if self != Self::Plain && old.is_ascii() && !new.is_ascii() {
            return Err(NoSpelling);
        }
        self.spell(new)
    }
}

/// Whether a sample is not text: a zero byte or many control characters.
pub(crate) fn is_binary(sample: &[u8]) -> bool {
    if memchr::memchr(0, sample).is_some() {
        return true;
    }
    let control = sample
        .iter()
        .filter(|byte| byte.is_ascii_control() && !b"\t\n\r\x0B\x0C\x08\x1B".contains(byte))
        .count();
    control * 100 > sample.len() * MOST_CONTROL_PERCENT
}

fn utf16(bytes: &[u8], form: Form) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| match (pair, form) {
        ([first, second], Form::Utf16Big) => u16::from_be_bytes([*first, *second]),
        ([first, second], _) => u16::from_le_bytes([*first, *second]),
        _ => 0,
    });
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(bytes: &[u8]) -> Vec<u8> {
        let text = Text::decode(bytes.to_vec()).unwrap();
        text.encode(&text.body).into_owned()
    }

    #[test]
    fn every_known_form_comes_back_unchanged() {
        let mut little = b"\xFF\xFE".to_vec();
        little.extend("héé\r\n𝄞".encode_utf16().flat_map(u16::to_le_bytes));
        let mut big = b"\xFE\xFF".to_vec();
        big.extend("héé\r\n𝄞".encode_utf16().flat_map(u16::to_be_bytes));
        let cases: [&[u8]; 6] = [
            b"plain\n",
            "h\u{e9}\n".as_bytes(),
            b"caf\xE9\r\n",
            b"\xEF\xBB\xBFmarked\n",
            &little,
            &big,
        ];
        for bytes in cases {
            assert_eq!(round_trip(bytes), bytes);
        }
        assert_eq!(
            Text::decode(b"\xFF\xFE\x00\xD8".to_vec()),
            Err(NotText::BrokenUtf16)
        );
        assert_eq!(
            Text::decode(b"\xFF\xFEa".to_vec()),
            Err(NotText::BrokenUtf16)
        );
        assert_eq!(Text::decode(b"a\0b".to_vec()), Err(NotText::Binary));
    }

    #[test]
    fn new_characters_need_a_known_spelling() {
        let spelled = Spelling::SingleBytes.spell_beside("café 2", "café 1");
        assert_eq!(spelled.unwrap(), "café 2");
        assert!(Spelling::SingleBytes.spell_beside("€", "é").is_err());
        assert!(Spelling::Utf8Bytes.spell_beside("é", "e").is_err());
        assert_eq!(Spelling::Plain.spell_beside("é", "e").unwrap(), "é");
    }

    proptest! {
        #[test]
        fn bytes_come_back_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(text) = Text::decode(bytes.clone()) {
                prop_assert_eq!(text.encode(&text.body).into_owned(), bytes);
            }
        }
    }
}
