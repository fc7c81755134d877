//! Where commands run and files are: this machine, or the place the settings name. Nothing of this machine is told
//! where it would be taken for that place.

use std::path::Path;

use hermes_config::{Backend, Terminal};

use super::Facts;

/// What a container sees of the directory Hermes was started in, where the settings say so.
pub(super) const WORKSPACE: &str = "/workspace";
/// The folder that homes of profiles lie in.
const PROFILES: &str = "profiles";

/// What is known of the place, the profile, and the user's own words about it.
pub(super) fn environment(facts: &Facts<'_>) -> String {
    let terminal = &facts.config.terminal;
    let mut lines = vec![match terminal.backend {
        Backend::Local => here(facts.directory),
        _ if facts.tools.is_empty() => String::new(),
        _ => elsewhere(facts),
    }];
    if let Some(profile) = profile(facts.home) {
        lines.push(format!(
            "The profile is {profile}: settings, memory and skills are those of this profile."
        ));
    }
    lines.push(facts.config.agent.environment_hint.trim().to_owned());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// What is known of this machine.
pub(super) fn here(directory: &Path) -> String {
    format!(
        "The machine runs {} on {}. The working directory is {}.",
        std::env::consts::OS,
        std::env::consts::ARCH,
        directory.display()
    )
}

/// Whether files and commands are those of this machine.
pub(super) fn is_here(facts: &Facts<'_>) -> bool {
    facts.config.terminal.backend == Backend::Local
}

fn elsewhere(facts: &Facts<'_>) -> String {
    let terminal = &facts.config.terminal;
    let place = match terminal.backend {
        Backend::Local => "on this machine".to_owned(),
        Backend::Docker => format!("in a container of the image {}", terminal.docker_image),
        Backend::Singularity => {
            format!("in a container of the image {}", terminal.singularity_image)
        }
        Backend::Modal => format!("in a Modal sandbox of the image {}", terminal.modal_image),
        Backend::Daytona => format!(
            "in a Daytona sandbox of the image {}",
            terminal.daytona_image
        ),
        Backend::Ssh => match terminal.ssh_user.as_str() {
            "" => format!("on the machine {} over SSH", terminal.ssh_host),
            user => format!("on the machine {} over SSH, as {user}", terminal.ssh_host),
        },
    };
    let start = start(terminal, facts.directory, facts.home);
    let mut text = format!(
        "Commands run and files are {place}, not on the user's machine, whose paths mean nothing there. Work starts \
         in {start}. Look before you assume anything about its system or its programs."
    );
    if is_mounted(terminal) {
        text.push_str(&format!(
            " The directory the user works in is seen there as {WORKSPACE}."
        ));
    }
    text
}

/// Whether the place sees the directory Hermes was started in.
pub(super) fn is_mounted(terminal: &Terminal) -> bool {
    terminal.backend == Backend::Docker && terminal.docker_mount_cwd_to_workspace
}

/// Where commands start there. Containers are not looked in for directories of this machine.
fn start<'a>(terminal: &'a Terminal, directory: &Path, home: &Path) -> &'a str {
    let named = Path::new(&terminal.cwd);
    let ours = [directory, home, Path::new("/home"), Path::new("/Users")];
    let is_there = match terminal.backend {
        Backend::Local | Backend::Ssh => {
            !matches!(terminal.cwd.as_str(), "" | "." | "auto" | "cwd")
        }
        Backend::Docker | Backend::Singularity | Backend::Modal | Backend::Daytona => {
            named.is_absolute() && !ours.iter().any(|folder| named.starts_with(folder))
        }
    };
    match is_there {
        true => &terminal.cwd,
        false => "the home directory there",
    }
}

/// The profile a home belongs to; none is named where there is only one.
fn profile(home: &Path) -> Option<&str> {
    let folder = home.parent()?.file_name()?;
    (folder == PROFILES).then(|| home.file_name()?.to_str())?
}

#[cfg(test)]
mod tests {
    use super::*;

    // AG-3
    #[test]
    fn a_profile_is_named_unless_it_is_the_only_one() {
        assert_eq!(profile(Path::new("/home/anna/.hermes")), None);
        let work = Path::new("/home/anna/.hermes/profiles/work");
        assert_eq!(profile(work), Some("work"));
    }
}
