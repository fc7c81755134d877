//! Which programming tools the machine has, found without starting any of them.

use std::path::{Path, PathBuf};

use super::{Facts, place};

/// Programs that decide how work is done.
const PROGRAMS: &[&str] = &[
    "git", "gh", "rg", "jq", "python3", "pip3", "uv", "node", "npm", "pnpm", "bun", "deno",
    "cargo", "go", "java", "mvn", "gradle", "ruby", "php", "dotnet", "gcc", "clang", "make",
    "cmake", "docker", "podman", "ffmpeg",
];
/// Most directories that are looked through.
const MOST_DIRECTORIES: usize = 64;

/// One line about the programs; nothing when commands run elsewhere or cannot be run.
pub(super) fn line(facts: &Facts<'_>) -> String {
    let asked = facts.config.agent.environment_probe;
    if !asked
        || !place::is_here(facts)
        || facts.programs.is_empty()
        || !facts.tools.contains(&"terminal")
    {
        return String::new();
    }
    let (found, missing): (Vec<&str>, Vec<&str>) = PROGRAMS
        .iter()
        .partition(|name| is_there(name, facts.programs));
    if found.is_empty() {
        return String::new();
    }
    let mut line = format!("Programs on this machine: {}.", found.join(", "));
    if !missing.is_empty() {
        line.push_str(&format!(" Not there: {}.", missing.join(", ")));
    }
    line
}

fn is_there(name: &str, directories: &[PathBuf]) -> bool {
    directories
        .iter()
        .take(MOST_DIRECTORIES)
        .any(|directory| is_program(&directory.join(name)))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.with_extension("exe").is_file()
}
