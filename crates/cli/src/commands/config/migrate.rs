//! `hermes config migrate`

use hermes_config::{EnvChange, MigrateError, Plan, Warning, pending_migration};
use hermes_core::FailureKind;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(crate) fn migrate(dry_run: bool, context: &Context, output: &mut Output) -> Outcome {
    let owner = context.owner()?;
    if !owner.allows_writing() && !dry_run {
        let message = format!("the settings are managed by {owner}");
        return Err(Complaint::new(FailureKind::Refused, message).hint(owner.hint()));
    }
    let home = context.home()?;
    let plan = pending_migration(home, &context.environment)?;
    print_plan(&plan, output)?;
    if plan.is_empty() {
        return Ok(output.line("nothing to migrate")?);
    }
    if dry_run {
        return Ok(output.line("nothing was written")?);
    }
    let report = plan.apply(home, context.clock().now().into())?;
    for file in &report.written {
        output.line(format!("wrote {}", file.display()))?;
    }
    for copy in &report.backups {
        output.line(format!("kept the old one as {}", copy.display()))?;
    }
    Ok(())
}

fn print_plan(plan: &Plan, output: &mut Output) -> Outcome {
    for step in &plan.steps {
        output.line(format!("• {step}"))?;
    }
    for key in &plan.keys {
        output.line(format!("  {key}"))?;
    }
    for change in &plan.env {
        output.line(match change {
            EnvChange::Cleared { name } => {
                format!("• .env: {name} is no longer used and is emptied")
            }
            EnvChange::Separated => {
                "• .env: assignments on one line are put on lines of their own".to_owned()
            }
        })?;
    }
    for warning in &plan.warnings {
        let text = match warning {
            Warning::Newer { version } => format!(
                "config.yaml is version {version}, newer than this program, and is left alone"
            ),
            Warning::ServerSwitchedOff { name } => {
                format!("MCP server {name} runs a suspicious command and is switched off")
            }
            Warning::ProviderLeftOut { name } => {
                format!("provider {name} has no usable address and is left out")
            }
            Warning::EnvEncoding => {
                ".env is in an encoding that is not read; save it as UTF-8".to_owned()
            }
        };
        output.line(format!("warning: {text}"))?;
    }
    Ok(())
}

impl From<MigrateError> for Complaint {
    fn from(error: MigrateError) -> Self {
        let hint = error.hint();
        Self::caused(FailureKind::BadInput, error).hint(hint)
    }
}
