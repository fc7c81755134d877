//! `skill_view`: a skill's text, or a file beside it.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Beside, Effect, Handling, Origin, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_skills::{
    Readiness, SessionShell, Status, UsageEvent, ViewError, Viewed, with_commands_run,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::capture::{Captured, capture};
use super::{SkillCaller, SkillServices, blocking, told};
use crate::arguments::read;

/// Most characters of an answer: a whole skill and what goes with it.
const MOST: usize = 150_000;
/// Long enough for a few questions and commands.
const DEADLINE: Duration = Duration::from_secs(1_500);

pub(super) struct SkillView {
    spec: ToolSpec,
    services: Arc<SkillServices>,
    caller: SkillCaller,
    /// Held while a person is asked: calls may run side by side, and what one was told the next need not ask.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Deserialize)]
struct Asked {
    name: String,
    #[serde(default)]
    file_path: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: "skill_view".to_owned(),
        description: "Read a skill before doing what it is about, and then do as it says. With file_path, read one of \
                      the files it names."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The skill, with its category before it when several have the name."},
                "file_path": {"type": "string", "description": "A file of the skill, such as references/api.md."},
            },
            "required": ["name"],
        }),
        effect: Effect::ReadOnly,
    }
}

impl SkillView {
    pub(super) fn new(services: Arc<SkillServices>, caller: SkillCaller) -> Self {
        Self {
            spec: spec(),
            services,
            caller,
            asking: tokio::sync::Mutex::default(),
        }
    }

    async fn file(&self, name: String, path: String) -> ToolOutcome {
        let surface = self.caller.surface.clone();
        let found = blocking(&self.services, move |services| {
            services.library.view_file(&name, &path, &surface)
        });
        Ok(told(match found.await? {
            Err(error) => refused(&error),
            Ok((entry, file)) => match file.text {
                Some(text) => json!({
                    "success": true,
                    "name": entry.name,
                    "file": file.path,
                    "content": text,
                    "file_type": file.kind,
                }),
                None => json!({
                    "success": true,
                    "name": entry.name,
                    "file": file.path,
                    "is_binary": true,
                    "file_type": file.kind,
                    "size": file.bytes,
                    "path": entry.directory.join(&file.path).display().to_string(),
                }),
            },
        }))
    }

    async fn whole(&self, name: String, context: &ToolContext) -> ToolOutcome {
        let surface = self.caller.surface.clone();
        // Whoever looks after skills reads them without using them.
        let is_use = context.origin == Origin::Conversation;
        let found = blocking(&self.services, move |services| {
            let library = &services.library;
            let viewed = library.view(&name, &surface)?;
            if is_use {
                library.usage().note(&viewed.entry.name, UsageEvent::Viewed);
            }
            let ready = library.readiness(&viewed.skill);
            Ok::<_, ViewError>((Arc::new(viewed), ready))
        });
        let (viewed, before) = match found.await? {
            Ok(found) => found,
            Err(error) => return Ok(told(refused(&error))),
        };
        self.services
            .seen
            .add(&context.session, &viewed.entry.directory);
        let mut captured = Captured::default();
        if before.status == Status::SetupNeeded {
            // Whoever asks next looks anew at what is still lacking.
            let _asking = self.asking.lock().await;
            captured = capture(&self.services, &self.caller, &viewed, context.into()).await?;
        }
        let (again, session) = (viewed.clone(), context.session.clone());
        let (ready, text) = blocking(&self.services, move |services| {
            let library = &services.library;
            library.grant(&session, &again.skill);
            let ready = library.readiness(&again.skill);
            (ready, library.filled_in(&again, &session))
        })
        .await?;
        let text = self.with_commands_run(text, &viewed, context).await;
        Ok(told(self.answer(&viewed, &text, &ready, &captured)))
    }

    /// The text with what its commands say, where that is switched on.
    async fn with_commands_run(
        &self,
        text: String,
        viewed: &Viewed,
        context: &ToolContext,
    ) -> String {
        let settings = self.services.library.settings();
        if !settings.inline_shell {
            return text;
        }
        let shell = SessionShell { context };
        let limit = settings.inline_shell_timeout;
        with_commands_run(&text, &viewed.entry.directory, &shell, limit).await
    }

    fn answer(&self, viewed: &Viewed, text: &str, ready: &Readiness, captured: &Captured) -> Json {
        let Viewed {
            entry,
            skill,
            linked,
        } = viewed;
        let names = |variables: &[hermes_skills::RequiredVariable]| -> Vec<String> {
            variables.iter().map(|one| one.name.to_string()).collect()
        };
        let missing = names(&ready.variables);
        let mut answer = json!({
            "success": true,
            "name": entry.name,
            "description": skill.description,
            "tags": skill.tags,
            "related_skills": skill.related_skills,
            "content": text,
            "path": entry.directory.join("SKILL.md").display().to_string(),
            "skill_dir": entry.directory.display().to_string(),
            "linked_files": {
                "references": linked.references,
                "templates": linked.templates,
                "assets": linked.assets,
                "scripts": linked.scripts,
            },
            "required_environment_variables": names(&skill.required_variables),
            "required_commands": skill.commands,
            "missing_required_environment_variables": missing,
            "missing_credential_files": ready.files.iter().map(|file| &file.path).collect::<Vec<_>>(),
            "missing_required_commands": ready.commands,
            "setup_needed": ready.status == Status::SetupNeeded,
            "setup_skipped": captured.skipped,
            "readiness_status": ready.status.word(),
        });
        let mut add = |key: &str, value: Option<Json>| {
            if let (Some(fields), Some(value)) = (answer.as_object_mut(), value) {
                fields.insert(key.to_owned(), value);
            }
        };
        if linked.all().next().is_some() {
            let hint = "skill_view with file_path reads one of linked_files";
            add("usage_hint", Some(json!(hint)));
        }
        let needed = ready.status == Status::SetupNeeded;
        let help = skill.setup.help.clone().filter(|_| needed);
        add("setup_help", help.map(Json::from));
        let note = captured.failed.clone().or_else(|| ready.note());
        add("setup_note", note.map(Json::from));
        let in_chat = needed && !missing.is_empty() && !self.caller.may_ask;
        let hint = in_chat.then(|| set_on_the_machine(&missing));
        add("gateway_setup_hint", hint.map(Json::from));
        add("compatibility", skill.compatibility.clone().map(Json::from));
        add("metadata", skill.metadata.clone());
        answer
    }
}

fn set_on_the_machine(missing: &[String]) -> String {
    let commands: Vec<String> = missing
        .iter()
        .map(|name| format!("hermes config set {name}"))
        .collect();
    format!(
        "Keys are not asked for in a chat. The user sets them on the machine: {}",
        commands.join("; ")
    )
}

fn refused(error: &ViewError) -> Json {
    let mut answer = json!({"success": false, "error": error.to_string(), "hint": error.hint()});
    let more = match error {
        ViewError::Unknown { available, .. } => Some(("available_skills", available)),
        ViewError::Ambiguous { matches, .. } => Some(("matches", matches)),
        ViewError::NoFile { available, .. } => Some(("available_files", available)),
        ViewError::Disabled { .. }
        | ViewError::Unreadable { .. }
        | ViewError::Outside { .. }
        | ViewError::TooLarge { .. } => None,
    };
    if let (Some(fields), Some((key, names))) = (answer.as_object_mut(), more) {
        fields.insert(key.to_owned(), json!(names));
    }
    answer
}

impl Tool for SkillView {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        let runs_commands = self.services.library.settings().inline_shell;
        Handling {
            // Commands share the session's directory and variables.
            beside: if runs_commands {
                Beside::Nothing
            } else {
                Beside::Anything
            },
            deadline: DEADLINE,
            max_chars: MOST,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            if context.cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            match asked.file_path.filter(|path| !path.is_empty()) {
                Some(path) => self.file(asked.name, path).await,
                None => self.whole(asked.name, context).await,
            }
        })
    }
}
