//! The sections of the page, each with what could be found out.

use std::path::Path;

use hermes_config::{Backend, Variable};
use serde::Serialize;
use serde_json::Value as Json;

use super::scene::{Scene, clean, said};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::when;

#[derive(Debug, Serialize)]
pub(super) struct Environment {
    pub(super) version: &'static str,
    pub(super) home: Option<String>,
    pub(super) profile: Option<String>,
    /// Whether there is a `.env` file.
    pub(super) env_file: bool,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    /// Settings that could not be used.
    pub(super) settings_errors: usize,
    /// Why the home or the settings are not known.
    pub(super) problem: Option<String>,
}

impl Environment {
    pub(super) fn of(scene: &Scene, context: &Context) -> Self {
        let home = scene.home.as_ref();
        let model = scene.config().map(|config| &config.model);
        let filled = |text: &str| (!text.is_empty()).then(|| clean(text, context));
        let problems = scene.loaded.iter().flat_map(|loaded| &loaded.problems);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            home: home.map(|home| home.path().display().to_string()),
            profile: home.map(|home| home.profile().to_string()),
            env_file: home.is_some_and(|home| home.env_file().is_file()),
            model: model.and_then(|model| filled(&model.default)),
            provider: model.and_then(|model| filled(&model.provider)),
            settings_errors: problems.filter(|problem| problem.fault.is_error()).count(),
            problem: scene.fault.clone(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Terminal {
    pub(super) backend: &'static str,
    /// The image or the machine commands run in or on.
    pub(super) place: Option<String>,
    pub(super) directory: String,
    pub(super) sudo: bool,
}

impl Terminal {
    pub(super) fn of(scene: &Scene, context: &Context) -> Option<Self> {
        let terminal = &scene.config()?.terminal;
        let place = match terminal.backend {
            Backend::Local => None,
            Backend::Docker => Some(&terminal.docker_image),
            Backend::Ssh => Some(&terminal.ssh_host),
            Backend::Modal => Some(&terminal.modal_image),
            Backend::Daytona => Some(&terminal.daytona_image),
            Backend::Singularity => Some(&terminal.singularity_image),
        };
        let password = terminal.sudo_password.as_ref();
        Some(Self {
            backend: terminal.backend.word(),
            place: place
                .filter(|place| !place.is_empty())
                .map(|place| clean(place, context)),
            directory: clean(&terminal.cwd, context),
            sudo: password.is_some_and(|password| !password.is_empty())
                || scene.environment.filled(&Variable::SUDO_PASSWORD).is_some(),
        })
    }
}

#[derive(Debug, Serialize)]
pub(in crate::commands) struct Gateway {
    pub(in crate::commands) running: bool,
    pub(in crate::commands) pid: Option<i32>,
}

pub(in crate::commands) fn gateway_of(scene: &Scene) -> Gateway {
    let pid = scene
        .profiles()
        .and_then(|(profiles, home)| profiles.running_gateway(home));
    Gateway {
        running: pid.is_some(),
        pid,
    }
}

#[derive(Debug, Default, Serialize)]
pub(in crate::commands) struct Jobs {
    pub(in crate::commands) total: usize,
    pub(in crate::commands) paused: usize,
    pub(in crate::commands) problem: Option<String>,
}

pub(in crate::commands) fn jobs_of(scene: &Scene) -> Jobs {
    let Some(home) = &scene.home else {
        return Jobs::default();
    };
    let path = home.cron_dir().join("jobs.json");
    read_jobs(&path).unwrap_or_else(|problem| Jobs {
        problem: Some(problem),
        ..Jobs::default()
    })
}

/// The file holds `{"jobs": […]}`; older ones hold the bare list, and editors may have put a mark in front.
fn read_jobs(path: &Path) -> Result<Jobs, String> {
    let Some(bytes) = hermes_config::read_file(path).map_err(|error| error.to_string())? else {
        return Ok(Jobs::default());
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let json: Json = serde_json::from_slice(bytes)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let list = json.get("jobs").unwrap_or(&json);
    let Some(list) = list.as_array() else {
        return Err(format!("{} holds no list of jobs", path.display()));
    };
    let jobs = list.iter().filter(|job| job.is_object());
    let paused = jobs.clone().filter(|job| {
        job.get("enabled") == Some(&Json::Bool(false)) || job.get("state") == Some(&"paused".into())
    });
    Ok(Jobs {
        total: jobs.clone().count(),
        paused: paused.count(),
        problem: None,
    })
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Sessions {
    pub(super) total: u64,
    pub(super) last_active_at: Option<String>,
    #[serde(skip)]
    pub(super) last_active: Option<f64>,
    pub(super) database_bytes: u64,
    /// What became of the reference's `state.db`.
    pub(super) import: Import,
    pub(super) problem: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Import {
    /// There is no such file.
    #[default]
    None,
    /// Everything in it is here too.
    Done,
    /// It could not be taken over.
    Failed,
}

impl Sessions {
    /// Looks into the store if there is one, or something to put into one.
    pub(super) fn of(scene: &Scene, context: &Context) -> Self {
        let Some(home) = &scene.home else {
            return Self::default();
        };
        let theirs = home.reference_database();
        if !home.database().exists() && !theirs.is_file() {
            return Self::default();
        }
        Self::count(&theirs, context).unwrap_or_else(|complaint| Self {
            problem: Some(said(&complaint, context)),
            ..Self::default()
        })
    }

    fn count(theirs: &Path, context: &Context) -> Outcome<Self> {
        let store = context.conversations()?;
        let glance = store.glance().wait()?;
        let import = match (theirs.is_file(), store.import_is_due(theirs)?) {
            (false, _) => Import::None,
            (true, false) => Import::Done,
            (true, true) => Import::Failed,
        };
        Ok(Self {
            total: glance.sessions,
            last_active_at: glance.last_active_at.map(when::iso),
            last_active: glance.last_active_at,
            database_bytes: glance.database_bytes,
            import,
            problem: None,
        })
    }
}
