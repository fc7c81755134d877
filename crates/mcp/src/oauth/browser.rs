//! Opening the person's browser.

use std::process::Stdio;

use hermes_config::Environment;
use tokio::process::Command;
use url::Url;

/// Most programs that are tried.
const MOST_PROGRAMS: usize = 8;

/// How an address is opened, if at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browser {
    /// With these programs, the first that starts; `%s` in an argument is the address.
    Programs(Vec<String>),
    /// Not at all: nobody would see it.
    Unlikely,
}

impl Browser {
    /// What fits the environment: the programs of `BROWSER`, else the desktop's own, unless there is no
    /// desktop or it is somewhere else.
    pub fn new(environment: &Environment) -> Self {
        if let Some(programs) = environment.filled("BROWSER") {
            let programs = programs.split(':').map(str::trim);
            let programs = programs.filter(|program| !program.is_empty());
            return Self::Programs(programs.take(MOST_PROGRAMS).map(str::to_owned).collect());
        }
        let filled = |name| environment.filled(name).is_some();
        let remote = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"]
            .into_iter()
            .any(filled);
        let desktop = cfg!(target_os = "macos") || filled("DISPLAY") || filled("WAYLAND_DISPLAY");
        if remote || !desktop {
            return Self::Unlikely;
        }
        let opener = if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        };
        Self::Programs(vec![opener.to_owned()])
    }

    /// Opens an address; says whether a program was started for it.
    pub(super) fn open(&self, address: &Url) -> bool {
        let Self::Programs(programs) = self else {
            return false;
        };
        programs.iter().any(|program| start(program, address))
    }
}

/// Starts one program without waiting for it: some browsers stay.
fn start(program: &str, address: &Url) -> bool {
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
    Command::new(name)
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

    #[test]
    fn a_browser_is_opened_only_where_somebody_sees_it() {
        let own = Browser::Programs(vec!["firefox -new %s".to_owned(), "w3m".to_owned()]);
        assert_eq!(
            browser(&[("BROWSER", "firefox -new %s: w3m:"), ("SSH_TTY", "x")]),
            own
        );
        assert_eq!(
            browser(&[("DISPLAY", ":0"), ("SSH_CONNECTION", "x")]),
            Browser::Unlikely
        );
        if cfg!(target_os = "linux") {
            assert_eq!(browser(&[]), Browser::Unlikely);
            let desktop = Browser::Programs(vec!["xdg-open".to_owned()]);
            assert_eq!(browser(&[("WAYLAND_DISPLAY", "w")]), desktop);
        }
    }
}
