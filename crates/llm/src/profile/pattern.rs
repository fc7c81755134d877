//! Names with `*` for anything.

/// Whether a name fits; case does not matter.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<_> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("gpt-5*", "gpt-5.5", true),
            ("gpt-5*", "openai/gpt-5", false),
            ("gpt-5", "gpt-5.5", false),
            ("*claude*", "us.anthropic.Claude-x", true),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c", false),
            ("ab*b", "ab", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
