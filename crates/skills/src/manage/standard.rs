//! The open standard for skills, where it is stricter than we are when we read one: what the agent writes is of use
//! to other programs too.

use crate::frontmatter::Frontmatter;
use crate::skill::{LONGEST_COMPATIBILITY, LONGEST_NAME};

/// The fields the standard has.
const FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "allowed-tools",
    "metadata",
];
/// How values begin in the parts of YAML that the standard leaves out.
const LEFT_OUT: [char; 5] = ['[', '{', '&', '*', '!'];

/// Lower-case letters, digits and single dashes between them.
pub(super) fn is_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        !word.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= LONGEST_NAME && name.split('-').all(is_word)
}

/// What others would refuse about the head of a text.
pub(super) fn fault(text: &str) -> Option<String> {
    let read = Frontmatter::parse(text);
    if !text.starts_with("---") {
        return Some("it does not begin with ---".to_owned());
    }
    if read.head.contains("---") || read.head.contains('\t') {
        return Some("there is --- or a tab among its fields".to_owned());
    }
    let mut keys = read.fields.iter().map(|(key, _)| key);
    if let Some(key) = keys.find(|key| !FIELDS.contains(key)) {
        return Some(format!("the standard has no field {key}"));
    }
    if let Some(node) = read.fields.get("compatibility") {
        match node.text() {
            None => return Some("its compatibility is no sentence".to_owned()),
            Some(text) if text.chars().count() > LONGEST_COMPATIBILITY => {
                let why = format!("its compatibility has over {LONGEST_COMPATIBILITY} characters");
                return Some(why);
            }
            Some(_) => {}
        }
    }
    let line = values(read.head).find(|value| value.starts_with(LEFT_OUT))?;
    Some(format!("the standard cannot read {line}"))
}

/// What stands behind each key and each dash of a head, without texts of several lines.
fn values(head: &str) -> impl Iterator<Item = &str> {
    let mut block: Option<usize> = None;
    head.lines().filter_map(move |line| {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.is_empty() || block.is_some_and(|above| indent > above) {
            return None;
        }
        let items = content.trim_start_matches("- ");
        let value = match items.split_once(": ") {
            Some((_, value)) if !items.starts_with(['"', '\'']) => value.trim(),
            _ => items.trim(),
        };
        block = value.starts_with(['|', '>']).then_some(indent);
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_standard_have_single_dashes_inside() {
        for good in ["a", "web-search", "3d-print-2"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "a--b",
            "a_b",
            "a.b",
            "A",
            "ä",
            &"x".repeat(65),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn what_looks_like_a_list_is_told_from_words() {
        let of = |fields: &str| fault(&format!("---\nname: x\ndescription: y\n{fields}---\n\nz"));
        for good in [
            "",
            "license: MIT # [x]\n",
            "metadata:\n  hermes:\n    tags:\n      - a\n    - b\n",
            "metadata:\n  about: |\n    [x]\n    {y: z}\n  other: \"[z]\"\n",
            "metadata:\n  \"a: b\": c & d\n",
        ] {
            assert_eq!(of(good), None, "{good}");
        }
        for bad in [
            "version: 1\n",
            "platforms:\n  - linux\n",
            "metadata:\n  tags: [a]\n",
            "metadata:\n  hermes: {}\n",
            "metadata:\n  tags:\n    - [a]\n",
            "metadata:\n  a: &b c\n",
            "metadata:\n  about: |\n    x\n  tags: [a]\n",
            "license: a --- b\n",
        ] {
            assert!(of(bad).is_some(), "{bad}");
        }
        assert!(of(&format!("compatibility: {}\n", "x".repeat(501))).is_some());
    }
}
