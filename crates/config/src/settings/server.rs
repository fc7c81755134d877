//! Whether the entry of an MCP server may be saved: it is a command line that runs at every start.

use super::SetError;
use crate::legacy;
use crate::root::Config;
use crate::setting::{Reader, Setting};
use crate::value::KeyPath;
use crate::yaml::Document;

/// Refuses a change of an entry that leaves it switched on and suspicious.
pub(super) fn check(document: &Document, key: &KeyPath) -> Result<(), Box<SetError>> {
    let mut segments = key.segments();
    if segments.next() != Some("mcp_servers") {
        return Ok(());
    }
    let changed = segments.next();
    let Ok(mut tree) = document.value() else {
        return Ok(());
    };
    legacy::normalise(&mut tree, &mut Vec::new());
    let config = Config::read(&tree, &mut Reader::default()).unwrap_or_default();
    let entries = config.mcp_servers.iter();
    let entries = entries.filter(|(name, _)| changed.is_none_or(|changed| changed == *name));
    for (name, entry) in entries.filter(|(_, entry)| entry.enabled) {
        let found = entry.suspicions(&config.mcp.blocked_strings);
        if !found.is_empty() {
            return Err(Box::new(SetError::Suspicious {
                server: name.clone(),
                reasons: found.iter().map(ToString::to_string).collect(),
            }));
        }
    }
    Ok(())
}
