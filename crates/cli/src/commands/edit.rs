//! Changing settings on behalf of a command.

use hermes_config::{Document, KeyPath, ManagedScope, Node, SetError, Settings};
use hermes_core::FailureKind;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;

/// Lets `work` change the settings of the profile in use.
pub(super) fn edit<T>(
    context: &Context,
    work: impl FnOnce(&Settings<'_>) -> Result<T, SetError>,
) -> Outcome<T> {
    let home = context.home()?;
    home.create(home.path())?;
    let found = ManagedScope::find(&context.environment);
    let settings = Settings {
        home,
        owner: &context.owner()?,
        managed: &found.scope,
    };
    work(&settings).map_err(Complaint::from)
}

/// What `config.yaml` itself says at a key, as it is written there: variables are not put in.
pub(super) fn written(context: &Context, key: &KeyPath) -> Outcome<Option<Node>> {
    let path = context.home()?.config_file();
    let Some(bytes) = hermes_config::read_file(&path)? else {
        return Ok(None);
    };
    let broken = |error| {
        Complaint::caused(FailureKind::BadInput, error)
            .hint("hermes config check says what is wrong")
    };
    let document = Document::new(String::from_utf8_lossy(&bytes)).map_err(broken)?;
    Ok(document.value().map_err(broken)?.at(key).cloned())
}
