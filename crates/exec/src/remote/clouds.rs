//! The settings of sandboxes in somebody's cloud. Keys and addresses come from variables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_config::{ModalMode, Terminal};

use super::{Network, Surroundings, sandboxes};
use crate::modal::token;
use crate::{CloudConfig, DaytonaConfig, ExecError, ModalConfig, daytona, modal};

const DAYTONA: &str = "https://app.daytona.io/api";
const MODAL: &str = "https://api.modal.com";

pub(super) fn daytona(
    settings: &Terminal,
    around: Surroundings,
) -> Result<DaytonaConfig, ExecError> {
    let environment = around.environment.clone();
    let filled = filled(&environment);
    let url = filled("DAYTONA_API_URL").unwrap_or_else(|| DAYTONA.to_owned());
    let key = filled("DAYTONA_API_KEY").unwrap_or_default();
    let (target, organisation) = (filled("DAYTONA_TARGET"), filled("DAYTONA_ORGANIZATION_ID"));
    let image = settings.daytona_image.clone();
    let cloud = in_cloud(daytona::KIND, settings, image, around)?;
    let mut config = DaytonaConfig::new(cloud, &url, &key)?;
    config.target = target;
    config.organisation = organisation;
    Ok(config)
}

pub(super) fn modal(settings: &Terminal, around: Surroundings) -> Result<ModalConfig, ExecError> {
    if settings.modal_mode == ModalMode::Managed {
        return Err(ExecError::Unavailable {
            backend: modal::KIND,
            cause: "sandboxes on a managed account are not supported".to_owned(),
            next: "Set terminal.modal_mode to direct and use a token of your own.".to_owned(),
        });
    }
    let environment = around.environment.clone();
    let filled = filled(&environment);
    let token = filled("MODAL_TOKEN_ID").zip(filled("MODAL_TOKEN_SECRET"));
    let (id, secret) = token
        .or_else(|| {
            let path = match filled("MODAL_CONFIG_PATH") {
                Some(path) => PathBuf::from(path),
                None => Path::new(&filled("HOME")?).join(".modal.toml"),
            };
            let text = std::fs::read_to_string(path).ok()?;
            token::from_settings(&text, filled("MODAL_PROFILE").as_deref())
        })
        .unwrap_or_default();
    let url = filled("MODAL_SERVER_URL").unwrap_or_else(|| MODAL.to_owned());
    let part = filled("MODAL_ENVIRONMENT").unwrap_or_default();
    let snapshots = around.home.join("modal_snapshots.json");
    let image = settings.modal_image.clone();
    let cloud = in_cloud(modal::KIND, settings, image, around)?;
    let mut config = ModalConfig::new(cloud, &url, (&id, &secret), snapshots)?;
    config.environment = part;
    Ok(config)
}

fn in_cloud(
    backend: &'static str,
    settings: &Terminal,
    image: String,
    around: Surroundings,
) -> Result<CloudConfig, ExecError> {
    let Network { client, tether } = around.network;
    let http = client().map_err(|cause| ExecError::Unavailable {
        backend,
        cause,
        next: "Mend the network settings.".to_owned(),
    })?;
    Ok(CloudConfig {
        image,
        cpus: settings.container_cpu,
        memory_mb: settings.container_memory,
        disk_mb: settings.container_disk,
        persistent: settings.container_persistent,
        lifetime: settings.lifetime_seconds,
        sandboxes: sandboxes(settings, &around.home),
        task: around.task,
        profile: around.profile,
        clock: around.clock,
        http,
        tether,
    })
}

/// A variable that is set to something.
fn filled(environment: &BTreeMap<String, String>) -> impl Fn(&str) -> Option<String> {
    |name| {
        let value = environment.get(name).map(|value| value.trim());
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    }
}
