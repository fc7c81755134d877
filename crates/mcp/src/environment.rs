//! What a started server sees of our environment, and what its settings still lack.

use std::collections::BTreeMap;

use hermes_config::{Environment, McpServer};

/// Variables that say where and in which language a program runs.
const PLACE: [&str; 8] = [
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR",
];
/// The same for Windows, in any letter case.
const WINDOWS: [&str; 18] = [
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "COMMONPROGRAMFILES",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "TEMP",
    "TMP",
    "NUMBER_OF_PROCESSORS",
];
/// Without these a server behind a proxy or a private authority reaches nothing; in both cases.
const NETWORK: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// The variables a server is started with: the few that every program needs, those its entry lets through
/// and those its entry sets. Nothing else of ours, least of all keys. An entry's own value counts, also an
/// empty one: that is how a proxy with a password is kept from a server.
pub fn child_environment(outer: &Environment, server: &McpServer) -> BTreeMap<String, String> {
    let mut variables: BTreeMap<String, String> = outer
        .iter()
        .filter(|(name, _)| is_harmless(name) || passes(name, &server.pass_env))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    variables.extend(server.env.clone());
    variables
}

fn is_harmless(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    PLACE.contains(&name)
        || name.starts_with("XDG_")
        || WINDOWS.contains(&upper.as_str())
        || NETWORK.contains(&upper.as_str())
}

fn passes(name: &str, patterns: &[String]) -> bool {
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            // A bare star would hand out everything.
            Some(head) => !head.is_empty() && name.starts_with(head),
            None => name == pattern,
        })
}

/// A variable that an entry refers to and that is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// Where, such as `headers.Authorization`.
    pub place: String,
    /// The variable.
    pub name: String,
}

/// What the headers and variables of an entry refer to in vain. They are sent as they are, which a server
/// mostly answers with a refusal that says nothing; so people are told beforehand.
pub fn unresolved(server: &McpServer) -> Vec<Unresolved> {
    let named = |section: &'static str, map: &BTreeMap<String, String>| {
        map.iter()
            .flat_map(|(key, value)| {
                placeholders(value).map(move |name| Unresolved {
                    place: format!("{section}.{key}"),
                    name: name.to_owned(),
                })
            })
            .collect::<Vec<_>>()
    };
    let mut found = named("headers", &server.headers);
    found.extend(named("env", &server.env));
    found.extend(placeholders(&server.url).map(|name| Unresolved {
        place: "url".to_owned(),
        name: name.to_owned(),
    }));
    found
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        Some(name.strip_prefix("env:").unwrap_or(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().copied().collect()
    }

    // MCP-50
    #[test]
    fn only_harmless_variables_reach_a_server() {
        let outer = environment(&[
            ("PATH", "/bin"),
            ("XDG_RUNTIME_DIR", "/run"),
            ("OPENAI_API_KEY", "sk-secret"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("https_proxy", "http://p:1"),
            ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
            ("SystemRoot", "C:\\Windows"),
            ("GIT_AUTHOR", "me"),
            ("GIT_TOKEN", "t"),
            ("EXTRA", "e"),
            ("LD_PRELOAD", "x.so"),
        ]);
        let server = McpServer {
            env: BTreeMap::from([("PATH".to_owned(), "/own".to_owned())]),
            pass_env: ["GIT_A*", "EXTRA", "*"].map(str::to_owned).to_vec(),
            ..McpServer::default()
        };
        let seen = child_environment(&outer, &server);
        let names: Vec<&str> = seen.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "EXTRA",
                "GIT_AUTHOR",
                "NODE_EXTRA_CA_CERTS",
                "PATH",
                "SystemRoot",
                "XDG_RUNTIME_DIR",
                "https_proxy"
            ]
        );
        assert_eq!(seen["PATH"], "/own");
    }

    // MCP-52
    #[test]
    fn what_is_not_set_is_named() {
        let server = McpServer {
            url: "https://${HOST}/mcp".to_owned(),
            headers: BTreeMap::from([(
                "Authorization".to_owned(),
                "Bearer ${env:KEY} ${".to_owned(),
            )]),
            ..McpServer::default()
        };
        let found: Vec<String> = unresolved(&server)
            .into_iter()
            .map(|missing| format!("{} {}", missing.place, missing.name))
            .collect();
        assert_eq!(found, ["headers.Authorization KEY", "url HOST"]);
    }
}
