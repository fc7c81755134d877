//! The descriptors a run starts with.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::tree::BADGE;
use super::wire::Stdio;

/// Far from the numbers that scripts use.
const BADGE_FD: i32 = 64;

/// Lets go of all but standard input, output and error: whatever else this program was started with would lead every
/// command past its confinement. Must come before anything is opened.
pub(crate) fn let_go() -> io::Result<()> {
    let open: Vec<RawFd> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > io::stderr().as_raw_fd())
        .collect();
    for number in open {
        // The one that was just read through is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// An open file with the name of the innermost run, for a child to inherit: it must be gone before the next one.
pub(super) fn badge(runs: &str) -> io::Result<OwnedFd> {
    let run = runs.rsplit(':').next().unwrap_or_default();
    let file = memfd_create(format!("{BADGE}{run}"), MemfdFlags::CLOEXEC)?;
    let file = fcntl_dupfd_cloexec(file, BADGE_FD)?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

/// Gives a command its descriptors. Answers our side of its terminal, if it gets one.
pub(super) fn connect(
    command: &mut Command,
    stdio: Stdio,
    files: Vec<OwnedFd>,
) -> io::Result<Option<OwnedFd>> {
    let mut files = files.into_iter();
    let missing = || io::Error::from(ErrorKind::InvalidInput);
    let mut next = || files.next().ok_or_else(missing);
    let (input, output, errors, screen) = match stdio {
        Stdio::Pipes | Stdio::Cell => {
            let (input, output) = (next()?, next()?);
            let errors = output.try_clone()?;
            (input, output, errors, None)
        }
        Stdio::Apart => (next()?, next()?, next()?, None),
        Stdio::Terminal { rows, columns } => {
            let (screen, theirs) = terminal(rows, columns)?;
            (
                theirs.try_clone()?,
                theirs.try_clone()?,
                theirs,
                Some(screen),
            )
        }
    };
    if screen.is_none() {
        command.process_group(0);
    }
    command.stdin(input).stdout(output).stderr(errors);
    Ok(screen)
}

/// A new terminal, as programs beside us see it: our side and theirs.
fn terminal(rows: u16, columns: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size)?;
    Ok((ours, theirs))
}

/// Makes standard input the controlling terminal and becomes the program: what a run on a terminal starts
/// as.
pub(super) fn become_program(argv: &[String]) -> io::Error {
    let Some((program, arguments)) = argv.split_first() else {
        return ErrorKind::InvalidInput.into();
    };
    if let Err(error) = rustix::process::setsid() {
        return error.into();
    }
    if let Err(error) = rustix::process::ioctl_tiocsctty(io::stdin()) {
        return error.into();
    }
    Command::new(program).args(arguments).exec()
}
