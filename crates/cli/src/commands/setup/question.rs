//! A question about one setting.

use hermes_config::{ManagedScope, Settings};

use super::draft::Draft;
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, one_line};

/// Which setting, and what people are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) key: &'static str,
    pub(super) text: &'static str,
}

impl Question {
    /// Asks until the answer can be used; an empty one keeps what there is. Says whether there is a value now.
    pub(super) fn ask(
        &self,
        draft: &mut Draft,
        context: &Context,
        output: &mut Output,
    ) -> Outcome<bool> {
        let now = draft.value(self.key);
        let shown = match now.is_empty() {
            true => "Enter leaves it empty".to_owned(),
            false => format!("Enter keeps {}", one_line(&now)),
        };
        let question = format!("{} ({shown}) ", self.text);
        loop {
            let typed = ask::line(&question, output)?.unwrap_or_default();
            if typed.is_empty() {
                return Ok(!now.is_empty());
            }
            match check(self.key, &typed, context)? {
                Ok(()) => {
                    draft.set(self.key, &typed);
                    return Ok(true);
                }
                Err(complaint) => output.line(format!("{}.", one_line(&complaint.cause())))?,
            }
        }
    }
}

/// Whether the settings would take a value.
fn check(key: &str, value: &str, context: &Context) -> Outcome<Result<(), Complaint>> {
    let found = ManagedScope::find(&context.environment);
    let settings = Settings {
        home: context.home()?,
        owner: &context.owner()?,
        managed: &found.scope,
    };
    Ok(settings.check(key, value).map_err(Complaint::from))
}
