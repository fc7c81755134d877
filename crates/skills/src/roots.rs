//! Where skills lie: the home's own directory, and further ones the settings name.

use std::path::{Component, Path, PathBuf};

use hermes_config::Environment;

/// A directory with skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    pub kind: RootKind,
}

/// Whose skills a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// The home's; skills are written here.
    Own,
    /// Somebody else's, named by `skills.external_dirs`; its skills step back behind our own of the same name.
    External,
    /// A plugin's; its skills are called `plugin:skill`, so that they never meet those of others.
    Plugin,
}

impl Root {
    /// What stands in front of the names of its skills.
    pub(crate) fn prefix(&self) -> Option<&str> {
        let plugin = self.path.parent()?.file_name()?.to_str()?;
        (self.kind == RootKind::Plugin).then_some(plugin)
    }
}

/// The directories of skills of these plugins, which lie in `HOME/plugins`.
pub fn plugin_roots<'a>(
    home: &Path,
    plugins: impl IntoIterator<Item = &'a String>,
) -> impl Iterator<Item = Root> {
    // A name that leads elsewhere is none.
    let is_name = |name: &&String| {
        let mut parts = Path::new(name.as_str()).components();
        matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        )
    };
    let plugins = plugins.into_iter().filter(is_name);
    plugins.map(|name| Root {
        path: home.join("plugins").join(name).join("skills"),
        kind: RootKind::Plugin,
    })
}

/// All of them, our own first. `~` is the user's home, `${NAME}` a variable, and a relative path begins at
/// the home of the program. Whether an external one is there is looked at when skills are.
pub fn roots(
    home: &Path,
    external: &[String],
    user_home: Option<&Path>,
    environment: &Environment,
) -> Vec<Root> {
    let own = home.join("skills");
    let mut roots = vec![Root {
        path: own,
        kind: RootKind::Own,
    }];
    for written in external {
        let Some(expanded) = expanded(written, user_home, environment) else {
            tracing::warn!(
                directory = written,
                "skills.external_dirs names a variable that is not set"
            );
            continue;
        };
        let path = home.join(expanded);
        if !roots.iter().any(|root| root.path == path) {
            roots.push(Root {
                path,
                kind: RootKind::External,
            });
        }
    }
    roots
}

/// Nothing when a variable in it is not set: half a path names another place.
fn expanded(written: &str, user_home: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let mut text = String::new();
    let mut rest = written.trim();
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}')?;
        text.push_str(before);
        text.push_str(environment.filled_named(name)?);
        rest = behind;
    }
    text.push_str(rest);
    if text.is_empty() {
        return None;
    }
    match (text.strip_prefix('~'), user_home) {
        (Some(""), Some(user)) => Some(user.to_owned()),
        (Some(below), Some(user)) if below.starts_with('/') => {
            Some(user.join(below.trim_start_matches('/')))
        }
        _ => Some(PathBuf::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_a_name_and_no_path() {
        let names = ["mail", "../mail", "", "a/b", "/etc"].map(str::to_owned);
        let found: Vec<Root> = plugin_roots(Path::new("/h"), &names).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, Path::new("/h/plugins/mail/skills"));
        assert_eq!(found[0].prefix(), Some("mail"));
    }

    #[test]
    fn paths_are_expanded_and_named_once() {
        let environment: Environment = [("TEAM", "/srv/team")].into_iter().collect();
        let written: Vec<String> = [
            "~/mine",
            "${TEAM}/skills",
            "shared",
            "skills",
            "~/mine",
            "${MISSING}/x",
            "",
        ]
        .map(str::to_owned)
        .to_vec();
        let found = roots(
            Path::new("/h"),
            &written,
            Some(Path::new("/u")),
            &environment,
        );
        let paths: Vec<&Path> = found.iter().map(|root| root.path.as_path()).collect();
        let expected = ["/h/skills", "/u/mine", "/srv/team/skills", "/h/shared"];
        assert_eq!(paths, expected.map(Path::new));
        assert_eq!(found[0].kind, RootKind::Own);
        assert!(
            found[1..]
                .iter()
                .all(|root| root.kind == RootKind::External)
        );
    }
}
