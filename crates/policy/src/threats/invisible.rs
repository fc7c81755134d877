//! Characters nobody sees, which serve to hide words from people or to split them before a scanner.

/// The last letter of the Latin blocks that words of a pattern could be written in.
const LAST_LATIN: char = '\u{24f}';

/// Whether a character takes no room and is left out when words are looked for.
pub(super) fn is_one(character: char) -> bool {
    matches!(character,
        '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The characters nobody sees that have no business where they stand, with their places.
///
/// Joiners and marks of direction are part of how Persian, Hindi, Hebrew and emoji are written: beside such
/// a letter or sign they are no threat, between Latin ones they are.
pub(super) fn find(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices()
        .filter(|(_, character)| is_one(*character))
        .filter(|(at, character)| !(is_writing(*character) && stands_by_script(text, *at)))
}

fn is_writing(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}')
}

fn stands_by_script(text: &str, at: usize) -> bool {
    let foreign = |character: char| character > LAST_LATIN && !is_one(character);
    let (before, rest) = text.split_at(at);
    before.chars().next_back().is_some_and(foreign) || rest.chars().nth(1).is_some_and(foreign)
}
