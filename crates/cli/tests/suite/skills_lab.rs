//! A home that finds all skills of others on one loopback server.

use std::time::Duration;

use hermes_testkit::skill_hubs::SkillHubs;
use hermes_testkit::{HermeticCommand, Output};
use serde_json::Value as Json;

use super::program::Program;
use super::raw_zip::{RawEntry, raw_zip};

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// The places, and a home that knows no others.
pub(crate) struct Lab {
    pub(crate) hubs: SkillHubs,
    pub(crate) program: Program,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let lab = Self::careful();
        let settings = "security:\n  allow_private_urls: true\n";
        lab.program.home.write_config(settings).unwrap();
        lab
    }

    /// A home that may not reach private addresses unless they stand in the settings.
    pub(crate) fn careful() -> Self {
        let program = Program::new();
        std::fs::create_dir(program.home.user_home().join("none")).unwrap();
        Self {
            hubs: SkillHubs::start().unwrap(),
            program,
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> HermeticCommand {
        let mut command = self.program.command(&["skills"]).args(arguments);
        for (name, value) in self.hubs.variables() {
            command = command.env(name, value);
        }
        command
            .env(
                "HERMES_BUNDLED_SKILLS",
                self.program.home.user_home().join("none"),
            )
            .timeout(LONG)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).run().unwrap()
    }

    /// Installs without a question.
    pub(crate) fn install(&self, skill: &str) -> Output {
        self.run(&["install", skill, "-y"])
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Json {
        let all: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
        self.run(&all).ok().json()
    }

    /// The list of what is installed.
    pub(crate) fn lock(&self) -> Json {
        match self.program.home.read("skills/.hub/lock.json") {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(_) => Json::Null,
        }
    }

    pub(crate) fn entry(&self, name: &str) -> Json {
        self.lock()["installed"][name].clone()
    }

    pub(crate) fn audit(&self) -> String {
        self.program
            .home
            .read("skills/.hub/audit.log")
            .unwrap_or_default()
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.program.home.read(&format!("skills/{path}")).ok()
    }

    /// Asserts that a command failed with these words and left nothing behind.
    #[track_caller]
    pub(crate) fn nothing_came_of(&self, output: &Output, words: &[&str]) {
        assert_eq!(output.code, Some(1), "{}", output.report());
        for word in words {
            assert!(output.stderr.contains(word), "{word}: {}", output.report());
        }
        assert!(output.stderr.contains("\nhint: "), "{}", output.report());
        self.nothing_waits();
        let installed = self.lock()["installed"]
            .as_object()
            .map_or(0, serde_json::Map::len);
        assert_eq!(installed, 0, "{}", self.lock());
        let left: Vec<String> = std::fs::read_dir(self.program.home.path().join("skills"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.'))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Asserts that quarantine is empty.
    #[track_caller]
    pub(crate) fn nothing_waits(&self) {
        let quarantine = self.program.home.path().join("skills/.hub/quarantine");
        let waiting: Vec<_> = std::fs::read_dir(quarantine)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        assert!(waiting.is_empty(), "{waiting:?}");
    }
}

/// The text of a harmless skill.
pub(crate) fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\n---\n\n# {name}\n\n{body}\n")
}

/// An archive of these files.
pub(crate) fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let entries: Vec<RawEntry> = files
        .iter()
        .map(|(path, text)| RawEntry::new(path, text))
        .collect();
    raw_zip(&entries)
}
