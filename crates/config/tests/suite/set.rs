//! `config set`, `unset` and `get`. CL-7.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hermes_config::{
    Change, Document, Edit, ManagedScope, Owner, SetError, Settings, Shown, UnknownKey, Value,
};

use super::support::{TempHome, cases, json};

fn run<T>(home: &TempHome, work: impl FnOnce(&Settings<'_>) -> T) -> T {
    work(&Settings {
        home: &home.home,
        owner: &Owner::User,
        managed: &ManagedScope::default(),
    })
}

fn set(home: &TempHome, key: &str, value: &str) -> Result<Change, SetError> {
    run(home, |settings| {
        settings.set(key, value, UnknownKey::Refuse)
    })
}

/// Where typed settings refuse what the reference stores, or understand what it keeps as text.
enum Differs {
    Refused,
    Text(&'static str),
}

fn intended(case: &str) -> Option<Differs> {
    use Differs::{Refused, Text};
    Some(match case {
        // Not a value of that type.
        "bool-y-is-text"
        | "empty-string-int"
        | "int-negative-is-text"
        | "int-underscore-is-text"
        | "int-unicode-digits"
        | "float-dot-trail"
        | "float-exp-is-text"
        | "scalar-over-map"
        | "string-default-number" => Refused,
        // Not a known key: --force is needed.
        "deep-new"
        | "list-index-int"
        | "float-two-dots-is-text"
        | "int-superscript"
        | "key-with-space"
        | "none-word"
        | "some-key-not-env"
        | "trailing-dot"
        | "typo-nested"
        | "typo-top"
        | "underscore-key"
        | "upper-other" => Refused,
        // A broken file is never thrown away, nor is a value that stands where a section belongs.
        "broken-yaml" | "nested-over-scalar" => Refused,
        // Items are counted from the front.
        "list-index-negative" => Refused,
        // Collections are collections.
        "json-text" => Text("terminal:\n  docker_env:\n    A: \"1\"\n"),
        "list-text" => Text("toolsets:\n- web\n- file\n"),
        "terminal-list-text" => Text("terminal:\n  docker_volumes:\n  - a:/b\n"),
        "map-text" => Refused,
        // Numbers and words by type, not by look.
        "int-plus-is-text" => Text("agent:\n  max_turns: 5\n"),
        "null-word" => Text("max_concurrent_sessions: null\n"),
        // Old names are written under today's.
        "model-name" | "model-string" => Text("model:\n  default: acme/new\n"),
        "max-turns-root" => Text("agent:\n  max_turns: 9\n"),
        // Known to `.env` as a variable that fills in terminal.backend.
        "terminal-env-upper" => Text(""),
        _ => return None,
    })
}

// CL-7
#[test]
fn recorded_commands_give_the_same_file() {
    for (name, folder) in cases("config/set") {
        let home = TempHome::new();
        let before = fs::read_to_string(folder.join("before.yaml")).unwrap_or_default();
        if !before.is_empty() {
            fs::write(home.home.config_file(), &before).unwrap();
        }
        let arguments = json(&folder.join("args.json"));
        let (key, value) = (
            arguments["key"].as_str().unwrap(),
            arguments["value"].as_str().unwrap(),
        );
        let result = set(&home, key, value);
        match intended(&name) {
            Some(Differs::Refused) => {
                let error = result
                    .err()
                    .unwrap_or_else(|| panic!("{name} was accepted"));
                assert!(!error.hint().is_empty(), "{name}");
                assert_eq!(home.config_text(), before, "{name}");
            }
            Some(Differs::Text(text)) => {
                result.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(home.config_text(), text, "{name}");
            }
            None => check_recorded(&name, &folder, &home, result),
        }
    }
}

#[track_caller]
fn check_recorded(
    name: &str,
    folder: &std::path::Path,
    home: &TempHome,
    result: Result<Change, SetError>,
) {
    let after = json(&folder.join("after.json"));
    assert_eq!(
        result.is_ok(),
        after["exit"] == 0,
        "{name}: {:?}",
        result.err()
    );
    let text = home.config_text();
    let tree = hermes_config::parse(&text, hermes_config::Layer::File)
        .unwrap()
        .value;
    let got = if tree == Value::Null {
        serde_json::json!({})
    } else {
        tree.to_json()
    };
    assert_eq!(got, after["file"], "{name}\n{text}");
    // The reference copies terminal settings to `.env`; ours only brings lines up to date that are there.
    let mirrors = name.starts_with("terminal-");
    if let (Ok(env), false) = (fs::read_to_string(folder.join("after.env")), mirrors) {
        assert_eq!(home.env_text(), env, "{name}");
    }
}

// CL-7
#[test]
fn comments_and_order_stay() {
    let home = TempHome::with_config(
        "# top\nzeta: 1 # note\nalpha:\n    nested: yes\ndisplay: # look\n    # why\n    skin: old # here\n",
    );
    set(&home, "display.skin", "mono").unwrap();
    set(&home, "display.compact", "on").unwrap();
    assert_eq!(
        home.config_text(),
        "# top\nzeta: 1 # note\nalpha:\n    nested: yes\ndisplay: # look\n    # why\n    skin: mono # here\n    compact: true\n"
    );
    run(&home, |settings| settings.unset("display.skin")).unwrap();
    assert_eq!(
        home.config_text(),
        "# top\nzeta: 1 # note\nalpha:\n    nested: yes\ndisplay: # look\n    # why\n    compact: true\n"
    );
}

// CL-7
#[test]
fn a_broken_file_stays_byte_for_byte() {
    let home = TempHome::with_config(b"display: \"open\n\xff");
    for result in [
        set(&home, "display.skin", "x"),
        run(&home, |settings| settings.unset("display.skin")),
    ] {
        assert!(matches!(
            result,
            Err(SetError::Unparsable { .. } | SetError::Edit { .. })
        ));
    }
    assert_eq!(
        fs::read(home.home.config_file()).unwrap(),
        b"display: \"open\n\xff"
    );
}

// CL-7
#[test]
fn types_and_ranges_are_checked_and_slips_are_named() {
    let home = TempHome::new();
    let refused = |key: &str, value: &str| set(&home, key, value).unwrap_err();
    assert!(
        refused("agent.max_turns", "abc")
            .to_string()
            .contains("must be a whole number")
    );
    assert!(
        refused("approvals.mode", "maybe")
            .to_string()
            .contains("one of manual, smart, off")
    );
    assert!(
        refused("display.skn", "x")
            .hint()
            .contains("did you mean display.skin?")
    );
    assert!(
        refused("dispaly.skin", "x")
            .hint()
            .contains("did you mean display.skin?")
    );
    assert!(
        refused("TERMINAL_DOCKER_IMAGE", "x")
            .hint()
            .contains("did you mean terminal.docker_image?")
    );
    assert!(matches!(refused("toolsets.0", "x"), SetError::Edit { .. }));
    assert!(!home.home.config_file().exists());
}

// CL-7
#[test]
fn force_writes_an_unknown_key_as_yaml_would_read_it() {
    let home = TempHome::new();
    run(&home, |settings| {
        settings.set("mine.a", "off", UnknownKey::Write).unwrap();
        settings.set("mine.b", "12", UnknownKey::Write).unwrap();
        settings
            .set("mine.c", "a: b # c", UnknownKey::Write)
            .unwrap();
        settings.set("mine.d", "[1, x]", UnknownKey::Write).unwrap();
    });
    assert_eq!(
        home.config_text(),
        "mine:\n  a: false\n  b: 12\n  c: \"a: b # c\"\n  d:\n  - 1\n  - x\n"
    );
}

// CL-7
#[test]
fn a_model_given_as_text_becomes_a_map_that_keeps_it() {
    let home = TempHome::with_config("model: acme/x # mine\n");
    set(&home, "model.provider", "zai").unwrap();
    assert_eq!(
        home.config_text(),
        "model: # mine\n  default: acme/x\n  provider: zai\n"
    );
    set(&home, "model", "acme/y").unwrap();
    assert_eq!(
        home.config_text(),
        "model: # mine\n  default: acme/y\n  provider: zai\n"
    );
    let short = TempHome::with_config("model: acme/x\nmax_turns: 3\n");
    run(&short, |settings| {
        settings.unset("model.default").unwrap();
        settings.unset("agent.max_turns").unwrap();
    });
    assert_eq!(short.config_text(), "");
}

// CL-7
#[test]
fn secrets_are_private_and_never_shown() {
    let home = TempHome::new();
    let change = set(&home, "OPENAI_API_KEY", "sk-1").unwrap();
    assert_eq!((change.old, change.new), (Shown::Absent, Shown::Masked));
    let mode = fs::metadata(home.home.env_file())
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o600);
    let change = set(&home, "model.api_key", "sk-2").unwrap();
    assert_eq!(change.new, Shown::Masked);
    let mode = fs::metadata(home.home.config_file())
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o600);
    let change = run(&home, |settings| settings.unset("openai_api_key")).unwrap();
    assert_eq!((change.old, change.new), (Shown::Masked, Shown::Absent));
    assert_eq!(home.env_text(), "");
}

// CL-7
#[test]
fn references_and_defaults_are_never_written_out() {
    let home = TempHome::with_config("model:\n  api_key: ${KEY}\n").env("KEY=secret\n");
    set(&home, "model.base_url", "https://${HOST}/v1").unwrap();
    set(&home, "agent.max_turns", "${TURNS}").unwrap();
    assert_eq!(
        home.config_text(),
        "model:\n  api_key: ${KEY}\n  base_url: https://${HOST}/v1\nagent:\n  max_turns: ${TURNS}\n"
    );
}

// CL-7
#[test]
fn a_line_of_env_that_fills_in_the_same_setting_follows() {
    let home = TempHome::new().env("TERMINAL_TIMEOUT=5 # old\n");
    let change = set(&home, "terminal.timeout", "60").unwrap();
    assert_eq!(change.also, Some("TERMINAL_TIMEOUT"));
    assert_eq!(home.env_text(), "TERMINAL_TIMEOUT=60 # old\n");
    let change = set(&home, "terminal.backend", "docker").unwrap();
    assert_eq!(change.also, None);
}

// CL-7
#[test]
fn a_change_says_what_was_and_what_is() {
    let home = TempHome::with_config("agent: {max_turns: 5}\n");
    let change = set(&home, "max_turns", "7").unwrap();
    assert_eq!(
        change,
        Change {
            file: home.home.config_file(),
            key: "agent.max_turns".into(),
            old: Shown::Value(Value::Int(5)),
            new: Shown::Value(Value::Int(7)),
            also: None,
        }
    );
    let loaded = home.load();
    assert_eq!(
        Settings::get(&loaded, "agent.max_turns").unwrap().value,
        Value::Int(7)
    );
    assert_eq!(
        Settings::get(&loaded, "max_turns").unwrap().value,
        Value::Int(7)
    );
    assert!(Settings::get(&loaded, "nothing.here").is_none());
}

// CL-7
#[test]
fn a_linked_file_stays_a_link() {
    let home = TempHome::new();
    let target = home.outside().join("dotfiles.yaml");
    fs::write(&target, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&target, home.home.config_file()).unwrap();
    set(&home, "display.skin", "mono").unwrap();
    assert!(
        fs::symlink_metadata(home.home.config_file())
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        fs::read_to_string(&target).unwrap(),
        "# mine\ndisplay:\n  skin: mono\n"
    );
}

// CL-7
#[test]
fn a_key_of_a_users_own_choosing_is_masked_by_its_name() {
    let home = TempHome::new();
    let change = set(&home, "mcp_servers.box.env.BOX_TOKEN", "t0ken").unwrap();
    assert_eq!(change.new, Shown::Masked);
    let change = set(&home, "voice.record_key", "ctrl+x").unwrap();
    assert_eq!(change.new, Shown::Value(Value::Text("ctrl+x".into())));
}

#[test]
fn a_list_or_map_with_variables_in_it_stays_one() {
    let home = TempHome::with_config("");
    set(
        &home,
        "fallback_providers",
        "[{provider: '${WHO}', model: m}]",
    )
    .unwrap();
    set(&home, "model.extra_headers", "{X-Team: \"${TEAM}\"}").unwrap();
    set(&home, "model.context_length", "${WINDOW}").unwrap();
    let text = fs::read_to_string(home.home.config_file()).unwrap();
    let read = Document::new(&text)
        .unwrap()
        .value()
        .unwrap()
        .value
        .to_json();
    assert_eq!(
        read["fallback_providers"][0]["provider"], "${WHO}",
        "{text}"
    );
    assert_eq!(
        read["model"]["extra_headers"]["X-Team"], "${TEAM}",
        "{text}"
    );
    assert_eq!(read["model"]["context_length"], "${WINDOW}", "{text}");
}

// PV-25
#[test]
fn several_keys_change_together_or_not_at_all() {
    let before = "model:\n  provider: custom\n  base_url: http://127.0.0.1:9/v1\n  api_mode: anthropic_messages\n";
    let home = TempHome::with_config(before);
    let change = |edits: &[(&str, Edit<'_>)]| run(&home, |settings| settings.change(edits));
    let file = || fs::read_to_string(home.home.config_file()).unwrap();
    let refused = change(&[
        ("model.base_url", Edit::Unset),
        ("model.provider", Edit::Set("deepseek")),
        ("model.api_mode", Edit::Set("no such mode")),
    ]);
    assert!(matches!(refused, Err(SetError::NotAccepted { .. })));
    assert_eq!(file(), before);
    let changes = change(&[
        ("model.base_url", Edit::Unset),
        ("model.api_mode", Edit::Unset),
        ("model.provider", Edit::Set("deepseek")),
    ])
    .unwrap();
    assert_eq!(file(), "model:\n  provider: deepseek\n");
    assert_eq!(changes[0].new, Shown::Absent);
    assert_eq!(
        changes[2].old,
        Shown::Value(Value::Text("custom".to_owned()))
    );
}
