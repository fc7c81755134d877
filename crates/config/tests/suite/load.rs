//! Loading: layers, origins and the files recorded from the reference. CL-6.

use std::fs;

use hermes_config::{Fault, KeyPath, Layer, LoadError, ReadError, Request, Value, load};
use serde_json::Value as Json;

use super::support::{TempHome, cases, check_same, json, said, typed};

fn path(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

/// Cases in which we mean something else than the reference, and why.
const DIFFERENT: [(&str, &str); 7] = [
    (
        "23-terminal-env-type",
        "terminal.env_type is understood by every reader, not only by one",
    ),
    (
        "26-providers-map",
        "an entry that is null or plain text is no endpoint",
    ),
    (
        "58-agent-as-scalar",
        "the reference crashes; ours says which line is wrong",
    ),
    (
        "61-config-version-old",
        "an old version is understood without a migration",
    ),
    ("68-explicit-set", "a set is a map without values"),
    (
        "69-bare-equals",
        "a lone = is text; the reference rejects the file",
    ),
    (
        "70-bad-date",
        "dates are text, so none is impossible; the reference rejects the file",
    ),
];

// CL-6
#[test]
fn recorded_files_mean_the_same() {
    let rejected: Vec<String> = serde_json::from_value(json(&super::support::recorded(
        "config/load/parse_failures.json",
    )))
    .unwrap();
    for (name, folder) in cases("config/load") {
        if DIFFERENT.iter().any(|(case, _)| *case == name) {
            continue;
        }
        let home = TempHome::with_config(fs::read(folder.join("input.yaml")).unwrap());
        let variables = fs::read_to_string(folder.join("env")).unwrap_or_default();
        let variables: Vec<_> = variables
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let environment = home.environment(&variables);
        let loaded = load(&Request {
            home: &home.home,
            environment: &environment,
            project: None,
            flags: &[],
            ignore_file: false,
        });
        if rejected.contains(&name) {
            assert!(
                matches!(loaded, Err(LoadError::Unparsable { .. })),
                "{name} was accepted"
            );
            continue;
        }
        let loaded = loaded.unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = json(&folder.join("expected.json"));
        check_same(&name, &loaded.config, &typed(&said(&expected)));
        check_unknown_keys(&name, &expected, &loaded.tree.value.to_json());
    }
}

/// Dates and numbers of more than 64 bits stay as they were written, where the reference makes objects of them.
const WRITTEN: [&str; 6] = [
    "stamp",
    "stamp_t",
    "stamp_off",
    "stamp_lower",
    "big",
    "u64max",
];

/// Keys without a type keep exactly the value that was written.
#[track_caller]
fn check_unknown_keys(name: &str, expected: &Json, got: &Json) {
    for key in [
        "x",
        "my_setting",
        "my_block",
        "личное",
        "one",
        "two",
        "three",
        "four",
        "list2",
    ] {
        if let Some(value) = expected.get(key) {
            let wanted = said(&serde_json::json!({ key: value }));
            let mut wanted = wanted.child(key).unwrap().value.to_json();
            let mut got = got[key].clone();
            for side in [&mut wanted, &mut got] {
                if let Some(map) = side.as_object_mut() {
                    map.retain(|key, _| !WRITTEN.contains(&key.as_str()));
                }
            }
            assert_eq!(got, wanted, "{name}: {key}");
        }
    }
}

// CL-6
#[test]
fn every_difference_from_the_reference_is_still_one() {
    for (name, reason) in DIFFERENT {
        let folder = super::support::recorded("config/load").join(name);
        assert!(folder.is_dir(), "{name} is gone: {reason}");
    }
}

// CL-6
#[test]
fn readers_of_old_forms_get_what_the_reference_derives() {
    for (name, folder) in cases("config/load") {
        let Ok(derived) = fs::read(folder.join("derived.json")) else {
            continue;
        };
        let derived: Json = serde_json::from_slice(&derived).unwrap();
        let home = TempHome::with_config(fs::read(folder.join("input.yaml")).unwrap());
        let variables = fs::read_to_string(folder.join("env")).unwrap_or_default();
        let variables: Vec<_> = variables
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let tree = home.load_with(&variables).tree.value.to_json();
        if let Some(chain) = derived.get("fallback_chain") {
            for (entry, wanted) in tree["fallback_providers"]
                .as_array()
                .unwrap()
                .iter()
                .zip(chain.as_array().unwrap())
            {
                for (key, value) in wanted.as_object().unwrap() {
                    assert_eq!(&entry[key], value, "{name}");
                }
            }
            let count = tree["fallback_providers"].as_array().map_or(0, Vec::len);
            assert_eq!(count, chain.as_array().unwrap().len(), "{name}");
        }
        if let Some(providers) = derived.get("custom_providers") {
            for wanted in providers.as_array().unwrap() {
                let url = wanted["base_url"].as_str().unwrap().trim_end_matches('/');
                let entry = tree["providers"]
                    .as_object()
                    .unwrap()
                    .values()
                    .find(|entry| {
                        entry["base_url"]
                            .as_str()
                            .unwrap_or_default()
                            .trim_end_matches('/')
                            == url
                    })
                    .unwrap_or_else(|| panic!("{name}: no {url} in {}", tree["providers"]));
                for key in [
                    "api_key",
                    "key_env",
                    "api_mode",
                    "model",
                    "context_length",
                    "discover_models",
                ] {
                    if let Some(value) = wanted.get(key) {
                        assert_eq!(&entry[key], value, "{name}: {key}");
                    }
                }
                if let Some(models) = wanted.get("models").and_then(Json::as_object) {
                    for id in models.keys() {
                        assert!(entry["models"].get(id).is_some(), "{name}: {id} in {entry}");
                    }
                }
            }
        }
        for key in ["prefill_messages_file"] {
            if let Some(value) = derived.get(key) {
                assert_eq!(&tree[key], value, "{name}");
            }
        }
        if let Some(mode) = derived.get("pre_update_backup") {
            assert_eq!(&tree["updates"]["pre_update_backup"], mode, "{name}");
        }
        if let Some(mode) = derived.get("approval_mode")
            && name != "06-approvals-mode-unknown"
        {
            assert_eq!(&tree["approvals"]["mode"], mode, "{name}");
        }
        if let Some(mode) = derived.get("cron_approval_mode") {
            assert_eq!(&tree["approvals"]["cron_mode"], mode, "{name}");
        }
    }
}

// CL-6
#[test]
fn stronger_layers_win_leaf_by_leaf_and_are_named() {
    let home = TempHome::with_config(
        "model: {default: file/model, provider: file}\nterminal:\n  timeout: 7\ndisplay:\n  skin: file\n",
    )
    .env("TERMINAL_TIMEOUT=9\nTERMINAL_ENV=docker\nHERMES_INFERENCE_MODEL=env/model\n");
    let managed = home.outside().join("managed");
    fs::create_dir(&managed).unwrap();
    fs::write(managed.join("config.yaml"), "display: {skin: fixed}\n").unwrap();
    let project = home.outside().join("project");
    fs::create_dir_all(project.join(".hermes")).unwrap();
    fs::write(
        project.join(".hermes/config.yaml"),
        "display: {skin: project, compact: yes}\nmodel: evil/model\napprovals:\n  mode: off\nlsp:\n  wait_timeout: 2\n  servers: {x: {command: [rm]}}\n",
    )
    .unwrap();
    let environment = home.environment(&[]);
    let flags = [(path("agent.max_turns"), Value::Int(3))];
    let loaded = load(&Request {
        home: &home.home,
        environment: &environment,
        project: Some(&project),
        flags: &flags,
        ignore_file: false,
    })
    .unwrap_or_else(|error| panic!("{error}"));

    let origin = |key: &str| {
        let node = loaded.tree.at(&path(key)).unwrap();
        (node.text().unwrap(), node.origin.layer)
    };
    assert_eq!(
        origin("model.default"),
        ("env/model".into(), Layer::Environment)
    );
    assert_eq!(origin("model.provider"), ("file".into(), Layer::File));
    assert_eq!(origin("terminal.timeout"), ("7".into(), Layer::File));
    assert_eq!(
        origin("terminal.backend"),
        ("docker".into(), Layer::EnvironmentDefault)
    );
    assert_eq!(
        origin("terminal.home_mode"),
        ("auto".into(), Layer::Default)
    );
    assert_eq!(origin("display.skin"), ("fixed".into(), Layer::Managed));
    assert_eq!(origin("display.compact"), ("true".into(), Layer::Project));
    assert_eq!(origin("agent.max_turns"), ("3".into(), Layer::Flag));
    assert_eq!(origin("approvals.mode"), ("smart".into(), Layer::Default));
    assert_eq!(
        loaded
            .tree
            .at(&path("terminal.timeout"))
            .unwrap()
            .origin
            .line,
        3
    );

    let refused: Vec<_> = loaded
        .problems
        .iter()
        .filter(|problem| problem.fault == Fault::NotForProjects)
        .map(|problem| problem.key.to_string())
        .collect();
    assert_eq!(refused, ["model", "approvals", "lsp.servers"]);
}

// CL-6
#[test]
fn a_value_that_cannot_be_used_is_reported_with_its_place_and_replaced_by_the_default() {
    let home = TempHome::with_config("agent:\n  max_turns: abc\ndisplay:\n  skn: x\n");
    let loaded = home.load();
    let shown: Vec<_> = loaded
        .problems
        .iter()
        .map(|problem| {
            problem
                .to_string()
                .replace(home.outside().to_str().unwrap(), "")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/home/config.yaml:2: agent.max_turns must be a whole number, 0 or more, not `abc`",
            "/home/config.yaml:4: display.skn is not a known setting",
        ]
    );
    let turns = loaded.tree.at(&path("agent.max_turns")).unwrap();
    assert_eq!(
        (turns.value.clone(), turns.origin.layer),
        (Value::Int(90), Layer::Default)
    );
}

// CL-6
#[test]
fn a_key_written_twice_is_reported() {
    let loaded = TempHome::with_config("display:\n  skin: a\n  skin: b\n").load();
    let duplicate = loaded
        .problems
        .iter()
        .find(|problem| problem.fault == Fault::Duplicate)
        .unwrap();
    assert_eq!(
        (duplicate.key.to_string().as_str(), duplicate.origin.line),
        ("display.skin", 3)
    );
}

// CL-6
#[test]
fn a_broken_file_names_line_and_column_and_is_left_alone() {
    let text = "display:\n  skin: \"open\nagent:\n max_turns: 3\n";
    let home = TempHome::with_config(text);
    let environment = home.environment(&[]);
    let request = Request {
        home: &home.home,
        environment: &environment,
        project: None,
        flags: &[],
        ignore_file: false,
    };
    let Err(LoadError::Unparsable {
        source: ReadError::Yaml(error),
        ..
    }) = load(&request)
    else {
        panic!("a broken file was accepted");
    };
    assert!(error.line > 0 && error.column > 0 && !error.cause.to_string().is_empty());
    assert_eq!(home.config_text(), text);

    let without = Request {
        ignore_file: true,
        ..request
    };
    assert!(load(&without).is_ok());
}

// MCP-52
#[test]
fn variables_are_put_into_servers_and_what_is_not_set_stays() {
    let text = "mcp_servers:\n  s:\n    url: https://${env:HOST}/mcp\n    headers:\n      \
                Authorization: Bearer ${KEY}\n      X-Empty: ${EMPTY}\n    args: [\"${KEY}-${env:UNSET}\"]\n    \
                oauth: {client_secret: \"${env:KEY}\"}\n";
    let home = TempHome::with_config(text).env("KEY=s3cret\nEMPTY=\n");
    let loaded = home.load_with(&[("HOST", "h.example.test")]);
    let server = &loaded.config.mcp_servers["s"];
    assert_eq!(server.url, "https://h.example.test/mcp");
    assert_eq!(server.headers["Authorization"], "Bearer s3cret");
    assert_eq!(server.headers["X-Empty"], "${EMPTY}");
    assert_eq!(server.args, ["s3cret-${env:UNSET}"]);
    let oauth = server.oauth.as_ref().unwrap();
    assert_eq!(oauth.client_secret.expose(), "s3cret");
    assert!(loaded.referenced.contains("UNSET"));
}

// CL-6
#[test]
fn variables_of_the_home_are_put_into_values() {
    let home = TempHome::with_config("model:\n  default: ${NAME}/x\n  api_key: ${UNSET}\n")
        .env("NAME=file\n");
    let loaded = home.load_with(&[("NAME", "shell")]);
    assert_eq!(loaded.config.model.default, "file/x");
    assert_eq!(loaded.config.model.api_key.expose(), "${UNSET}");
    assert!(loaded.referenced.contains("UNSET"));
}

// CL-6
#[test]
fn a_project_cannot_read_variables() {
    let home = TempHome::with_config("");
    let project = home.outside().join("project");
    fs::create_dir_all(project.join(".hermes")).unwrap();
    fs::write(
        project.join(".hermes/config.yaml"),
        "display: {skin: \"${KEY}\"}\n",
    )
    .unwrap();
    let environment = home.environment(&[("KEY", "secret")]);
    let loaded = load(&Request {
        home: &home.home,
        environment: &environment,
        project: Some(&project),
        flags: &[],
        ignore_file: false,
    })
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.config.display.skin, "${KEY}");
}
