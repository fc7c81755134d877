//! Names for files that servers name.

use std::path::Path;

/// Most characters of a name.
const LONGEST: usize = 150;
/// Most bytes of it: file systems take 255, and the shelf puts something in front.
const LONGEST_IN_BYTES: usize = 200;
/// Most of them that are taken for an ending.
const LONGEST_ENDING: usize = 20;

/// A harmless name from the last part of an address: no folders, nothing that terminals or file systems
/// treat as special, and not too long. The ending stays.
pub(super) fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let last = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    // Decoding may bring folders back, so the last part is taken again.
    let decoded = percent_decoded(last);
    let last = decoded.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last
        .chars()
        .filter(|c| !c.is_control() && !is_invisible(*c))
        .map(|c| if "\\/:*?\"<>|".contains(c) { '_' } else { c })
        .collect();
    let name = name
        .trim()
        .trim_start_matches('.')
        .trim_end_matches(['.', ' ']);
    if name.is_empty() {
        return "resource".to_owned();
    }
    shortened(name)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST && name.len() <= LONGEST_IN_BYTES {
        return name.to_owned();
    }
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str())
        .filter(|ending| ending.chars().count() <= LONGEST_ENDING)
        .map(|ending| format!(".{ending}"))
        .unwrap_or_default();
    let most = LONGEST - ending.chars().count();
    let bytes = LONGEST_IN_BYTES - ending.len();
    let head: String = name
        .char_indices()
        .take(most)
        .take_while(|(at, next)| at + next.len_utf8() <= bytes)
        .map(|(_, next)| next)
        .collect();
    format!("{head}{ending}")
}

/// Marks that change how the text around them is shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let hex = after
            .get(..2)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = hex.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_harmless() {
        assert_eq!(file_name("file:///a/b/report.pdf?token=x#y"), "report.pdf");
        assert_eq!(file_name("x://h/..%2f..%2fetc%2fpasswd"), "passwd");
        assert_eq!(file_name("x://h/%2e%2e"), "resource");
        assert_eq!(file_name("x://h/.bashrc"), "bashrc");
        assert_eq!(
            file_name("x://h/a%0ab%1b[31m\u{202e}fdp.exe"),
            "ab[31mfdp.exe"
        );
        assert_eq!(file_name("c:\\x\\y.txt"), "y.txt");
        assert_eq!(file_name(""), "resource");
        let long = file_name(&format!("x://h/{}.tar", "ä".repeat(300)));
        assert_eq!(long, format!("{}.tar", "ä".repeat(98)));
        let long = file_name(&format!("x://h/{}.tar", "a".repeat(300)));
        assert_eq!(long, format!("{}.tar", "a".repeat(146)));
    }

    proptest! {
        #[test]
        fn a_name_is_never_a_path(uri in any::<String>()) {
            let name = file_name(&uri);
            prop_assert!(!name.is_empty() && name.chars().count() <= 150 && name.len() <= 200);
            prop_assert!(!name.contains(['/', '\\', '\0', '\n']) && !name.starts_with('.'));
        }
    }
}
