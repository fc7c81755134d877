//! Skills that a person asked for, ready to be sent to the model.

use hermes_core::SessionId;
use serde_json::Value as Json;

use crate::library::Library;
use crate::skill::Skill;
use crate::slash::Chosen;
use crate::template::Placeholders;
use crate::usage::UsageEvent;
use crate::view::{Readiness, ViewError, Viewed};

/// A skill with its placeholders filled in and what goes with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    pub viewed: Viewed,
    pub text: String,
    /// Its own settings and their values.
    pub settings: Vec<(String, Json)>,
    /// What is missing before it works.
    pub setup: Option<String>,
}

impl Rendered {
    /// What a message is made from.
    pub fn chosen(&self) -> Chosen<'_> {
        Chosen {
            name: &self.viewed.entry.name,
            directory: &self.viewed.entry.directory,
            text: &self.text,
            settings: self.settings.clone(),
            setup: self.setup.clone(),
            files: self.viewed.linked.all().cloned().collect(),
        }
    }
}

impl Library {
    /// Reads a skill for a session, counts that, and lets the session's commands see what it declares. Blocks.
    pub fn render(
        &self,
        name: &str,
        surface: &str,
        session: &SessionId,
    ) -> Result<Rendered, ViewError> {
        let viewed = self.view(name, surface)?;
        self.usage().note(&viewed.entry.name, UsageEvent::Used);
        self.grant(session, &viewed.skill);
        Ok(Rendered {
            text: self.filled_in(&viewed, session),
            settings: self.values(&viewed.skill),
            setup: self.readiness(&viewed.skill).note(),
            viewed,
        })
    }

    /// Whether everything a skill needs is there. Blocks.
    pub fn readiness(&self, skill: &Skill) -> Readiness {
        let around = self.surroundings();
        let ready = Readiness::of(
            skill,
            self.locality().system,
            self.home(),
            |name| around.is_set(name),
            |program| around.has_program(program),
        );
        match around.hands_on_files() {
            true => ready,
            false => ready.without_files(skill),
        }
    }

    /// Lets the commands of a session see what a skill declares. Blocks.
    pub fn grant(&self, session: &SessionId, skill: &Skill) {
        let variables = skill.required_variables.iter();
        let names: Vec<_> = variables.map(|variable| variable.name.clone()).collect();
        let files = skill.credential_files.iter();
        let files: Vec<String> = files.map(|file| file.path.clone()).collect();
        if !names.is_empty() || !files.is_empty() {
            self.surroundings().grant(session, &names, &files);
        }
    }

    /// A skill's text with its placeholders filled in, unless the settings leave them alone.
    pub fn filled_in(&self, viewed: &Viewed, session: &SessionId) -> String {
        let text = &viewed.skill.body;
        if !self.settings().template_vars {
            return text.clone();
        }
        let placeholders = Placeholders {
            directory: &viewed.entry.directory,
            session: Some(session.as_str()),
        };
        placeholders.fill(text)
    }

    /// The values of a skill's own settings, as the user set them or as it comes with them.
    fn values(&self, skill: &Skill) -> Vec<(String, Json)> {
        let items = skill.hermes.config.iter();
        items
            .filter_map(|item| {
                let value = self.set_value(&item.key).or_else(|| item.default.clone())?;
                Some((item.key.clone(), value))
            })
            .collect()
    }

    /// What is set for a key; a dotted one may also be written as maps inside each other.
    fn set_value(&self, key: &str) -> Option<Json> {
        let set = &self.settings().config;
        if let Some(value) = set.get(key) {
            return Some(value.to_json());
        }
        let mut parts = key.split('.');
        let first = set.get(parts.next()?)?.to_json();
        let found = parts.try_fold(first, |place, part| place.get(part).cloned())?;
        (!found.is_null()).then_some(found)
    }
}
