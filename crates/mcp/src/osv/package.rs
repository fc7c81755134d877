//! Which packages a command would fetch and run.

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
    /// Options whose value is the package, instead of the first word.
    naming: &'static [&'static str],
    /// Options whose value is a package that comes along, or several with commas between them.
    adding: &'static [&'static str],
    /// Other options that have a value.
    valued: &'static [&'static str],
    /// Words that stand before the package.
    verbs: &'static [&'static str],
}

const NPX: Runner = Runner {
    ecosystem: Ecosystem::Npm,
    naming: &["--package", "-p"],
    adding: &[],
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
    adding: &["--with", "-w"],
    valued: &[
        "--python",
        "-p",
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
    adding: &["--with"],
    valued: &[
        "--python",
        "--pip-args",
        "--index-url",
        "-i",
        "--fetch-missing-python",
        "--backend",
    ],
    verbs: &["run"],
};

impl Package {
    /// The packages of a command line. There are none for commands that fetch none, and for files and addresses,
    /// which no list knows.
    pub fn all_of(command: &str, arguments: &[String]) -> Vec<Self> {
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
            "uv" if UV.first_word(arguments) == Some("tool") => UV,
            "pipx" if PIPX.first_word(arguments) == Some("run") => PIPX,
            _ => return Vec::new(),
        };
        let read = match runner.ecosystem {
            Ecosystem::Npm => npm,
            Ecosystem::PyPi => python,
        };
        let named = runner.packages(arguments);
        named.iter().filter_map(|text| read(text)).collect()
    }
}

impl Runner {
    /// The first word that is neither an option nor the value of one.
    fn first_word<'a>(&self, arguments: &'a [String]) -> Option<&'a str> {
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            if !word.starts_with('-') {
                return Some(word);
            }
            let mut valued = [self.naming, self.adding, self.valued]
                .into_iter()
                .flatten();
            if valued.any(|option| *option == word) {
                rest.next();
            }
        }
        None
    }

    /// What names packages: the values of options, and the first word that is none unless one of them says that it
    /// is only the name of a program.
    fn packages<'a>(&self, arguments: &'a [String]) -> Vec<&'a str> {
        let (mut named, mut added, mut first) = (Vec::new(), Vec::new(), None);
        let mut rest = arguments.iter().map(String::as_str);
        let mut verbs = self.verbs.iter().peekable();
        while let Some(word) = rest.next() {
            if word == "--" {
                first = rest.next();
                break;
            }
            let (option, inline) = match word.split_once('=') {
                Some((option, value)) if word.starts_with('-') => (option, Some(value)),
                Some(_) | None => (word, None),
            };
            if self.naming.contains(&option) {
                named.extend(inline.or_else(|| rest.next()));
            } else if self.adding.contains(&option) {
                let value = inline.or_else(|| rest.next());
                added.extend(value.into_iter().flat_map(|value| value.split(',')));
            } else if word.starts_with('-') {
                if inline.is_none() && self.valued.contains(&option) {
                    rest.next();
                }
            } else if verbs.next_if(|verb| **verb == word).is_none() {
                first = Some(word);
                // Whatever follows belongs to the package's own program.
                break;
            }
        }
        if named.is_empty() {
            named.extend(first);
        }
        named.extend(added.into_iter().map(str::trim));
        named
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
        let found = Package::all_of(&command, &arguments);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.join(" "), expected, "{line}");
    }

    // MCP-64
    #[test]
    fn the_packages_of_a_command_are_found() {
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
        check(
            "npx -y -p fine -p evil@1.0.0 fine",
            "npm:fine npm:evil@1.0.0",
        );
        check("uvx --with other server>=1", "PyPI:server PyPI:other");
        check(
            "uvx --with=a,b==1.0 --from pkg tool",
            "PyPI:pkg PyPI:a PyPI:b@1.0",
        );
        check("pipx run --with other tool", "PyPI:tool PyPI:other");
        check("uvx git+https://h.test/x", "");
        check("uv tool run --python=3.11 server", "PyPI:server");
        check("uv run script.py", "");
        check("pipx run --spec pkg==1.0 tool", "PyPI:pkg@1.0");
        check("pipx run tool", "PyPI:tool");
        check("pipx --verbose run tool", "PyPI:tool");
        check("uv --cache-dir /x tool run server", "PyPI:server");
        check("uv --directory tool run server.py", "");
        check("pipx install tool", "");
        check("node server.js", "");
        check("npx", "");
    }
}
