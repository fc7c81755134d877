//! Where the programs of MCP servers run, confined or not.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hermes_config::{Config, Home};
use hermes_core::Random;
use hermes_exec::sandbox::{Sandbox, settled};
use hermes_exec::{Backend as _, Confiner, Den, Enclosed, ExecError, LocalBackend, LocalOptions};
use hermes_mcp::Borders;
use hermes_policy::Confinement;

use super::Trusted;
use super::places::{UserFolders, local, network_of, sandbox, surroundings};
use super::secluded::secluded;
use super::way_out::WayOut;
use crate::context::Context;

/// This machine, whatever the settings say about commands: the programs of MCP servers run here.
pub(crate) fn this_machine(
    context: &Context,
    config: &Config,
    home: &Home,
    random: &Arc<dyn Random>,
) -> Machine {
    let trusted = Trusted::new(context, config, home);
    let confiner = Arc::new(sandbox(&trusted));
    let plain = local(&config.terminal, home, &confiner, &**random);
    let user = UserFolders::of(context);
    let walls = Arc::new(Walls {
        trusted,
        temporary: user.temporary.clone(),
        config: config.clone(),
        random: random.clone(),
        scratch: plain.scratch.clone(),
        raised: OnceLock::new(),
    });
    let backend = LocalBackend::new(LocalOptions {
        confiner: Some(walls.clone()),
        ..plain
    });
    let directory = context
        .directory()
        .unwrap_or_else(|| home.path().to_owned());
    let places = surroundings(
        config,
        &directory,
        backend.scratch(),
        &user,
        home,
        &secluded(context),
    );
    let network = network_of(config);
    Machine {
        backend: Arc::new(backend),
        borders: Borders { places, network },
        walls,
    }
}

/// Where the programs of MCP servers run.
pub(crate) struct Machine {
    pub(crate) backend: Arc<LocalBackend>,
    /// What the confined ones of them may touch.
    pub(crate) borders: Borders,
    walls: Arc<Walls>,
}

impl Machine {
    /// Removes what programs found around them. They themselves have ended, or end with this process.
    pub(crate) async fn close(&self) -> Result<(), ExecError> {
        if let Some(Ok(raised)) = self.walls.raised.get()
            && let Some(way_out) = &raised.way_out
        {
            way_out.close().await;
        }
        self.backend.close().await
    }
}

/// What confines programs, made for the first one that is to be confined.
struct Walls {
    trusted: Trusted,
    config: Config,
    random: Arc<dyn Random>,
    scratch: PathBuf,
    temporary: PathBuf,
    raised: OnceLock<Result<Raised, String>>,
}

struct Raised {
    sandbox: Sandbox,
    way_out: Option<WayOut>,
    /// Claimed, so that somebody clears it when this process is killed.
    _scratch: Den,
}

impl Walls {
    fn raise(&self) -> Result<Raised, String> {
        let den = Den::claim(self.scratch.clone()).map_err(|error| error.to_string())?;
        let plain = sandbox(&self.trusted);
        let opened = WayOut::open(plain, &self.config, &*self.random, &self.temporary);
        let (sandbox, way_out) = opened.map_err(|error| error.to_string())?;
        Ok(Raised {
            sandbox,
            way_out,
            _scratch: den,
        })
    }

    fn raised(&self) -> Result<&Raised, ExecError> {
        let raised = self.raised.get_or_init(|| self.raise()).as_ref();
        raised.map_err(|why| ExecError::Confinement(why.clone()))
    }
}

impl Confiner for Walls {
    fn enclose(&self, confinement: &Confinement, argv: &[String]) -> Result<Enclosed, ExecError> {
        let sandbox = &self.raised()?.sandbox;
        // Each start of a program is a session of its own.
        sandbox.enclose(&settled(confinement.clone()), argv)
    }

    fn mechanism(&self) -> &'static str {
        match self.raised() {
            Ok(raised) => Confiner::mechanism(&raised.sandbox),
            Err(_) => "none",
        }
    }
}
