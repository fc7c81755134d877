//! `hermes mcp install`

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;

use hermes_config::{Edit, Loaded, McpOAuth, McpServer, UnknownKey};
use hermes_core::FailureKind;
use hermes_mcp::{Server, child_environment};

use super::catalog::{AuthKind, Install, Manifest, Transport, Variable, find};
use super::{add, bootstrap, check_harmless, key, login, probe, runtime};
use crate::args::mcp::InstallArgs;
use crate::commands::auth::read_key;
use crate::commands::edit::edit;
use crate::commands::profile::{clone, clone_at};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// Stands for the folder of an installed program.
const FOLDER: &str = "${INSTALL_DIR}";

pub(super) fn run(args: &InstallArgs, context: &Context, output: &mut Output) -> Outcome {
    install(&find(&args.name)?, args, context, output)
}

fn install(
    manifest: &Manifest,
    args: &InstallArgs,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let loaded = context.settings()?;
    let values = values(manifest, args, &loaded)?;
    let home = context.home()?.path();
    let folder = home.join("mcp-installs").join(&manifest.name);
    let entry = entry(manifest, &folder, &values);
    check_harmless(&manifest.name, &entry, &loaded)?;
    fetch(manifest, &folder, &entry, &loaded, output)?;
    write(manifest, &entry, &values, &loaded, context)?;
    output.line(format!("{}: saved", manifest.name))?;
    output.flush()?;
    try_it(manifest, context, output)?;
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
        let value = match (given, loaded.environment.filled_named(&variable.name)) {
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
        let question = format!("Key for {} (it is not shown): ", variable.prompt);
        return Ok(read_key::line(&question)?.unwrap_or_default());
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
        Transport::Stdio {
            command,
            args,
            env,
            version,
        } => {
            let folder = folder.display().to_string();
            let placed = |text: &String| text.replace(FOLDER, &folder);
            entry.args = args.iter().map(placed).collect();
            if let Some(version) = version {
                pin(&mut entry.args, version);
            }
            entry.command = placed(command);
            let env = env
                .iter()
                .map(|(name, value)| (name.clone(), placed(value)));
            entry.env = env.collect();
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
        let scope = manifest.auth.scopes.join(" ");
        entry.oauth = (!scope.is_empty()).then(|| McpOAuth {
            scope,
            ..McpOAuth::default()
        });
    }
    entry
}

/// Names the version of the package that is fetched: the first word that is no flag.
fn pin(args: &mut [String], version: &str) {
    if let Some(package) = args.iter_mut().find(|word| !word.starts_with('-')) {
        *package = format!("{package}@{version}");
    }
}

/// The program of a server that is kept as a repository; one that is there already stays. What cannot be made
/// ready is not there, also when this program is killed meanwhile: a mark beside the folder stands until it is whole.
fn fetch(
    manifest: &Manifest,
    folder: &Path,
    entry: &McpServer,
    loaded: &Loaded,
    output: &mut Output,
) -> Outcome {
    let Some(Install::Git {
        url,
        reference,
        bootstrap,
    }) = &manifest.install
    else {
        return Ok(());
    };
    let mark = folder.with_file_name(format!(".{}.unfinished", manifest.name));
    if folder.exists() && !mark.exists() {
        return kept(folder, reference.as_deref(), output);
    }
    discard(folder)?;
    if let Some(parent) = folder.parent() {
        hermes_config::create_directory(parent)?;
    }
    hermes_config::replace_file(&mark, b"")?;
    let fetched = match reference {
        Some(reference) => clone_at(url, reference, folder, &loaded.environment),
        None => clone(url, folder, &loaded.environment),
    };
    let ready = fetched.and_then(|()| {
        let (entry, _) = entry.filled_in(&loaded.environment);
        let environment = child_environment(&loaded.environment, &entry);
        bootstrap::run(bootstrap, folder, &environment, output)
    });
    if ready.is_err() {
        discard(folder)?;
    }
    std::fs::remove_file(&mark).map_err(|error| in_the_way(&mark, error))?;
    ready
}

/// Says so when a program that is there already is another one than its description names.
fn kept(folder: &Path, reference: Option<&str>, output: &mut Output) -> Outcome {
    let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let head = std::fs::read_to_string(folder.join(".git/HEAD")).unwrap_or_default();
    let (head, wanted) = (head.trim(), reference.unwrap_or_default());
    if is_commit(head) && is_commit(wanted) && head != wanted {
        let folder = folder.display();
        output.line(format!(
            "It stays as it was fetched before, at {head}. To get {wanted}, remove {folder} and install it again."
        ))?;
    }
    Ok(())
}

/// Removes what is there of a program: half of it would be taken for the whole the next time.
fn discard(folder: &Path) -> Outcome {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(in_the_way(folder, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn in_the_way(path: &Path, error: std::io::Error) -> Complaint {
    let path = path.display();
    Complaint::caused(FailureKind::Unavailable, error)
        .hint(format!("remove {path}, which is left of an installation"))
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
    if let Some(oauth) = &entry.oauth {
        put("oauth.scope", oauth.scope.clone());
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

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
