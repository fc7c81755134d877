//! A home with an MCP server in it: a program of ours, started by the binary under test.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario};
use hermes_testkit::{Output, eventually};
use serde_json::Value as Json;

use super::chat::with_model;
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A model, a home that uses it, and a folder the server of the tests writes to.
pub(crate) struct Lab {
    pub(crate) model: ModelServer,
    pub(crate) program: Program,
    pub(crate) state: PathBuf,
}

impl Lab {
    /// A home without servers.
    pub(crate) fn new(scenario: Scenario) -> Self {
        let model = ModelServer::start(scenario).unwrap();
        let program = with_model(&model.base_url());
        let state = program.home.path().join("state-of-lab");
        std::fs::create_dir_all(&state).unwrap();
        let lab = Self {
            model,
            program,
            state,
        };
        lab.more("auxiliary: {title_generation: {enabled: false}}\n");
        lab
    }

    /// A home with the server `lab`; `more` are further keys of its entry.
    pub(crate) fn with_server(scenario: Scenario, more: &str) -> Self {
        let lab = Self::new(scenario);
        lab.more(&format!(
            "mcp_discovery_timeout: 60\nmcp_servers:\n{}",
            lab.entry("lab", more)
        ));
        lab
    }

    /// The lines of a server in the settings.
    pub(crate) fn entry(&self, name: &str, more: &str) -> String {
        format!(
            "  {name}:\n    command: python3\n    args: ['{}']\n    env: {{MCP_STATE: '{}', MCP_FAULTS: 'noise grandchild'}}\n{more}",
            fixture().display(),
            self.state.display()
        )
    }

    /// Adds to the settings.
    pub(crate) fn more(&self, text: &str) {
        let settings = self.program.home.read("config.yaml").unwrap();
        let settings = format!("{settings}{text}");
        self.program.home.write_config(&settings).unwrap();
    }

    /// The lines of a file of the server.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until everything the server started is gone.
    #[track_caller]
    pub(crate) fn is_gone(&self, limit: Duration) {
        let pids = self.lines("starts");
        assert!(!pids.is_empty(), "it was never started");
        eventually(limit, "the server is gone", || {
            pids.iter().all(|pid| !is_running(pid)).then_some(())
        })
        .unwrap();
    }

    /// The names of tools in a request to the model.
    pub(crate) fn offered(&self, request: usize) -> Vec<String> {
        let requests = self.model.requests();
        let tools = requests[request].expect_json()["tools"].as_array().cloned();
        let names = tools.unwrap_or_default();
        let names = names
            .iter()
            .filter_map(|tool| tool["function"]["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// What the last request says that calls returned.
    pub(crate) fn results(&self) -> Vec<String> {
        let requests = self.model.requests();
        let messages = requests.last().unwrap().expect_json()["messages"].clone();
        let messages = messages.as_array().unwrap();
        messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| match message["content"].as_str() {
                Some(text) => text.to_owned(),
                // Words and pictures.
                None => message["content"].to_string(),
            })
            .collect()
    }

    /// Runs `hermes mcp …` and reads the JSON it prints.
    pub(crate) fn mcp(&self, arguments: &[&str]) -> (i32, Vec<Json>) {
        let all: Vec<&str> = ["mcp"].iter().chain(arguments).copied().collect();
        let output = self.program.command(&all).timeout(LONG).run().unwrap();
        let lines = output.stdout.lines();
        let objects = lines.filter_map(|line| serde_json::from_str(line).ok());
        let objects: Vec<Json> = objects.filter(Json::is_object).collect();
        let objects = match (objects.is_empty(), serde_json::from_str(&output.stdout)) {
            (true, Ok(whole)) => vec![whole],
            _ => objects,
        };
        (output.code.unwrap_or(-1), objects)
    }
}

/// Runs `hermes mcp serve`, says these lines to it, and ends its input when the request of this id is answered.
pub(crate) fn served(program: &Program, option: &str, said: &[String], last: u32) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let said: String = said.iter().map(|line| format!(" '{line}'")).collect();
    // A pipe with a name stays open for as long as this shell holds it.
    let script = format!(
        "cd '{}' && mkfifo in && : >out\n\
         \"$HERMES\" mcp serve {option} <in >out & server=$!\n\
         exec 3>in; printf '%s\\n'{said} >&3\n\
         until grep -q '\"id\":{last}[,}}]' out || ! kill -0 $server; do sleep 0.05; done\n\
         exec 3>&-; wait $server; ended=$?; cat out; exit $ended",
        folder.path().display()
    );
    let command = program.home.command("/bin/sh").args(["-c", &script]);
    let command = command.env("HERMES", env!("CARGO_BIN_EXE_hermes"));
    command.timeout(LONG).run().unwrap()
}

/// The server's program.
pub(crate) fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mcp_server.py")
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}
