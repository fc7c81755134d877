//! Whom or what a sentence is about: names, and what stands in quotes.

/// Most things one fact is about.
const MOST: usize = 12;
/// Words that begin sentences and name nothing.
const NO_NAMES: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "but", "by", "can", "do", "does", "for", "from", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "is", "it", "its", "my", "no", "not", "on",
    "or", "our", "she", "so", "that", "the", "their", "there", "these", "they", "this", "to",
    "use", "uses", "user", "we", "what", "when", "where", "who", "why", "with", "yes", "you",
    "your",
];

/// The names in a text, each once, in their order.
pub(super) fn of(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.trim();
        let known = found.iter().any(|other| other.eq_ignore_ascii_case(name));
        if name.chars().count() > 1 && !known && found.len() < MOST {
            found.push(name.to_owned());
        }
    };
    for mark in ['"', '`', '\u{201d}'] {
        let pieces: Vec<&str> = match mark {
            '\u{201d}' => text.split(['\u{201c}', '\u{201d}']).collect(),
            mark => text.split(mark).collect(),
        };
        // Only what has a mark on both sides is quoted.
        let closed = pieces.len().saturating_sub(1) / 2 * 2;
        for quoted in pieces.iter().take(closed).skip(1).step_by(2) {
            add(quoted);
        }
    }
    let mut run: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").unwrap_or(bare);
        let named = bare.chars().next().is_some_and(char::is_uppercase)
            && !NO_NAMES.contains(&bare.to_lowercase().as_str());
        if named {
            run.push(bare);
        }
        if !named || word.ends_with(['.', ',', ';', ':', '!', '?']) {
            add(&run.join(" "));
            run.clear();
        }
    }
    add(&run.join(" "));
    found
}

#[cfg(test)]
mod tests {
    use super::of;

    // LN-39
    #[test]
    fn names_and_quotes_are_what_a_sentence_is_about() {
        assert_eq!(
            of("The user likes Earl Grey, and so does Ana."),
            ["Earl Grey", "Ana"]
        );
        assert_eq!(
            of("Deploys \"blue green\" with `make ship`"),
            ["blue green", "make ship", "Deploys"]
        );
        assert_eq!(of("Ana's boss is Bob. Ana knows."), ["Ana", "Bob"]);
        assert_eq!(of("nothing here, \"open"), Vec::<String>::new());
    }
}
