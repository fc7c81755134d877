//! Whether a gateway runs on a profile.

use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::files;

/// The process that `gateway.pid` names, if it is alive. The file holds a number or a JSON object.
pub(super) fn running(home: &Path) -> Option<i32> {
    let bytes = files::read(&home.join("gateway.pid")).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let json = serde_json::from_str::<serde_json::Value>(&text).ok()?;
    let pid = json.as_i64().or_else(|| json.get("pid")?.as_i64())?;
    let pid = i32::try_from(pid).ok()?;
    alive(pid).then_some(pid)
}

pub(super) fn alive(pid: i32) -> bool {
    pid > 0
        && match kill(Pid::from_raw(pid), None) {
            Ok(()) | Err(Errno::EPERM) => true,
            Err(_) => false,
        }
}
