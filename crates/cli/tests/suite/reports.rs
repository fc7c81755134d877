//! `hermes insights`, `hermes status` and `hermes dump` as a user runs them.

use std::time::Duration;

use hermes_testkit::pty::Terminal;
use insta::assert_snapshot;
use serde_json::{Value as Json, json};

use super::program::{Program, reference};

const ALL_TIME: &[&str] = &["insights", "--days", "36500"];

fn golden(name: &str) -> Json {
    let path = reference("state/expected").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The home the golden status and dump were taken in.
fn set_up() -> Program {
    let program = Program::after_the_reference();
    let text = |name| std::fs::read_to_string(reference("state/expected").join(name)).unwrap();
    program
        .home
        .write_config(&text("status_config.yaml"))
        .unwrap();
    program.home.write_env(&text("status.env")).unwrap();
    program
}

fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
}

/// Sums of money come out of additions in another order.
fn rounded(value: &mut Json) {
    match value {
        Json::Number(number) => {
            let number = number.as_f64().unwrap();
            *value = json!((number * 1e9).round() / 1e9);
        }
        Json::Array(items) => items.iter_mut().for_each(rounded),
        Json::Object(map) => map.values_mut().for_each(rounded),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// Compares a report with the reference's, after the differences that are meant.
#[track_caller]
fn check_insights(file: &str, flags: &[&str], differences: &[(&str, Json)]) {
    let program = Program::after_the_reference();
    let arguments = [ALL_TIME, &["--json"], flags].concat();
    let mut found = program.run(&arguments).ok().json();
    let mut wanted = golden(file);
    let remove = |value: &mut Json, key: &str| value.as_object_mut().unwrap().remove(key);
    // Whether a price list knows a model is said by the cost's status.
    remove(&mut wanted["overview"], "models_with_pricing");
    remove(&mut wanted["overview"], "models_without_pricing");
    for model in wanted["models"].as_array_mut().unwrap() {
        remove(model, "has_pricing");
    }
    remove(&mut wanted, "generated_at");
    assert!(remove(&mut found, "generated_at").is_some());
    // The reference keeps no journal of what was learned.
    let learned = json!({"reviews": 0, "entries_kept": 0, "skills_written": 0, "skills_mended": 0, "latest": []});
    assert_eq!(remove(&mut found, "learning"), Some(learned));
    // Session ids are whole here and cut to 16 characters there; amounts stand beside their texts.
    for session in found["top_sessions"].as_array_mut().unwrap() {
        let id = session["session_id"].as_str().unwrap()[..16].to_owned();
        session["session_id"] = json!(id);
        assert!(remove(session, "amount").unwrap().is_number());
    }
    let dates = remove(&mut found["activity"], "by_date").unwrap();
    let sessions = |date: &Json| date["count"].as_u64().unwrap();
    let began: u64 = dates.as_array().unwrap().iter().map(sessions).sum();
    assert_eq!(found["overview"]["total_sessions"], began);
    for (pointer, ours) in differences {
        *wanted.pointer_mut(pointer).expect(pointer) = ours.clone();
    }
    rounded(&mut wanted);
    rounded(&mut found);
    assert_eq!(found, wanted);
}

// CL-26
#[test]
fn insights_give_the_totals_of_the_reference() {
    check_insights(
        "insights.json",
        &[],
        &[
            // The rewound session has four messages; the reference still counts the two taken back.
            ("/overview/total_messages", json!(63)),
            ("/overview/avg_messages_per_session", json!(63.0 / 15.0)),
            ("/platforms/0/messages", json!(39)),
            // The reference leaves out every cost without a status and calls the rest of it unknown.
            ("/overview/estimated_cost", json!(0.0923)),
            ("/overview/unknown_cost_sessions", json!(1)),
            ("/models/0/cost", json!(0.07)),
            // Five of the calls have no price, so the sum is not the whole.
            ("/models/0/cost_status", json!("unknown")),
            // Nobody said what was charged: that is not zero.
            ("/models/1/actual_cost", json!(null)),
            ("/models/1/cost_status", json!("estimated")),
            ("/models/2/cost", json!(0.002)),
            ("/models/2/actual_cost", json!(null)),
            ("/models/2/cost_status", json!("estimated")),
            ("/models/3/cost", json!(0.0003)),
            ("/models/3/actual_cost", json!(null)),
        ],
    );
}

// CL-26
#[test]
fn insights_of_one_source_give_the_totals_of_the_reference() {
    check_insights(
        "insights_cli.json",
        &["--source", "cli"],
        // For the same reasons.
        &[
            ("/overview/total_messages", json!(39)),
            ("/overview/avg_messages_per_session", json!(39.0 / 8.0)),
            ("/platforms/0/messages", json!(39)),
            ("/overview/estimated_cost", json!(0.0721)),
            ("/overview/unknown_cost_sessions", json!(1)),
            ("/models/0/cost", json!(0.07)),
            ("/models/1/cost", json!(0.002)),
            ("/models/1/actual_cost", json!(null)),
            ("/models/1/cost_status", json!("estimated")),
            ("/models/2/cost", json!(0.0001)),
            ("/models/2/actual_cost", json!(null)),
        ],
    );
}

// CL-26
#[test]
fn insights_are_a_page_for_people() {
    let program = Program::after_the_reference();
    assert_snapshot!(program.stdout(ALL_TIME));
    let narrow = program
        .command(ALL_TIME)
        .env("COLUMNS", "40")
        .run()
        .unwrap();
    assert!(!narrow.ok().stdout.contains("large  #"), "no room for bars");
    assert_snapshot!(program.stdout(&["insights", "--source", "nosuch"]), @r"
    Last 30 days, only nosuch
      no conversations; --days N looks further back
    ");
    let empty = program
        .run(&["insights", "--source", "nosuch", "--json"])
        .ok()
        .json();
    assert_eq!(empty["empty"], true);
    assert_eq!(empty["overview"]["estimated_cost"], json!(null));
    assert_eq!(empty["activity"]["busiest_day"], json!(null));
    for days in ["0", "-1", "soon"] {
        program.run(&["insights", "--days", days]).code(2);
    }
}

#[test]
fn a_terminal_gets_bars_of_blocks() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "stats"]).ok();
    let terminal = Terminal::spawn(&program.command(ALL_TIME), 100, 60).unwrap();
    terminal.wait_exit(Duration::from_secs(20)).unwrap();
    let screen = terminal
        .wait_for_text("Most tool calls", Duration::from_secs(5))
        .unwrap();
    assert!(screen.contains("large   ████"), "{}", screen.text());
    assert!(screen.contains("██ ██"), "days:\n{}", screen.text());
    assert!(screen.contains("▃"), "hours:\n{}", screen.text());
    assert!(!screen.contains("###"), "{}", screen.text());
}

#[test]
fn hours_are_those_of_the_time_zone() {
    let program = Program::after_the_reference();
    let output = program
        .command(&[ALL_TIME, &["--json"]].concat())
        .env("TZ", "Asia/Tokyo")
        .run()
        .unwrap()
        .ok();
    let activity = &output.json()["activity"];
    assert_eq!(activity["busiest_hour"], json!({"hour": 1, "count": 3}));
    assert_eq!(
        activity["by_day"][6],
        json!({"day": "Sun", "count": 0}),
        "the evening is the next morning"
    );
}

/// A status label of the reference and the provider that stands for it here.
const PROVIDERS: &[(&str, &str)] = &[
    ("OpenRouter", "openrouter"),
    ("OpenAI", "openai-api"),
    ("Google / Gemini", "gemini"),
    ("DeepSeek", "deepseek"),
    ("xAI / Grok", "xai"),
    ("NVIDIA NIM", "nvidia"),
    ("Z.AI / GLM", "zai"),
    ("Kimi", "kimi-coding"),
    ("StepFun Step Plan", "stepfun"),
    ("MiniMax", "minimax"),
    ("MiniMax-CN", "minimax-cn"),
    ("DeepInfra", "deepinfra"),
    ("Firecrawl", "firecrawl"),
    ("Tavily", "tavily"),
    ("Browser Use", "browser-use"),
    ("Browserbase", "browserbase"),
    ("FAL", "fal"),
    ("ElevenLabs", "elevenlabs"),
    ("GitHub", "github"),
    ("Anthropic", "anthropic"),
];

// CL-26
#[test]
fn status_agrees_with_the_reference() {
    let program = set_up();
    let found = program.run(&["status", "--json"]).ok().json();
    let golden = golden("status.json");
    let word = |set: bool| if set { "set" } else { "unset" };
    let rows = |section: &str| found[section].as_array().unwrap().clone();

    let environment = &found["environment"];
    assert_eq!(environment["model"], golden["Environment"]["Model"]);
    let provider = golden["Environment"]["Provider"].as_str().unwrap();
    assert_eq!(environment["provider"], provider.to_lowercase());
    assert_eq!(environment["env_file"], true);

    let labels = golden["API Keys"].as_object().unwrap();
    assert_eq!(labels.len(), PROVIDERS.len());
    for (label, provider) in PROVIDERS {
        let keys = rows("api_keys");
        let key = keys.iter().find(|key| key["provider"] == *provider);
        let set = key.unwrap()["set"].as_bool().unwrap();
        assert_eq!(labels[*label], word(set), "{label}");
    }
    for (label, wanted) in golden["Messaging Platforms"].as_object().unwrap() {
        let platforms = rows("messaging");
        let platform = platforms.iter().find(|row| row["label"] == **label);
        let set = platform.expect(label)["configured"].as_bool().unwrap();
        assert_eq!(*wanted, word(set), "{label}");
    }

    let terminal = &golden["Terminal Backend"];
    assert_eq!(found["terminal"]["backend"], terminal["Backend"]);
    assert_eq!(
        terminal["Sudo"],
        word(found["terminal"]["sudo"].as_bool().unwrap())
    );
    // The reference names an image of its own here; containers start from the one in the settings.
    assert_eq!(terminal["Docker Image"], "python:3.11-slim");
    let image = program.stdout(&["config", "get", "terminal.docker_image"]);
    assert_eq!(found["terminal"]["place"], image.trim());

    assert_eq!(
        golden["Gateway Service"]["Status"],
        word(found["gateway"]["running"].as_bool().unwrap())
    );
    assert_eq!(
        golden["Scheduled Jobs"]["Jobs"],
        found["jobs"]["total"].to_string()
    );
    // The reference counts the chats the gateway has open; here it is the conversations.
    assert_eq!(found["sessions"]["total"], 15);
    assert_eq!(found["sessions"]["last_active_at"], "2025-06-16T16:40:41Z");
    assert_eq!(found["sessions"]["import"], "done");
    assert!(found["checks"].is_null());
}

// CL-26
#[test]
fn status_is_a_page_for_people() {
    let program = set_up();
    let page = program.stdout(&["status", "--deep"]);
    // The size of the database depends on the build of SQLite.
    let page: Vec<_> = page
        .lines()
        .map(|line| match line.strip_prefix("  Database  ") {
            Some(rest) if rest.contains("kB") => "  Database             [SIZE]",
            _ => line,
        })
        .collect();
    assert_snapshot!(without_version(&page.join("\n")));
    let all = program.stdout(&["status", "--all"]);
    for line in [
        "  anthropic            not set    ANTHROPIC_API_KEY",
        "  Discord              not set up",
    ] {
        assert!(all.contains(line), "{all}");
    }
}

#[test]
fn status_counts_jobs_and_finds_the_gateway() {
    let program = Program::new();
    let jobs = json!({"jobs": [{"id": "a", "enabled": true}, {"id": "b", "enabled": false}]});
    program
        .home
        .write("cron/jobs.json", format!("\u{feff}{jobs}"))
        .unwrap();
    let own = std::process::id();
    program
        .home
        .write("gateway.pid", json!({ "pid": own }).to_string())
        .unwrap();
    let found = program.run(&["status", "--json"]).ok().json();
    assert_eq!(
        found["jobs"],
        json!({"total": 2, "paused": 1, "problem": null})
    );
    assert_eq!(found["gateway"], json!({"running": true, "pid": own}));
    program.home.write("cron/jobs.json", "[{}, 3]").unwrap();
    program.home.write("gateway.pid", "2147483646").unwrap();
    let found = program.run(&["status", "--json"]).ok().json();
    assert_eq!(found["jobs"]["total"], 1);
    assert_eq!(found["gateway"]["running"], false);
    program.home.write("cron/jobs.json", "{").unwrap();
    let page = program.stdout(&["status"]);
    assert!(page.contains("jobs.json cannot be read"), "{page}");
}

#[test]
fn a_platform_that_is_switched_off_is_not_set_up() {
    let program = set_up();
    let configured = || -> Vec<String> {
        let found = program.run(&["status", "--json"]).ok().json();
        let rows = found["messaging"].as_array().unwrap();
        let rows = rows.iter().filter(|row| row["configured"] == true);
        rows.map(|row| row["platform"].as_str().unwrap().to_owned())
            .collect()
    };
    program
        .home
        .write_config(
            "platforms: {telegram: {enabled: false}, irc: {enabled: true}, slack: {token: x}}\n",
        )
        .unwrap();
    assert_eq!(configured(), ["slack", "irc"]);
}

#[test]
fn status_and_dump_work_when_nothing_else_does() {
    let program = set_up();
    program.home.write_config("model: [\n").unwrap();
    let page = program.stdout(&["status", "--deep"]);
    assert_eq!(page.matches("config.yaml: line ").count(), 2, "{page}");
    assert!(page.contains("openrouter           sk-o…2222"), "{page}");
    assert!(!page.contains("Backend"), "not known: {page}");
    let dump = program.run(&["dump", "--json"]).ok().json();
    assert_eq!(dump["model"], json!(null));
    assert_eq!(dump["api_keys"]["openrouter"], "set");

    program
        .home
        .write_config("terminal: {timeout: soon}\n")
        .unwrap();
    let page = program.stdout(&["status"]);
    assert!(page.contains("1 setting cannot be used"), "{page}");

    std::fs::remove_file(program.home.path().join(".env")).unwrap();
    std::fs::create_dir(program.home.path().join(".env")).unwrap();
    assert!(program.stdout(&["status"]).contains("Problem"));
    program.run(&["dump"]).ok();

    program
        .home
        .write(
            "hermes.db",
            "Dear database, this is only a letter.\n".repeat(200),
        )
        .unwrap();
    let page = program.stdout(&["status", "--deep"]);
    assert_eq!(
        page.matches("hermes.db is not a database").count(),
        2,
        "{page}"
    );

    for command in ["status", "dump"] {
        let nowhere = program
            .command(&[command])
            .env_remove("HOME")
            .env_remove("HERMES_HOME");
        let output = nowhere
            .env("OPENAI_API_KEY", "sk-0123456789abcdefghij")
            .run()
            .unwrap()
            .ok();
        assert!(
            output
                .stdout
                .contains("neither HERMES_HOME nor HOME is set"),
            "{}",
            output.stdout
        );
        assert!(
            output
                .stdout
                .lines()
                .any(|line| line.contains("openai-api") && !line.contains("not set"))
        );
        let profile = program.run(&["-p", "nosuch", command]).ok();
        assert!(
            profile.stdout.contains("profile nosuch has no home"),
            "{}",
            profile.stdout
        );
    }
}

#[test]
fn status_and_dump_leave_no_trace_in_an_empty_home() {
    let program = Program::new();
    let before = program.home.tree_hash().unwrap();
    for arguments in [&["status"][..], &["status", "--all", "--deep"], &["dump"]] {
        program.run(arguments).ok();
    }
    assert_eq!(program.home.tree_hash().unwrap(), before);
}

// CL-26
#[test]
fn dump_agrees_with_the_reference() {
    let program = set_up();
    let found = program.run(&["dump", "--json"]).ok().json();
    let golden = golden("dump.json");
    for key in ["profile", "model", "provider", "terminal"] {
        assert_eq!(found[key], golden[key], "{key}");
    }
    assert_eq!(found["home"], golden["hermes_home"]);
    let others = [
        ("openai", "openai-api"),
        ("anthropic_token", "anthropic"),
        ("google/gemini", "gemini"),
        ("glm/zai", "zai"),
        ("kimi", "kimi-coding"),
        ("dashscope", "alibaba"),
        ("opencode_zen", "opencode-zen"),
        ("opencode_go", "opencode-go"),
    ];
    for (label, wanted) in golden["api_keys"].as_object().unwrap() {
        // A subscription one signs in to; it has no key.
        if label == "nous" {
            continue;
        }
        let other = others.iter().find(|(theirs, _)| theirs == label);
        let provider = other.map_or(label.as_str(), |(_, ours)| ours);
        assert_eq!(found["api_keys"][provider], *wanted, "{label}");
    }
    for key in ["toolsets", "memory_provider", "platforms"] {
        assert_eq!(found["features"][key], golden["features"][key], "{key}");
    }
    for key in ["cron_jobs", "skills"] {
        assert_eq!(
            found["features"][key].to_string(),
            golden["features"][key],
            "{key}"
        );
    }
    assert_eq!(found["features"]["gateway"], "stopped");
    // The reference always says 0; one is configured.
    assert_eq!(golden["features"]["mcp_servers"], "0");
    assert_eq!(found["features"]["mcp_servers"], 1);
    // Every key that differs is listed, not only a choice of them.
    let mut wanted = golden["config_overrides"].clone();
    wanted["model.default"] = json!("acme/large");
    wanted["model.provider"] = json!("openrouter");
    wanted["mcp_servers"] = json!("(1 entry)");
    assert_eq!(found["config_overrides"], wanted);
}

// CL-26
#[test]
fn dump_is_a_block_to_paste() {
    let program = set_up();
    let text = program.stdout(&["dump"]);
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with("os: "))
        .collect();
    assert_snapshot!(without_version(&lines.join("\n")));
    let shown = program.stdout(&["dump", "--show-keys"]);
    assert!(shown.contains("  openrouter: set (sk-o…2222)\n"), "{shown}");
}

#[test]
fn no_report_prints_a_secret() {
    let program = Program::new();
    let secret = |name: &str| format!("canary-{name}-7f3e9b2d41c85a06");
    program
        .home
        .write_env(&format!(
            "OPENAI_API_KEY={}\nTELEGRAM_BOT_TOKEN={}\nSUDO_PASSWORD={}\nEMAIL_PASSWORD=canary\n",
            secret("a"),
            secret("b"),
            secret("c")
        ))
        .unwrap();
    program
        .home
        .write_config(&format!(
            "model:\n  default: m\n  api_key: {}\n  base_url: https://u:{}@host.example.test/v1?key={}\n  \
             extra_headers: {{x-auth: {}}}\n\
             mcp_servers:\n  a: {{command: x, args: [--key, {}], env: {{A: {}}}, headers: {{Authorization: Bearer {}}}}}\n\
             terminal: {{docker_env: {{X: {}}}, sudo_password: canary, cwd: \"https://u:canary-pw@h.test/?key=canary-key\"}}\n\
             telegram: {{token: {}}}\nnot_a_key: {}\nagent: {{system_prompt: \"{}\"}}\n",
            secret("d"), secret("e"), secret("f"), secret("g"), secret("h"), secret("i"), secret("j"),
            secret("k"), secret("l"), secret("m"), "my private canary story ".repeat(10),
        ))
        .unwrap();
    for arguments in [
        &["dump"][..],
        &["dump", "--json"],
        &["dump", "--show-keys"],
        &["status", "--all", "--deep"],
        &["status", "--all", "--deep", "--json"],
        &["insights"],
    ] {
        let output = program.run(arguments).ok();
        for text in [&output.stdout, &output.stderr] {
            assert!(!text.contains("canary"), "{arguments:?}: {text}");
        }
    }
    let dump = program.stdout(&["dump"]);
    for line in [
        "  model.api_key: ***",
        "  model.extra_headers: (1 entry)",
        "  not_a_key: (unknown key)",
    ] {
        assert!(dump.contains(line), "{dump}");
    }
}

// CL-34
#[test]
fn a_closed_pipe_ends_a_report_quietly() {
    let program = set_up();
    program.run(&["status"]).ok();
    for command in [
        "insights --days 36500",
        "insights --days 36500 --json",
        "status --all --deep",
        "status --json",
        "dump --show-keys",
        "dump --json",
    ] {
        // The reader leaves after one line, and again before the first.
        for reader in ["head -n 1 >/dev/null", "true"] {
            let output = program.shell(&format!("($HERMES {command}; echo $? >&2) | {reader}"));
            let code = output.stderr.trim();
            assert!(
                ["0", "141"].contains(&code),
                "{command} | {reader}: {}",
                output.stderr
            );
        }
    }
}
