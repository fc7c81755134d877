//! `hermes mcp remove`

use hermes_config::{KeyPath, Shown};
use hermes_core::FailureKind;
use hermes_mcp::{Memory, TokenFiles};

use super::{server, token_variable};
use crate::commands::edit::{edit, written};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(super) fn run(name: &str, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.load()?;
    let entry = server(name, &loaded)?;
    let path = KeyPath::of(["mcp_servers", name]);
    let Some(kept) = written(context, &path)? else {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!("{name} is not in your own settings"),
        )
        .hint("it comes from settings of the machine or of a project"));
    };
    let variable = token_variable(name);
    let uses_variable = kept.value.to_json().to_string().contains(&variable);
    edit(context, |settings| settings.unset(&path.to_string()))?;
    let mut gone = vec!["its entry"];
    let files = TokenFiles::new(context.home()?.path(), name, &entry.settings().url);
    if files.has_tokens() {
        gone.push("its login");
    }
    files.remove().map_err(|error| {
        Complaint::caused(FailureKind::Unavailable, error)
            .hint("remove the files of the server from mcp-tokens in the home")
    })?;
    if uses_variable {
        let change = edit(context, |settings| settings.unset(&variable))?;
        if change.old != Shown::Absent {
            gone.push("its token");
        }
    }
    let store = context.store()?;
    super::runtime()?.block_on(Memory::new(store).forget(name))?;
    Ok(output.line(format!("{name}: removed {}", gone.join(", ")))?)
}
