//! Channels that are a program on this machine, such as `ssh`.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Channel, Closed, Crew, tail};

/// How long its last complaint may take after a program has ended.
const LAST_COMPLAINT: Duration = Duration::from_millis(500);

/// Starts the program. The crew's token ends it at once, the end of its input in good order.
pub(crate) fn start(mut command: Command, crew: &Crew) -> io::Result<Channel> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Signals that a terminal sends to our own group are not meant for it.
        .process_group(0)
        // If we are dropped, the end of its input tells the guard to clear up; a kill would forestall that.
        .kill_on_drop(false)
        .spawn()?;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (sender, receiver) = oneshot::channel();
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        let mut complaint = std::pin::pin!(tail(errors));
        let mut said = None;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status.ok(),
                text = &mut complaint, if said.is_none() => said = Some(text),
                () = stop.cancelled() => break None,
            }
        };
        if status.is_none() {
            // It may have ended by itself in the meantime.
            let _ = child.start_kill();
        }
        let complaint = match said {
            Some(text) => text,
            None => timeout(LAST_COMPLAINT, complaint).await.unwrap_or_default(),
        };
        // Nobody may be waiting any more.
        let _ = sender.send(Closed {
            code: status.and_then(|status| status.code()),
            complaint,
        });
    });
    Ok(Channel {
        input: Box::new(input),
        output: Box::new(output),
        closed: Box::pin(async move { receiver.await.unwrap_or_default() }),
    })
}
