//! `hermes mcp …`

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::servers::Elicit;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Choose servers and their tools at the terminal, elsewhere list them; what hermes mcp alone does
    Picker,
    /// List the configured servers
    #[command(alias = "ls")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect to a server, show its tools and write it into the settings
    Add(AddArgs),
    /// Remove a server, its login and what is remembered about it
    #[command(alias = "rm")]
    Remove {
        /// The server
        name: String,
    },
    /// Connect to a server and show what it offers
    Test {
        /// The server
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Sign in to a server with a browser
    Login {
        /// The server
        name: String,
    },
    /// Sign in anew
    #[command(override_usage = "hermes mcp reauth <NAME>\n       hermes mcp reauth --all")]
    Reauth {
        /// The server
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        name: Option<String>,
        /// Every server that is signed in to with a browser, one after the other
        #[arg(long)]
        all: bool,
    },
    /// Choose which tools of a server are offered
    #[command(alias = "config")]
    Configure(ConfigureArgs),
    /// List servers that can be installed by name
    Catalog {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install a server of the catalog
    Install(InstallArgs),
    /// Connect to all servers and show how they stand
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Wait this long for connections
        #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
        wait: Duration,
    },
    /// Call a tool of a server and print what the model would get, one JSON object a call
    Call(CallArgs),
    /// Let other programs read conversations and answer approvals, over MCP
    Serve(ServeArgs),
}

/// How a server knows who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthWay {
    /// Sign in with a browser
    Oauth,
    /// A token in a header, asked for now or read from the input
    Header,
}

/// Programs that are servers, known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// The Codex agent, through its own program
    Codex,
}

impl Preset {
    /// The program and its arguments.
    pub(crate) fn command(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Codex => ("codex", &["mcp-server"]),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What the server is called here
    pub(crate) name: String,
    /// Address of a running server
    #[arg(long, value_name = "URL", required_unless_present_any = ["command", "preset"])]
    pub(crate) url: Option<String>,
    /// Program to start
    #[arg(long, value_name = "PROGRAM", conflicts_with = "url")]
    pub(crate) command: Option<String>,
    /// A program that is known by name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "command", "args"])]
    pub(crate) preset: Option<Preset>,
    /// Speak the older protocol for addresses
    #[arg(long, requires = "url")]
    pub(crate) sse: bool,
    /// How the server knows you
    #[arg(long, requires = "url")]
    pub(crate) auth: Option<AuthWay>,
    /// A variable for the program, as NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url", value_parser = pair)]
    pub(crate) env: Vec<(String, String)>,
    /// Seconds connecting may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) connect_timeout: Option<Duration>,
    /// Ask nothing: all tools are offered, and a server that cannot be reached is kept switched off
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Arguments for the program; everything behind this belongs to it
    #[arg(long, value_name = "ARG", requires = "command", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ConfigureArgs {
    /// The server
    pub(crate) name: String,
    /// Offer these too
    #[arg(long, value_name = "TOOL", num_args = 1..)]
    pub(crate) enable: Vec<String>,
    /// Offer these no more
    #[arg(long, value_name = "TOOL", num_args = 1..)]
    pub(crate) disable: Vec<String>,
    /// Offer these and no others
    #[arg(long, value_name = "TOOL", num_args = 1.., conflicts_with_all = ["enable", "disable", "all"])]
    pub(crate) only: Vec<String>,
    /// Offer all of them
    #[arg(long, conflicts_with_all = ["enable", "disable"])]
    pub(crate) all: bool,
}

impl ConfigureArgs {
    /// Nothing but the server: what to offer is asked for.
    pub(crate) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The server, as hermes mcp catalog calls it
    pub(crate) name: String,
    /// A value it needs, as NAME=VALUE; otherwise taken from the environment or asked for
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) env: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The server
    pub(crate) server: String,
    /// The tool by the server's own name, or list_resources, read_resource, list_prompts, get_prompt
    pub(crate) tool: String,
    /// Its arguments, a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
    pub(crate) args: Object,
    /// Call it so many times, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Answers to questions of the server: defaults, decline, or a JSON object of fields; without it you are
    /// asked at a terminal, and questions are declined elsewhere
    #[arg(long, value_name = "HOW")]
    pub(crate) elicit: Option<Elicit>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen here for HTTP instead of speaking on standard input and output
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765")]
    pub(crate) http: Option<SocketAddr>,
    /// The variable with the token that clients over HTTP have to show
    #[arg(
        long,
        value_name = "NAME",
        default_value = "HERMES_MCP_TOKEN",
        requires = "http"
    )]
    pub(crate) token_env: String,
    /// Say on standard error what is asked and what goes wrong
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// A JSON object on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Object(pub(crate) serde_json::Map<String, serde_json::Value>);

fn object(text: &str) -> Result<Object, String> {
    serde_json::from_str(text)
        .map(Object)
        .map_err(|error| format!("this is no JSON object: {error}"))
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "this is no number".to_owned())?;
    let allowed = 1.0..=3600.0;
    match allowed.contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("between 1 and 3600 seconds".to_owned()),
    }
}
