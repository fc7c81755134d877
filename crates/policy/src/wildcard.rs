//! Patterns with `*`, `?` and `[…]`, in linear time.

/// Whether the whole text matches the pattern.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern = tokens(pattern);
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where the last star stands and how far it reaches: going back there is enough.
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some(Token::Any) => {
                star = Some((p, t));
                p += 1;
            }
            Some(token) if token.accepts(*c) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, reach)) => {
                    star = Some((at, reach + 1));
                    p = at + 1;
                    t = reach + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .iter()
        .skip(p)
        .all(|token| matches!(token, Token::Any))
}

enum Token {
    Any,
    One,
    Set { characters: String, except: bool },
    Exactly(char),
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Any => false,
            Self::One => true,
            Self::Set { characters, except } => in_set(characters, c) != *except,
            Self::Exactly(own) => *own == c,
        }
    }
}

fn in_set(characters: &str, c: char) -> bool {
    let all: Vec<char> = characters.chars().collect();
    all.contains(&c)
        || all
            .windows(3)
            .any(|three| matches!(three, [low, '-', high] if (*low..=*high).contains(&c)))
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        tokens.push(match c {
            '*' => Token::Any,
            '?' => Token::One,
            '[' => match rest.as_str().split_once(']') {
                Some((inside, behind)) if !inside.is_empty() => {
                    rest = behind.chars();
                    let bare = inside.trim_start_matches(['!', '^']);
                    Token::Set {
                        characters: bare.to_owned(),
                        except: bare.len() < inside.len(),
                    }
                }
                _ => Token::Exactly('['),
            },
            other => Token::Exactly(other),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_marks_and_sets() {
        for (pattern, text) in [
            ("*", ""),
            ("git *", "git status"),
            ("r[lm]", "rm"),
            ("?tc", "etc"),
            ("[a-f]tc", "etc"),
            ("[!x]tc", "etc"),
            ("a*b*c", "aXbYbc"),
            ("[", "["),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("git *", "git"),
            ("?", ""),
            ("[!e]tc", "etc"),
            ("a*b", "abc"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        let many = "a*".repeat(2_000);
        assert!(!matches(&many, &format!("{}b", "a".repeat(1_999))));
    }
}
