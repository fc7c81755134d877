//! Writes rows to a store and prints the id of each one once it is durable. Crash tests kill it.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::{Role, SessionId, SystemClock};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(
        arguments
            .next()
            .ok_or("usage: store-writer DATABASE SESSION COUNT")?,
    );
    let session = SessionId::try_from(arguments.next().ok_or("no session given")?)?;
    let count: usize = arguments.next().ok_or("no count given")?.parse()?;
    let store = Store::open(Options {
        blobs: path.with_file_name("blobs"),
        path,
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?;
    store
        .create_session(NewSession::new(session.clone(), "cli"))
        .wait()?;
    let mut out = std::io::stdout().lock();
    for number in 0..count {
        let record = NewRecord::text(
            Role::User,
            format!("row {number} of {session}: 持久 durable words"),
        );
        let id = store.append(&session, vec![record]).wait()?;
        writeln!(out, "{}", id[0])?;
        out.flush()?;
    }
    Ok(())
}
