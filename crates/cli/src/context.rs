//! What every command may ask for: the home, the settings, the store, the clock. Each is made when it
//! is first needed, so that a command pays only for what it uses.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hermes_config::{
    Environment, Home, LoadError, Loaded, Logging, Owner, ProfileName, Request, Variable, Zone,
    extract_profile_flag,
};
use hermes_core::{Clock, FailureKind, LocalClock};
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::{Options, Store};
use jiff::tz::TimeZone;

use crate::complaint::{Complaint, Outcome};
use crate::models::own_profiles;
use crate::{logging, takeover};

/// The surroundings of one run.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) redactor: RedactorHandle,
    flag: Option<ProfileName>,
    home: OnceLock<Home>,
    /// Read along with the settings, which name the time zone.
    clock: OnceLock<Arc<dyn Clock>>,
    /// Read along with them too.
    logging: OnceLock<Logging>,
    /// The variables that hold keys of providers the user described; read along with them as well.
    key_names: OnceLock<BTreeSet<String>>,
}

impl Context {
    /// Takes the environment and the arguments in, and gives the arguments back without `--profile`.
    pub(crate) fn new(environment: Environment, arguments: Vec<OsString>) -> (Self, Vec<OsString>) {
        let (flag, rest) = extract_profile_flag(arguments);
        let context = Self {
            environment,
            redactor: RedactorHandle::default(),
            flag,
            home: OnceLock::new(),
            clock: OnceLock::new(),
            logging: OnceLock::new(),
            key_names: OnceLock::new(),
        };
        (context, rest)
    }

    /// Takes a `--profile` that only the real parser understood, such as `-pNAME`. A name that cannot be a
    /// profile's, or a second one, is refused: acting on another home than the one meant is worse.
    pub(crate) fn use_profile(&mut self, name: &str) -> Outcome {
        let name = ProfileName::new(name).map_err(|error| {
            let hint = error.hint();
            Complaint::bad_request(error.to_string()).hint(hint)
        })?;
        match &self.flag {
            Some(flag) if *flag != name => Err(Complaint::bad_request(format!(
                "both {flag} and {name} are named as the profile"
            ))
            .hint("name one")),
            _ => {
                self.flag = Some(name);
                Ok(())
            }
        }
    }

    /// The home of the profile in use.
    pub(crate) fn home(&self) -> Outcome<&Home> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let home = Home::resolve(self.flag.as_ref(), &self.environment)?;
        Ok(self.home.get_or_init(|| home))
    }

    /// The settings, as far as they can be read. Known secrets are masked from here on.
    pub(crate) fn load(&self) -> Outcome<Loaded> {
        Ok(self.try_load(false)??)
    }

    /// The settings in force. A value that cannot be used stops the command, unless it is one of an MCP server, which
    /// has to do without; the rest is said aside.
    pub(crate) fn settings(&self) -> Outcome<Loaded> {
        self.settings_for(false)
    }

    /// The same, without `config.yaml` when the user wants it left out.
    pub(crate) fn settings_for(&self, ignore_file: bool) -> Outcome<Loaded> {
        let loaded = self.try_load(ignore_file)??;
        let mut aside = std::io::stderr().lock();
        for ignored in &loaded.ignored {
            writeln!(aside, "warning: {ignored}")?;
        }
        for problem in &loaded.env_problems {
            writeln!(aside, "warning: {problem}")?;
        }
        let of_servers = loaded
            .problems
            .iter()
            .filter(|problem| problem.fault.is_error() && problem.server().is_some());
        for problem in of_servers {
            writeln!(aside, "warning: {problem}")?;
        }
        usable(loaded)
    }

    /// The same while a conversation runs, which may own the terminal: nothing is said aside.
    pub(crate) fn settings_again(&self, ignore_file: bool) -> Outcome<Loaded> {
        usable(self.try_load(ignore_file)??)
    }

    fn try_load(&self, ignore_file: bool) -> Outcome<Result<Loaded, LoadError>> {
        let named = self
            .environment
            .filled(&Variable::HERMES_IGNORE_USER_CONFIG);
        let ignore_file = ignore_file || named.is_some();
        let loaded = self.read(ignore_file)?;
        if let Ok(loaded) = &loaded {
            self.mask(loaded);
            self.clock
                .get_or_init(|| self.clock_in(&loaded.config.timezone));
            let _ = self.logging.set(loaded.config.logging.clone());
            // A run that leaves the file out keeps the keys it names to itself all the same.
            if !ignore_file {
                let _ = self.key_names.set(loaded.key_names.clone());
            }
        }
        Ok(loaded)
    }

    fn read(&self, ignore_file: bool) -> Outcome<Result<Loaded, LoadError>> {
        let directory = self.directory();
        Ok(hermes_config::load(&Request {
            home: self.home()?,
            environment: &self.environment,
            project: directory.as_deref(),
            flags: &[],
            ignore_file,
        }))
    }

    /// The variables that hold keys of providers the user described. Commands never see them, as they never see
    /// the keys of providers we know.
    pub(crate) fn key_names(&self) -> BTreeSet<String> {
        // Settings that cannot be read were complained about before anything runs.
        let named = self.key_names.get_or_init(|| match self.read(false) {
            Ok(Ok(loaded)) => loaded.key_names,
            Ok(Err(_)) | Err(_) => BTreeSet::new(),
        });
        let mut names = named.clone();
        if let Ok(home) = self.home() {
            names.extend(own_profiles(home).own_key_names());
        }
        names
    }

    /// Tells the time, where the person is. Settings that cannot be read leave the time zone of the machine.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        if self.clock.get().is_none() {
            let _ = self.load();
        }
        self.clock.get_or_init(|| self.clock_in(&Zone::default()))
    }

    /// The time zone people read times in.
    pub(crate) fn zone(&self) -> &TimeZone {
        self.clock().zone()
    }

    fn clock_in(&self, zone: &Zone) -> Arc<dyn Clock> {
        Arc::new(LocalClock::new(zone.in_force(&self.environment)))
    }

    /// How the log is kept. Settings that cannot be read leave the defaults: what is wrong with them is
    /// another command's matter.
    pub(crate) fn logging(&self) -> Logging {
        if self.logging.get().is_none() {
            let _ = self.load();
        }
        self.logging.get().cloned().unwrap_or_default()
    }

    fn mask(&self, loaded: &Loaded) {
        for (name, value) in loaded.secret_values() {
            // A name that is no secret's name still has a value to hide.
            let name = SecretName::new(&name).or_else(|_| SecretName::new("secret"));
            if let Ok(secret) = name.and_then(|name| Secret::new(name, value, [])) {
                self.redactor.add(&secret);
            }
        }
    }

    /// Who may write the settings.
    pub(crate) fn owner(&self) -> Outcome<Owner> {
        Ok(Owner::of(self.home()?, &self.environment))
    }

    /// The store of the home, opened. Conversations stay readable when the settings are not.
    pub(crate) fn store(&self) -> Outcome<Store> {
        let home = self.home()?;
        home.create(home.path())?;
        logging::start(self);
        Ok(Store::open(Options {
            path: home.database(),
            blobs: home.blobs_dir(),
            clock: self.clock().clone(),
            redactor: self.redactor.clone(),
            vfs: None,
        })?)
    }

    /// The store with what the reference has written since it was last looked at.
    pub(crate) fn conversations(&self) -> Outcome<Store> {
        let store = self.store()?;
        let theirs = self.home()?.reference_database();
        if store.import_is_due(&theirs)?
            && let Err(error) = takeover::import(&store, &theirs)
        {
            // Our own conversations are not held up by a file that cannot be read.
            tracing::warn!("conversations of the reference were not imported: {error}");
            let mut aside = std::io::stderr().lock();
            writeln!(
                aside,
                "warning: conversations of {} were not imported: {error}",
                theirs.display()
            )?;
        }
        Ok(store)
    }

    /// The directories that programs are found in.
    pub(crate) fn programs(&self) -> Vec<PathBuf> {
        let path = self.environment.filled(&Variable::PATH).unwrap_or_default();
        std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .collect()
    }

    /// The directory for files that nobody keeps.
    pub(crate) fn temporary(&self) -> PathBuf {
        let named = self.environment.filled(&Variable::TMPDIR);
        PathBuf::from(named.unwrap_or("/tmp"))
    }

    /// The directory the program was started in.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks for it")]
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    /// The same, for what makes no sense without one: another directory in its place would be a surprise.
    pub(crate) fn workspace(&self) -> Outcome<PathBuf> {
        self.directory().ok_or_else(|| {
            Complaint::new(
                FailureKind::NotFound,
                "the directory this was started in is gone",
            )
            .hint("change to one that is there, and start again")
        })
    }
}

/// The settings, unless something in them stops every command.
fn usable(loaded: Loaded) -> Outcome<Loaded> {
    match loaded.problems.iter().find(|problem| problem.is_fatal()) {
        Some(problem) => Err(problem.clone().into()),
        None => Ok(loaded),
    }
}

impl From<hermes_config::HomeError> for Complaint {
    fn from(error: hermes_config::HomeError) -> Self {
        Self::new(FailureKind::NotFound, error.to_string()).hint(error.hint())
    }
}

impl From<LoadError> for Complaint {
    fn from(error: LoadError) -> Self {
        let hint = error.hint();
        Self::caused(FailureKind::BadInput, error).hint(hint)
    }
}

impl From<hermes_config::FileError> for Complaint {
    fn from(error: hermes_config::FileError) -> Self {
        let hint = error.hint();
        Self::caused(FailureKind::Unavailable, error).hint(hint)
    }
}
