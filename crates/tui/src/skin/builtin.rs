//! The skins that come with the program.

use super::Skin;

/// Their names, in the order people see them.
pub(super) const NAMES: [&str; 9] = [
    "default",
    "ares",
    "mono",
    "slate",
    "daylight",
    "warm-lightmode",
    "poseidon",
    "sisyphus",
    "charizard",
];

const DATA: &str = include_str!("builtin.json");

/// All of them. The data is part of the program and tested; if it could not be read there would be none.
pub(super) fn all() -> Vec<Skin> {
    serde_json::from_str(DATA).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::colour::Rgb;

    #[test]
    fn every_name_has_its_skin() {
        let names: Vec<String> = all().into_iter().map(|skin| skin.name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn every_colour_is_one_that_default_has_too() {
        let skins = all();
        for skin in &skins {
            assert!(!skin.description.is_empty());
            for (key, value) in &skin.colors {
                assert!(skins[0].colors.contains_key(key), "{}: {key}", skin.name);
                assert!(Rgb::parse(value).is_some(), "{}: {key} {value}", skin.name);
            }
        }
    }
}
