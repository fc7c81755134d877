//! Whom to trust, by where the bytes really come from and never by what a list says.

use super::identifier::Repository;
use crate::guard::Trust;

/// Repositories of vendors everybody knows.
const TRUSTED: [(&str, &str); 4] = [
    ("openai", "skills"),
    ("anthropics", "skills"),
    ("huggingface", "skills"),
    ("nvidia", "skills"),
];

/// The trust in a repository.
pub(super) fn of_repository(repository: &Repository) -> Trust {
    let is = |(owner, name): &(&str, &str)| {
        repository.owner().eq_ignore_ascii_case(owner)
            && repository.name().eq_ignore_ascii_case(name)
    };
    if TRUSTED.iter().any(is) {
        Trust::Trusted
    } else {
        Trust::Community
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_repositories_are_trusted() {
        for (text, expected) in [
            ("openai/skills", Trust::Trusted),
            ("NVIDIA/skills", Trust::Trusted),
            ("openai/other", Trust::Community),
            ("openai-skills/skills", Trust::Community),
            ("garrytan/gstack", Trust::Community),
        ] {
            assert_eq!(of_repository(&text.parse().unwrap()), expected, "{text}");
        }
    }
}
