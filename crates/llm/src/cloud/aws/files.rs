//! The two files in which the programs of AWS keep profiles.

use std::collections::HashMap;
use std::path::Path;

use crate::cloud::exchange::small;

/// The profiles of both files; what the file of credentials says comes first.
#[derive(Debug, Default)]
pub(crate) struct AwsFiles {
    profiles: HashMap<String, Section>,
    sessions: HashMap<String, Section>,
}

pub(crate) type Section = HashMap<String, String>;

impl AwsFiles {
    /// Reads what is there; a file that cannot be read holds nothing.
    pub(crate) fn read(credentials: Option<&Path>, config: Option<&Path>) -> Self {
        let mut files = Self::default();
        let text = |path: Option<&Path>| path.and_then(|path| small(path).ok()).unwrap_or_default();
        for (name, key, value) in entries(&text(credentials)) {
            put(&mut files.profiles, name, key, value);
        }
        for (name, key, value) in entries(&text(config)) {
            match name.split_once(char::is_whitespace) {
                Some(("profile", name)) => put(&mut files.profiles, name.trim(), key, value),
                Some(("sso-session", name)) => put(&mut files.sessions, name.trim(), key, value),
                _ if name == "default" => put(&mut files.profiles, name, key, value),
                _ => {}
            }
        }
        files
    }

    pub(crate) fn profile(&self, name: &str) -> Option<&Section> {
        self.profiles.get(name)
    }

    pub(crate) fn session(&self, name: &str) -> Option<&Section> {
        self.sessions.get(name)
    }
}

/// The first to say something is believed.
fn put(sections: &mut HashMap<String, Section>, name: &str, key: &str, value: &str) {
    if !value.is_empty() {
        sections
            .entry(name.to_owned())
            .or_default()
            .entry(key.to_ascii_lowercase())
            .or_insert_with(|| value.to_owned());
    }
}

/// Every line `key = value` with the section it stands in. Lines further in belong to a key of another
/// program.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut section = "";
    text.lines().filter_map(move |line| {
        let plain = line.trim();
        if let Some(name) = plain
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            section = name.0.trim();
            return None;
        }
        if line.starts_with([' ', '\t', '#', ';']) {
            return None;
        }
        let (key, value) = plain.split_once('=')?;
        let value = value.split(" #").next().unwrap_or(value);
        Some((section, key.trim(), value.trim()))
    })
}
