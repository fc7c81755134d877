//! The MCP server at an address as a program of its own: prints its address and runs until it is ended.

use std::io::{self, Write as _};

use clap::Parser;
use hermes_testkit::mcp_server::{McpServer, Profile};

/// An MCP server whose faults are armed through `/ctl`.
#[derive(Parser)]
struct Arguments {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Answers with event streams.
    #[arg(long)]
    streams: bool,
    /// The token every request must carry.
    #[arg(long)]
    token: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let profile = Profile {
        streams: arguments.streams,
        token: arguments.token,
        ..Profile::default()
    };
    let server = McpServer::start_on(arguments.port, profile)?;
    writeln!(io::stdout(), "{}", server.url("/mcp"))?;
    loop {
        std::thread::park();
    }
}
