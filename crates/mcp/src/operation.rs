//! What can be asked of a server.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest,
    GetPromptRequestParams, ListPromptsRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value as Json, json};

use crate::session::{Patience, Session};
use crate::{Asked, Failure, RecoveryPolicy, discover};

/// Says of a list why its end is missing.
pub(crate) const TRUNCATED: &str = "truncated";

/// One of the five operations, all of which are carried out and recovered in the same way.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Calls a tool.
    CallTool {
        /// The server's own name for it.
        name: String,
        /// Its arguments.
        arguments: Map<String, Json>,
        /// Whether doing it twice is as good as doing it once.
        repeatable: bool,
    },
    /// Lists resources.
    ListResources,
    /// Reads one.
    ReadResource {
        /// Its address.
        uri: String,
    },
    /// Lists prompts.
    ListPrompts,
    /// Gets one.
    GetPrompt {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Map<String, Json>,
    },
}

impl Operation {
    /// What the answer is.
    pub fn asked(&self) -> Asked {
        match self {
            Self::CallTool { .. } => Asked::Tool,
            Self::ListResources => Asked::Resources,
            Self::ReadResource { .. } => Asked::Resource,
            Self::ListPrompts => Asked::Prompts,
            Self::GetPrompt { .. } => Asked::Prompt,
        }
    }

    /// Whether it may be done twice.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Self::CallTool { repeatable, .. } => *repeatable,
            Self::ListResources
            | Self::ReadResource { .. }
            | Self::ListPrompts
            | Self::GetPrompt { .. } => true,
        }
    }

    /// Does it once and answers with the result as the server sent it.
    pub(crate) async fn run(
        &self,
        session: &Session,
        patience: &Patience,
        policy: &RecoveryPolicy,
    ) -> Result<Json, Failure> {
        match self {
            Self::ListResources => {
                listed(session, "resources", resources_page, patience, policy).await
            }
            Self::ListPrompts => listed(session, "prompts", prompts_page, patience, policy).await,
            Self::CallTool { .. } | Self::ReadResource { .. } | Self::GetPrompt { .. } => {
                session.ask(self.request(), patience).await
            }
        }
    }

    /// The request; the first page of a list.
    fn request(&self) -> ClientRequest {
        match self {
            Self::CallTool {
                name, arguments, ..
            } => {
                let params = CallToolRequestParams::new(name.clone());
                ClientRequest::CallToolRequest(CallToolRequest::new(
                    params.with_arguments(arguments.clone()),
                ))
            }
            Self::ReadResource { uri } => ClientRequest::ReadResourceRequest(
                ReadResourceRequest::new(ReadResourceRequestParams::new(uri)),
            ),
            Self::GetPrompt { name, arguments } => {
                let params = GetPromptRequestParams::new(name);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(
                    params.with_arguments(arguments.clone()),
                ))
            }
            Self::ListResources => resources_page(None),
            Self::ListPrompts => prompts_page(None),
        }
    }
}

/// A whole list as one answer.
async fn listed(
    session: &Session,
    key: &str,
    request: fn(Option<String>) -> ClientRequest,
    patience: &Patience,
    policy: &RecoveryPolicy,
) -> Result<Json, Failure> {
    let found = discover::all(session, key, request, |_| true, patience, policy).await?;
    let mut answer = json!({ key: found.entries });
    if let (Some(limit), Some(fields)) = (found.cut, answer.as_object_mut()) {
        tracing::warn!(key, "a server's list {limit} and is cut");
        let words = format!("the server's list {limit}; the rest is left out");
        fields.insert(TRUNCATED.to_owned(), words.into());
    }
    Ok(answer)
}

fn resources_page(cursor: Option<String>) -> ClientRequest {
    ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page(cursor)))
}

fn prompts_page(cursor: Option<String>) -> ClientRequest {
    ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page(cursor)))
}

/// The parameters of one page.
pub(crate) fn page(cursor: Option<String>) -> PaginatedRequestParams {
    PaginatedRequestParams::default().with_cursor(cursor)
}
