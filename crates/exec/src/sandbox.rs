//! Confines commands that run on this machine.
//!
//! A sandbox is a function from a command line to a longer one: this program in front of the command, which
//! confines itself and then becomes it. Two mechanisms do the confining, bubblewrap and Landlock; a filter of
//! system calls goes with both. Which paths count is looked up each time and stands in the longer line: two
//! lines that are the same make sandboxes that are the same. A sandbox holds no state but which mechanism
//! works here.
//!
//! What a session opens is found out once, when it begins (`settled`). Before each command the places are looked up
//! again, with which file each one is (`places`), and a command whose sandbox does not show exactly these files does
//! not start (`exact`).

mod bridge;
mod bubblewrap;
mod denial;
mod detect;
mod exact;
mod helper;
mod mounts;
mod places;
mod proxy;
mod ruleset;
mod seccomp;
mod settled;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hermes_policy::{Confinement, Mode, Network};
use serde::{Deserialize, Serialize};

use crate::{Confiner, Enclosed, ExecError};
use helper::{Confine, Order};

pub use denial::{Denial, Refusal, denied};
pub use helper::confine_main;
pub use proxy::Proxy;
pub use settled::{exposing, settled};

/// How this program is started as the helper: its main function hands what follows `argument` to
/// [`confine_main`] before anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Helper {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// The hidden argument that makes it the helper.
    pub argument: String,
}

impl Helper {
    fn command(&self, order: &Order) -> Result<Vec<OsString>, ExecError> {
        let order = serde_json::to_string(order)
            .map_err(|error| ExecError::Confinement(format!("a path is no text: {error}")))?;
        Ok(vec![
            self.program.clone().into(),
            self.argument.clone().into(),
            order.into(),
            "--".into(),
        ])
    }
}

/// How namespaces can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rights {
    /// Through a user namespace.
    UserNamespace,
    /// As root, without one. Files of all users stay what they are.
    Root,
}

/// What does the confining.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// The program `bwrap`.
    Bubblewrap {
        /// Where it is.
        program: PathBuf,
        /// Its version.
        version: String,
        /// How it gets its namespaces.
        rights: Rights,
        /// Whether processes outside are out of sight; not possible in some containers.
        own_processes: bool,
    },
    /// The kernel's own restriction of paths.
    Landlock {
        /// Its version.
        abi: i32,
        /// How mounts are had; without them protected paths below writable ones stay writable.
        mounts: Option<Rights>,
    },
    /// Nothing works here.
    None {
        /// Why.
        why: String,
    },
}

impl Mechanism {
    /// How namespaces are had, where any are.
    fn rights(&self) -> Option<Rights> {
        match self {
            Self::Bubblewrap { rights, .. } => Some(*rights),
            Self::Landlock { mounts, .. } => *mounts,
            Self::None { .. } => None,
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bubblewrap {
                version,
                own_processes,
                ..
            } => {
                write!(formatter, "bubblewrap {version}")?;
                match own_processes {
                    true => Ok(()),
                    false => formatter.write_str("; other processes can be seen"),
                }
            }
            Self::Landlock { abi, mounts } => {
                write!(formatter, "Landlock {abi}")?;
                match mounts {
                    Some(_) => Ok(()),
                    None => formatter.write_str(
                        "; without mounts, so git hooks in the workspace are not protected and \
                         local sockets are off where some must be hidden",
                    ),
                }
            }
            Self::None { why } => write!(formatter, "none: {why}"),
        }
    }
}

/// Whether commands may run where they cannot be confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// They may, and the user is told.
    Preferred,
    /// They may not.
    Required,
}

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// It runs confined.
    Confine,
    /// It runs open.
    Open {
        /// What the user is told, unless it was asked for.
        warning: Option<String>,
    },
    /// It does not run.
    Refuse {
        /// Why, and what would change that.
        why: String,
    },
}

/// Decides whether a command runs confined, open or not at all.
pub fn choose(mode: Mode, need: Need, mechanism: &Mechanism) -> Choice {
    match (mode, mechanism, need) {
        (Mode::Full, _, _) => Choice::Open { warning: None },
        (
            Mode::ReadOnly | Mode::WorkspaceWrite,
            Mechanism::Bubblewrap { .. } | Mechanism::Landlock { .. },
            _,
        ) => Choice::Confine,
        (Mode::ReadOnly | Mode::WorkspaceWrite, Mechanism::None { why }, Need::Preferred) => {
            Choice::Open {
                warning: Some(format!("commands run without a sandbox: {why}")),
            }
        }
        (Mode::ReadOnly | Mode::WorkspaceWrite, Mechanism::None { why }, Need::Required) => {
            Choice::Refuse {
                why: format!(
                    "a sandbox is required and there is none: {why}. Install bubblewrap, or set \
                     terminal.sandbox.required to false"
                ),
            }
        }
    }
}

/// Confines commands. Made once; what works here is found out on first use.
#[derive(Debug)]
pub struct Sandbox {
    helper: Helper,
    search: Vec<PathBuf>,
    mechanism: OnceLock<Mechanism>,
    proxy: Option<PathBuf>,
}

impl Sandbox {
    /// A sandbox that looks for bubblewrap in these directories.
    pub fn new(helper: Helper, search: Vec<PathBuf>) -> Self {
        Self {
            helper,
            search,
            mechanism: OnceLock::new(),
            proxy: None,
        }
    }

    /// A sandbox of this mechanism, whatever else works.
    pub fn of(helper: Helper, mechanism: Mechanism) -> Self {
        Self {
            helper,
            search: Vec::new(),
            mechanism: mechanism.into(),
            proxy: None,
        }
    }

    /// With the socket of a [`Proxy`], which a network of listed hosts needs.
    #[must_use]
    pub fn with_proxy(mut self, socket: PathBuf) -> Self {
        self.proxy = Some(socket);
        self
    }

    /// What does the confining. The first call starts a few short processes and may take a moment.
    pub fn mechanism(&self) -> &Mechanism {
        self.mechanism
            .get_or_init(|| detect::detect(&self.helper, &self.search))
    }

    /// One line about what works here, for people.
    pub fn describe(&self) -> String {
        self.mechanism().to_string()
    }

    /// What runs `argv` confined, by a confinement that is [`settled`]. `directory` is where it starts, the current
    /// one when absent. Whoever starts it must be a thread that outlives it: bubblewrap ends with the thread that
    /// started it.
    ///
    /// # Errors
    ///
    /// Nothing works here, or not what is asked for.
    pub fn wrap(
        &self,
        confinement: &Confinement,
        argv: &[String],
        directory: Option<&Path>,
    ) -> Result<Enclosed, ExecError> {
        if confinement.mode == Mode::Full {
            return Ok(Enclosed {
                argv: argv.to_vec(),
                environment: Vec::new(),
            });
        }
        let mechanism = self.mechanism();
        let proxy = match (&confinement.network, mechanism, &self.proxy) {
            (_, Mechanism::None { why }, _) => return Err(ExecError::Confinement(why.clone())),
            (Network::Only(_), Mechanism::Landlock { .. }, _) => {
                return Err(helper::needs_bubblewrap());
            }
            (Network::Only(_), Mechanism::Bubblewrap { .. }, None) => {
                return Err(ExecError::Confinement("the proxy is not running".into()));
            }
            (Network::Only(_), Mechanism::Bubblewrap { .. }, Some(socket)) => Some(socket.clone()),
            (
                Network::On | Network::Off,
                Mechanism::Bubblewrap { .. } | Mechanism::Landlock { .. },
                _,
            ) => None,
        };
        let environment = match &confinement.network {
            Network::Only(hosts) => bridge::variables(hosts),
            Network::On | Network::Off => Vec::new(),
        };
        let program = argv.first().map(PathBuf::from);
        let helper = &self.helper;
        let order = Confine::survey(confinement, mechanism, directory, helper, proxy, program);
        let argv = self
            .helper
            .command(&Order::Confine(Box::new(order)))?
            .into_iter()
            .map(|word| {
                word.into_string().map_err(|_| {
                    ExecError::Confinement("the path of the program is no text".into())
                })
            })
            .chain(argv.iter().cloned().map(Ok))
            .collect::<Result<_, _>>()?;
        Ok(Enclosed { argv, environment })
    }
}

impl Confiner for Sandbox {
    fn enclose(&self, confinement: &Confinement, argv: &[String]) -> Result<Enclosed, ExecError> {
        self.wrap(confinement, argv, Some(Path::new("/")))
    }

    fn mechanism(&self) -> &'static str {
        match self.mechanism() {
            Mechanism::Bubblewrap { .. } => "bubblewrap",
            Mechanism::Landlock { .. } => "landlock",
            Mechanism::None { .. } => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Mechanism {
        Mechanism::None {
            why: "no luck".into(),
        }
    }

    // EX-68
    #[test]
    fn a_required_sandbox_that_is_missing_refuses() {
        let choice = choose(Mode::WorkspaceWrite, Need::Required, &nothing());
        let Choice::Refuse { why } = choice else {
            panic!("{choice:?}");
        };
        assert!(why.contains("no luck") && why.contains("terminal.sandbox.required"));
    }

    #[test]
    fn a_preferred_sandbox_that_is_missing_warns() {
        let choice = choose(Mode::ReadOnly, Need::Preferred, &nothing());
        assert!(matches!(choice, Choice::Open { warning: Some(_) }));
    }

    #[test]
    fn what_works_is_used_and_full_is_open() {
        let landlock = Mechanism::Landlock {
            abi: 7,
            mounts: None,
        };
        let confined = choose(Mode::WorkspaceWrite, Need::Required, &landlock);
        assert_eq!(confined, Choice::Confine);
        let open = choose(Mode::Full, Need::Required, &nothing());
        assert_eq!(open, Choice::Open { warning: None });
    }
}
