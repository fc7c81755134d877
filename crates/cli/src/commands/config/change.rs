//! `hermes config set` and `hermes config unset`

use hermes_config::{Change, KeyPath, ManagedScope, SetError, Settings, Shown, UnknownKey};
use hermes_core::FailureKind;

use super::hide::hidden;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(crate) fn set(
    key: &str,
    value: &str,
    force: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let unknown = if force {
        UnknownKey::Write
    } else {
        UnknownKey::Refuse
    };
    let change = change(context, |settings| settings.set(key, value, unknown))?;
    let mut line = format!(
        "{} = {} in {}",
        change.key,
        show(&change, context),
        change.file.display()
    );
    if let Some(also) = change.also {
        line.push_str(&format!(", and {also} in .env"));
    }
    Ok(output.line(line)?)
}

pub(crate) fn unset(key: &str, context: &Context, output: &mut Output) -> Outcome {
    let change = change(context, |settings| settings.unset(key))?;
    if change.old == Shown::Absent {
        let file = change.file.display().to_string();
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("{} is not set in {file}", change.key),
        )
        .hint(Settings::hint_for_absent(key)));
    }
    Ok(output.line(format!(
        "{} removed from {}",
        change.key,
        change.file.display()
    ))?)
}

fn change(
    context: &Context,
    work: impl FnOnce(&Settings<'_>) -> Result<Change, SetError>,
) -> Outcome<Change> {
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

fn show(change: &Change, context: &Context) -> String {
    match &change.new {
        Shown::Absent => "nothing".to_owned(),
        Shown::Masked => "(secret)".to_owned(),
        Shown::Value(value) => {
            let key = KeyPath::parse(&change.key).unwrap_or_default();
            let value = hidden(&key, value, &context.redactor.snapshot());
            value
                .as_text()
                .map_or_else(|| value.to_json().to_string(), ToOwned::to_owned)
        }
    }
}

impl From<SetError> for Complaint {
    fn from(error: SetError) -> Self {
        let kind = match &error {
            SetError::Owned { .. } | SetError::Pinned { .. } | SetError::Suspicious { .. } => {
                FailureKind::Refused
            }
            SetError::BadKey { .. }
            | SetError::UnknownKey { .. }
            | SetError::NotAccepted { .. }
            | SetError::EnvName(_) => FailureKind::BadRequest,
            SetError::Encoding { .. } | SetError::Unparsable { .. } | SetError::Edit { .. } => {
                FailureKind::BadInput
            }
            SetError::File(_) | SetError::Home(_) => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}
