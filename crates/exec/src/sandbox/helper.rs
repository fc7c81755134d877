//! What happens between our starting a command and its first instruction: this program, started once more,
//! confines itself and then becomes the command.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use hermes_policy::{Confinement, Network};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{Resource, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use serde::{Deserialize, Serialize};

use super::bubblewrap::{self, Wrapping};
use super::places::{self, Access, Place};
use super::seccomp::{self, Sockets};
use super::{Helper, Mechanism, Rights, bridge, exact, mounts, ruleset};
use crate::ExecError;
use crate::warden::let_go;

/// What the helper is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Confine yourself, then become the command.
    Confine(Box<Confine>),
    /// See whether the sandbox is what it should be, then become the command; said inside it.
    Inside(Inside),
}

/// What the helper does inside a sandbox that another program made.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Inside {
    /// What must be shown.
    places: Vec<Place>,
    /// The socket of the proxy, when connections are to be carried to it while the command runs.
    proxy: Option<PathBuf>,
}

/// How the helper confines itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Confine {
    /// With what.
    mechanism: Mechanism,
    /// What differs from reading everything, parents first.
    places: Vec<Place>,
    /// Devices besides the usual ones.
    devices: Vec<PathBuf>,
    /// What can be reached.
    network: Network,
    /// Whether something hidden can be connected to all the same, because nothing can be laid over it.
    sockets_within_reach: bool,
    /// Where the command starts.
    directory: Option<PathBuf>,
    /// The socket of the proxy that lets the allowed hosts through.
    proxy: Option<PathBuf>,
    /// Who looks at the sandbox from inside.
    helper: Helper,
}

impl Confine {
    /// What a confinement comes to on this machine right now. `program` can be started inside wherever it lies.
    pub(super) fn survey(
        confinement: &Confinement,
        mechanism: &Mechanism,
        directory: Option<&Path>,
        helper: &Helper,
        proxy: Option<PathBuf>,
        program: Option<PathBuf>,
    ) -> Self {
        let needed: Vec<PathBuf> = proxy
            .iter()
            .cloned()
            .chain([helper.program.clone()])
            .chain(program.filter(|program| program.is_absolute()))
            .collect();
        let mut places = places::survey(confinement, &needed);
        if mechanism.rights() == Some(Rights::UserNamespace) {
            places::leave_unreachable(&mut places);
        }
        let bare = matches!(mechanism, Mechanism::Landlock { mounts: None, .. });
        let sockets_within_reach = bare && places::hide_sockets(&places);
        if sockets_within_reach {
            places::leave_doors(&mut places, confinement);
        }
        Self {
            mechanism: mechanism.clone(),
            sockets_within_reach,
            places,
            devices: places::devices(),
            network: confinement.network.clone(),
            directory: directory.map(Path::to_owned),
            proxy,
            helper: helper.clone(),
        }
    }
}

/// The whole program behind the hidden argument: `arguments` are what follows it, an order, `--` and the
/// command. Returns when it failed or when the command ran beside it; otherwise it has become the command. Must
/// be called before there is a second thread.
///
/// # Errors
///
/// The confinement cannot be had, or the command cannot be started.
pub fn confine_main(arguments: &[OsString]) -> Result<ExitCode, ExecError> {
    let (order, command) = parse(arguments)?;
    let_go().map_err(|source| ExecError::Io {
        what: "letting go of open files".into(),
        source,
    })?;
    match order {
        Order::Confine(confine) => match confined(&confine, command)? {},
        Order::Inside(inside) => {
            exact::shown(&inside.places)?;
            match inside.proxy {
                Some(socket) => bridge::run(&socket, command),
                None => match become_command(command)? {},
            }
        }
    }
}

fn parse(arguments: &[OsString]) -> Result<(Order, &[OsString]), ExecError> {
    let [order, dashes, command @ ..] = arguments else {
        return Err(refused("no order"));
    };
    if dashes != "--" || command.is_empty() {
        return Err(refused("no command"));
    }
    let order = order.to_str().ok_or_else(|| refused("no text"))?;
    let order = serde_json::from_str(order).map_err(|error| refused(&error.to_string()))?;
    Ok((order, command))
}

fn refused(why: &str) -> ExecError {
    ExecError::Confinement(format!("the order cannot be read: {why}"))
}

fn confined(order: &Confine, command: &[OsString]) -> Result<Infallible, ExecError> {
    // What loses its parent then stays below the command, and ends with it, even when it also left its session
    // and dropped its environment.
    nix::sys::prctl::set_child_subreaper(true)
        .map_err(|error| ExecError::Confinement(format!("keeping orphans together: {error}")))?;
    // A dump of memory would land outside.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)
        .map_err(|error| ExecError::Confinement(format!("limiting dumps: {error}")))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a process of its own, which was started where the command is to run"
    )]
    let directory = match &order.directory {
        Some(directory) => directory.clone(),
        None => std::env::current_dir().map_err(|source| ExecError::Io {
            what: "finding the current directory".into(),
            source,
        })?,
    };
    match &order.mechanism {
        Mechanism::Bubblewrap {
            program,
            rights,
            own_processes,
            ..
        } => wrapped(
            program,
            Wrapping {
                rights: *rights,
                own_processes: *own_processes,
                network: order.network == Network::On,
                places: &order.places,
                devices: &order.devices,
                directory: &directory,
                filter: -1,
            },
            &inner(order, command)?,
        ),
        Mechanism::Landlock { mounts, .. } => restricted(*mounts, order, &directory, command),
        Mechanism::None { why } => Err(ExecError::Confinement(why.clone())),
    }
}

/// The command as it is started inside.
fn inner(order: &Confine, command: &[OsString]) -> Result<Vec<OsString>, ExecError> {
    let inside = Inside {
        places: bubblewrap::mounted(&order.places).cloned().collect(),
        proxy: order.proxy.clone(),
    };
    let mut inner = order.helper.command(&Order::Inside(inside))?;
    inner.extend(command.iter().cloned());
    Ok(inner)
}

fn become_command(command: &[OsString]) -> Result<Infallible, ExecError> {
    let (program, rest) = command.split_first().ok_or_else(|| refused("no command"))?;
    become_it(Command::new(program).args(rest), Path::new(program))
}

fn wrapped(
    program: &Path,
    mut wrapping: Wrapping<'_>,
    command: &[OsString],
) -> Result<Infallible, ExecError> {
    ruleset::scope()?;
    let filter = piped(&seccomp::bytes(Sockets::All)?)?;
    wrapping.filter = filter.as_raw_fd();
    let mut start = Command::new(program);
    start.args(bubblewrap::arguments(&wrapping)).args(command);
    become_it(&mut start, program)
}

/// A descriptor that the next program inherits and reads these bytes from; they fit into a pipe.
fn piped(bytes: &[u8]) -> Result<OwnedFd, ExecError> {
    let io = |source| ExecError::Io {
        what: "handing over the filter".into(),
        source,
    };
    let (reader, mut writer) = std::io::pipe().map_err(io)?;
    writer.write_all(bytes).map_err(io)?;
    fcntl(&reader, FcntlArg::F_SETFD(FdFlag::empty())).map_err(|error| io(error.into()))?;
    Ok(reader.into())
}

fn restricted(
    mounts: Option<Rights>,
    order: &Confine,
    directory: &Path,
    command: &[OsString],
) -> Result<Infallible, ExecError> {
    let covered = mounts.is_some();
    let places = &order.places;
    let sockets = match (&order.network, order.sockets_within_reach) {
        (Network::On, false) => Sockets::All,
        (Network::On, true) => Sockets::Internet,
        (Network::Off, false) => Sockets::Local,
        (Network::Off, true) => Sockets::None,
        (Network::Only(_), _) => return Err(needs_bubblewrap()),
    };
    if let Some(rights) = mounts {
        mounts::apply(rights, places)?;
    }
    drop_capabilities()?;
    // Mounts hide and protect by themselves; Landlock alone hides, and cannot protect what is below the
    // writable.
    let granted: Vec<Place> = places
        .iter()
        .filter(|place| {
            place.access == Access::Write
                || (!covered && (place.access == Access::Hidden || place.covered))
        })
        .cloned()
        .collect();
    ruleset::restrict(&granted, &order.devices)?;
    let (program, rest) = command.split_first().ok_or_else(|| refused("no command"))?;
    let mut start = Command::new(program);
    // By its path: the directory we are in lies below the mounts.
    start.args(rest).current_dir(directory);
    seccomp::apply(sockets)?;
    become_it(&mut start, Path::new(program))
}

/// The network of some hosts needs a network namespace with a way out of our own.
pub(super) fn needs_bubblewrap() -> ExecError {
    ExecError::Confinement(
        "a network of listed hosts needs bubblewrap; install it, or set terminal.sandbox.network to on or off"
            .into(),
    )
}

/// Leaves root what it needs to handle files of other users, and nobody else anything.
fn drop_capabilities() -> Result<(), ExecError> {
    let failed = |error| ExecError::Confinement(format!("dropping privileges: {error}"));
    let had = capabilities(None).map_err(failed)?;
    let kept = if nix::unistd::geteuid().is_root() {
        CapabilitySet::CHOWN
            | CapabilitySet::DAC_OVERRIDE
            | CapabilitySet::FOWNER
            | CapabilitySet::FSETID
    } else {
        CapabilitySet::empty()
    };
    set_capabilities(
        None,
        CapabilitySets {
            effective: had.permitted & kept,
            permitted: had.permitted & kept,
            inheritable: CapabilitySet::empty(),
        },
    )
    .map_err(failed)
}

fn become_it(start: &mut Command, program: &Path) -> Result<Infallible, ExecError> {
    let source = start.exec();
    Err(ExecError::Io {
        what: format!("starting {}", program.display()),
        source,
    })
}
