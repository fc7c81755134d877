//! The files that are open at a server, and what it said about them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::Extent;
use super::findings::Finding;
use super::protocol;

/// Files that are open at once; the one that came first is closed first.
const MOST_OPEN: usize = 64;

/// What a server knows.
pub(super) struct Documents {
    extent: Extent,
    open: HashMap<String, Opened>,
    order: Vec<String>,
}

/// What a text is known by: the texts themselves would be a lot to keep.
type Fingerprint = [u8; 32];

/// A file as the server knows it.
struct Opened {
    version: i64,
    /// Enough to know the text again.
    text: Fingerprint,
    /// What was found in this very text, once that was said.
    findings: Option<Vec<Finding>>,
}

/// What a server says about a file.
#[derive(Deserialize)]
pub(super) struct Published {
    uri: String,
    #[serde(default)]
    version: Option<i64>,
    diagnostics: Vec<Finding>,
}

impl Documents {
    pub(super) fn new(extent: Extent) -> Self {
        Self {
            extent,
            open: HashMap::new(),
            order: Vec::new(),
        }
    }

    /// What makes a text the one the server knows.
    pub(super) fn tell(&mut self, uri: &str, language: &str, text: &str) -> Vec<Json> {
        let mut messages = Vec::new();
        let known: Fingerprint = Sha256::digest(text.as_bytes()).into();
        match self.open.get_mut(uri) {
            Some(opened) if opened.text == known => return messages,
            Some(opened) => {
                opened.version += 1;
                opened.text = known;
                opened.findings = None;
                messages.push(protocol::changed(uri, opened.version, text));
            }
            None => {
                if self.order.len() >= MOST_OPEN {
                    let oldest = self.order.remove(0);
                    self.open.remove(&oldest);
                    messages.push(protocol::closed(&oldest));
                }
                let opened = Opened {
                    version: 1,
                    text: known,
                    findings: None,
                };
                self.open.insert(uri.to_owned(), opened);
                self.order.push(uri.to_owned());
                messages.push(protocol::opened(uri, language, text));
            }
        }
        if self.extent == Extent::Project {
            messages.push(protocol::saved(uri));
        }
        messages
    }

    /// What was found in the text the server knows, once it said so.
    pub(super) fn known(&self, uri: &str) -> Option<&Vec<Finding>> {
        self.open.get(uri)?.findings.as_ref()
    }

    /// Takes down what a server says. What is about an earlier text says nothing about this one.
    pub(super) fn publish(&mut self, published: Published) {
        if let Some(opened) = self.open.get_mut(&published.uri)
            && published
                .version
                .is_none_or(|version| version >= opened.version)
        {
            opened.findings = Some(published.diagnostics);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn methods(messages: &[Json]) -> Vec<&str> {
        let methods = messages.iter();
        methods
            .map(|one| one["method"].as_str().unwrap().rsplit_once('/').unwrap().1)
            .collect()
    }

    #[test]
    fn what_is_said_about_an_earlier_text_does_not_count() {
        let mut documents = Documents::new(Extent::Document);
        assert_eq!(methods(&documents.tell("u", "lab", "a")), ["didOpen"]);
        assert!(documents.tell("u", "lab", "a").is_empty());
        let changed = documents.tell("u", "lab", "b");
        assert_eq!(changed[0]["params"]["textDocument"]["version"], 2);
        let mut say = |published: Json| {
            documents.publish(serde_json::from_value(published).unwrap());
            documents.known("u").is_some()
        };
        assert!(!say(json!({"uri": "u", "version": 1, "diagnostics": []})));
        assert!(!say(json!({"uri": "other", "diagnostics": []})));
        assert!(say(json!({"uri": "u", "version": 2, "diagnostics": []})));
    }

    #[test]
    fn only_so_many_files_are_open_at_once() {
        let mut documents = Documents::new(Extent::Project);
        for number in 0..MOST_OPEN {
            let told = documents.tell(&format!("{number}"), "lab", "x");
            assert_eq!(methods(&told), ["didOpen", "didSave"]);
        }
        let told = documents.tell("one more", "lab", "x");
        assert_eq!(methods(&told), ["didClose", "didOpen", "didSave"]);
        assert_eq!(told[0]["params"]["textDocument"]["uri"], "0");
        assert_eq!(documents.open.len(), MOST_OPEN);
    }
}
