//! Putting tokens together to text, never cutting a character.

/// Bytes that may end in the middle of a character.
#[derive(Default)]
pub(crate) struct TextStream {
    pending: Vec<u8>,
}

impl TextStream {
    /// Adds bytes and returns the text that is complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.pending) {
                Ok(rest) => {
                    text.push_str(rest);
                    self.pending.clear();
                    return text;
                }
                Err(error) => {
                    let (valid, rest) = self.pending.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(invalid) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending = rest.iter().skip(invalid).copied().collect();
                }
            }
        }
    }

    /// What is left at the end of an answer.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::TextStream;

    #[test]
    fn a_character_comes_out_whole_or_not_at_all() {
        let mut stream = TextStream::default();
        let pieces: Vec<String> = "aé😀z".bytes().map(|byte| stream.push(&[byte])).collect();
        assert_eq!(pieces, ["a", "", "é", "", "", "", "😀", "z"]);
        assert_eq!(stream.finish(), "");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hold_up_the_rest() {
        let mut stream = TextStream::default();
        assert_eq!(stream.push(&[0xff, b'a', 0xc3]), "\u{fffd}a");
        assert_eq!(stream.push(b"b"), "\u{fffd}b");
        assert_eq!(stream.push(&[0xf0, 0x9f]), "");
        assert_eq!(stream.finish(), "\u{fffd}");
    }
}
