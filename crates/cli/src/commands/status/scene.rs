//! What a report can look at, as far as it is there.

use hermes_config::{Config, Environment, Home, Loaded, Profiles, Request};
use hermes_secrets::Scope;

use crate::complaint::Complaint;
use crate::context::Context;

pub(in crate::commands) struct Scene {
    pub(in crate::commands) home: Option<Home>,
    /// Without `config.yaml` when that cannot be read; `None` when nothing can.
    pub(in crate::commands) loaded: Option<Loaded>,
    /// The variables of the process, those of `.env` on top where it can be read.
    pub(in crate::commands) environment: Environment,
    /// Why a home or settings are missing.
    pub(in crate::commands) fault: Option<String>,
}

impl Scene {
    /// Makes nothing on disk and never fails.
    pub(in crate::commands) fn look(context: &Context) -> Self {
        let home = match context.home() {
            Ok(home) => home,
            Err(complaint) => {
                return Self {
                    home: None,
                    loaded: None,
                    environment: context.environment.clone(),
                    fault: Some(said(&complaint, context)),
                };
            }
        };
        let (loaded, fault) = match context.load() {
            Ok(loaded) => (Some(loaded), None),
            // Keys and variables are still worth a look.
            Err(complaint) => {
                let request = Request {
                    home,
                    environment: &context.environment,
                    project: None,
                    flags: &[],
                    ignore_file: true,
                };
                let rest = hermes_config::load(&request).ok();
                (rest, Some(said(&complaint, context)))
            }
        };
        Self {
            home: Some(home.clone()),
            environment: loaded
                .as_ref()
                .map_or(&context.environment, |loaded| &loaded.environment)
                .clone(),
            loaded,
            fault,
        }
    }

    /// The profiles around the home.
    pub(in crate::commands) fn profiles(&self) -> Option<(Profiles, &Home)> {
        let home = self.home.as_ref()?;
        Some((Profiles::of(home), home))
    }

    /// The settings in force. Without `config.yaml`, what is left says nothing about them.
    pub(in crate::commands) fn config(&self) -> Option<&Config> {
        let loaded = self.loaded.as_ref().filter(|_| self.fault.is_none())?;
        Some(&loaded.config)
    }
}

/// What a complaint says, on one line and without known secrets.
pub(in crate::commands) fn said(complaint: &Complaint, context: &Context) -> String {
    let text = match complaint {
        Complaint::Failed(failure) => failure.message.as_str(),
        Complaint::ReaderGone | Complaint::Parser(_) | Complaint::Code(_) => "not known",
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clean(&line, context)
}

/// Text without secrets, those in addresses included: reports are pasted into bug trackers.
pub(in crate::commands) fn clean(text: &str, context: &Context) -> String {
    let redactor = context.redactor.snapshot();
    redactor.redact_in(Scope::Log, text).into_owned()
}
