//! How values are understood.

use std::time::Duration;

use hermes_config::{
    ApprovalMode, Automatic, Config, Effort, Either, Layer, Reader, Setting, UpdateBackup, parse,
};

/// Reads a file, with the number of its problems.
fn read(text: &str) -> (Config, usize) {
    let node = parse(text, Layer::File).unwrap();
    let mut reader = Reader::default();
    let config = Config::read(&node, &mut reader).unwrap();
    (config, reader.into_problems().len())
}

#[test]
fn a_partly_set_section_keeps_its_own_defaults() {
    let (config, _) = read(
        "auxiliary: {curator: {model: small}}\n\
         display: {platforms: {telegram: {tool_progress: new}}}\n\
         moa: {presets: {default: {max_tokens: 9}}}",
    );
    assert_eq!(config.auxiliary.curator.timeout.as_secs(), 600);
    assert_eq!(config.display.platforms["telegram"].streaming, Some(true));
    assert_eq!(config.display.platforms["discord"].streaming, Some(false));
    assert_eq!(config.moa.presets["default"].reference_models.len(), 2);
}

#[test]
fn keys_without_a_field_are_kept_where_others_read_them() {
    let text = "auxiliary: {my_task: {provider: nous}}\ntelegram: {webhook_port: 8443}";
    let (config, problems) = read(text);
    assert_eq!(problems, 0);
    assert_eq!(config.auxiliary.others["my_task"].provider, "nous");
    let value = config.to_value().to_json();
    assert_eq!(value["telegram"]["webhook_port"], 8443);
}

#[test]
fn a_value_that_cannot_be_used_leaves_the_default() {
    let (config, problems) = read("agent: {max_turns: many, clarify_timeout: 5}");
    assert_eq!(problems, 1);
    assert_eq!(config.agent.max_turns, 90);
    assert_eq!(config.agent.clarify_timeout.as_secs(), 5);
}

#[test]
fn an_unknown_approval_mode_asks_the_user() {
    let (config, problems) = read("approvals: {mode: auto}");
    assert_eq!((config.approvals.mode, problems), (ApprovalMode::Manual, 1));
    let (config, problems) = read("approvals: {mode: on}");
    assert_eq!((config.approvals.mode, problems), (ApprovalMode::Manual, 0));
}

#[test]
fn words_are_understood_as_the_reference_writes_them() {
    let (config, problems) = read(
        "agent: {verify_on_stop: true, tool_use_enforcement: [gpt], reasoning_effort: High}\n\
         updates: {pre_update_backup: ZIP}\n\
         x_search: {reasoning_effort: off}",
    );
    assert_eq!(problems, 0);
    assert_eq!(config.agent.verify_on_stop, Automatic::On);
    assert_eq!(
        config.agent.tool_use_enforcement,
        Either::Second(vec!["gpt".to_owned()])
    );
    assert_eq!(config.agent.reasoning_effort, Effort::High);
    assert_eq!(config.updates.pre_update_backup, UpdateBackup::Full);
    assert_eq!(config.x_search.reasoning_effort, Some(Effort::None));
}

#[test]
fn names_are_a_list_or_text_with_commas() {
    for names in ["[a, 2]", "'a, 2'", "'a,2,'"] {
        let (config, _) = read(&format!("slack: {{allowed_channels: {names}}}"));
        let names: Vec<_> = config.slack.allowed_channels.iter().collect();
        assert_eq!(names, ["a", "2"]);
    }
}

#[test]
fn a_time_may_be_a_fraction_or_endless() {
    let (config, problems) =
        read("terminal: {lifetime_seconds: 0.5}\nvoice: {silence_duration: .inf}");
    assert_eq!(problems, 0);
    assert_eq!(config.terminal.lifetime_seconds, Duration::from_millis(500));
    assert!(config.voice.silence_duration > Duration::from_secs(3_000_000_000));
}
