//! Finds out by trying what confines commands on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hermes_policy::{Confinement, Mode, Network};
use landlock::LandlockStatus;

use super::helper::{Confine, Order};
use super::{Helper, Mechanism, Rights, ruleset};
use crate::ExecError;

/// Time one try may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks at a try.
const GLANCE: Duration = Duration::from_millis(2);
/// Landlock before this version lets anybody shorten files it does not let them write.
const OLDEST_LANDLOCK: i32 = 3;

/// The first of the mechanisms that works, the stronger ones first.
pub(super) fn detect(helper: &Helper, search: &[PathBuf]) -> Mechanism {
    let wrap = match find(search) {
        Some(program) => bubblewrap(helper, &program),
        None => Err("bubblewrap is not installed".into()),
    };
    let without_wrap = match wrap {
        Ok(mechanism) => return mechanism,
        Err(why) => why,
    };
    match landlock(helper) {
        Ok(mechanism) => mechanism,
        Err(why) => Mechanism::None {
            why: format!("{without_wrap}; {why}"),
        },
    }
}

fn find(search: &[PathBuf]) -> Option<PathBuf> {
    search
        .iter()
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("bwrap"))
        .find(|program| program.is_file())
}

fn bubblewrap(helper: &Helper, program: &Path) -> Result<Mechanism, String> {
    let version = version(program)?;
    let shapes = rights().flat_map(|rights| [(rights, true), (rights, false)]);
    first_working(
        helper,
        shapes.map(|(rights, own_processes)| Mechanism::Bubblewrap {
            program: program.to_owned(),
            version: version.clone(),
            rights,
            own_processes,
        }),
    )
    .map_err(|why| format!("bubblewrap does not work here ({why})"))
}

fn landlock(helper: &Helper) -> Result<Mechanism, String> {
    let abi = landlock_version()?;
    if abi < OLDEST_LANDLOCK {
        return Err(format!(
            "Landlock of this kernel is too old (version {abi}, {OLDEST_LANDLOCK} is needed)"
        ));
    }
    let mounts = rights().map(Some).chain([None]);
    first_working(
        helper,
        mounts.map(|mounts| Mechanism::Landlock { abi, mounts }),
    )
    .map_err(|why| format!("Landlock does not work here ({why})"))
}

/// How namespaces may be had: root in a container may have the right but no user namespace, or the other way
/// round.
fn rights() -> impl Iterator<Item = Rights> + Clone {
    let root = nix::unistd::geteuid().is_root().then_some(Rights::Root);
    root.into_iter().chain([Rights::UserNamespace])
}

fn first_working(
    helper: &Helper,
    candidates: impl Iterator<Item = Mechanism>,
) -> Result<Mechanism, String> {
    let mut why = String::new();
    for candidate in candidates {
        match attempt(helper, &candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Runs a command that does nothing, with something of each kind to set up.
fn attempt(helper: &Helper, mechanism: &Mechanism) -> Result<(), String> {
    let confinement = Confinement {
        mode: Mode::ReadOnly,
        writable: vec!["/tmp".into()],
        protected: Vec::new(),
        sealed: Vec::new(),
        temporary: Vec::new(),
        hidden: vec!["/etc/ssl".into(), "/etc/shadow".into()],
        exposed: Vec::new(),
        network: Network::On,
    };
    let confine = Confine::survey(
        &confinement,
        mechanism,
        Some(Path::new("/")),
        helper,
        None,
        None,
    );
    let order = Order::Confine(Box::new(confine));
    let mut argv = helper.command(&order).map_err(|error| error.to_string())?;
    argv.extend(["/bin/sh", "-c", ":"].map(OsString::from));
    finish(&argv).map(drop)
}

fn version(program: &Path) -> Result<String, String> {
    let said = finish(&[program.into(), "--version".into()])?;
    Ok(said.split_whitespace().last().unwrap_or("unknown").into())
}

/// Landlock binds single threads, so a thread that ends afterwards can try it on.
fn landlock_version() -> Result<i32, String> {
    let tried = thread::spawn(ruleset::scope);
    let status = tried
        .join()
        .map_err(|_| "Landlock could not be tried".to_owned())?
        .map_err(|error: ExecError| error.to_string())?;
    match status {
        LandlockStatus::NotEnabled => Err("Landlock is switched off in this kernel".into()),
        LandlockStatus::NotImplemented => Err("this kernel has no Landlock".into()),
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => Ok(kernel_abi.unwrap_or(effective_abi as i32)),
    }
}

/// What a short program printed, if it ended well in time.
fn finish(argv: &[OsString]) -> Result<String, String> {
    let (program, rest) = argv.split_first().ok_or("nothing to start")?;
    let mut child = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if started.elapsed() < PATIENCE => thread::sleep(GLANCE),
            None => {
                child.kill().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                return Err(format!("no end within {} s", PATIENCE.as_secs()));
            }
        }
    };
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said.trim().lines().last().unwrap_or("it failed").to_owned())
    }
}
