//! JSON that is nearly JSON: trailing commas, single quotes, Python's words, brackets too many or too
//! few, raw control characters in strings. A text that stops inside a string is never completed: half a
//! path is not a path.

use serde_json::Value as Json;

/// Most surplus closing brackets that are dropped.
const MOST_SURPLUS: usize = 50;

/// The value that was meant, if the text can be mended.
pub(super) fn mend(text: &str) -> Option<Json> {
    super::read(&rewrite(text)?)
}

/// Writes the text anew, token by token; `None` when it stops inside a string.
fn rewrite(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut open: Vec<char> = Vec::new();
    let mut surplus = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => string(letter, &mut letters, &mut out)?,
            '{' | '[' => {
                open.push(if letter == '{' { '}' } else { ']' });
                out.push(letter);
            }
            '}' | ']' => {
                drop_comma(&mut out);
                if !open.contains(&letter) {
                    surplus += 1;
                    if surplus > MOST_SURPLUS {
                        return None;
                    }
                    continue;
                }
                while let Some(expected) = open.pop() {
                    out.push(expected);
                    if expected == letter {
                        break;
                    }
                }
            }
            letter if letter.is_alphabetic() => {
                let mut word = String::from(letter);
                while let Some(next) =
                    letters.next_if(|next| next.is_alphanumeric() || *next == '_')
                {
                    word.push(next);
                }
                out.push_str(match word.as_str() {
                    "True" => "true",
                    "False" => "false",
                    "None" | "undefined" => "null",
                    other => other,
                });
            }
            other => out.push(other),
        }
    }
    // Only brackets are missing at the end, never a value.
    let ends_in_value = out.trim_end().ends_with(|last: char| {
        last == '"' || last == '}' || last == ']' || last.is_alphanumeric()
    });
    if !open.is_empty() && !ends_in_value {
        return None;
    }
    while let Some(closing) = open.pop() {
        out.push(closing);
    }
    Some(out)
}

/// Copies a string, in double quotes and with its control characters written out.
fn string(
    quote: char,
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Option<()> {
    out.push('"');
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                '\'' => out.push('\''),
                escaped => {
                    out.push('\\');
                    out.push(escaped);
                }
            },
            letter if letter == quote => {
                out.push('"');
                return Some(());
            }
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter.is_control() => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    None
}

fn drop_comma(out: &mut String) {
    let kept = out.trim_end();
    if let Some(rest) = kept.strip_suffix(',') {
        out.truncate(rest.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_panics_and_keeps_good_json(text in "\\PC{0,60}") {
            let _ = mend(&text);
        }

        #[test]
        fn good_json_means_the_same(number in any::<i32>(), text in "\\PC{0,20}") {
            let good = serde_json::json!({"n": number, "t": [text, true, null]});
            prop_assert_eq!(mend(&good.to_string()), Some(good));
        }
    }
}
