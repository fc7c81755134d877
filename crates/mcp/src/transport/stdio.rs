//! A server that is a program: found, started through the warden and spoken to line by line.
//!
//! No program of a server is started in any other way, and that is why none has a parent-death signal: it would come
//! when the thread that started the program ends, and reach the program alone. The warden sees the end of our
//! process at its socket, however we ended, and ends the program with everything it started, within five seconds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{McpSandbox, is_program, program_in};
use hermes_exec::{ExecError, Input, Launch, Process, RunId};
use hermes_policy::{Confinement, Mode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, serve_client};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::child::Voice;
use super::last_words::{LastWords, listen};
use super::lines::Lines;
use super::stream::MOST_BYTES;
use super::{Child, Connection, Effort, Farewell, Marks, StderrLog, handshake};
use crate::fleet::Surroundings;
use crate::requests::Ears;
use crate::server::expanded;
use crate::{Failure, Server, child_environment};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Programs that come with a package manager and are often not on the search path.
const NODE_TOOLS: [&str; 3] = ["npx", "npm", "node"];

/// Folders of our home with programs of servers.
const INSTALLED: [&str; 2] = ["mcp-installs", "node"];

/// The way to a server that is a program.
#[derive(Clone)]
pub(crate) struct StdioRoute {
    server: Server,
    surroundings: Arc<Surroundings>,
    log: StderrLog,
}

impl StdioRoute {
    pub(crate) fn new(server: Server, surroundings: Arc<Surroundings>, log: StderrLog) -> Self {
        Self {
            server,
            surroundings,
            log,
        }
    }

    /// Whether the program may be started.
    pub(super) async fn clear(&self) -> Result<(), Failure> {
        let cleared = self.surroundings.gatekeeper.clear(&self.server).await;
        cleared.map_err(|text| Failure::Unusable { text })
    }

    pub(super) async fn open(&self, ears: Ears, effort: &Effort) -> Result<Connection, Failure> {
        let tasks = &effort.tasks;
        // In a task of its own: what was started must be ended, also when nobody waits for it any more.
        let (own, for_child) = (self.clone(), tasks.clone());
        let mut starting = tasks.spawn(async move { own.start(&for_child).await });
        let started = match effort.bound(&mut starting).await {
            Ok(started) => started,
            Err(failure) => {
                // Whoever hears of the failure may start the next program, and there must never be two. The warden
                // bounds how long a start takes.
                if let Ok(Ok((child, output, input))) = starting.await {
                    drop((output, input));
                    return Err(self.give_up(child, failure).await);
                }
                return Err(failure);
            }
        };
        let (child, output, input) = started.map_err(|error| Failure::Protocol {
            text: format!("the start broke off: {error}"),
        })??;
        let marks = Arc::<Marks>::default();
        let pipes = Pipes {
            answers: Lines::new(output, MOST_BYTES),
            requests: AsyncRwTransport::new_client(tokio::io::empty(), input),
            marks: Arc::clone(&marks),
        };
        let ended = child.exited();
        let service = tokio::select! {
            biased;
            service = effort.bound(handshake(serve_client(ears, pipes))) => service.flatten(),
            why = ended => Err(Failure::TransportDied { sent: true, text: why }),
        };
        match service {
            Ok(service) => Ok(Connection::watch(service, marks, Some(child), tasks).await),
            Err(failure) => Err(self.give_up(child, failure).await),
        }
    }

    async fn start(&self, tasks: &TaskTracker) -> Result<(Child, Reader, Writer), Failure> {
        let settings = self.server.settings();
        let mut environment = child_environment(&self.surroundings.environment, settings);
        let path = environment.get("PATH").cloned().unwrap_or_default();
        let program = self.find(&path)?;
        if let Some(folder) = program.parent().and_then(Path::to_str) {
            environment.insert("PATH".to_owned(), in_front(folder, &path));
        }
        let mut argv = vec![program.display().to_string()];
        argv.extend(settings.args.iter().cloned());
        self.log.header(self.server.name());
        let launch = Launch {
            id: RunId::new(format!("mcp{:016x}", self.surroundings.random.next_u64())),
            argv,
            directory: Some(self.surroundings.directory.clone()),
            environment: environment.into_iter().collect(),
            input: Input::Apart,
            confinement: self.confinement(),
        };
        let started = self.surroundings.backend.spawn(launch).await;
        let Process {
            pid,
            output,
            errors,
            input,
            exit,
            control,
            ..
        } = started.map_err(|error| self.not_started(&error))?;
        let voice = self.listen(errors, tasks);
        let child = Child::new(pid, control, exit, voice, tasks);
        let input = input.unwrap_or_else(|| Box::new(tokio::io::sink()));
        Ok((child, output, input))
    }

    /// What the program may touch; nothing when that is everything.
    fn confinement(&self) -> Option<Arc<Confinement>> {
        let mode = match self.server.sandbox() {
            McpSandbox::Off => return None,
            McpSandbox::WorkspaceWrite => Mode::WorkspaceWrite,
            McpSandbox::ReadOnly => Mode::ReadOnly,
        };
        let borders = &self.surroundings.borders;
        let network = borders.network.clone();
        let mut made = Confinement::for_workspace(mode, &borders.places, network);
        // Its own program may lie in our home, which is hidden otherwise.
        let home = &self.surroundings.home;
        made.exposed
            .extend(INSTALLED.iter().map(|folder| home.join(folder)));
        Some(Arc::new(made))
    }

    fn not_started(&self, error: &ExecError) -> Failure {
        let name = self.server.name();
        match error {
            ExecError::Confinement(_) => Failure::Unusable {
                text: format!(
                    "{error}; mcp_servers.{name}.sandbox: off would start it with all your rights"
                ),
            },
            _ => Failure::Interrupted {
                sent: false,
                text: error.to_string(),
            },
        }
    }

    /// Follows what the program says besides its answers.
    fn listen(&self, errors: Option<Reader>, tasks: &TaskTracker) -> Voice {
        let voice = Voice {
            words: LastWords::default(),
            silent: CancellationToken::new(),
        };
        let over = voice.silent.clone().drop_guard();
        if let Some(errors) = errors {
            let server = self.server.name().to_owned();
            let heard = listen(errors, server, self.log.clone(), voice.words.clone());
            tasks.spawn(async move {
                heard.await;
                drop(over);
            });
        }
        voice
    }

    /// Ends a program that did not get through the handshake and puts its last words into the failure.
    async fn give_up(&self, child: Child, failure: Failure) -> Failure {
        let policy = &self.surroundings.policy;
        let explained = match failure {
            // Pipes that close are how a program's end is seen first.
            Failure::TransportDied { sent, text } => Failure::TransportDied {
                sent,
                text: match child.epitaph(policy.child_grace).await {
                    Some(epitaph) => epitaph,
                    None => format!("{text}{}", child.last_words()),
                },
            },
            other => other,
        };
        child.close(Farewell::usual(policy)).await;
        explained
    }

    /// The program, looked for where the child would look, and where package managers put it.
    fn find(&self, path: &str) -> Result<PathBuf, Failure> {
        let user_home = self.surroundings.user_home.as_deref();
        let command = self.server.settings().command.trim();
        if command.is_empty() {
            return Err(Failure::Unusable {
                text: "the entry has neither a command nor a url".to_owned(),
            });
        }
        let asked = expanded(command, user_home);
        if asked.components().count() > 1 {
            let whole = self.surroundings.directory.join(&asked);
            return is_program(&whole)
                .then_some(whole)
                .ok_or_else(|| not_found(command));
        }
        let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
        if NODE_TOOLS.contains(&command) {
            folders.push(self.surroundings.home.join("node/bin"));
            folders.extend(user_home.map(|home| home.join(".local/bin")));
            folders.push(PathBuf::from("/usr/local/bin"));
        }
        program_in(folders, command).ok_or_else(|| not_found(command))
    }
}

fn not_found(command: &str) -> Failure {
    let hint = match NODE_TOOLS.contains(&command) {
        true => "; install Node.js or add its folder to PATH in the server's env",
        false => "",
    };
    // Somebody may be installing it at this moment.
    Failure::Interrupted {
        sent: false,
        text: format!("the program {command} was not found{hint}"),
    }
}

fn in_front(folder: &str, path: &str) -> String {
    match path.split(':').next() == Some(folder) || path.is_empty() {
        true if path.is_empty() => folder.to_owned(),
        true => path.to_owned(),
        false => format!("{folder}:{path}"),
    }
}

/// A program's pipes, with notes about what went through them.
struct Pipes {
    answers: Lines<Reader>,
    requests: AsyncRwTransport<RoleClient, tokio::io::Empty, Writer>,
    marks: Arc<Marks>,
}

impl Transport<RoleClient> for Pipes {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.marks.sending(&item);
        self.requests.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.answers.next().await;
        self.marks.hear();
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.requests.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MCP-46
    #[test]
    fn a_missing_program_of_node_is_explained() {
        assert!(not_found("npx").to_string().contains("Node.js"));
        let other = not_found("somewhere").to_string();
        assert!(
            other.contains("somewhere") && !other.contains("Node.js"),
            "{other}"
        );
    }
}
