//! The built-in tools.
//!
//! A tool reads its arguments into a struct of its own, does one thing and answers in words. Deadlines,
//! size limits, approvals and retries belong to the engine.

mod arguments;
mod clarify;
mod read_file;
mod todo;

use std::sync::Arc;

use hermes_core::{Message, Tool};

pub use clarify::Clarify;
pub use read_file::ReadFile;
pub use todo::Todo;

/// All built-in tools of a session. The list of steps goes on where the history left it.
pub fn built_in(history: &[Arc<Message>]) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Clarify::new()),
        Arc::new(ReadFile::new()),
        Arc::new(Todo::from_history(history)),
    ]
}
