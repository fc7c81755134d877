//! Spellings of older versions. CL-6.

use hermes_config::{Fault, KeyPath};

use super::support::TempHome;

#[track_caller]
fn check(text: &str, key: &str, expected: &str) {
    let loaded = TempHome::with_config(text).load();
    let node = loaded.tree.at(&KeyPath::parse(key).unwrap());
    assert_eq!(
        node.and_then(|node| node.text()).as_deref(),
        Some(expected),
        "{text}"
    );
}

// CL-6
#[test]
fn old_keys_fill_what_todays_leave_empty() {
    check("model: acme/x\n", "model.default", "acme/x");
    check("model: {name: acme/x}\n", "model.default", "acme/x");
    check(
        "model: {default: a, model: b, name: c}\n",
        "model.default",
        "a",
    );
    check("model: acme/x\nprovider: zai\n", "model.provider", "zai");
    check(
        "provider: zai\nmodel: {provider: nous}\n",
        "model.provider",
        "nous",
    );
    check(
        "api_base: http://h.example.test\n",
        "model.base_url",
        "http://h.example.test",
    );
    check("max_turns: 7\n", "agent.max_turns", "7");
    check(
        "max_turns: 7\nagent: {max_turns: 8}\n",
        "agent.max_turns",
        "8",
    );
    check(
        "terminal: {env_type: docker}\n",
        "terminal.backend",
        "docker",
    );
    check(
        "terminal: {env_type: docker, backend: ssh}\n",
        "terminal.backend",
        "ssh",
    );
    check(
        "agent: {prefill_messages_file: p.json}\n",
        "prefill_messages_file",
        "p.json",
    );
    check(
        "updates: {pre_update_backup: true}\n",
        "updates.pre_update_backup",
        "full",
    );
    check("approvals: {mode: off}\n", "approvals.mode", "off");
}

// CL-6
#[test]
fn an_old_key_is_named_with_todays() {
    let home = TempHome::with_config("# top\nmax_turns: 7\n");
    let loaded = home.load();
    let problem = loaded.problems.first().unwrap();
    assert_eq!(
        problem.fault,
        Fault::OldSpelling {
            now: "agent.max_turns".into()
        }
    );
    assert_eq!(
        (problem.origin.line, problem.file.clone()),
        (2, Some(home.home.config_file()))
    );
    assert!(!problem.fault.is_error());
}

// CL-6
#[test]
fn personalities_of_both_places_count() {
    let loaded = TempHome::with_config(
        "personalities: {a: one, b: two}\nagent: {personalities: {b: three, c: four}}\n",
    )
    .load();
    let names: Vec<_> = loaded
        .config
        .personalities
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        loaded
            .tree
            .at(&KeyPath::of(["personalities", "b"]))
            .unwrap()
            .text()
            .as_deref(),
        Some("three")
    );
}

// CL-6
#[test]
fn the_same_endpoint_in_list_and_map_is_one() {
    let loaded = TempHome::with_config(
        "custom_providers:\n- {name: My Box, baseUrl: http://h.example.test/v1/, apiKey: k, models: [a, {id: b, context_length: 9}]}\n- {name: Other, url: http://o.example.test}\nproviders:\n  my-box: {name: My Box, api: http://h.example.test/v1, transport: anthropic_messages}\n",
    )
    .load();
    let names: Vec<_> = loaded.config.providers.keys().map(String::as_str).collect();
    assert_eq!(names, ["my-box", "other"]);
    assert_eq!(
        loaded.config.providers["my-box"].base_url,
        "http://h.example.test/v1"
    );
    assert_eq!(loaded.config.custom_providers, []);
}
