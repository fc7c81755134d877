//! Vendors of sandboxes that speak their real protocols on loopback and really run what they are told.
//!
//! A sandbox is a directory and the processes that were started for it. Each server runs on threads of its own, so a
//! test may block on a child process while that child talks to it.

mod daytona;
mod gateway;
mod modal;
mod terminal;
mod yard;

pub use daytona::Daytona;
pub use gateway::ModalGateway;
pub use modal::Modal;

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// What goes wrong with the next requests that concern something.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Part of the path.
    pub about: &'static str,
    /// What is answered; 0 is nothing, the connection or stream just ends.
    pub answer: u16,
    /// How often.
    pub times: usize,
}

/// Faults to come.
#[derive(Debug, Default)]
struct Faults(Mutex<VecDeque<Fault>>);

impl Faults {
    fn add(&self, fault: Fault) {
        locked(&self.0).push_back(fault);
    }

    /// The answer to give in place of the real one.
    fn take(&self, path: &str) -> Option<u16> {
        let mut faults = locked(&self.0);
        let fault = faults
            .iter_mut()
            .find(|fault| fault.times > 0 && path.contains(fault.about))?;
        fault.times -= 1;
        Some(fault.answer)
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads and a port of a server's own.
pub(crate) fn ground(name: &str) -> anyhow::Result<(Runtime, TcpListener, u16)> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name(name)
        .enable_all()
        .build()
        .context("no runtime")?;
    let guard = runtime.enter();
    let listener = TcpListener::from_std(listener)?;
    drop(guard);
    Ok((runtime, listener, port))
}
