//! One spelling for what people would call the same text.

use std::borrow::Cow;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// What a character is to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Part of a word.
    Word,
    /// A script that does not put spaces between words.
    Dense,
    /// Anything else: spaces, punctuation, symbols.
    Gap,
}

/// Compatibility forms composed: full-width letters, half-width kana, decomposed accents and Hangul.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Walks over the folded characters of a normalized text with the offset each came from.
pub(super) fn folded_chars(text: &str, mut visit: impl FnMut(char, Class, usize)) {
    for (offset, character) in text.char_indices() {
        if character.is_ascii() {
            let class = if character.is_ascii_alphanumeric() {
                Class::Word
            } else {
                Class::Gap
            };
            visit(character.to_ascii_lowercase(), class, offset);
            continue;
        }
        match class_of(character) {
            Class::Word => fold_letter(character, |folded| visit(folded, Class::Word, offset)),
            class => visit(character, class, offset),
        }
    }
}

fn class_of(character: char) -> Class {
    match character as u32 {
        0x0e00..=0x0eff          // Thai, Lao
        | 0x1000..=0x109f        // Myanmar
        | 0x1100..=0x11ff        // Hangul letters
        | 0x1780..=0x17ff        // Khmer
        | 0x2e80..=0x2fdf        // radicals
        | 0x3005..=0x3007        // iteration marks
        | 0x3021..=0x302f
        | 0x3031..=0x303c
        | 0x3041..=0x30fa        // kana
        | 0x30fc..=0x318f        // kana, bopomofo, Hangul letters
        | 0x31a0..=0x31ff
        | 0x3400..=0x4dbf        // ideographs
        | 0x4e00..=0x9fff
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff        // Hangul
        | 0xf900..=0xfaff
        | 0x1b000..=0x1b16f
        | 0x20000..=0x3ffff => Class::Dense,
        _ if character.is_alphanumeric() || is_combining_mark(character) => Class::Word,
        _ => Class::Gap,
    }
}

/// Lower case without accents. Vowel signs of scripts such as Devanagari are letters and stay.
fn fold_letter(character: char, mut emit: impl FnMut(char)) {
    match character {
        'ß' | 'ẞ' => {
            emit('s');
            emit('s');
        }
        'ς' => emit('σ'),
        // Arabic vowel marks and the stretching stroke are decoration.
        '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{640}' => {}
        '\u{300}'..='\u{36f}' => {}
        'أ' | 'إ' | 'آ' => emit('ا'),
        'ø' | 'Ø' => emit('o'),
        'ł' | 'Ł' => emit('l'),
        _ if (character as u32) < 0x590 || (0x1e00..0x2000).contains(&(character as u32)) => {
            decompose_canonical(character, |piece| {
                if !('\u{300}'..='\u{36f}').contains(&piece) {
                    piece.to_lowercase().for_each(&mut emit);
                }
            });
        }
        _ => character.to_lowercase().for_each(emit),
    }
}

/// A text in the form phrases are compared in: folded, words and runs of a dense script parted by one space.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// For each byte of `text`, the offset in the normalized text it came from; empty unless asked for.
    pub(super) origin: Vec<u32>,
}

impl Folded {
    pub(super) fn new(normalized: &str) -> Self {
        Self::build(normalized, false)
    }

    /// Also remembers where every byte came from, for snippets.
    pub(super) fn with_origin(normalized: &str) -> Self {
        Self::build(normalized, true)
    }

    fn build(normalized: &str, keep_origin: bool) -> Self {
        let mut folded = Self {
            text: String::with_capacity(normalized.len()),
            origin: Vec::new(),
        };
        let mut last = Class::Gap;
        let mut push = |character: char, offset: usize| {
            folded.text.push(character);
            if keep_origin {
                let offset = u32::try_from(offset).unwrap_or(u32::MAX);
                folded.origin.resize(folded.text.len(), offset);
            }
        };
        let mut begun = false;
        folded_chars(normalized, |character, class, offset| {
            if class != last && class != Class::Gap && begun {
                push(' ', offset);
            }
            if class != Class::Gap {
                push(character, offset);
                begun = true;
            }
            last = class;
        });
        folded
    }

    /// Where `needle` (itself folded) stands as whole words; `open_end` lets the last word go on.
    pub(super) fn find<'s>(
        &'s self,
        needle: &'s str,
        open_end: bool,
    ) -> impl Iterator<Item = usize> + 's {
        let starts_word = needle.chars().next().is_some_and(is_word);
        let ends_word = !open_end && needle.chars().next_back().is_some_and(is_word);
        self.text
            .match_indices(needle)
            .map(|(at, _)| at)
            .filter(move |&at| {
                let before = self.text[..at].chars().next_back();
                let after = self.text[at + needle.len()..].chars().next();
                let goes_on_before = starts_word && before.is_some_and(is_word);
                let goes_on_after = ends_word && after.is_some_and(is_word);
                !goes_on_before && !goes_on_after
            })
    }
}

fn is_word(character: char) -> bool {
    character != ' ' && (character.is_ascii_alphanumeric() || class_of(character) == Class::Word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Folded::new(&normalize(text)).text, expected);
    }

    #[test]
    fn folds_case_accents_and_width() {
        check("Crème  Brûlée!", "creme brulee");
        check("ＡＢＣ ﾊﾝｶｸ", "abc ハンカク");
        check("Straße", "strasse");
        check("snake_case foo-bar", "snake case foo bar");
    }

    #[test]
    fn parts_scripts_that_are_glued_together() {
        check("使用Docker部署", "使用 docker 部署");
        check("서울에서 v2로", "서울에서 v2 로");
    }

    #[test]
    fn keeps_vowel_signs_and_drops_decoration() {
        check("हिन्दी में", "हिन्दी में");
        check("العَرَبِيَّة", "العربية");
    }

    #[test]
    fn composed_and_decomposed_are_the_same() {
        check("한글", "한글");
        check("\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", "한글");
    }

    #[test]
    fn finds_whole_words_only() {
        let folded = Folded::new("scatter cat cats");
        assert_eq!(folded.find("cat", false).collect::<Vec<_>>(), [8]);
        assert_eq!(folded.find("cat", true).collect::<Vec<_>>(), [8, 12]);
    }
}
