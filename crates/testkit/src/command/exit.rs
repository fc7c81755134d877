//! Noticing that a child has ended, and reaping it with its resource usage.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

/// Says when a child has ended, without reaping it.
///
/// The child stays a zombie until [`reap`], so its process id and group cannot be taken over by
/// another process while somebody may still want to signal them.
#[derive(Debug, Clone)]
pub(super) struct ExitNotice(Arc<(Mutex<Option<Instant>>, Condvar)>);

/// How a child ended and what it used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reaped {
    pub(super) status: ExitStatus,
    pub(super) peak_kib: u64,
    pub(super) cpu: Duration,
}

impl ExitNotice {
    pub(super) fn watch(pid: Pid) -> Self {
        let notice = Self(Arc::default());
        let watcher = notice.clone();
        thread::spawn(move || {
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            while waitid(Id::Pid(pid), flags) == Err(Errno::EINTR) {}
            *watcher.locked() = Some(Instant::now());
            watcher.0.1.notify_all();
        });
        notice
    }

    /// Waits until the child has ended; `None` when it still runs after `limit`.
    pub(super) fn wait(&self, limit: Duration) -> Option<Instant> {
        let waited = self
            .0
            .1
            .wait_timeout_while(self.locked(), limit, |ended| ended.is_none());
        match waited {
            Ok((ended, _)) => *ended,
            Err(poisoned) => *poisoned.into_inner().0,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects an ended child.
pub(super) fn reap(pid: Pid) -> io::Result<Reaped> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        #[expect(
            unsafe_code,
            reason = "no safe wrapper returns the usage of a single child"
        )]
        // SAFETY: both pointers are to live locals of the right types.
        let waited = unsafe { libc::wait4(pid.as_raw(), &mut status, 0, usage.as_mut_ptr()) };
        if waited == pid.as_raw() {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    #[expect(unsafe_code, reason = "the kernel filled the structure")]
    // SAFETY: zeroed memory is a valid `rusage`, and `wait4` succeeded.
    let usage = unsafe { usage.assume_init() };
    Ok(Reaped {
        status: ExitStatus::from_raw(status),
        peak_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        cpu: length(usage.ru_utime) + length(usage.ru_stime),
    })
}

/// Peak resident memory of a live process since its program started, in KiB.
pub(super) fn peak_kib(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn length(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}
