//! Showing a person which key it is without showing the key.

const FULLY_HIDDEN_BELOW: usize = 18;
const SHOWN: usize = 4;

/// Shows the first and last four characters of a long value and nothing of a short one.
pub fn mask(value: &str) -> String {
    let length = value.chars().count();
    if length < FULLY_HIDDEN_BELOW {
        return "***".to_owned();
    }
    let head: String = value.chars().take(SHOWN).collect();
    let tail: String = value.chars().skip(length - SHOWN).collect();
    format!("{head}…{tail}")
}
