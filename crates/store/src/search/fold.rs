//! One spelling for what people would call the same text.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::arabic;
use super::letter::{Class, Letter};

/// Compatibility forms composed: full-width letters, half-width kana, decomposed accents and Hangul.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    let is_normal = |character: char| character.is_ascii() || Letter::of(character).is_normal;
    if text.chars().all(is_normal) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Walks over the folded characters of a normalized text with the offset each came from.
pub(super) fn folded_chars(text: &str, mut visit: impl FnMut(char, Class, usize)) {
    let mut in_word = false;
    let mut skip_to = 0;
    for (offset, character) in text.char_indices() {
        if offset < skip_to {
            continue;
        }
        if character.is_ascii() {
            in_word = character.is_ascii_alphanumeric();
            let class = if in_word { Class::Word } else { Class::Gap };
            visit(character.to_ascii_lowercase(), class, offset);
            continue;
        }
        let letter = Letter::of(character);
        if letter.class == Class::Word && !in_word {
            skip_to = offset + arabic::prefix_length(&text[offset..]);
        }
        in_word = letter.class == Class::Word;
        if offset < skip_to {
            continue;
        }
        for &folded in letter.folded() {
            visit(folded, letter.class, offset);
        }
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
        if normalized.is_ascii() && !keep_origin {
            return Self {
                text: folded_ascii(normalized),
                origin: Vec::new(),
            };
        }
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

/// The same for the most frequent kind of text, in which every character is a byte.
fn folded_ascii(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded.make_ascii_lowercase();
    folded
}

fn is_word(character: char) -> bool {
    character != ' '
        && (character.is_ascii_alphanumeric() || Letter::of(character).class == Class::Word)
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

    proptest::proptest! {
        #[test]
        fn the_short_way_for_ascii_leads_to_the_same(text in "[ -~\\n\\t]{0,60}") {
            proptest::prop_assert_eq!(
                Folded::new(&text).text,
                Folded::with_origin(&text).text
            );
        }
    }

    #[test]
    fn parts_scripts_that_are_glued_together() {
        check("使用Docker部署", "使用 docker 部署");
        check("서울에서 v2로", "서울에서 v2 로");
    }

    #[test]
    fn keeps_vowel_signs_and_drops_decoration() {
        check("हिन्दी में", "हिन्दी में");
        check("عَرَبِيَّة", "عربية");
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
