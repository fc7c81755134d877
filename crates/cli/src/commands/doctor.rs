//! `hermes doctor`: what is missing or wrong here, and what to do about it.

use std::sync::Arc;

use hermes_config::{Config, Home, Loaded, Variable};
use hermes_core::{FailureKind, Random, SystemRandom};
use hermes_exec::{Growing, Place};
use hermes_skills::hub::condition;
use hermes_tools::Confined;
use serde::Serialize;
use serde_json::json;

use super::status::Checks;
use super::status::scene::{Scene, said};
use crate::args::report::DoctorArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::external::Ground;
use crate::hands::{Trusted, backend, confined, environment, found, library_at, sandbox};
use crate::models::{Chosen, Models};
use crate::output::{Output, Style, one_line};

/// Programs that parts of the agent start.
const PROGRAMS: [(&str, &str); 3] = [
    ("bash", "commands run in it"),
    ("git", "checkpoints and @-references to changes need it"),
    ("python3", "scripts of the agent run in it"),
];

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Standing {
    Good,
    /// It works, with less than there could be.
    Weak,
    Bad,
}

#[derive(Debug, Serialize)]
struct Finding {
    about: &'static str,
    standing: Standing,
    text: String,
}

/// Looks at everything; exits with 1 when something does not work.
pub(crate) fn run(args: &DoctorArgs, context: &Context, output: &mut Output) -> Outcome {
    let findings = findings(context);
    let bad = findings.iter().any(|one| one.standing == Standing::Bad);
    if args.json {
        output.json(&json!({ "ok": !bad, "findings": findings }))?;
    } else {
        for one in &findings {
            let (mark, style) = match one.standing {
                Standing::Good => ("✓", Style::Good),
                Standing::Weak => ("!", Style::Warning),
                Standing::Bad => ("✗", Style::Bad),
            };
            let mark = output.paint(style, mark);
            output.line(format!("{mark} {:<10} {}", one.about, one_line(&one.text)))?;
        }
    }
    match bad {
        true => Err(Complaint::Code(1)),
        false => Ok(()),
    }
}

fn findings(context: &Context) -> Vec<Finding> {
    let scene = Scene::look(context);
    let mut found = vec![home(&scene)];
    let checks = Checks::run(&scene, context);
    found.extend(several("settings", checks.settings, "no faults"));
    let idle = scene.loaded.iter().flat_map(|loaded| &loaded.idle);
    found.extend(idle.map(|idle| Finding {
        about: "settings",
        standing: Standing::Weak,
        text: idle.to_string(),
    }));
    found.extend(several("database", checks.database, "no faults"));
    found.push(model(context));
    let Some((loaded, home)) = scene.loaded.as_ref().zip(scene.home.as_ref()) else {
        return found;
    };
    let config = Arc::new(loaded.config.clone());
    found.push(commands(context, &config, home));
    found.push(match confined(context, &config, home) {
        Confined::By(_, words) => good("sandbox", words),
        Confined::Not(why) => Finding {
            about: "sandbox",
            standing: Standing::Weak,
            text: format!("commands are not confined: {why}"),
        },
        Confined::Refused(why) => bad("sandbox", why),
    });
    found.push(skills(context, loaded, home));
    found.push(memory(context, loaded));
    let variables = environment(context, &config, home);
    for (program, use_for) in PROGRAMS {
        found.push(match found_at(program, &variables) {
            Some(path) => good("programs", format!("{program} is {path}")),
            None => Finding {
                about: "programs",
                standing: Standing::Weak,
                text: format!("{program} is not installed; {use_for}"),
            },
        });
    }
    found
}

/// Where commands run.
fn commands(context: &Context, config: &Arc<Config>, home: &Home) -> Finding {
    let guarded = Arc::new(sandbox(&Trusted::new(context, config, home)));
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let (sources, offers) = (Growing::default(), Growing::default());
    match backend(context, config, home, &guarded, &random, sources, offers) {
        Ok(backend) => good(
            "commands",
            match backend.place() {
                Place::Host => "run on this machine".to_owned(),
                Place::Away { kind, label } => format!("run elsewhere, by {kind}: {label}"),
            },
        ),
        Err(error) => bad("commands", error.to_string()),
    }
}

/// What was installed from elsewhere, and whether GitHub knows us.
fn skills(context: &Context, loaded: &Loaded, home: &Home) -> Finding {
    let looked = condition(&home.skills_dir(), context.clock().clone());
    let condition = match looked {
        Ok(condition) => condition,
        Err(error) => return bad("skills", format!("{error}; {}", error.hint())),
    };
    let mut troubles = Vec::new();
    for name in &condition.interrupted {
        troubles.push(format!(
            "installing or removing {name} was interrupted; hermes skills list mends it"
        ));
    }
    for name in &condition.missing {
        troubles.push(format!(
            "{name} is gone from the disk; hermes skills uninstall {name}"
        ));
    }
    let library = library_at(context, &loaded.config, home);
    for one in library.left_out() {
        troubles.push(format!("{} {}", one.file.display(), one.why));
    }
    for name in library.waiting_updates().unwrap_or_default() {
        troubles.push(format!(
            "you changed {name}, and a newer one changed the same lines; hermes skills diff {name} shows both, hermes skills reset {name} decides"
        ));
    }
    if condition.waiting > 0 {
        troubles.push(format!("{} skills wait in quarantine", condition.waiting));
    }
    if !troubles.is_empty() {
        return Finding {
            about: "skills",
            standing: Standing::Weak,
            text: troubles.join("; "),
        };
    }
    let known = [
        Variable::GITHUB_TOKEN,
        Variable::GH_TOKEN,
        Variable::GITHUB_APP_ID,
    ]
    .iter()
    .any(|variable| loaded.environment.filled(variable).is_some());
    let key = if known {
        "GitHub is asked with a key"
    } else {
        "GitHub is asked without a key, sixty times an hour"
    };
    good(
        "skills",
        format!("{} installed from elsewhere; {key}", condition.installed),
    )
}

/// The external memory, asked.
fn memory(context: &Context, loaded: &Loaded) -> Finding {
    let name = loaded.config.memory.provider.trim();
    if name.is_empty() {
        return good("memory", "in the two files; no external memory".to_owned());
    }
    let asked = || -> Outcome<(String, Vec<String>)> {
        let store = context.store()?;
        let provider = Ground::new(context, loaded, &store)?.provider(name)?;
        let mut weak = Vec::new();
        match store.memory_backlog(name).wait()?.waiting {
            0 => {}
            waiting => weak.push(format!(
                "{waiting} wait to be sent with the next conversation"
            )),
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let limit = loaded.config.memory.recall_timeout;
        let there = runtime.block_on(async { tokio::time::timeout(limit, provider.check()).await });
        match there {
            Ok(there) => Ok((there?, weak)),
            Err(_) => Err(Complaint::new(
                FailureKind::Unavailable,
                format!("{name} did not answer within {} s", limit.as_secs()),
            )),
        }
    };
    match asked() {
        Ok((there, weak)) if weak.is_empty() => good("memory", format!("{name}: {there}")),
        Ok((there, weak)) => Finding {
            about: "memory",
            standing: Standing::Weak,
            text: format!("{name}: {there}; {}", weak.join("; ")),
        },
        Err(complaint) => bad("memory", said(&complaint, context)),
    }
}

fn found_at(program: &str, variables: &[(String, String)]) -> Option<String> {
    found(program, variables).map(|path| path.display().to_string())
}

fn home(scene: &Scene) -> Finding {
    match (&scene.home, &scene.fault) {
        (Some(home), _) => good("home", home.path().display().to_string()),
        (None, fault) => bad("home", fault.clone().unwrap_or_default()),
    }
}

fn model(context: &Context) -> Finding {
    let route = || -> Outcome<String> {
        let models = Models::new(context, context.load()?)?;
        let resolved = models.route(&Chosen::default())?;
        Ok(format!(
            "{} from {}",
            resolved.route.model, resolved.route.provider
        ))
    };
    match route() {
        Ok(words) => good("model", words),
        Err(complaint) => bad("model", said(&complaint, context)),
    }
}

fn several(about: &'static str, faults: Vec<String>, none: &str) -> Vec<Finding> {
    if faults.is_empty() {
        return vec![good(about, none.to_owned())];
    }
    faults.into_iter().map(|fault| bad(about, fault)).collect()
}

fn good(about: &'static str, text: String) -> Finding {
    Finding {
        about,
        standing: Standing::Good,
        text,
    }
}

fn bad(about: &'static str, text: String) -> Finding {
    Finding {
        about,
        standing: Standing::Bad,
        text,
    }
}
