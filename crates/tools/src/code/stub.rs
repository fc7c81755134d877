//! The Python module scripts import: one function for each tool the session offers.

/// What every module has.
const BASE: &str = include_str!("hermes_tools.py");

/// The tools scripts may call, with the parameters skills rely on.
const FUNCTIONS: &[(&str, &str)] = &[
    ("web_search", "query, limit=5"),
    ("web_extract", "urls, char_limit=None"),
    ("read_file", "path, offset=1, limit=500"),
    ("write_file", "path, content, cross_profile=False"),
    (
        "search_files",
        "pattern, target=\"content\", path=\".\", file_glob=None, limit=50, offset=0, output_mode=\"content\", context=0",
    ),
    (
        "patch",
        "path=None, old_string=None, new_string=None, replace_all=False, mode=\"replace\", patch=None, cross_profile=False",
    ),
    ("terminal", "command, timeout=None, workdir=None"),
];

/// The tools of a session that scripts may call.
pub(super) fn callable(offered: &[String]) -> Vec<&'static str> {
    FUNCTIONS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| offered.iter().any(|offer| offer == name))
        .collect()
}

/// The module's text.
pub(super) fn module(callable: &[&str]) -> String {
    let mut text = BASE.to_owned();
    for (name, parameters) in FUNCTIONS.iter().filter(|(name, _)| callable.contains(name)) {
        let passed: Vec<String> = parameters
            .split(", ")
            .filter_map(|parameter| parameter.split('=').next())
            .map(|parameter| format!("{parameter}={parameter}"))
            .collect();
        text.push_str(&format!(
            "\n\ndef {name}({parameters}):\n    return _call(\"{name}\", {})\n",
            passed.join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-35
    #[test]
    fn a_session_without_tools_gives_scripts_none() {
        let none = callable(&["todo".to_owned(), "clarify".to_owned()]);
        assert!(none.is_empty());
        assert!(!module(&none).contains("def terminal"));
    }

    #[test]
    fn functions_hand_their_parameters_on_by_name() {
        let text = module(&callable(&["terminal".to_owned(), "read_file".to_owned()]));
        assert!(text.contains(
            "def terminal(command, timeout=None, workdir=None):\n    return _call(\"terminal\", command=command, \
             timeout=timeout, workdir=workdir)"
        ));
        assert!(text.contains("def read_file(path, offset=1, limit=500):"));
        assert!(!text.contains("def patch"));
    }
}
