//! What a script sees of the environment: what it is allowed by name, then nothing that sounds like a secret.

/// Parts of names that are held back.
const SECRETIVE: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "CREDENTIAL",
    "PASSWD",
    "AUTH",
    "DSN",
    "WEBHOOK",
    "CREDS",
    "BEARER",
    "APIKEY",
];
/// How names begin that are handed on.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SHELL",
    "LOGNAME",
    "XDG_",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA",
];
/// Names that are handed on.
const OURS: &[&str] = &[
    "HERMES_HOME",
    "HERMES_PROFILE",
    "HERMES_CONFIG",
    "HERMES_ENV",
];
/// Set for every script.
const ADDED: &[(&str, &str)] = &[
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONIOENCODING", "utf-8"),
    ("PYTHONUTF8", "1"),
];

/// The environment of a script, from that of commands. `allowed` are names the user let through.
pub(super) fn scrubbed(
    environment: &[(String, String)],
    allowed: &[String],
    time_zone: Option<&str>,
) -> Vec<(String, String)> {
    let kept = environment.iter().filter(|(name, _)| {
        let upper = name.to_ascii_uppercase();
        allowed.contains(name)
            || (!SECRETIVE.iter().any(|part| upper.contains(part))
                && (HARMLESS.iter().any(|start| upper.starts_with(start))
                    || OURS.contains(&name.as_str())))
    });
    let added = ADDED
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let zone = time_zone.map(|zone| ("TZ".to_owned(), zone.to_owned()));
    kept.cloned().chain(added).chain(zone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-12
    #[test]
    fn only_harmless_names_and_those_let_through_reach_a_script() {
        let environment: Vec<(String, String)> = [
            "PATH",
            "HOME",
            "OPENAI_API_KEY",
            "MY_TOKEN",
            "XDG_AUTH_DIR",
            "FOO",
            "HERMES_HOME",
        ]
        .iter()
        .map(|name| ((*name).to_owned(), "v".to_owned()))
        .collect();
        let seen = scrubbed(
            &environment,
            &["MY_TOKEN".to_owned()],
            Some("Europe/Berlin"),
        );
        let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "PATH",
                "HOME",
                "MY_TOKEN",
                "HERMES_HOME",
                "PYTHONDONTWRITEBYTECODE",
                "PYTHONIOENCODING",
                "PYTHONUTF8",
                "TZ"
            ]
        );
    }
}
