//! File tools in a directory of their own.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::{Notice, Tool, ToolContext, ToolError, ToolOutcome};
use hermes_tools::{FileServices, FileTools};
use serde_json::{Value as Json, json};

pub(super) use super::surroundings::context;

/// A session with the file tools, working in a temporary directory.
pub(super) struct Bench {
    pub(super) files: FileTools,
    pub(super) context: ToolContext,
    pub(super) _folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(FileServices::default())
    }

    pub(super) fn with(services: FileServices) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self {
            files: FileTools::new(services),
            context: context("one", &root),
            _folder: Some(folder),
        }
    }

    /// Another session in the same directory.
    pub(super) fn beside(&self, session: &str, services: FileServices) -> Self {
        Self {
            files: FileTools::new(services),
            context: context(session, &self.context.directory),
            _folder: None,
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.context.directory.join(name)
    }

    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The names in the directory, also hidden ones.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.context.directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.files
            .tools()
            .into_iter()
            .find(|tool| tool.spec().name == name)
            .unwrap()
    }

    /// Tells the tools what happened, as the engine does.
    pub(super) fn notice(&self, notice: Notice<'_>) {
        for tool in self.files.tools() {
            tool.noticed(notice);
        }
    }

    pub(super) async fn outcome(&self, tool: &str, arguments: Json) -> ToolOutcome {
        self.notice(Notice::Called(tool));
        self.tool(tool).call(arguments, &self.context).await
    }

    /// The answer; an error is told by its `error` field.
    pub(super) async fn call(&self, tool: &str, arguments: Json) -> Json {
        match self.outcome(tool, arguments).await {
            Ok(result) => {
                // Search adds a line of text after its object.
                let mut values = serde_json::Deserializer::from_str(&result.content).into_iter();
                values.next().unwrap().unwrap()
            }
            Err(ToolError::ForModel { message }) => {
                serde_json::from_str(&message).unwrap_or_else(|_| json!({ "error": message }))
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// An answer that is not an error.
    pub(super) async fn done(&self, tool: &str, arguments: Json) -> Json {
        let answer = self.call(tool, arguments).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer
    }

    /// The words of an error.
    pub(super) async fn error(&self, tool: &str, arguments: Json) -> String {
        let answer = self.call(tool, arguments).await;
        answer["error"]
            .as_str()
            .unwrap_or_else(|| panic!("no error: {answer}"))
            .to_owned()
    }
}
