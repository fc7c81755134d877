//! Where commands run: one question, and what the answer needs to work.

mod reach;

use hermes_config::{Backend, Config, SandboxMode};

use super::draft::Draft;
use super::question::Question;
use crate::commands::ask;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};

/// A place for commands.
struct Place {
    about: &'static str,
    backend: Backend,
    /// How much commands may change, for the one backend that has a sandbox.
    sandbox: Option<SandboxMode>,
    /// One of these programs has to be there.
    programs: &'static [&'static str],
    /// Variables it needs besides, which are kept in `.env`.
    variables: &'static [&'static str],
    /// What it does not work without.
    needed: &'static [Question],
    /// What has a sensible value already.
    optional: &'static [Question],
}

const IMAGE: &str = "Image of the container?";
const LIMITS: [Question; 4] = [
    Question {
        key: "terminal.container_cpu",
        text: "Processors it may use, 0 for no limit?",
    },
    Question {
        key: "terminal.container_memory",
        text: "Memory in MB, 0 for no limit?",
    },
    Question {
        key: "terminal.container_disk",
        text: "Disk in MB, 0 for no limit?",
    },
    Question {
        key: "terminal.container_persistent",
        text: "Keep its files for the next session, true or false?",
    },
];

/// The limits of a container behind the question for its image.
macro_rules! container {
    ($image:literal) => {
        &[
            Question {
                key: $image,
                text: IMAGE,
            },
            LIMITS[0],
            LIMITS[1],
            LIMITS[2],
            LIMITS[3],
        ]
    };
}

const NOTHING: Place = Place {
    about: "",
    backend: Backend::Local,
    sandbox: None,
    programs: &[],
    variables: &[],
    needed: &[],
    optional: &[],
};

/// The places, the safest usual one first.
const PLACES: &[Place] = &[
    Place {
        about: "on this machine, in a sandbox: they change the project and temporary files only",
        sandbox: Some(SandboxMode::WorkspaceWrite),
        ..NOTHING
    },
    Place {
        about: "on this machine, and they change nothing but temporary files",
        sandbox: Some(SandboxMode::ReadOnly),
        ..NOTHING
    },
    Place {
        about: "on this machine, without a sandbox",
        sandbox: Some(SandboxMode::Full),
        ..NOTHING
    },
    Place {
        about: "in a Docker or Podman container",
        backend: Backend::Docker,
        programs: &["docker", "podman"],
        optional: container!("terminal.docker_image"),
        ..NOTHING
    },
    Place {
        about: "on another machine over SSH",
        backend: Backend::Ssh,
        programs: &["ssh"],
        needed: &[Question {
            key: "terminal.ssh_host",
            text: "Name or address of the machine?",
        }],
        optional: &[
            Question {
                key: "terminal.ssh_user",
                text: "User there?",
            },
            Question {
                key: "terminal.ssh_port",
                text: "Port?",
            },
            Question {
                key: "terminal.ssh_key",
                text: "File of the private key?",
            },
        ],
        ..NOTHING
    },
    Place {
        about: "in a Singularity or Apptainer container",
        backend: Backend::Singularity,
        programs: &["apptainer", "singularity"],
        optional: container!("terminal.singularity_image"),
        ..NOTHING
    },
    Place {
        about: "in a Modal sandbox",
        backend: Backend::Modal,
        variables: &["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"],
        optional: container!("terminal.modal_image"),
        ..NOTHING
    },
    Place {
        about: "in a Daytona sandbox",
        backend: Backend::Daytona,
        variables: &["DAYTONA_API_KEY"],
        optional: container!("terminal.daytona_image"),
        ..NOTHING
    },
];

/// Where commands run now, for people.
pub(super) fn words(config: &Config) -> &'static str {
    let now = PLACES.iter().find(|place| place.is_now(config));
    now.map_or("elsewhere", |place| place.about)
}

/// The settings this part is about, for those who type them.
pub(super) fn keys() -> Vec<&'static str> {
    let mut keys = vec!["terminal.backend", "terminal.sandbox.mode"];
    for question in PLACES
        .iter()
        .flat_map(|place| place.needed.iter().chain(place.optional))
    {
        if !keys.contains(&question.key) {
            keys.push(question.key);
        }
    }
    keys
}

/// Asks where commands shall run.
pub(super) fn ask(draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    output.line("")?;
    for (number, place) in (1..).zip(PLACES) {
        let now = if place.is_now(draft.config()) {
            " (now)"
        } else {
            ""
        };
        let lack = place.lack(context).unwrap_or_default();
        let about = format!("{}{now}{lack}", place.about);
        output.item(&format!("{number:>4}  "), &about)?;
    }
    let question = format!(
        "Where shall commands run? (1-{}; Enter keeps it as it is) ",
        PLACES.len()
    );
    let place = loop {
        let typed = ask::line(&question, output)?.unwrap_or_default();
        if typed.is_empty() {
            return Ok(());
        }
        match ask::numbered(&typed, PLACES) {
            Some(place) => break place,
            None => output.line(format!("There is no {}.", one_line(&typed)))?,
        }
    };
    for question in place.needed {
        if !question.ask(draft, context, output)? {
            return Ok(output.item("", "It does not work without that, so it stays as it is.")?);
        }
    }
    draft.set("terminal.backend", place.backend.word());
    if let Some(mode) = place.sandbox {
        draft.set("terminal.sandbox.mode", mode.word());
    }
    for question in place.optional {
        question.ask(draft, context, output)?;
    }
    if place.backend == Backend::Ssh {
        reach::offer(draft, context, output)?;
    }
    for variable in place.variables {
        if context.environment.filled_named(variable).is_none() {
            let text = format!(
                "It needs {variable}: hermes config set {variable} VALUE keeps it in .env."
            );
            output.item("", &text)?;
        }
    }
    Ok(())
}

impl Place {
    fn is_now(&self, config: &Config) -> bool {
        let terminal = &config.terminal;
        let sandbox = self
            .sandbox
            .is_none_or(|mode| mode == terminal.sandbox.mode);
        self.backend == terminal.backend && sandbox
    }

    /// What stands in its way on this machine.
    fn lack(&self, context: &Context) -> Option<String> {
        let folders = context.programs();
        let has = |name: &&str| folders.iter().any(|folder| folder.join(name).is_file());
        let missing = !self.programs.is_empty() && !self.programs.iter().any(has);
        missing.then(|| format!(", but {} is not installed", self.programs.join(" or ")))
    }
}
