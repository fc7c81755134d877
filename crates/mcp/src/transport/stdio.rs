//! A server that is a program: found, started through the warden and spoken to line by line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_exec::{Input, Launch, Process, RunId};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, serve_client};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::child::Voice;
use super::last_words::{LastWords, listen};
use super::{Child, Connection, Effort, Marks, StderrLog, handshake};
use crate::fleet::Surroundings;
use crate::requests::Ears;
use crate::server::expanded;
use crate::{Failure, Server, child_environment};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Programs that come with a package manager and are often not on the search path.
const NODE_TOOLS: [&str; 3] = ["npx", "npm", "node"];

/// The way to a server that is a program.
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

    pub(super) async fn open(&self, ears: Ears, effort: &Effort) -> Result<Connection, Failure> {
        let tasks = &effort.tasks;
        let mut environment =
            child_environment(&self.surroundings.environment, self.server.settings());
        let path = environment.get("PATH").cloned().unwrap_or_default();
        let program = self.find(&path)?;
        if let Some(folder) = program.parent().and_then(Path::to_str) {
            environment.insert("PATH".to_owned(), in_front(folder, &path));
        }
        effort
            .bound(self.surroundings.gatekeeper.clear(&self.server))
            .await?
            .map_err(|text| Failure::Unusable { text })?;
        let process = self.start(&program, environment).await?;
        let Process {
            pid,
            output,
            errors,
            input,
            exit,
            control,
        } = process;
        let voice = self.listen(errors, tasks);
        let child = Child::new(pid, control, exit, voice, tasks);
        let marks = Arc::<Marks>::default();
        let input = input.unwrap_or_else(|| Box::new(tokio::io::sink()));
        let pipes = Pipes {
            inner: AsyncRwTransport::new_client(output, input),
            marks: Arc::clone(&marks),
        };
        let ended = child.exited();
        let service = tokio::select! {
            biased;
            service = effort.bound(handshake(serve_client(ears, pipes))) => service.flatten(),
            why = ended => Err(Failure::TransportDied { sent: true, text: why }),
        };
        match service {
            Ok(service) => Ok(Connection::watch(service, marks, Some(child), tasks)),
            Err(failure) => Err(self.give_up(child, failure).await),
        }
    }

    async fn start(
        &self,
        program: &Path,
        environment: std::collections::BTreeMap<String, String>,
    ) -> Result<Process, Failure> {
        let mut argv = vec![program.display().to_string()];
        argv.extend(self.server.settings().args.iter().cloned());
        self.log.header(self.server.name());
        let launch = Launch {
            id: RunId::new(format!("mcp{:016x}", self.surroundings.random.next_u64())),
            argv,
            directory: Some(self.surroundings.directory.clone()),
            environment: environment.into_iter().collect(),
            input: Input::Apart,
            confinement: None,
        };
        let started = self.surroundings.backend.spawn(launch).await;
        started.map_err(|error| Failure::Interrupted {
            sent: false,
            text: error.to_string(),
        })
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
        let grace = self.surroundings.policy.child_grace;
        let explained = match failure {
            // Pipes that close are how a program's end is seen first.
            Failure::TransportDied { sent, text } => Failure::TransportDied {
                sent,
                text: match child.epitaph(grace).await {
                    Some(epitaph) => epitaph,
                    None => format!("{text}{}", child.last_words()),
                },
            },
            other => other,
        };
        child.close(grace).await;
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
        folders
            .into_iter()
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(command))
            .find(|whole| is_program(whole))
            .ok_or_else(|| not_found(command))
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
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
    inner: AsyncRwTransport<RoleClient, Reader, Writer>,
    marks: Arc<Marks>,
}

impl Transport<RoleClient> for Pipes {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.marks.sending(&item);
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await;
        self.marks.hear();
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
