//! Opening the person's browser.

use std::process::Stdio;

use hermes_config::{Environment, Variable, names_secret};
use tokio::process::Command;
use url::Url;

/// Most programs that are tried.
const MOST_PROGRAMS: usize = 8;

/// How an address is opened, if at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browser {
    /// With a program of the person's.
    Programs {
        /// The first that starts is used; `%s` in an argument is the address.
        programs: Vec<String>,
        /// Variables that it does not inherit: a browser stays, and keys are none of its business.
        withheld: Vec<String>,
    },
    /// Not at all: nobody would see it.
    Unlikely,
}

impl Browser {
    /// What fits the environment: the programs of `BROWSER`, else the desktop's own, unless there is no
    /// desktop or it is somewhere else.
    pub fn new(environment: &Environment) -> Self {
        let names = environment.iter().map(|(name, _)| name);
        let withheld = names.filter(|name| names_secret(name));
        let withheld = withheld.map(str::to_owned).collect();
        if let Some(programs) = environment.filled(&Variable::BROWSER) {
            let programs = programs.split(':').map(str::trim);
            let programs = programs.filter(|program| !program.is_empty());
            let programs = programs.take(MOST_PROGRAMS).map(str::to_owned).collect();
            return Self::Programs { programs, withheld };
        }
        let filled = |variable: &Variable| environment.filled(variable).is_some();
        let remote = [
            Variable::SSH_CONNECTION,
            Variable::SSH_CLIENT,
            Variable::SSH_TTY,
        ]
        .iter()
        .any(filled);
        let desktop = cfg!(target_os = "macos")
            || filled(&Variable::DISPLAY)
            || filled(&Variable::WAYLAND_DISPLAY);
        if remote || !desktop {
            return Self::Unlikely;
        }
        let opener = if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        };
        Self::Programs {
            programs: vec![opener.to_owned()],
            withheld,
        }
    }

    /// Opens an address; says whether a program was started for it.
    pub(super) fn open(&self, address: &Url) -> bool {
        let Self::Programs { programs, withheld } = self else {
            return false;
        };
        programs
            .iter()
            .any(|program| start(program, address, withheld))
    }
}

/// Starts one program without waiting for it: some browsers stay.
fn start(program: &str, address: &Url, withheld: &[String]) -> bool {
    let mut words = program.split_whitespace();
    let Some(name) = words.next() else {
        return false;
    };
    let mut arguments: Vec<String> = words
        .map(|word| word.replace("%s", address.as_str()))
        .collect();
    if !program.contains("%s") {
        arguments.push(address.to_string());
    }
    let mut command = Command::new(name);
    for variable in withheld {
        command.env_remove(variable);
    }
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser(pairs: &[(&str, &str)]) -> Browser {
        Browser::new(&pairs.iter().copied().collect())
    }

    fn programs(names: &[&str], withheld: &[&str]) -> Browser {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Browser::Programs {
            programs: owned(names),
            withheld: owned(withheld),
        }
    }

    #[test]
    fn a_browser_is_opened_only_where_somebody_sees_it() {
        let own = [
            ("BROWSER", "firefox -new %s: w3m:"),
            ("SSH_TTY", "x"),
            ("SOME_API_KEY", "k"),
        ];
        let expected = programs(&["firefox -new %s", "w3m"], &["SOME_API_KEY"]);
        assert_eq!(browser(&own), expected);
        assert_eq!(
            browser(&[("DISPLAY", ":0"), ("SSH_CONNECTION", "x")]),
            Browser::Unlikely
        );
        if cfg!(target_os = "linux") {
            assert_eq!(browser(&[]), Browser::Unlikely);
            let desktop = programs(&["xdg-open"], &[]);
            assert_eq!(browser(&[("WAYLAND_DISPLAY", "w")]), desktop);
        }
    }
}
