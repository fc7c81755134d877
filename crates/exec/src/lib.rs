//! Where commands run.
//!
//! A `Backend` starts processes somewhere and can end each one's whole tree by its id, also after we are
//! gone. Above it, `shell` makes a session out of single commands (directory, variables, functions and
//! aliases carry over), `processes` keeps what runs in the background, `capture` holds output in bounded
//! memory and `files` reads and writes where the commands run. Below it, `sandbox` confines what runs on
//! this machine.
//!
//! Whether a command may run is decided before it comes here, by `policy` and the tools; what its output means to a
//! model is up to them, too.

mod ansi;
mod backend;
mod capture;
mod cloud;
mod daytona;
mod den;
mod docker;
mod environment;
mod error;
mod files;
mod follow;
mod granted;
mod growing;
pub mod guidance;
mod labels;
mod lease;
mod local;
mod modal;
mod processes;
mod relay;
mod remote;
mod rest;
pub mod sandbox;
pub mod sandboxes;
mod shell;
mod singularity;
mod ssh;
mod supervise;
mod sync;
mod tether;
pub mod texts;
mod turn;
mod warden;

pub use ansi::strip_ansi;
pub use backend::{Backend, Control, Ending, Exit, Input, Launch, Place, Process, RunId};
pub use capture::{Capture, Captured, Decoder};
pub use cloud::CloudConfig;
pub use daytona::DaytonaConfig;
pub use den::{Den, clear_dens};
pub use docker::{DockerConfig, Offer};
pub use environment::{ChildEnvironment, passed_through};
pub use error::ExecError;
pub use files::{
    Applied, Edit, FileEntry, FileHash, FileKind, FileStamp, FileStat, FileState, Files,
    FilesError, FoundFile, FoundLine, FramedFiles, Line, LineWindow, Lines, Loaded, Located,
    NativeFiles, Search, SearchFor, SearchFound, SearchedBy,
};
pub use follow::{Ended, Unfinished};
pub use granted::Granted;
pub use growing::Growing;
pub use lease::{Lease, Leases, Owner};
pub use local::{Confiner, Enclosed, LocalBackend, LocalOptions};
pub use modal::{ManagedModalConfig, ModalConfig};
pub use processes::{
    EndReason, Killed, ProcessError, ProcessInfo, ProcessLog, ProcessState, Processes,
    ProcessesOptions, Recovered, StartProcess, StartedProcess, TypedSoFar, Waited,
};
pub use remote::{
    BackendConfig, Network, Surroundings, directory_there, isolation, on_another_account, open,
};
pub use shell::{
    Command, Finished, Ready, Shell, ShellOptions, Startup, sudo_count, sudo_needs_no_password,
    sudo_rejected,
};
pub use singularity::SingularityConfig;
pub use ssh::SshConfig;
pub use supervise::Carriers;
pub use sync::{
    Change, Difference, FileSync, Note, Pulled, Pushed, Returned, Source, SourceKind,
    SyncedBackend, Urgency, returned,
};
pub use tether::{TetherProgram, tether_main};
pub use warden::{WardenProgram, warden_main};
