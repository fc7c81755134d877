//! Finding what was meant from a few letters of it.
//!
//! The letters must occur in order. Among the ways they do, the one counts that has them at the starts of
//! words and next to each other.

const LONGEST_QUERY: usize = 64;
const LONGEST_TEXT: usize = 512;

const MATCH: i32 = 16;
const CONSECUTIVE: i32 = 14;
const WORD_START: i32 = 10;
const FIRST: i32 = 8;
const SKIPPED: i32 = 1;
const NONE: i32 = i32::MIN / 2;

/// How well a query fits a text; more is better, and nothing means not at all.
pub(crate) fn score(query: &str, text: &str) -> Option<i32> {
    let wanted: Vec<char> = folded(query)
        .filter(|letter| !letter.is_whitespace())
        .take(LONGEST_QUERY)
        .collect();
    if wanted.is_empty() {
        return Some(0);
    }
    let letters: Vec<char> = text.chars().take(LONGEST_TEXT).collect();
    // For the letters of the query read so far: the best score that ends at each place.
    let mut best: Vec<i32> = Vec::new();
    for (index, letter) in wanted.iter().enumerate() {
        best = row(*letter, index == 0, &letters, &best);
    }
    let found = best.into_iter().max().filter(|found| *found > 0)?;
    // Of two texts that fit alike the shorter one is nearer.
    Some(found * 4 - i32::try_from(letters.len() / 4).unwrap_or(0))
}

fn row(wanted: char, first: bool, letters: &[char], before: &[i32]) -> Vec<i32> {
    let mut made = vec![NONE; letters.len()];
    let mut carried = NONE;
    for (at, (letter, place)) in letters.iter().zip(&mut made).enumerate() {
        if same(*letter, wanted) {
            let earlier = at.checked_sub(1).and_then(|at| letters.get(at));
            let start = earlier.is_none_or(|earlier| starts_word(*earlier, *letter));
            let bonus = MATCH + i32::from(start) * WORD_START + i32::from(at == 0) * FIRST;
            let adjacent = at.checked_sub(1).and_then(|at| before.get(at)).copied();
            let reached = match first {
                true => 0,
                false => carried.max(adjacent.map_or(NONE, |score| score + CONSECUTIVE)),
            };
            if reached > NONE / 2 {
                *place = reached + bonus;
            }
        }
        let ended = before.get(at).copied().unwrap_or(NONE);
        carried = (carried - SKIPPED).max(ended);
    }
    made
}

fn starts_word(earlier: char, letter: char) -> bool {
    !earlier.is_alphanumeric() || (earlier.is_lowercase() && letter.is_uppercase())
}

fn same(letter: char, wanted: char) -> bool {
    letter == wanted || letter.to_lowercase().eq(std::iter::once(wanted))
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// The places of the texts that fit, best first; equals stay in their order.
pub(crate) fn rank<'t>(query: &str, texts: impl IntoIterator<Item = &'t str>) -> Vec<usize> {
    let scored = texts.into_iter().enumerate();
    let mut found: Vec<(usize, i32)> = scored
        .filter_map(|(at, text)| score(query, text).map(|score| (at, score)))
        .collect();
    if !query.trim().is_empty() {
        found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    }
    found.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_must_occur_in_order() {
        assert!(score("mdl", "model").is_some());
        assert!(score("ldm", "model").is_none());
        assert!(score("", "model").is_some());
        assert!(score("MOD", "model").is_some());
        assert!(score("mode", "mod").is_none());
    }

    #[test]
    fn starts_of_words_and_neighbours_come_first() {
        let texts = ["a-sample-order", "so", "src/other.rs", "isolate"];
        assert_eq!(rank("so", texts), [1, 2, 3, 0]);
        assert_eq!(rank("mo", ["memory-only", "model"]), [1, 0]);
        assert_eq!(rank("", ["b", "a"]), [0, 1]);
    }
}
