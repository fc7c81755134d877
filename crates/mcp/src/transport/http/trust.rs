//! Whom a connection trusts and what it shows of itself: `ssl_verify`, `client_cert`, `client_key`.

use std::path::Path;

use hermes_config::{Either, McpServer};
use hermes_http::{ClientSettings, Identity, Roots, Trust, check_bundle};
use hermes_secrets::Origin;
use pkcs8::der::pem::LineEnding;
use pkcs8::{EncryptedPrivateKeyInfoRef, SecretDocument};
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
            let origin = Url::parse(server.url.trim())
                .ok()
                .and_then(|url| Origin::of(&url).ok());
            let unchecked = origin.map(|origin| (origin, Trust::Unchecked));
            settings.trust.extend(unchecked);
        }
        Either::Second(path) => {
            let bundle = read("ssl_verify", path, user_home).await?;
            check_bundle(&bundle).map_err(|error| format!("ssl_verify: {path}: {error}"))?;
            settings.roots = Roots::Only(bundle);
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
    let (certificate, key, password) = match (parts.as_slice(), single) {
        ([], "") => return Ok(None),
        ([], _) => return Err("client_key is set without client_cert".to_owned()),
        // One file may hold both.
        ([certificate], "") => (*certificate, *certificate, ""),
        ([certificate], key) => (*certificate, key, ""),
        ([_, _, ..], key) if !key.is_empty() => {
            return Err("client_cert is a list already, so client_key must not be set".to_owned());
        }
        ([certificate, key], _) => (*certificate, *key, ""),
        ([certificate, key, password], _) => (*certificate, *key, *password),
        _ => return Err("client_cert has more than three parts".to_owned()),
    };
    Ok(Some(Identity {
        certificates: read("client_cert", certificate, user_home).await?,
        key: unlocked(read("client_key", key, user_home).await?, password)?,
    }))
}

/// The key as it is used. A file may hold more than the key, such as the certificate that goes with it.
fn unlocked(file: Vec<u8>, password: &str) -> Result<Vec<u8>, String> {
    const BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
    const END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
    let text = String::from_utf8_lossy(&file);
    let Some(begin) = text.find(BEGIN) else {
        if text.contains("Proc-Type: 4,ENCRYPTED") {
            return Err(
                "client_key: this old form of a locked key cannot be read; openssl pkcs8 -topk8 -in KEY writes \
                 the current one"
                    .to_owned(),
            );
        }
        return Ok(file);
    };
    if password.is_empty() {
        return Err(
            "client_key: the key is locked; name its password: client_cert: [certificate, key, password]"
                .to_owned(),
        );
    }
    let rest = text.get(begin..).unwrap_or_default();
    let end = rest.find(END).map_or(rest.len(), |end| end + END.len());
    let open = || {
        let (_, locked) = SecretDocument::from_pem(rest.get(..end)?).ok()?;
        let locked = EncryptedPrivateKeyInfoRef::try_from(locked.as_bytes()).ok()?;
        let key = locked.decrypt(password).ok()?;
        key.to_pem("PRIVATE KEY", LineEnding::LF).ok()
    };
    match open() {
        Some(key) => Ok(key.as_bytes().to_vec()),
        None => Err("client_key: the password does not open the key".to_owned()),
    }
}

async fn read(setting: &str, path: &str, user_home: Option<&Path>) -> Result<Vec<u8>, String> {
    let path = expanded(path, user_home);
    tokio::fs::read(&path)
        .await
        .map_err(|error| format!("{setting}: {} cannot be read: {error}", path.display()))
}
