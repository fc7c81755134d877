//! `hermes version`

use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(context: &Context, output: &mut Output) -> Outcome {
    output.line(format!("hermes {}", env!("CARGO_PKG_VERSION")))?;
    // The version must be known even where no home can be found.
    if let Ok(home) = context.home() {
        output.line(format!(
            "profile {}, home {}",
            home.profile(),
            home.path().display()
        ))?;
    }
    Ok(())
}
