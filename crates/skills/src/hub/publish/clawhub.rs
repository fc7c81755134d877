//! A new version on ClawHub.

use hermes_http::BaseUrl;
use hermes_secrets::Secret;
use serde_json::json;

use super::Published;
use crate::hub::bundle::Bundle;
use crate::hub::error::SourceError;
use crate::hub::web::Web;

/// Stands between the parts of a form; no file of a skill holds it.
const BOUNDARY: &str = "hermes-skill-7d1f3c0a9b52e864";

pub(super) async fn upload(
    web: &Web,
    base: &BaseUrl,
    token: &Secret,
    bundle: &Bundle,
    version: &str,
) -> Result<Published, SourceError> {
    let slug = bundle.name.as_str();
    let about = json!({
        "slug": slug,
        "displayName": bundle.skill().name,
        "version": version,
        "changelog": "",
        "tags": ["latest"],
    });
    let mut body = Vec::new();
    part(&mut body, "name=\"payload\"", about.to_string().as_bytes());
    for (path, file) in bundle.files.iter() {
        let name: String = path
            .as_str()
            .chars()
            .filter(|c| !matches!(c, '"' | '\\'))
            .collect();
        let heading = format!("name=\"files\"; filename=\"{name}\"");
        part(&mut body, &heading, &file.bytes);
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    web.post(base.join("skills"), token, &kind, body).await?;
    let site = base.join("").origin().ascii_serialization();
    Ok(Published {
        address: format!("{site}/skills/{slug}"),
    })
}

fn part(body: &mut Vec<u8>, heading: &str, content: &[u8]) {
    let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; {heading}\r\n\r\n");
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n");
}
