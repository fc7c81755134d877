//! Asks for a token as one of several processes that share a home.
//!
//! Arguments: home, address of the server. Waits for a line on standard input, so that several begin at
//! once, and prints the token or what is wrong.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::McpServer;
use hermes_core::SystemClock;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_mcp::{Authority as _, OAuth, OAuthParts, OAuthSettings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let home = PathBuf::from(arguments.next().ok_or("home is missing")?);
    let url = arguments.next().ok_or("address is missing")?;
    let entry = McpServer {
        url,
        ..McpServer::default()
    };
    let policy = AddressPolicy::PublicAndPrivate;
    let oauth = OAuth::new(OAuthParts {
        settings: OAuthSettings::new("s", &entry, None)?,
        http: ClientBuilder::new(ClientSettings::default(), policy).build()?,
        home,
        clock: Arc::new(SystemClock),
        person: None,
    })?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let shown = match runtime.block_on(oauth.bearer()) {
        Ok(Some(token)) => token.expose_for_storage("test output").to_owned(),
        Ok(None) => "none".to_owned(),
        Err(error) => format!("error: {error}"),
    };
    writeln!(std::io::stdout(), "{shown}")?;
    Ok(())
}
