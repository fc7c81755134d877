//! `mcp_servers` and `mcp`: tools of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::names::NameList;
use crate::environment::Environment;
use crate::expand;
use crate::macros::{choice, secs, section, text};
use crate::setting::{Either, Reader, SecretText, Setting as _};
use crate::value::{KeyPath, Node, Value};

section! {
    /// How MCP servers are kept up.
    pub struct Mcp {
        /// Connects them anew when their settings change.
        auto_reload_on_config_change: bool = true;
        /// Texts that no server may have in its command, arguments or variables, besides the built-in list.
        @unlisted blocked_strings: Vec<String> = Vec::new();
    }
}

choice! {
    /// How far the tools of an MCP server are trusted.
    pub enum McpTrust {
        /// Calls run like those of built-in tools.
        Trusted = "trusted",
        /// Calls of tools that do not declare themselves read-only are asked about first.
        Untrusted = "untrusted",
    }
}

choice! {
    /// What the program of an MCP server may touch.
    pub enum McpSandbox {
        /// Everything that you may.
        Off = "off",
        /// What commands may with the same word in `terminal.sandbox.mode`.
        WorkspaceWrite = "workspace-write",
        /// Nothing but temporary files may be changed, and keys cannot be read.
        ReadOnly = "read-only",
    }
}

choice! {
    /// How Hermes gets a token for an MCP server.
    pub enum McpGrant {
        /// You sign in with a browser.
        AuthorizationCode = "authorization_code",
        /// With the client's own secret or key, without a person.
        ClientCredentials = "client_credentials",
    }
}

section! {
    /// An MCP server: a program to start, or an address.
    pub struct McpServer [..rest: Value] {
        /// Program to start.
        @unlisted command: String = String::new();
        /// Its arguments.
        @unlisted args: Vec<String> = Vec::new();
        /// Its environment variables.
        @unlisted env: BTreeMap<String, String> = BTreeMap::new();
        /// Names of further variables it inherits from Hermes; `*` at the end stands for anything.
        @unlisted pass_env: Vec<String> = Vec::new();
        /// Address of a running server; counts before `command`.
        @unlisted url: String = String::new();
        /// HTTP headers sent with every request.
        @unlisted headers: BTreeMap<String, String> = BTreeMap::new();
        /// Transport; `sse` for servers of the older kind.
        @unlisted transport: String = String::new();
        /// `oauth` signs in with a browser.
        @unlisted auth: String = String::new();
        /// Details of that.
        @unlisted oauth: Option<McpOAuth> = None;
        /// Checks the server's certificate; a path names a certificate authority.
        @unlisted ssl_verify: Either<bool, String> = Either::First(true);
        /// Certificate shown to the server: a file, or a list of certificate, key and password.
        @unlisted client_cert: Vec<SecretText> = Vec::new();
        /// File with the key of that certificate.
        @unlisted client_key: String = String::new();
        /// Uses the server.
        @unlisted enabled: bool = true;
        /// Seconds one tool call may take.
        @unlisted timeout: Duration = secs(300), in Duration::from_millis(1)..=secs(31_536_000);
        /// Seconds connecting may take.
        @unlisted connect_timeout: Duration = secs(60), in Duration::from_millis(1)..=secs(31_536_000);
        /// Seconds between signs of life; at least 5.
        @unlisted keepalive_interval: Duration = secs(180);
        /// Seconds without calls after which a started program is closed until it is needed; 0 never.
        @unlisted idle_timeout_seconds: Duration = secs(0);
        /// Seconds after which a started program is started anew; 0 never.
        @unlisted max_lifetime_seconds: Duration = secs(0);
        /// The two settings above, by their older place.
        @unlisted lifecycle: Option<McpLifecycle> = None;
        /// Whether its tools may change things without a question.
        @unlisted trust: McpTrust = McpTrust::Trusted;
        /// What its program may touch; without a word everything for trusted servers, and what commands may
        /// in `workspace-write` for others.
        @unlisted sandbox: Option<McpSandbox> = None;
        /// Does not look at the address before it connects.
        @unlisted skip_preflight: bool = false, no_effect "as no address is looked at before it is connected to";
        /// Lets its tools run at the same time.
        @unlisted supports_parallel_tool_calls: bool = false;
        /// Which of its tools are offered.
        @unlisted tools: Option<McpTools> = None;
        /// Questions it may put to a model.
        @unlisted sampling: Option<McpSampling> = None;
        /// Questions it may put to you.
        @unlisted elicitation: Option<McpElicitation> = None;
    }
}

/// Parts of an entry that count as not written when their value cannot be used. What is wrong with any other
/// part leaves nothing to go by: a server with half its settings may do what nobody wanted.
const FORGIVEN: [&[&str]; 8] = [
    &["enabled"],
    &["supports_parallel_tool_calls"],
    &["idle_timeout_seconds"],
    &["max_lifetime_seconds"],
    &["lifecycle", "idle_timeout_seconds"],
    &["lifecycle", "max_lifetime_seconds"],
    &["tools", "resources"],
    &["tools", "prompts"],
];

impl McpServer {
    /// Whether the entry can be used although the value of this key, which is one of its own, cannot.
    pub fn forgives(key: &KeyPath) -> bool {
        let part: Vec<&str> = key.segments().skip(2).collect();
        FORGIVEN.contains(&part.as_slice())
    }

    /// The entry as it would be read from the settings, with the variables it refers to filled in, and their
    /// names.
    pub fn filled_in(&self, environment: &Environment) -> (Self, BTreeSet<String>) {
        let mut node = Node::from(self.to_value());
        let names = expand::expand_server(&mut node, environment);
        let filled = Self::read(&node, &mut Reader::default());
        (filled.unwrap_or_else(|| self.clone()), names)
    }
}

section! {
    /// Signing in to an MCP server.
    pub struct McpOAuth [..rest: Value] {
        /// Client id; registered by itself when empty.
        @unlisted client_id: String = String::new();
        /// Secret of that client.
        @unlisted client_secret: SecretText = SecretText::default();
        /// Rights to ask for.
        @unlisted scope: String = String::new();
        /// Port the browser comes back to; any free one when 0.
        @unlisted redirect_port: u16 = 0;
        /// Whole address the browser comes back to.
        @unlisted redirect_uri: String = String::new();
        /// Host name in that address.
        @unlisted redirect_host: String = text("127.0.0.1");
        /// Name shown to you when you sign in.
        @unlisted client_name: String = text("Hermes Agent");
        /// Seconds signing in may take.
        @unlisted timeout: Duration = secs(300);
        /// Address of a document that describes this client and serves as its id.
        @unlisted client_metadata_url: String = String::new();
        /// How tokens are got.
        @unlisted grant_type: McpGrant = McpGrant::AuthorizationCode;
        /// How the client shows who it is; chosen from what the server accepts when empty.
        @unlisted token_endpoint_auth_method: String = String::new();
        /// File with the key the client signs with, in PEM.
        @unlisted private_key_path: String = String::new();
        /// How it signs: ES256, RS256 or EdDSA; by the kind of the key when empty.
        @unlisted signing_algorithm: String = String::new();
        /// Signing in through the identity provider of an organisation.
        @unlisted idp: Option<McpIdentityProvider> = None;
    }
}

section! {
    /// Identity provider that vouches for you at an MCP server.
    pub struct McpIdentityProvider {
        /// Its name as an address.
        @unlisted issuer: String = String::new();
        /// Where it gives tokens; found out from its name when empty.
        @unlisted token_endpoint: String = String::new();
        /// Client id there.
        @unlisted client_id: String = String::new();
        /// Secret of that client.
        @unlisted client_secret: SecretText = SecretText::default();
        /// Token that says who you are.
        @unlisted id_token: SecretText = SecretText::default();
    }
}

section! {
    /// When the program of an MCP server is closed or started anew.
    pub struct McpLifecycle {
        /// Seconds without calls after which it is closed until it is needed; 0 never.
        @unlisted idle_timeout_seconds: Duration = secs(0);
        /// Seconds after which it is started anew; 0 never.
        @unlisted max_lifetime_seconds: Duration = secs(0);
    }
}

section! {
    /// Which tools of an MCP server are offered.
    pub struct McpTools {
        /// Only these; all when unset, none when empty.
        @unlisted include: Option<NameList> = None;
        /// All but these.
        @unlisted exclude: NameList = NameList::default();
        /// Offers tools to read its resources.
        @unlisted resources: bool = true;
        /// Offers tools to use its prompts.
        @unlisted prompts: bool = true;
    }
}

section! {
    /// Questions an MCP server may put to a model.
    pub struct McpSampling {
        /// Answers them.
        @unlisted enabled: bool = true;
        /// Model that answers; the one the server asks for when empty.
        @unlisted model: String = String::new();
        /// Most tokens of one answer.
        @unlisted max_tokens_cap: u32 = 4096;
        /// Seconds one answer may take.
        @unlisted timeout: Duration = secs(30);
        /// Most questions a minute.
        @unlisted max_rpm: u32 = 10;
        /// The only models it may ask for; any when empty.
        @unlisted allowed_models: Vec<String> = Vec::new();
        /// Rounds of tool calls one question may lead to; 0 none.
        @unlisted max_tool_rounds: u32 = 5;
        /// How much of it is logged.
        @unlisted log_level: String = text("info");
    }
}

section! {
    /// Questions an MCP server may put to you.
    pub struct McpElicitation {
        /// Passes them on.
        @unlisted enabled: bool = true;
        /// Seconds one stays open.
        @unlisted timeout: Duration = secs(300);
    }
}
