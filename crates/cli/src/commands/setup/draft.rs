//! What was answered so far, and the one moment it is written.

use hermes_agent::toolsets;
use hermes_config::{
    Config, Edit, EnvName, KeyPath, Layer, Loaded, Node, Setting as _, Settings, read_file,
};

use super::{HERE, heading, missing, terminal};
use crate::commands::ask;
use crate::commands::edit::edit;
use crate::commands::model::Decision;
use crate::commands::skills::{accept, refuse};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};

/// What becomes of the skills that come with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Along {
    Come,
    StayOut,
}

/// Changes that nobody has written yet.
pub(super) struct Draft {
    loaded: Loaded,
    pub(super) model: Option<Decision>,
    edits: Vec<(String, String)>,
    /// Variables for `.env`, which nobody is shown.
    pub(super) variables: Vec<(EnvName, String)>,
    /// Whether the skills that come along shall come into this home.
    pub(super) skills: Option<Along>,
    /// Whether it only fills in what nobody has set: that is written without another question.
    pub(super) fills: bool,
}

impl Draft {
    pub(super) fn new(context: &Context) -> Outcome<Self> {
        Ok(Self {
            loaded: context.settings()?,
            model: None,
            edits: Vec::new(),
            variables: Vec::new(),
            skills: None,
            fills: false,
        })
    }

    pub(super) fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// What a setting is, as far as the answers go.
    pub(super) fn value(&self, key: &str) -> String {
        let answered = self.edits.iter().find(|(name, _)| name == key);
        let answered = answered.map(|(_, value)| value.clone());
        answered.unwrap_or_else(|| in_force(&self.loaded, key))
    }

    /// Whether a variable was answered for.
    pub(super) fn has_variable(&self, name: &EnvName) -> bool {
        self.variables.iter().any(|(other, _)| other == name)
    }

    fn is_empty(&self) -> bool {
        self.model.is_none()
            && self.edits.is_empty()
            && self.variables.is_empty()
            && self.skills.is_none()
    }

    /// Notes an answer; one that changes nothing is not written.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.edits.retain(|(name, _)| name != key);
        if in_force(&self.loaded, key) != value {
            self.edits.push((key.to_owned(), value.to_owned()));
        }
    }

    /// Notes a setting with a value of its own kind.
    pub(super) fn set_to(&mut self, setting: Option<(String, String)>) {
        if let Some((key, value)) = setting {
            self.edits.retain(|(name, _)| *name != key);
            self.edits.push((key, value));
        }
    }

    /// Shows what will be written, asks once more where something is replaced, and writes it: all of it or nothing. Says
    /// whether it did.
    pub(super) fn finish(self, context: &Context, output: &mut Output) -> Outcome<bool> {
        if self.is_empty() || !self.shown_and_agreed(output)? {
            output.line("Nothing was changed.")?;
            missing::tell(context, output)?;
            return Ok(false);
        }
        let file = context.home()?.config_file();
        if let Some(bytes) = read_file(&file)? {
            let copy = hermes_config::keep_copy(&file, context.clock().now().into(), &bytes)?;
            output.line(format!("The settings as they were: {}", copy.display()))?;
        }
        self.write(context, output)?;
        summary(context, output)?;
        Ok(true)
    }

    /// Shows what will be written, and asks once more where something is replaced.
    fn shown_and_agreed(&self, output: &mut Output) -> Outcome<bool> {
        heading("To be written", output)?;
        if let Some(decision) = &self.model {
            output.line(format!("  model: {}", decision.words()))?;
        }
        for (key, value) in &self.edits {
            output.line(format!("  {key}: {}", one_line(value)))?;
        }
        for (name, _) in &self.variables {
            output.line(format!("  {name}: kept in .env"))?;
        }
        match self.skills {
            Some(Along::Come) => output.line("  skills that come with the program: come along")?,
            Some(Along::StayOut) => output.line("  skills that come with the program: stay out")?,
            None => {}
        }
        Ok(self.fills || ask::agreed("Write it?", output)?)
    }

    fn write(&self, context: &Context, output: &mut Output) -> Outcome {
        for (name, value) in &self.variables {
            edit(context, |settings| settings.set_variable(name, value))?;
        }
        match &self.model {
            Some(decision) => decision.carry_out(&self.edits, context, output)?,
            None if self.edits.is_empty() => {}
            None => {
                let edits = self.edits.iter();
                let edits: Vec<(&str, Edit<'_>)> = edits
                    .map(|(key, value)| (key.as_str(), Edit::Set(value)))
                    .collect();
                edit(context, |settings| settings.change(&edits))?;
            }
        }
        match self.skills {
            Some(Along::Come) => accept(context.home()?)?,
            Some(Along::StayOut) => refuse(context.home()?)?,
            None => {}
        }
        Ok(())
    }
}

/// The value of a setting as people write it; the empty text when it has none.
fn in_force(loaded: &Loaded, key: &str) -> String {
    let path = KeyPath::parse(key).unwrap_or_default();
    let set = Settings::get(loaded, key).and_then(Node::text);
    set.unwrap_or_else(|| {
        let default = Config::shape().default_at(&path);
        let default = default.map(|value| Node::new(value, Layer::Default));
        default.and_then(|node| node.text()).unwrap_or_default()
    })
}

/// What there is now, where it is kept and what to do next.
fn summary(context: &Context, output: &mut Output) -> Outcome {
    let home = context.home()?;
    let config = context.settings()?.config;
    let chosen = toolsets::chosen(&config, HERE, None);
    let known = hermes_tools::specs();
    let tools = known.iter().filter(|spec| chosen.has(&spec.name)).count();
    heading("Done", output)?;
    for (label, text) in [
        ("settings", home.config_file().display().to_string()),
        ("keys", home.auth_file().display().to_string()),
        ("commands", terminal::words(&config).to_owned()),
        ("tools", format!("{tools} on; hermes tools switches them")),
        (
            "next",
            "hermes to talk, hermes doctor to check, hermes setup to change it".to_owned(),
        ),
    ] {
        output.item(&format!("  {label:<9} "), &text)?;
    }
    missing::tell(context, output)
}
