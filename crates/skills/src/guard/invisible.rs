//! Characters nobody sees, which hide words from a reader and not from a model.

/// The flag emoji whose parts are tags.
const BLACK_FLAG: char = '\u{1f3f4}';

/// Whether a character shows nothing and is dropped before a line is judged.
pub(super) fn is_nothing(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

/// The first character of a line that hides something. Joiners between letters that need them, variation
/// selectors and the tags of a flag are ordinary.
pub(super) fn hidden(line: &str, is_first: bool) -> Option<char> {
    let mut before: Option<char> = None;
    let mut in_flag = false;
    for (at, character) in line.chars().enumerate() {
        let hides = match character {
            '\u{200c}' | '\u{200d}' => before.is_none_or(|c| c.is_ascii_alphanumeric()),
            '\u{200b}' | '\u{180e}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
            '\u{feff}' => !(is_first && at == 0),
            '\u{e0000}'..='\u{e007f}' => !in_flag,
            _ => false,
        };
        if hides {
            return Some(character);
        }
        in_flag =
            character == BLACK_FLAG || (in_flag && matches!(character, '\u{e0000}'..='\u{e007f}'));
        before = Some(character);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_told_from_ordinary_ones() {
        for (line, expected) in [
            ("plain", None),
            ("a\u{200b}b", Some('\u{200b}')),
            ("a\u{202e}b", Some('\u{202e}')),
            ("\u{2066}x", Some('\u{2066}')),
            ("a\u{e0041}", Some('\u{e0041}')),
            ("a\u{feff}b", Some('\u{feff}')),
            ("a\u{200d}b", Some('\u{200d}')),
            // A family, a flag, a Persian word.
            ("\u{1f468}\u{200d}\u{1f469}", None),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}", None),
            ("\u{646}\u{645}\u{6cc}\u{200c}\u{62e}", None),
            ("\u{2764}\u{fe0f}", None),
        ] {
            assert_eq!(hidden(line, false), expected, "{line:?}");
        }
        assert_eq!(hidden("\u{feff}---", true), None);
    }
}
