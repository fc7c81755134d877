//! The piece of a message around its first match.

use super::fold::{Folded, normalize};
use super::query::Query;

const BEFORE: usize = 60;
const AFTER: usize = 120;

/// About 180 characters around the first match, which stands between `>>>` and `<<<`.
pub(super) fn snippet(query: &Query, text: &str) -> String {
    let normalized = normalize(text);
    let folded = Folded::with_origin(&normalized);
    let first = query
        .atoms()
        .filter_map(|atom| {
            let at = folded.find(&atom.folded, atom.open_end).next()?;
            Some((at, at + atom.folded.len()))
        })
        .min();
    let Some((from, to)) = first else {
        return shorten(&normalized, 0, AFTER);
    };
    let start = origin(&folded, from, normalized.len());
    let last = origin(&folded, to.saturating_sub(1), normalized.len());
    let end = last + normalized[last..].chars().next().map_or(0, char::len_utf8);
    let lead = step_back(&normalized, start, BEFORE);
    let tail = step_on(&normalized, end, AFTER);
    let mut out = String::new();
    if lead > 0 {
        out.push('…');
    }
    out.push_str(&normalized[lead..start]);
    out.push_str(">>>");
    out.push_str(&normalized[start..end]);
    out.push_str("<<<");
    out.push_str(&normalized[end..tail]);
    if tail < normalized.len() {
        out.push('…');
    }
    one_line(&out)
}

fn origin(folded: &Folded, at: usize, end: usize) -> usize {
    folded.origin.get(at).map_or(end, |&offset| offset as usize)
}

fn shorten(text: &str, from: usize, characters: usize) -> String {
    let end = step_on(text, from, characters);
    let more = if end < text.len() { "…" } else { "" };
    one_line(&format!("{}{more}", &text[from..end]))
}

fn step_back(text: &str, from: usize, characters: usize) -> usize {
    text[..from]
        .char_indices()
        .rev()
        .take(characters)
        .last()
        .map_or(from, |(at, _)| at)
}

fn step_on(text: &str, from: usize, characters: usize) -> usize {
    text[from..]
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| from + at)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_the_match_in_the_original_spelling() {
        let query = Query::parse("creme");
        assert_eq!(
            snippet(&query, "One Crème brûlée\nplease"),
            "One >>>Crème<<< brûlée please"
        );
        let query = Query::parse("部署");
        assert_eq!(
            snippet(&query, "使用Docker部署服务"),
            "使用Docker>>>部署<<<服务"
        );
    }
}
