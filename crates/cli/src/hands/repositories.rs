//! Git for what messages refer to, with no more rights than a command has that only reads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_core::future::BoxFuture;
use hermes_agent::{Git, Starting};
use hermes_config::{Config, Home};
use hermes_exec::Granted;
use hermes_exec::sandbox::Sandbox;
use hermes_policy::{Confinement, Mode, Network};
use hermes_tools::Confined;

use super::Hands;
use super::places::{Confine, UserFolders, surroundings};

/// Git on this machine.
pub(crate) struct Repositories {
    /// The program, where there is one that commands cannot have put there.
    program: Option<PathBuf>,
    environment: Vec<(String, String)>,
    sandbox: Arc<Sandbox>,
    config: Arc<Config>,
    user: UserFolders,
    home: Home,
    secluded: Vec<PathBuf>,
}

impl Hands {
    /// How git is started for what messages refer to.
    pub(crate) fn repositories(&self) -> Repositories {
        Repositories {
            program: self.trusted.program("git"),
            environment: self.trusted.environment(&self.environment),
            sandbox: self.sandbox.clone(),
            config: self.config.clone(),
            user: self.user.clone(),
            home: self.home.clone(),
            secluded: self.secluded.clone(),
        }
    }
}

impl Git for Repositories {
    fn start<'a>(
        &'a self,
        directory: &'a Path,
        arguments: Vec<String>,
    ) -> BoxFuture<'a, Result<Starting, String>> {
        Box::pin(async move {
            let Some(program) = &self.program else {
                return Err(
                    "git was not found where commands cannot write; install it for the system"
                        .to_owned(),
                );
            };
            let mut argv = vec![program.display().to_string()];
            argv.extend(arguments);
            let confine = Confine {
                sandbox: self.sandbox.clone(),
                config: self.config.clone(),
                surroundings: surroundings(
                    &self.config,
                    directory,
                    self.user.temporary.clone(),
                    &self.user,
                    &self.home,
                    &self.secluded,
                ),
                granted: Granted::default(),
                begun: OnceLock::new(),
                here: true,
            };
            let directory = directory.to_owned();
            // What works here is found out by trying, on first use.
            let made = tokio::task::spawn_blocking(move || enclosed(&confine, argv, &directory));
            let argv = made.await.map_err(|error| error.to_string())??;
            Ok(Starting {
                argv,
                environment: self.environment.clone(),
            })
        })
    }
}

fn enclosed(confine: &Confine, argv: Vec<String>, directory: &Path) -> Result<Vec<String>, String> {
    let around = match confine.find() {
        Confined::By(around, _) => around,
        Confined::Not(_) => return Ok(argv),
        Confined::Refused(why) => return Err(why),
    };
    let reading = Confinement {
        mode: Mode::ReadOnly,
        writable: Vec::new(),
        network: Network::Off,
        ..(*around).clone()
    };
    let wrapped = confine.sandbox.wrap(&reading, &argv, Some(directory));
    wrapped
        .map(|made| made.argv)
        .map_err(|error| error.to_string())
}
