//! Whom a connection trusts and what it shows of itself: `ssl_verify`, `client_cert`, `client_key`.

use std::path::Path;

use hermes_config::{Either, McpServer};
use hermes_http::{ClientSettings, Identity, Roots};
use url::Url;

use crate::server::expanded;

/// Puts a server's own settings in the place of the general ones.
pub(crate) async fn apply(
    server: &McpServer,
    settings: &mut ClientSettings,
    user_home: Option<&Path>,
) -> Result<(), String> {
    match &server.ssl_verify {
        Either::First(true) => {}
        Either::First(false) => {
            let host = Url::parse(server.url.trim())
                .ok()
                .and_then(|url| url.host_str().map(str::to_owned));
            settings.insecure_hosts.extend(host);
        }
        Either::Second(path) => {
            settings.roots = Roots::Only(read("ssl_verify", path, user_home).await?);
        }
    }
    settings.identity = identity(server, user_home).await?;
    Ok(())
}

async fn identity(
    server: &McpServer,
    user_home: Option<&Path>,
) -> Result<Option<Identity>, String> {
    let parts: Vec<&str> = server
        .client_cert
        .iter()
        .map(|part| part.expose())
        .collect();
    let single = server.client_key.trim();
    let (certificate, key) = match (parts.as_slice(), single) {
        ([], "") => return Ok(None),
        ([], _) => return Err("client_key is set without client_cert".to_owned()),
        // One file may hold both.
        ([certificate], "") => (*certificate, *certificate),
        ([certificate], key) => (*certificate, key),
        ([_, _, ..], key) if !key.is_empty() => {
            return Err("client_cert is a list already, so client_key must not be set".to_owned());
        }
        ([certificate, key], _) => (*certificate, *key),
        ([certificate, key, ""], _) => (*certificate, *key),
        ([_, _, _], _) => {
            return Err(
                "keys with a password cannot be read; write one without, readable only by you"
                    .to_owned(),
            );
        }
        _ => return Err("client_cert has more than three parts".to_owned()),
    };
    Ok(Some(Identity {
        certificates: read("client_cert", certificate, user_home).await?,
        key: read("client_key", key, user_home).await?,
    }))
}

async fn read(setting: &str, path: &str, user_home: Option<&Path>) -> Result<Vec<u8>, String> {
    let path = expanded(path, user_home);
    tokio::fs::read(&path)
        .await
        .map_err(|error| format!("{setting}: {} cannot be read: {error}", path.display()))
}
