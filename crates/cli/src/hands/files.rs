//! What the tools for files and scripts of one session are made from.

use std::sync::Arc;

use hermes_config::CodeMode;
use hermes_exec::{Files, FramedFiles, NativeFiles};
use hermes_secrets::Scope;
use hermes_tools::{CodeSettings, FileLimits, FileSandbox, FileServices, Workplace};

use super::Hands;
use super::places;

impl Hands {
    pub(super) fn file_services(&self, place: &Arc<Workplace>, here: bool) -> FileServices {
        let output = &self.config.tool_output;
        let files: Arc<dyn Files> = match here {
            true => {
                let journals = self.home.cache_dir().join("edits");
                Arc::new(NativeFiles::new(self.user.home.clone()).with_journals(journals))
            }
            false => Arc::new(FramedFiles::new(place.backend.clone(), self.random.clone())),
        };
        let shell = place.clone();
        FileServices {
            files,
            // A path means the same to the file tools as to the next command.
            directory: Some(Arc::new(move || shell.directory())),
            kept_results: ["tool-results", "web"]
                .map(|name| self.home.cache_dir().join(name))
                .into(),
            rules: self.rules.clone(),
            registry: self.registry.clone(),
            redactor: self.redactor.clone(),
            masking: match self.config.security.redact_secrets {
                true => Scope::Code,
                false => Scope::Known,
            },
            checkpoints: self.checkpoints.clone().filter(|_| here),
            limits: FileLimits {
                lines: output.max_lines as usize,
                line_length: output.max_line_length as usize,
                characters: self.config.file_read_max_chars as usize,
            },
            place: Some(place.clone()),
            sandbox: here.then(|| self.file_sandbox(place)).flatten(),
            diagnostics: self.diagnostics(place, here),
        }
    }

    /// What keeps the file tools where commands are kept, whether or not this machine can confine those.
    fn file_sandbox(&self, place: &Arc<Workplace>) -> Option<FileSandbox> {
        let around = self.around(&place.directory(), place.scratch.clone());
        let confinement = places::confined_files(&self.config, &around)?;
        Some(FileSandbox {
            confinement: Arc::new(confinement),
            place: place.clone(),
        })
    }

    pub(super) fn code_settings(&self) -> CodeSettings {
        let code = &self.config.code_execution;
        CodeSettings {
            in_project: code.mode == CodeMode::Project,
            timeout: code.timeout,
            most_calls: code.max_tool_calls,
            passthrough: self.config.terminal.env_passthrough.clone(),
            time_zone: Some(self.config.timezone.name().to_owned()).filter(|name| !name.is_empty()),
            project_environment: self.project_environment.clone(),
        }
    }
}
