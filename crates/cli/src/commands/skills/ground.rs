//! What the subcommands stand on, made when it is first needed.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{Loaded, SkillsHub, Variable};
use hermes_core::{FailureKind, SystemRandom};
use hermes_http::{AddressPolicy, ClientBuilder, HttpClient};
use hermes_policy::Blocklist;
use hermes_program::Limits;
use hermes_secrets::{Secret, SecretName};
use hermes_skills::Library;
use hermes_skills::hub::{self, AppLogin, GithubLogin, Hub, Reach, Shelf};
use tokio::process::Command;

use super::Asking;
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::{library_at, shipped};
use crate::network;

/// What `gh` may take to say its token.
const GH: Limits = Limits {
    time: Duration::from_secs(5),
    printed: 4 * 1024,
    complaint: 0,
};

/// How far a subcommand reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaching {
    Home,
    /// It asks others, so it is worth finding out who we are to them.
    Network,
}

/// Everything a subcommand needs.
pub(crate) struct Ground<'a> {
    pub(super) context: &'a Context,
    pub(super) loaded: Loaded,
    pub(super) asking: Asking,
    reaching: Reaching,
    hub: OnceCell<Hub>,
    library: OnceCell<Library>,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(context: &'a Context, asking: Asking, reaching: Reaching) -> Outcome<Self> {
        Ok(Self {
            loaded: context.settings()?,
            context,
            asking,
            reaching,
            hub: OnceCell::new(),
            library: OnceCell::new(),
        })
    }

    /// The directory of skills.
    pub(super) fn skills(&self) -> Outcome<PathBuf> {
        Ok(self.context.home()?.skills_dir())
    }

    pub(crate) fn hub(&self) -> Outcome<&Hub> {
        if let Some(hub) = self.hub.get() {
            return Ok(hub);
        }
        let settings = self.loaded.config.skills.hub.clone();
        let ground = hub::Ground {
            skills: self.skills()?,
            reach: self.reach()?,
            github: self.github(&settings),
            shelf: self.shelf()?,
            clock: self.context.clock().clone(),
            random: Arc::new(SystemRandom),
            settings,
        };
        let hub = Hub::new(ground)?;
        Ok(self.hub.get_or_init(|| hub))
    }

    /// The skills of this home.
    pub(super) fn library(&self) -> Outcome<&Library> {
        if let Some(library) = self.library.get() {
            return Ok(library);
        }
        let home = self.context.home()?;
        let library = library_at(self.context, &self.loaded.config, home);
        Ok(self.library.get_or_init(|| library))
    }

    fn client(&self, policy: AddressPolicy) -> Outcome<HttpClient> {
        ClientBuilder::new(network::settings(&self.loaded, self.context)?, policy)
            .redactor(self.context.redactor.clone())
            .build()
            .map_err(|error| Complaint::caused(FailureKind::BadInput, error))
    }

    fn reach(&self) -> Outcome<Reach> {
        let security = &self.loaded.config.security;
        let public = match security.allow_private_urls {
            true => AddressPolicy::PublicAndPrivate,
            false => AddressPolicy::Public,
        };
        let mut blocklist = Blocklist::default();
        let list = &security.website_blocklist;
        if list.enabled {
            blocklist.add_domains(list.domains.iter().map(String::as_str));
            for file in &list.shared_files {
                let path = self.context.home()?.path().join(file);
                match std::fs::read_to_string(&path) {
                    Ok(text) => blocklist.add_file(&text, &path.display().to_string()),
                    Err(error) => {
                        tracing::warn!("the list of blocked websites {}: {error}", path.display());
                    }
                }
            }
        }
        Ok(Reach {
            public: self.client(public)?,
            configured: self.client(AddressPolicy::Any)?,
            blocklist,
        })
    }

    fn shelf(&self) -> Outcome<Shelf> {
        let named = self
            .context
            .environment
            .filled(&Variable::HERMES_OPTIONAL_SKILLS);
        let own = self.context.home()?.path().join("optional-skills");
        let roots = named.map(PathBuf::from).into_iter().chain([own]);
        Ok(Shelf::new(roots.collect(), shipped(self.context)))
    }

    /// A token of the environment, then that of `gh`, then an app.
    fn github(&self, settings: &SkillsHub) -> GithubLogin {
        if self.reaching == Reaching::Home {
            return GithubLogin::Anonymous;
        }
        let environment = &self.loaded.environment;
        for variable in [Variable::GITHUB_TOKEN, Variable::GH_TOKEN] {
            if let Some(token) = environment.filled(&variable)
                && let Some(token) = secret(variable.name, token)
            {
                return GithubLogin::Token(token);
            }
        }
        let variable = |variable: &Variable| environment.filled(variable).map(str::to_owned);
        let app = (
            variable(&Variable::GITHUB_APP_ID),
            variable(&Variable::GITHUB_APP_INSTALLATION_ID),
            variable(&Variable::GITHUB_APP_PRIVATE_KEY_PATH),
        );
        // The token of `gh` is for GitHub itself and goes nowhere else.
        let is_github = settings.github_url == SkillsHub::default().github_url;
        if is_github && let Some(token) = self.token_of_gh() {
            return GithubLogin::Token(token);
        }
        match app {
            (Some(id), Some(installation), Some(key)) => GithubLogin::App(AppLogin {
                id,
                installation,
                key: PathBuf::from(key),
            }),
            _ => GithubLogin::Anonymous,
        }
    }

    fn token_of_gh(&self) -> Option<Secret> {
        let directories = self.context.programs();
        let program = directories
            .iter()
            .map(|directory| directory.join("gh"))
            .find(|path| path.is_file())?;
        let environment = &self.context.environment;
        let passed = ["HOME", "PATH", "XDG_CONFIG_HOME", "GH_CONFIG_DIR"];
        let mut command = Command::new(program);
        command.args(["auth", "token"]).env_clear().envs(
            passed
                .iter()
                .filter_map(|name| Some((name, environment.filled_named(name)?))),
        );
        // It is only a convenience; without it GitHub answers less often.
        let ended = self
            .wait(hermes_program::run(command, &[], GH))
            .ok()?
            .ok()?;
        let token = String::from_utf8_lossy(&ended.printed).trim().to_owned();
        secret("GH_TOKEN", &token)
    }

    /// Waits for something that asks the network.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> Outcome<T> {
        Ok(crate::commands::chat::runtime()?.block_on(work))
    }

    /// Asks whether to go on: `false` when the one who can say so is not here.
    pub(super) fn agreed(&self, question: &str, yes: bool) -> Outcome<bool> {
        if yes {
            return Ok(true);
        }
        match self.asking {
            Asking::Terminal => ask::confirm(question).map(|()| true),
            Asking::Elsewhere => Ok(false),
        }
    }
}

fn secret(name: &str, value: &str) -> Option<Secret> {
    let name = SecretName::new(name).ok()?;
    Secret::new(name, value.to_owned(), []).ok()
}
