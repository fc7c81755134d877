//! Arabic writes "and", "the" and a few prepositions onto the next word; people search for the word.

use super::letter::{Class, Letter};

/// What may stand before a word, longest first.
const PREFIXES: [&[char]; 8] = [
    &['و', 'ا', 'ل'],
    &['ب', 'ا', 'ل'],
    &['ك', 'ا', 'ل'],
    &['ف', 'ا', 'ل'],
    &['و', 'ل', 'ل'],
    &['ا', 'ل'],
    &['ل', 'ل'],
    &['و'],
];
/// A word must be left: `وقت` is a word of its own.
const SHORTEST_REST: usize = 3;

/// How many bytes at the start of a word are a prefix and not the word; 0 for other scripts.
pub(super) fn prefix_length(word: &str) -> usize {
    if !word.starts_with(['و', 'ب', 'ك', 'ف', 'ا', 'ل', 'أ', 'إ', 'آ']) {
        return 0;
    }
    // The folded letters of the word, each with where it ends; marks in between count to the letter before.
    let mut letters: Vec<(char, usize)> = Vec::new();
    for (offset, character) in word.char_indices() {
        let letter = Letter::of(character);
        if letter.class != Class::Word {
            break;
        }
        let end = offset + character.len_utf8();
        match (letter.folded().first(), letters.last_mut()) {
            (Some(&folded), _) => letters.push((folded, end)),
            (None, Some(last)) => last.1 = end,
            (None, None) => {}
        }
    }
    let found = PREFIXES.iter().find(|prefix| {
        letters.len() >= prefix.len() + SHORTEST_REST
            && prefix
                .iter()
                .zip(&letters)
                .all(|(wanted, (folded, _))| wanted == folded)
    });
    found.map_or(0, |prefix| letters[prefix.len() - 1].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, rest: &str) {
        assert_eq!(&word[prefix_length(word)..], rest);
    }

    #[test]
    fn takes_prefixes_off_and_leaves_words_alone() {
        check("والملفات", "ملفات");
        check("وشارك", "شارك");
        check("الخادم", "خادم");
        check("وَالخادم", "خادم");
        check("للخادم", "خادم");
        check("وقت", "وقت");
        check("بيت", "بيت");
        check("hello", "hello");
    }
}
