//! `hermes mcp install`

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;

use hermes_config::{Edit, Loaded, McpServer, UnknownKey};
use hermes_core::FailureKind;
use hermes_mcp::Server;

use super::catalog::{AuthKind, Manifest, Transport, Variable, find};
use super::{add, check_harmless, key, login, probe, runtime};
use crate::args::mcp::InstallArgs;
use crate::commands::auth::read_key;
use crate::commands::edit::edit;
use crate::commands::profile::clone;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// Stands for the folder of an installed program.
const FOLDER: &str = "${INSTALL_DIR}";

pub(super) fn run(args: &InstallArgs, context: &Context, output: &mut Output) -> Outcome {
    let manifest = find(&args.name)?;
    if !manifest.is_readable() {
        return Err(Complaint::new(
            FailureKind::Unavailable,
            format!("{} needs a newer Hermes", manifest.name),
        )
        .hint("update Hermes, or add the server with hermes mcp add"));
    }
    let loaded = context.settings()?;
    let values = values(&manifest, args, &loaded)?;
    let home = context.home()?.path();
    let folder = home.join("mcp-installs").join(&manifest.name);
    let entry = entry(&manifest, &folder, &values);
    check_harmless(&manifest.name, &entry, &loaded)?;
    fetch(&manifest, &folder, &loaded)?;
    write(&manifest, &entry, &values, &loaded, context)?;
    output.line(format!("{}: saved", manifest.name))?;
    output.flush()?;
    try_it(&manifest, context, output)?;
    if !manifest.post_install.is_empty() {
        output.line(&manifest.post_install)?;
    }
    Ok(())
}

/// What the server needs to be told: from the command line, the environment, or a person.
fn values(
    manifest: &Manifest,
    args: &InstallArgs,
    loaded: &Loaded,
) -> Outcome<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for variable in &manifest.auth.env {
        let given = args.env.iter().find(|(name, _)| *name == variable.name);
        let value = match (given, loaded.environment.filled(&variable.name)) {
            (Some((_, value)), _) => value.clone(),
            (None, Some(value)) => value.to_owned(),
            (None, None) if std::io::stdin().is_terminal() => typed(variable)?,
            (None, None) => variable.default.clone(),
        };
        if value.is_empty() && variable.required {
            return Err(Complaint::bad_request(format!(
                "{} needs {}",
                manifest.name, variable.name
            ))
            .hint(format!("--env {}=…, or set it in .env", variable.name)));
        }
        if !value.is_empty() {
            values.insert(variable.name.clone(), value);
        }
    }
    Ok(values)
}

fn typed(variable: &Variable) -> Outcome<String> {
    if variable.secret {
        // An empty answer leaves it out.
        return Ok(read_key::read(&variable.prompt).unwrap_or_default());
    }
    let shown = match variable.default.is_empty() {
        true => String::new(),
        false => format!(" [{}]", variable.default),
    };
    match add::ask(&format!("{}{shown}: ", variable.prompt))? {
        said if said.is_empty() => Ok(variable.default.clone()),
        said => Ok(said),
    }
}

/// The entry as it will be written. Secrets stay in `.env`.
fn entry(manifest: &Manifest, folder: &Path, values: &BTreeMap<String, String>) -> McpServer {
    let mut entry = McpServer::default();
    match &manifest.transport {
        Transport::Http { url } => entry.url.clone_from(url),
        Transport::Stdio { command, args, env } => {
            let folder = folder.display().to_string();
            let args = args.iter().map(|text| text.replace(FOLDER, &folder));
            entry.args = args.collect();
            entry.command = command.replace(FOLDER, &folder);
            entry.env.clone_from(env);
            for variable in &manifest.auth.env {
                if let Some(value) = values.get(&variable.name) {
                    let kept = match variable.secret {
                        true => format!("${{{}}}", variable.name),
                        false => value.clone(),
                    };
                    entry.env.insert(variable.name.clone(), kept);
                }
            }
        }
    }
    if manifest.auth.kind == AuthKind::Oauth {
        entry.auth = "oauth".to_owned();
    }
    entry
}

/// The program of a server that is kept as a repository; one that is there already stays.
fn fetch(manifest: &Manifest, folder: &Path, loaded: &Loaded) -> Outcome {
    let Some(git) = &manifest.install else {
        return Ok(());
    };
    if folder.exists() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(|error| {
            Complaint::caused(FailureKind::Unavailable, error).hint("nothing was installed")
        })?;
    }
    clone(&git.url, folder, &loaded.environment)
}

fn write(
    manifest: &Manifest,
    entry: &McpServer,
    values: &BTreeMap<String, String>,
    loaded: &Loaded,
    context: &Context,
) -> Outcome {
    let name = manifest.name.as_str();
    let mut edits: Vec<(String, String)> = Vec::new();
    let mut put = |part: &str, value: String| edits.push((key(name, part), value));
    for (part, value) in [
        ("url", &entry.url),
        ("command", &entry.command),
        ("auth", &entry.auth),
    ] {
        if !value.is_empty() {
            put(part, value.clone());
        }
    }
    if !entry.args.is_empty() {
        put("args", serde_json::json!(entry.args).to_string());
    }
    for (variable, value) in &entry.env {
        put(&format!("env.{variable}"), value.clone());
    }
    // What was chosen before stays chosen.
    let before = loaded.config.mcp_servers.get(name);
    let first = &manifest.tools.default_enabled;
    if before.is_none() && !first.is_empty() {
        put("tools.include", serde_json::json!(first).to_string());
    }
    let secrets = manifest.auth.env.iter().filter(|variable| variable.secret);
    edit(context, |settings| {
        for variable in secrets {
            if let Some(value) = values.get(&variable.name) {
                settings.set(&variable.name, value, UnknownKey::Refuse)?;
            }
        }
        let edits: Vec<(&str, Edit<'_>)> = edits
            .iter()
            .map(|(key, value)| (key.as_str(), Edit::Set(value)))
            .collect();
        settings.change(&edits)
    })?;
    Ok(())
}

/// Signs in and connects; what does not work yet is said, not a failure: the rest may come later.
fn try_it(manifest: &Manifest, context: &Context, output: &mut Output) -> Outcome {
    let name = manifest.name.as_str();
    let loaded = context.settings()?;
    let server = Server::new(name, super::entry(name, &loaded)?.clone());
    let tried = if !server.wants_oauth() {
        Ok(())
    } else if std::io::stdin().is_terminal() {
        login::sign_in(&server, context, &loaded, output)
    } else {
        return Ok(output.line(format!("Sign in with: hermes mcp login {name}"))?);
    };
    let tried = tried.and_then(|()| {
        let store = context.store()?;
        let runtime = runtime()?;
        let _entered = runtime.enter();
        runtime.block_on(probe::connect(&server, context, &loaded, &store))
    });
    match tried {
        Ok(found) => probe::tools(&found.view, output),
        Err(Complaint::Code(code)) => Err(Complaint::Code(code)),
        Err(complaint) => {
            let line = format!("not connected yet: {}", complaint.cause());
            output.flush()?;
            writeln!(std::io::stderr(), "note: {line}")?;
            Ok(())
        }
    }
}
