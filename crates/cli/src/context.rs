//! What every command may ask for: the home, the settings, the store, the clock. Each is made when it
//! is first needed, so that a command pays only for what it uses.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::{Environment, Home, ProfileName, extract_profile_flag};
use hermes_core::{Clock, FailureKind, SystemClock};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};

use crate::complaint::{Complaint, Outcome};

/// The surroundings of one run.
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) clock: Arc<dyn Clock>,
    flag: Option<ProfileName>,
    home: OnceCell<Home>,
}

impl Context {
    /// Takes the environment and the arguments in, and gives the arguments back without `--profile`.
    pub(crate) fn new(
        environment: Environment,
        arguments: Vec<OsString>,
    ) -> Outcome<(Self, Vec<OsString>)> {
        let (flag, rest) = extract_profile_flag(arguments);
        let context = Self {
            environment,
            clock: Arc::new(SystemClock),
            flag,
            home: OnceCell::new(),
        };
        Ok((context, rest))
    }

    /// The home of the profile in use.
    pub(crate) fn home(&self) -> Outcome<&Home> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let home = Home::resolve(self.flag.as_ref(), &self.environment).map_err(|error| {
            let hint = error.hint();
            Complaint::new(FailureKind::NotFound, error.to_string()).hint(hint)
        })?;
        Ok(self.home.get_or_init(|| home))
    }

    /// The store of the home, opened.
    pub(crate) fn store(&self) -> Outcome<Store> {
        let home = self.home()?;
        Ok(Store::open(Options {
            path: home.database(),
            blobs: home.blobs_dir(),
            clock: self.clock.clone(),
            redactor: RedactorHandle::default(),
            vfs: None,
        })?)
    }

    /// The directory the program was started in.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }
}
