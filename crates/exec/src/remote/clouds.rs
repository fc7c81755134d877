//! The settings of sandboxes in somebody's cloud. Keys and addresses come from variables.

use std::path::{Path, PathBuf};

use hermes_config::{Backend, Environment, ModalMode, Terminal, Variable};

use super::{Network, Surroundings, sandboxes};
use crate::modal::token;
use crate::{
    BackendConfig, CloudConfig, DaytonaConfig, ExecError, ManagedModalConfig, ModalConfig, daytona,
    modal,
};

const DAYTONA: &str = "https://app.daytona.io/api";
const MODAL: &str = "https://api.modal.com";
const GATEWAY_DOMAIN: &str = "nousresearch.com";

pub(super) fn daytona(
    settings: &Terminal,
    around: Surroundings,
) -> Result<DaytonaConfig, ExecError> {
    let environment = around.environment.clone();
    let filled = filled(&environment);
    let url = filled(&Variable::DAYTONA_API_URL).unwrap_or_else(|| DAYTONA.to_owned());
    let key = filled(&Variable::DAYTONA_API_KEY).unwrap_or_default();
    let (target, organisation) = (
        filled(&Variable::DAYTONA_TARGET),
        filled(&Variable::DAYTONA_ORGANIZATION_ID),
    );
    let image = settings.daytona_image.clone();
    let cloud = in_cloud(daytona::KIND, settings, image, around)?;
    let mut config = DaytonaConfig::new(cloud, &url, &key)?;
    config.target = target;
    config.organisation = organisation;
    Ok(config)
}

/// On whose account the settings say; in doubt on that of the gateway, if there is a token for it.
pub(super) fn modal(settings: &Terminal, around: Surroundings) -> Result<BackendConfig, ExecError> {
    let token = filled(&around.environment)(&Variable::TOOL_GATEWAY_USER_TOKEN);
    match is_managed(settings.modal_mode, token.is_some()) {
        false => direct(settings, around).map(BackendConfig::Modal),
        true => {
            managed(settings, around, &token.unwrap_or_default()).map(BackendConfig::ManagedModal)
        }
    }
}

/// Whether commands run on somebody else's account, who must not get what opens the user's own.
pub fn on_another_account(settings: &Terminal, environment: &Environment) -> bool {
    let token = filled(environment)(&Variable::TOOL_GATEWAY_USER_TOKEN);
    settings.backend == Backend::Modal && is_managed(settings.modal_mode, token.is_some())
}

fn is_managed(mode: ModalMode, has_token: bool) -> bool {
    match mode {
        ModalMode::Direct => false,
        ModalMode::Auto => has_token,
        ModalMode::Managed => true,
    }
}

fn managed(
    settings: &Terminal,
    around: Surroundings,
    token: &str,
) -> Result<ManagedModalConfig, ExecError> {
    if !settings.credential_files.is_empty() {
        return Err(ExecError::Unavailable {
            backend: modal::KIND,
            cause: "credential files are not handed to sandboxes on somebody else's account"
                .to_owned(),
            next: "Set terminal.modal_mode to direct, or empty terminal.credential_files."
                .to_owned(),
        });
    }
    let environment = around.environment.clone();
    let filled = filled(&environment);
    let url = filled(&Variable::MODAL_GATEWAY_URL).unwrap_or_else(|| {
        let scheme = filled(&Variable::TOOL_GATEWAY_SCHEME).unwrap_or_else(|| "https".to_owned());
        let domain =
            filled(&Variable::TOOL_GATEWAY_DOMAIN).unwrap_or_else(|| GATEWAY_DOMAIN.to_owned());
        format!("{scheme}://modal-gateway.{domain}")
    });
    let image = settings.modal_image.clone();
    let cloud = in_cloud(modal::KIND, settings, image, around)?;
    ManagedModalConfig::new(cloud, &url, token)
}

fn direct(settings: &Terminal, around: Surroundings) -> Result<ModalConfig, ExecError> {
    let environment = around.environment.clone();
    let filled = filled(&environment);
    let token = filled(&Variable::MODAL_TOKEN_ID).zip(filled(&Variable::MODAL_TOKEN_SECRET));
    let (id, secret) = token
        .or_else(|| {
            let path = match filled(&Variable::MODAL_CONFIG_PATH) {
                Some(path) => PathBuf::from(path),
                None => Path::new(&filled(&Variable::HOME)?).join(".modal.toml"),
            };
            let text = std::fs::read_to_string(path).ok()?;
            token::from_settings(&text, filled(&Variable::MODAL_PROFILE).as_deref())
        })
        .unwrap_or_default();
    let url = filled(&Variable::MODAL_SERVER_URL).unwrap_or_else(|| MODAL.to_owned());
    let part = filled(&Variable::MODAL_ENVIRONMENT).unwrap_or_default();
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
fn filled(environment: &Environment) -> impl Fn(&Variable) -> Option<String> {
    |variable| {
        let value = environment.get(variable).map(str::trim);
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    }
}
