//! What is hidden from commands because of who runs Hermes: the agents this user's programs talk to, wherever their
//! sockets lie, and for root what other users keep secret.

use std::path::{Path, PathBuf};

use hermes_config::{Environment, Variable};
use hermes_policy::confine::credentials;
use nix::unistd::Uid;

use crate::context::Context;

/// Most homes of other users that are looked into.
const MOST_HOMES: usize = 16;

/// What is hidden besides what everybody hides.
pub(super) fn secluded(context: &Context) -> Vec<PathBuf> {
    let mut hidden = sockets(&context.environment);
    if Uid::effective().is_root() {
        hidden.extend(of_others(Path::new("/home"), Path::new("/root")));
    }
    hidden
}

/// The sockets that variables name: agents with keys, container engines, buses.
fn sockets(environment: &Environment) -> Vec<PathBuf> {
    let path = |variable| environment.filled(variable);
    let agent = path(&Variable::SSH_AUTH_SOCK);
    // The socket, a process and a version.
    let keys = path(&Variable::GPG_AGENT_INFO).and_then(|info| info.split(':').next());
    let engines = [&Variable::DOCKER_HOST, &Variable::CONTAINER_HOST].into_iter();
    let engines = engines.filter_map(|variable| path(variable)?.strip_prefix("unix://"));
    let buses = path(&Variable::DBUS_SESSION_BUS_ADDRESS).unwrap_or_default();
    let buses = buses.split(';').filter_map(|bus| {
        let parts = bus.strip_prefix("unix:")?.split(',');
        parts.filter_map(|part| part.strip_prefix("path=")).next()
    });
    let named = agent.into_iter().chain(keys).chain(engines).chain(buses);
    named
        .map(PathBuf::from)
        .filter(|socket| socket.is_absolute())
        .collect()
}

/// What is there of the credentials of all users.
fn of_others(homes: &Path, root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(homes).into_iter().flatten().flatten();
    let homes = entries.take(MOST_HOMES).map(|entry| entry.path());
    homes
        .chain([root.to_owned()])
        .flat_map(|home| credentials(&home))
        .filter(|path| path.symlink_metadata().is_ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-68
    #[test]
    fn sockets_are_found_in_the_variables_that_name_them() {
        let variables = [
            ("SSH_AUTH_SOCK", "/home/ada/.agent/sock"),
            ("GPG_AGENT_INFO", "/home/ada/.keys/S.agent:12:1"),
            ("DOCKER_HOST", "unix:///home/ada/.engine/docker.sock"),
            ("CONTAINER_HOST", "tcp://127.0.0.1:2375"),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                "unix:abstract=/x,guid=1;unix:path=/opt/bus,guid=2",
            ),
        ];
        let environment = Environment::from_iter(variables);
        let expected = [
            "/home/ada/.agent/sock",
            "/home/ada/.keys/S.agent",
            "/home/ada/.engine/docker.sock",
            "/opt/bus",
        ];
        assert_eq!(sockets(&environment), expected.map(PathBuf::from));
    }

    // EX-68
    #[test]
    fn what_other_users_keep_secret_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let homes = folder.path().join("home");
        for kept in ["home/bob/.ssh", "home/bob/notes", "root/.aws"] {
            std::fs::create_dir_all(folder.path().join(kept)).unwrap();
        }
        let root = folder.path().join("root");
        assert_eq!(
            of_others(&homes, &root),
            [homes.join("bob/.ssh"), root.join(".aws")]
        );
    }
}
