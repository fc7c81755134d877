//! Long pages: a part is answered, the whole goes to a file.

use std::path::{Path, PathBuf};

use hermes_web::Page;
use sha2::{Digest, Sha256};

/// Characters of a page that are kept.
const MOST_KEPT: usize = 2_000_000;
/// Percent of the answer that is the beginning of the page.
const HEAD: usize = 75;

/// What is answered of a page: all of it, or its beginning and its end and where the rest is.
pub(super) async fn cut(page: &Page, limit: usize, folder: &Path) -> String {
    let length = page.content.chars().count();
    if length <= limit {
        return page.content.clone();
    }
    let head = limit * HEAD / 100;
    let tail = limit - head;
    let first: String = page.content.chars().take(head).collect();
    let last: String = page.content.chars().skip(length - tail).collect();
    let place = match keep(page, folder).await {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => {
            tracing::warn!(%error, "a page could not be kept");
            "the rest could not be kept".to_owned()
        }
    };
    format!(
        "{first}\n\n[… {} of {length} characters are left out here; {place} …]\n\n{last}",
        length - limit
    )
}

/// Writes a page to a file that is named after where it came from.
async fn keep(page: &Page, folder: &Path) -> std::io::Result<PathBuf> {
    let host = page.url.split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host: String = host
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        .take(80)
        .collect();
    let hash: String = Sha256::digest(page.url.as_bytes())
        .iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let path = folder.join(format!("{host}-{hash}.md"));
    let text: String = page.content.chars().take(MOST_KEPT).collect();
    tokio::fs::create_dir_all(folder).await?;
    // Whoever reads it meanwhile sees the old text or the new one.
    let new = folder.join(format!(".{host}-{hash}.tmp"));
    tokio::fs::write(&new, text).await?;
    tokio::fs::rename(&new, &path).await?;
    Ok(path)
}
