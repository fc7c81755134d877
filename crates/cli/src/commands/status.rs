//! `hermes status`

mod checks;
mod facts;
pub(super) mod keys;
mod page;
pub(super) mod platforms;
pub(super) mod scene;

use serde::Serialize;

use crate::args::report::StatusArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
pub(super) use checks::Checks;
use facts::{Environment, Gateway, Sessions, Terminal};
pub(super) use facts::{Jobs, gateway_of, jobs_of};
use keys::Key;
use platforms::Messaging;
use scene::Scene;

/// Everything the page says, for programs too.
#[derive(Debug, Serialize)]
struct Report {
    environment: Environment,
    api_keys: Vec<Key>,
    terminal: Option<Terminal>,
    messaging: Vec<Messaging>,
    gateway: Gateway,
    jobs: Jobs,
    sessions: Sessions,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Checks>,
}

/// Says how things stand, whatever state they are in: a broken part is a line of its section.
pub(crate) fn run(args: &StatusArgs, context: &Context, output: &mut Output) -> Outcome {
    let scene = Scene::look(context);
    let report = Report {
        environment: Environment::of(&scene, context),
        api_keys: keys::keys(&scene),
        terminal: Terminal::of(&scene, context),
        messaging: platforms::messaging(&scene),
        gateway: gateway_of(&scene),
        jobs: jobs_of(&scene),
        sessions: Sessions::of(&scene, context),
        checks: args.deep.then(|| Checks::run(&scene, context)),
    };
    if args.json {
        return Ok(output.json(&report)?);
    }
    Ok(page::print(&report, args.all, context, output)?)
}
