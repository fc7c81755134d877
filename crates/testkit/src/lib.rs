//! What the tests of Hermes stand on.
//!
//! A scripted model server, a temporary home with a hermetic command runner, a terminal driver,
//! process-tree checks and a crash helper. Everything here talks to real programs over real sockets,
//! pipes and terminals; nothing reaches into the product. A dev-dependency only: assertions panic,
//! errors are `anyhow`.

#![deny(missing_docs)]

pub mod authorization_server;
pub mod clouds;
mod command;
pub mod crash;
mod dockerd;
mod eventually;
pub mod gguf;
mod home;
pub mod mcp_server;
pub mod memory_service;
pub mod model_server;
pub mod pictures;
pub mod process;
pub mod pty;
pub mod skill_hubs;
mod sshd;
pub mod strict;

pub use command::{HermeticCommand, Output, Running, SYSTEM_PATH, Signal};
pub use dockerd::Dockerd;
pub use eventually::eventually;
pub use home::TempHome;
pub use sshd::Sshd;
