//! The tether as a program of its own, for tests of this crate: the product starts itself instead.

use std::process::ExitCode;

use hermes_exec::tether_main;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let client = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any).build();
    let Ok(client) = client else {
        return ExitCode::FAILURE;
    };
    tether_main(&client).await;
    ExitCode::SUCCESS
}
