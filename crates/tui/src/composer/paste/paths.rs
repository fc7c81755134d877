//! Texts that name a file: dropped on the terminal, pasted, or written in front of a message.

/// What a picture's name ends in.
const PICTURES: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "heic", "avif",
];
const LONGEST_PATH: usize = 4_096;

/// The path a pasted text consists of, when it would be a picture's. Whether there is one is the host's
/// to say.
pub fn image_path(text: &str) -> Option<String> {
    if text.len() > LONGEST_PATH {
        return None;
    }
    let (path, rest) = leading_path(text.trim())?;
    (rest.trim().is_empty() && is_picture(&path)).then_some(path)
}

/// The path a message begins with and what stands behind it: quoted, with escaped spaces, or `file://`.
/// It must have a folder in it or belong to a picture, as any first word could be a file.
pub fn leading_path(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let (path, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let (quoted, rest) = text.get(1..)?.split_once(quote)?;
            (quoted.to_owned(), rest)
        }
        _ => bare(text),
    };
    let path = match path.strip_prefix("file://") {
        Some(address) => decoded(address.strip_prefix("localhost").unwrap_or(address)),
        None => path,
    };
    let plausible = path.contains('/') || is_picture(&path);
    let fine = plausible && path.len() <= LONGEST_PATH && !path.contains(char::is_control);
    fine.then_some((path, rest))
}

/// Up to the first space that is not escaped.
fn bare(text: &str) -> (String, &str) {
    let mut path = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => path.extend(letters.next().map(|(_, escaped)| escaped)),
            _ if letter.is_whitespace() => return (path, text.get(at..).unwrap_or_default()),
            _ => path.push(letter),
        }
    }
    (path, "")
}

fn is_picture(path: &str) -> bool {
    let Some((name, ending)) = path.rsplit_once('.') else {
        return false;
    };
    !name.is_empty()
        && PICTURES
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
}

/// `%20` and the like as what they stand for.
fn decoded(address: &str) -> String {
    let mut made = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| *first == b'%');
        let value = code
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        made.push(value.unwrap_or(*first));
        rest = more
            .get(if value.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    String::from_utf8_lossy(&made).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_a_pictures_path_is_found() {
        let cases = [
            ("/tmp/a.png", Some("/tmp/a.png")),
            (" '/tmp/my shot.PNG'\n", Some("/tmp/my shot.PNG")),
            ("/tmp/my\\ shot.jpg", Some("/tmp/my shot.jpg")),
            ("file:///tmp/my%20shot.webp", Some("/tmp/my shot.webp")),
            ("~/a.gif", Some("~/a.gif")),
            ("a.png", Some("a.png")),
            ("/tmp/a.txt", None),
            ("/tmp/a.png and more", None),
            ("see /tmp/a.png", None),
            ("'/tmp/a.png", None),
            (".png", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(image_path(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_message_may_begin_with_a_path() {
        assert_eq!(
            leading_path("/etc/hosts what is this"),
            Some(("/etc/hosts".into(), " what is this"))
        );
        assert_eq!(
            leading_path("\"/a b/c.png\" look"),
            Some(("/a b/c.png".into(), " look"))
        );
        assert_eq!(leading_path("hello there"), None);
    }
}
