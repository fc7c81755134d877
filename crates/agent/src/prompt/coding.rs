//! Working as a programmer: what the model is told inside a project, and what is known of the project.
//!
//! Everything is read from files at the moment the prompt is made. No program is started: the prompt
//! stands for the whole session, and what only a program could tell would be out of date by then.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::CodingContext;

use super::{Facts, place};

/// Where somebody watches code being changed.
const SURFACES: [&str; 6] = ["cli", "tui", "desktop", "api_server", "api-server", "acp"];
/// How far up a project is looked for.
const MOST_LEVELS: usize = 6;
/// Entries of a repository that are looked at for code.
const MOST_ENTRIES: usize = 500;
/// Commands that are named.
const MOST_COMMANDS: usize = 8;
/// Directories that are never a project, whatever lies in them.
const NEVER: [&str; 3] = ["/", "/tmp", "/var/tmp"];
/// Files that say that a directory is a project, and the commands that check one of that kind.
const MARKERS: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["cargo check", "cargo test", "cargo clippy"]),
    (
        "go.mod",
        &["go build ./...", "go vet ./...", "go test ./..."],
    ),
    ("pyproject.toml", &["python -m pytest"]),
    ("setup.py", &["python -m pytest"]),
    ("pom.xml", &["mvn -q verify"]),
    ("build.gradle", &["./gradlew check"]),
    ("build.gradle.kts", &["./gradlew check"]),
    ("mix.exs", &["mix test"]),
    ("Gemfile", &["bundle exec rake test"]),
    ("CMakeLists.txt", &[]),
    ("package.json", &[]),
    ("deno.json", &["deno check .", "deno test"]),
    ("Makefile", &[]),
];
/// Scripts and targets that check something.
const CHECKS: [&str; 6] = ["test", "check", "lint", "typecheck", "build", "verify"];
/// Endings of code.
const CODE: [&str; 22] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "cs", "rb",
    "php", "swift", "scala", "ex", "hs", "lua", "sh",
];

const GUIDANCE: &str = "You are working on a program. Read the code around a change before you make it and write as \
its authors do. Change what the task needs and nothing else, and leave no half-done work behind.";
const VERIFY: &str = "After a change run what checks it, and say what came of it; never call something done that \
you have not seen work.";

/// Whether a surface is one where code is changed under somebody's eyes.
pub(crate) fn is_surface(surface: &str) -> bool {
    SURFACES.contains(&surface)
}

/// What a programmer should know here; empty elsewhere.
pub(super) fn of(facts: &Facts<'_>) -> String {
    let agent = &facts.config.agent;
    let project = project(facts);
    let wanted = match agent.coding_context {
        CodingContext::Off => false,
        CodingContext::On | CodingContext::Focus => true,
        CodingContext::Auto => is_surface(facts.surface) && project.is_some(),
    };
    if !wanted || facts.tools.is_empty() {
        return String::new();
    }
    let mut lines = vec![GUIDANCE.to_owned()];
    if agent.verify_guidance {
        lines.push(VERIFY.to_owned());
    }
    if let Some((root, shown)) = project {
        lines.push(snapshot(&root, &shown));
    }
    lines.push(agent.coding_instructions.trim().to_owned());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// The project that is worked on, and the path it has where commands run: none where they do not see it.
fn project(facts: &Facts<'_>) -> Option<(PathBuf, PathBuf)> {
    let root = root(facts)?;
    if place::is_here(facts) {
        return Some((root.clone(), root));
    }
    // Only the directory itself is shown there, and nothing above it.
    let seen = place::is_mounted(&facts.config.terminal) && root == facts.directory;
    seen.then(|| (root, PathBuf::from(place::WORKSPACE)))
}

/// The project around the directory: one with a marker, or a repository with code in it.
fn root(facts: &Facts<'_>) -> Option<PathBuf> {
    // The home of the program lies in that of the user, which is no project, whatever lies in it.
    let never = |place: &Path| {
        NEVER.iter().any(|name| place == Path::new(name)) || Some(place) == facts.home.parent()
    };
    let places = || {
        facts
            .directory
            .ancestors()
            .take(MOST_LEVELS + 1)
            .take_while(|place| !never(place))
    };
    let is_marked = |place: &&Path| MARKERS.iter().any(|(name, _)| place.join(name).is_file());
    let is_code = |place: &&Path| place.join(".git").exists() && has_code(place);
    places()
        .find(is_marked)
        .or_else(|| places().find(is_code))
        .map(Path::to_owned)
}

fn has_code(place: &Path) -> bool {
    ignore::WalkBuilder::new(place)
        .max_depth(Some(3))
        .build()
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .filter_map(|entry| Some(entry.path().extension()?.to_str()?.to_owned()))
        .any(|ending| CODE.contains(&ending.as_str()))
}

fn snapshot(root: &Path, shown: &Path) -> String {
    let mut text = format!("The project is in {}", shown.display());
    if let Some(branch) = branch(root) {
        text.push_str(&format!(", on the branch {branch}"));
    }
    text.push('.');
    let commands = commands(root);
    if !commands.is_empty() {
        text.push_str(&format!(" It is checked with: {}.", commands.join(", ")));
    }
    text
}

/// The branch a repository is on, as its own files say.
fn branch(root: &Path) -> Option<String> {
    let place = root.ancestors().find(|place| place.join(".git").exists())?;
    let git = place.join(".git");
    // In a further working tree it is a file that says where the rest is.
    let folder = match fs::read_to_string(&git) {
        Ok(text) => place.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    Some(name.to_owned())
}

fn commands(root: &Path) -> Vec<String> {
    let known = MARKERS
        .iter()
        .filter(|(name, _)| root.join(name).is_file())
        .flat_map(|(_, commands)| *commands)
        .map(|command| (*command).to_owned());
    let mut commands: Vec<String> = known.chain(scripts(root)).chain(targets(root)).collect();
    commands.truncate(MOST_COMMANDS);
    commands
}

fn scripts(root: &Path) -> Vec<String> {
    let package = fs::read(root.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_slice(&package).unwrap_or_default();
    let named = |name: &&&str| package["scripts"][**name].is_string();
    let found = CHECKS.iter().filter(named);
    found.map(|name| format!("npm run {name}")).collect()
}

fn targets(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("Makefile")).unwrap_or_default();
    let has = |name: &&&str| {
        text.lines().any(|line| {
            line.split_once(':')
                .is_some_and(|(target, _)| target.trim() == **name)
        })
    };
    let found = CHECKS.iter().filter(has);
    found.map(|name| format!("make {name}")).collect()
}
