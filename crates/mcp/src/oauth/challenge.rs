//! What a refusal says about how to get in: the `WWW-Authenticate` header.

/// The parts of a challenge that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Where the server describes itself.
    pub(super) resource_metadata: Option<String>,
    /// The rights that are asked for.
    pub(super) scope: Option<String>,
    /// What was wrong with the request.
    pub(super) error: Option<String>,
}

impl Challenge {
    /// Reads the `Bearer` challenge of a header, which may hold several.
    pub(super) fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        for (name, value) in parameters(header) {
            let slot = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                "error" => &mut challenge.error,
                _ => continue,
            };
            if slot.is_none() && !value.is_empty() {
                *slot = Some(value);
            }
        }
        challenge
    }

    /// Whether the token is good but does not reach far enough.
    pub(super) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The `name=value` pairs of a header, quoted or not.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(position) = rest.find('=') {
        let name = rest
            .get(..position)
            .unwrap_or_default()
            .rsplit([' ', ',', '\t'])
            .next()
            .unwrap_or_default()
            .to_owned();
        let after = rest.get(position + 1..).unwrap_or_default().trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
                let (value, next) = after.split_at(end);
                (value.to_owned(), next)
            }
        };
        if !name.is_empty() {
            found.push((name, value));
        }
        rest = next;
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((position, letter)) = letters.next() {
        match letter {
            '"' => return (value, text.get(position + 1..).unwrap_or_default()),
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            plain => value.push(plain),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_in_all_their_forms() {
        let header = "Basic realm=\"a, b=c\", Bearer error=\"insufficient_scope\", scope=\"files:read \
                      files:write\", resource_metadata=\"https://h.test/.well-known/x?a=b\"";
        let challenge = Challenge::read(header);
        assert!(challenge.wants_more());
        assert_eq!(challenge.scope.as_deref(), Some("files:read files:write"));
        assert_eq!(
            challenge.resource_metadata.as_deref(),
            Some("https://h.test/.well-known/x?a=b")
        );
        assert_eq!(Challenge::read("Bearer"), Challenge::default());
        assert_eq!(
            Challenge::read("Bearer scope=read, error=x")
                .scope
                .as_deref(),
            Some("read")
        );
        assert_eq!(
            Challenge::read("Bearer scope=\"a\\\"b").scope.as_deref(),
            Some("a\"b")
        );
    }

    proptest::proptest! {
        #[test]
        fn nothing_a_server_says_makes_it_fail(header in ".{0,200}") {
            let _ = Challenge::read(&header);
        }
    }
}
