//! Which package a command would fetch and run.

use std::fmt;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecosystem {
    /// Node packages.
    Npm,
    /// Python packages.
    PyPi,
}

impl Ecosystem {
    /// What the list calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
        }
    }
}

/// A package, and which version of it when that is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Its version; `None` when whatever is newest would be fetched.
    pub version: Option<String>,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ecosystem.word(), self.name)?;
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

/// How a program that fetches packages is called.
struct Runner {
    ecosystem: Ecosystem,
    /// Options whose value is the package.
    naming: &'static [&'static str],
    /// Other options that have a value.
    valued: &'static [&'static str],
    /// Words that stand before the package.
    verbs: &'static [&'static str],
}

const NPX: Runner = Runner {
    ecosystem: Ecosystem::Npm,
    naming: &["--package", "-p"],
    valued: &[
        "--call",
        "-c",
        "--registry",
        "--cache",
        "--node-arg",
        "-n",
        "--userconfig",
        "--prefix",
        "--workspace",
        "-w",
        "--loglevel",
        "--shell",
        "--script-shell",
    ],
    verbs: &[],
};
const UVX: Runner = Runner {
    ecosystem: Ecosystem::PyPi,
    naming: &["--from"],
    valued: &[
        "--python",
        "-p",
        "--with",
        "-w",
        "--with-editable",
        "--with-requirements",
        "--index",
        "--index-url",
        "-i",
        "--default-index",
        "--extra-index-url",
        "--find-links",
        "-f",
        "--constraints",
        "-c",
        "--overrides",
        "--directory",
        "--project",
        "--cache-dir",
        "--config-file",
        "--env-file",
        "--refresh-package",
        "--reinstall-package",
        "--upgrade-package",
        "-P",
        "--python-platform",
        "--resolution",
        "--prerelease",
        "--exclude-newer",
        "--link-mode",
        "--color",
        "--keyring-provider",
        "--index-strategy",
        "--allow-insecure-host",
    ],
    verbs: &[],
};
const UV: Runner = Runner {
    verbs: &["tool", "run", "x"],
    ..UVX
};
const PIPX: Runner = Runner {
    ecosystem: Ecosystem::PyPi,
    naming: &["--spec"],
    valued: &[
        "--python",
        "--pip-args",
        "--index-url",
        "-i",
        "--with",
        "--fetch-missing-python",
        "--backend",
    ],
    verbs: &["run"],
};

impl Package {
    /// The package of a command line; `None` for commands that fetch none, and for files and addresses,
    /// which no list knows.
    pub fn of(command: &str, arguments: &[String]) -> Option<Self> {
        let program = command
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(command)
            .to_ascii_lowercase();
        let program = [".exe", ".cmd", ".ps1"]
            .into_iter()
            .find_map(|ending| program.strip_suffix(ending).map(str::to_owned))
            .unwrap_or(program);
        let runner = match program.as_str() {
            "npx" => NPX,
            "uvx" => UVX,
            "uv" if arguments.first().is_some_and(|verb| verb == "tool") => UV,
            "pipx" if arguments.first().is_some_and(|verb| verb == "run") => PIPX,
            _ => return None,
        };
        let text = runner.package(arguments)?;
        match runner.ecosystem {
            Ecosystem::Npm => npm(&text),
            Ecosystem::PyPi => python(&text),
        }
    }
}

impl Runner {
    /// What names the package: the value of an option, else the first word that is none.
    fn package(&self, arguments: &[String]) -> Option<String> {
        let mut first = None;
        let mut rest = arguments.iter().map(String::as_str).peekable();
        let mut verbs = self.verbs.iter().peekable();
        while let Some(word) = rest.next() {
            if word == "--" {
                first = first.or_else(|| rest.next().map(str::to_owned));
                break;
            }
            let (option, inline) = match word.split_once('=') {
                Some((option, value)) if word.starts_with('-') => (option, Some(value)),
                Some(_) | None => (word, None),
            };
            if self.naming.contains(&option) {
                return inline
                    .map(str::to_owned)
                    .or_else(|| rest.next().map(str::to_owned));
            }
            if word.starts_with('-') {
                if inline.is_none() && self.valued.contains(&option) {
                    rest.next();
                }
            } else if verbs.next_if(|verb| **verb == word).is_none() {
                first = Some(word.to_owned());
                // Whatever follows belongs to the package's own program.
                break;
            }
        }
        first
    }
}

fn npm(text: &str) -> Option<Package> {
    // An alias stands before what it stands for.
    let text = text.rsplit("@npm:").next().unwrap_or(text);
    if text.contains("://") || text.starts_with(['.', '/', '~']) || text.starts_with("file:") {
        return None;
    }
    // The sign that begins a scope is not the one before a version.
    let at = text
        .char_indices()
        .skip(1)
        .filter(|(_, c)| *c == '@')
        .map(|(at, _)| at)
        .next();
    let (name, version) = match at {
        Some(at) => (text.get(..at)?, text.get(at + 1..)),
        None => (text, None),
    };
    let is_scoped = name.starts_with('@');
    // `owner/repository` is fetched from elsewhere.
    if name.is_empty() || is_scoped != name.contains('/') {
        return None;
    }
    Some(Package {
        ecosystem: Ecosystem::Npm,
        name: name.to_owned(),
        version: version
            .filter(|version| is_exact(version))
            .map(str::to_owned),
    })
}

fn python(text: &str) -> Option<Package> {
    if text.contains("://") || text.contains('/') || text.starts_with('.') || text.ends_with(".whl")
    {
        return None;
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let version = rest
        .trim()
        .strip_prefix("==")
        .or_else(|| rest.strip_prefix('@'));
    let version = version.map(|version| version.trim_matches(['=', ' ']));
    if name.is_empty() {
        return None;
    }
    // Spellings of one name are the same package.
    let mut normal = String::with_capacity(name.len());
    for c in name.to_ascii_lowercase().chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            other => normal.push(other),
        }
    }
    Some(Package {
        ecosystem: Ecosystem::PyPi,
        name: normal,
        version: version
            .filter(|version| is_exact(version))
            .map(str::to_owned),
    })
}

/// Whether a text is one version and not a range or a word such as `latest`.
fn is_exact(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_digit())
        && !version.contains([' ', '*', 'x', '|', ',', '<', '>', '^', '~'])
        && version.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let arguments: Vec<String> = words.collect();
        let found = Package::of(&command, &arguments).map(|package| package.to_string());
        assert_eq!(found.unwrap_or_default(), expected, "{line}");
    }

    // MCP-64
    #[test]
    fn the_package_of_a_command_is_found() {
        check("npx -y some-server --flag value", "npm:some-server");
        check(
            "/usr/bin/npx --yes @scope/server@1.2.3",
            "npm:@scope/server@1.2.3",
        );
        check("npx @scope/server@latest", "npm:@scope/server");
        check("npx.cmd -p @scope/pkg@2.0.0 run-it", "npm:@scope/pkg@2.0.0");
        check("npx --package=pkg@^1.0 -c run", "npm:pkg");
        check("npx --registry https://r.test pkg", "npm:pkg");
        check("npx alias@npm:real@1.0.0", "npm:real@1.0.0");
        check("npx owner/repository", "");
        check("npx ./local", "");
        check("npx -- pkg", "npm:pkg");
        check("uvx --python 3.12 My_Server==1.0.1", "PyPI:my-server@1.0.1");
        check("uvx -p 3.12 server@latest", "PyPI:server");
        check("uvx --from pkg[extra]==2.1 tool", "PyPI:pkg@2.1");
        check("uvx --with other server>=1", "PyPI:server");
        check("uvx git+https://h.test/x", "");
        check("uv tool run --python=3.11 server", "PyPI:server");
        check("uv run script.py", "");
        check("pipx run --spec pkg==1.0 tool", "PyPI:pkg@1.0");
        check("pipx run tool", "PyPI:tool");
        check("pipx install tool", "");
        check("node server.js", "");
        check("npx", "");
    }
}
