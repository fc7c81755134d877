//! MCP servers in conversations: their tools, what is told about them, and their end.

use std::time::{Duration, Instant};

use hermes_testkit::mcp_server::{McpServer, Mode, Profile, tool};
use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use hermes_testkit::{Signal, eventually};
use serde_json::json;

use super::mcp_lab::{LONG, Lab};

fn calls(calls: &[(&str, serde_json::Value)]) -> Scenario {
    let mut scenario = Scenario::new();
    for (name, arguments) in calls {
        scenario = scenario.reply(tool_call(*name, arguments.clone()));
    }
    scenario.reply(text("done"))
}

fn go(lab: &Lab, flags: &[&str]) -> hermes_testkit::Output {
    let command = lab.program.command(&["-z", "go"]).args(flags);
    command.timeout(LONG).run().unwrap().ok()
}

// MCP-51, MCP-57, MCP-58
#[test]
fn tools_of_a_server_answer_the_model_in_every_shape() {
    let scenario = calls(&[
        ("mcp__lab__shapes", json!({})),
        ("mcp__lab__fail", json!({})),
        ("mcp__lab__big", json!({})),
        ("mcp__lab__environment", json!({})),
    ]);
    let lab = Lab::with_server(scenario, "");
    let output = go(&lab, &[]);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("done\n", "")
    );
    let results = lab.results();
    let shapes = &results[0];
    for part in [
        "words",
        "MEDIA:",
        "a note",
        "lab://a/far",
        "structuredContent",
        "file.bin",
    ] {
        assert!(shapes.contains(part), "{part}: {shapes}");
    }
    assert!(results[1].contains("the tool says no"), "{}", results[1]);
    assert!(results[2].len() < 10_000 && results[2].contains("tool-results"));
    assert!(!results[3].contains("HERMES_HOME") && results[3].contains("MCP_STATE"));
    let pictures = lab.program.home.path().join("cache/images");
    assert_eq!(std::fs::read_dir(pictures).unwrap().count(), 1);
    let log = lab.program.home.read("logs/mcp-stderr.log").unwrap();
    assert!(
        log.contains("lab") && log.contains("noise of the server"),
        "{log}"
    );
    lab.is_gone(Duration::from_secs(5));
}

// MCP-57
#[test]
fn a_model_that_can_see_gets_the_picture_itself() {
    let lab = Lab::with_server(calls(&[("mcp__lab__shapes", json!({}))]), "");
    let settings = lab.program.home.read("config.yaml").unwrap();
    let settings = settings.replacen("model: {", "model: {supports_vision: true, ", 1);
    lab.program.home.write_config(&settings).unwrap();
    go(&lab, &[]);
    let requests = lab.model.requests();
    let messages = requests.last().unwrap().expect_json()["messages"].to_string();
    assert!(messages.contains("image_url"), "{messages}");
    assert!(
        messages.contains("data:image/png;base64,iVBORw0KGgo"),
        "{messages}"
    );
}

// MCP-60
#[test]
fn calls_run_side_by_side_only_where_the_server_allows_it() {
    for (more, together) in [
        ("    supports_parallel_tool_calls: true\n", true),
        ("", false),
    ] {
        let server = McpServer::start(Profile::default()).unwrap();
        let two = tool_call("mcp__far__echo", json!({"text": "a"}))
            .and_tool_call("mcp__far__echo", json!({"text": "b"}));
        let lab = Lab::new(Scenario::new().reply(two).reply(text("done")));
        let url = server.url("/mcp");
        lab.more(&format!(
            "mcp_discovery_timeout: 60\nmcp_servers:\n  far:\n    url: '{url}'\n{more}"
        ));
        let hold = Mode::Hold {
            millis: 1000,
            then: None,
        };
        server.arm("tools/call", hold, 2);
        go(&lab, &[]);
        assert_eq!(server.stats().calls, 2);
        let at_once = server.stats().most_calls_at_once;
        assert_eq!(at_once == 2, together, "{at_once} at once");
    }
}

// MCP-48
#[test]
fn a_program_that_is_killed_leaves_no_server() {
    let lab = Lab::with_server(calls(&[("mcp__lab__wait", json!({"millis": 120_000}))]), "");
    let running = lab.program.command(&["-z", "go"]).spawn().unwrap();
    eventually(LONG, "the call runs", || {
        lab.lines("calls")
            .contains(&"wait".to_owned())
            .then_some(())
    })
    .unwrap();
    assert_eq!(lab.lines("starts").len(), 2);
    running.signal(Signal::SIGKILL).unwrap();
    lab.is_gone(Duration::from_secs(5));
}

/// What was decided about calls, newest first: the outcome, who decided and what about.
fn decisions(lab: &Lab) -> Vec<(String, String, String)> {
    let log = lab.program.run(&["policy", "log", "--json"]).ok().stdout;
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = log["decisions"].as_array().unwrap().iter();
    rows.map(|row| {
        assert_eq!(row["categories"], json!(["untrusted-mcp-server"]));
        assert_eq!(row["place"], "mcp lab");
        (
            text(row, "outcome"),
            text(row, "decided_by"),
            text(row, "action"),
        )
    })
    .collect()
}

// MCP-93
#[test]
fn an_untrusted_server_changes_nothing_when_nobody_can_be_asked() {
    let scenario = calls(&[
        ("mcp__lab__write", json!({})),
        ("mcp__lab__echo", json!({"text": "read"})),
    ]);
    // What the server notes lies in the home, where a confined one cannot write.
    let more = "    trust: untrusted\n    sandbox: 'off'\n";
    let lab = Lab::with_server(scenario, more);
    go(&lab, &[]);
    let results = lab.results();
    assert!(results[0].contains("nobody gave one"), "{results:?}");
    assert!(results[1].contains("read"), "{results:?}");
    assert_eq!(lab.lines("calls"), ["echo"]);
    let [(outcome, by, _)] = decisions(&lab).try_into().unwrap();
    assert_eq!((outcome.as_str(), by.as_str()), ("refused", "runtime"));
}

// MCP-93
#[test]
fn an_untrusted_server_changes_something_when_a_person_says_yes() {
    let lab = Lab::with_server(
        calls(&[
            ("mcp__lab__write", json!({"text": "first"})),
            ("mcp__lab__write", json!({"text": "second"})),
        ]),
        "    trust: untrusted\n    sandbox: 'off'\n",
    );
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    screen.send("go\r").unwrap();
    screen.wait_for_text("May I do this?", LONG).unwrap();
    screen
        .wait_for_text("MCP server lab is not trusted", LONG)
        .unwrap();
    assert_eq!(lab.lines("calls"), [""; 0], "not before there is an answer");
    screen.send("y\r").unwrap();
    // A yes is for one call; the next one is asked for again.
    lab.model.wait_for_requests(2, LONG).unwrap();
    eventually(LONG, "the second question", || {
        let asked = screen.screen().text().matches("May I do this?").count();
        (asked == 2).then_some(())
    })
    .unwrap();
    screen.send("n\r").unwrap();
    lab.model.wait_for_requests(3, LONG).unwrap();
    screen.wait_for_text("done", LONG).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
    let results = lab.results();
    assert!(results[0].contains("first"), "{results:?}");
    assert!(results[1].contains("the user refused"), "{results:?}");
    assert_eq!(lab.lines("calls"), ["write"]);
    let [refused, allowed] = decisions(&lab).try_into().unwrap();
    assert_eq!(
        (refused.0.as_str(), allowed.0.as_str()),
        ("refused", "once")
    );
    assert!(
        refused.1 == allowed.1 && refused.1 != "runtime",
        "{refused:?}"
    );
    let action = r#"mcp__lab__write {"text":"first"}"#;
    assert_eq!(allowed.2, action);
}

#[test]
fn servers_are_left_out_where_the_user_says_so() {
    let lab = Lab::with_server(Scenario::new().reply(Step::new(text("done")).repeat()), "");
    let mcp = |request| {
        let names = lab.offered(request);
        (
            names.iter().any(|name| name.starts_with("mcp__lab__")),
            names.len(),
        )
    };
    go(&lab, &["-t", "todo"]);
    assert_eq!(mcp(0), (false, 1));
    go(&lab, &["-t", "todo,lab"]);
    assert_eq!(mcp(1), (true, 10));
    lab.program.run(&["tools", "disable", "mcp-lab"]).ok();
    go(&lab, &[]);
    assert!(!mcp(2).0);
    let listed = lab.program.run(&["tools", "list", "--json"]).ok().stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let sets = listed["toolsets"].as_array().unwrap();
    let row = sets.iter().find(|row| row["name"] == "mcp-lab").unwrap();
    assert_eq!(row["enabled"], false);
    lab.program.run(&["tools", "enable", "lab"]).ok();
    go(&lab, &[]);
    assert!(mcp(3).0);
    for (request, safe) in [(4, "1"), (5, "0")] {
        let run = lab.program.command(&["-z", "go"]);
        let run = run.env("HERMES_SAFE_MODE", safe).timeout(LONG);
        run.run().unwrap().ok();
        assert_eq!(mcp(request).0, safe == "0", "{safe}");
    }
}

// MCP-76
#[test]
fn a_server_that_hangs_holds_nobody_up_and_everybody_is_told() {
    let server = McpServer::start(Profile::default()).unwrap();
    let hold = Mode::Hold {
        millis: 60_000,
        then: None,
    };
    server.arm("initialize", hold, 100);
    let lab = Lab::new(Scenario::new().reply(text("done")));
    let url = server.url("/mcp");
    lab.more(&format!(
        "mcp_discovery_timeout: 0.3\nmcp_servers:\n  far:\n    url: '{url}'\n    skip_preflight: true\n"
    ));
    let started = Instant::now();
    let output = go(&lab, &[]);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    assert!(
        output.stderr.contains("MCP server far is unavailable"),
        "{}",
        output.stderr
    );
    // A conversation begins at once all the same. A busy machine may be late, but not every time.
    let begins = || {
        let started = Instant::now();
        let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 120, 60).unwrap();
        screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
        let took = started.elapsed();
        screen.send("/exit\r").unwrap();
        screen.wait_exit(LONG).unwrap();
        took
    };
    let mut times = Vec::new();
    while times
        .last()
        .is_none_or(|took| *took >= Duration::from_secs(2))
    {
        assert!(times.len() < 5, "{times:?}");
        times.push(begins());
    }
    let request = lab.model.requests()[0].expect_json().to_string();
    assert!(
        request.contains("MCP server far is unavailable: it is being connected"),
        "{request}"
    );
    let system = lab.model.requests()[0].expect_json()["messages"][0].to_string();
    assert!(
        !system.contains("MCP server far"),
        "the prefix stays as it is"
    );
}

// MCP-61
#[test]
fn the_model_is_told_what_kind_of_trouble_a_server_has_and_nothing_the_server_said() {
    let server = McpServer::start(Profile::default()).unwrap();
    let lab = Lab::new(Scenario::new().reply(text("done")));
    let url = server.url("/page");
    lab.more(&format!(
        "mcp_discovery_timeout: 60\nmcp_servers:\n  far:\n    url: '{url}'\n"
    ));
    go(&lab, &[]);
    let request = lab.model.requests()[0].expect_json().to_string();
    assert!(
        request
            .contains("MCP server far is unavailable: it cannot be reached (it cannot be used as"),
        "{request}"
    );
    assert!(!request.contains("text/html"), "{request}");
    assert!(request.contains("; it is tried again at "), "{request}");
    let (_, status) = lab.mcp(&["status", "--json"]);
    let error = status[0]["servers"][0]["error"].as_str().unwrap();
    assert!(
        error.starts_with("it cannot be used as it is configured: \"")
            && error.contains("text/html"),
        "{error}"
    );
}

// MCP-76
#[test]
fn a_late_server_joins_the_next_turn_and_is_known_at_once_the_next_time() {
    let server = McpServer::start(Profile::default()).unwrap();
    // Held until the first turn is over, however long that takes.
    let hold = Mode::Hold {
        millis: 600_000,
        then: None,
    };
    server.arm("initialize", hold, 1);
    let lab = Lab::new(Scenario::new().reply(Step::new(text("answered")).repeat()));
    let url = server.url("/mcp");
    lab.more(&format!(
        "mcp_discovery_timeout: 0.1\nmcp_servers:\n  far:\n    url: '{url}'\n    skip_preflight: true\n"
    ));
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    screen.send("one\r").unwrap();
    lab.model.wait_for_requests(1, LONG).unwrap();
    assert!(!lab.offered(0).iter().any(|name| name.starts_with("mcp__")));
    screen.wait_for_text("answered", LONG).unwrap();
    server.disarm();
    // That it was asked for its tools does not mean that the answer was read.
    eventually(LONG, "its tools are offered", || {
        let before = lab.model.requests().len();
        screen.send("and now?\r").unwrap();
        lab.model.wait_for_requests(before + 1, LONG).unwrap();
        let offered = lab.offered(before);
        let has = offered.iter().any(|name| name == "mcp__far__echo");
        has.then_some(())
    })
    .unwrap();
    screen.wait_for_text("available again", LONG).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
    // It hangs again, and is offered all the same.
    let hold = Mode::Hold {
        millis: 60_000,
        then: None,
    };
    server.arm("initialize", hold, 100);
    go(&lab, &[]);
    let last = lab.model.requests().len() - 1;
    let offered = lab.offered(last);
    assert!(offered.iter().any(|name| name == "mcp__far__echo"));
}

// MCP-45
#[test]
fn tools_that_change_while_a_conversation_goes_on_are_offered_and_logged() {
    // More pages than are read.
    let profile = Profile {
        page_size: Some(1),
        ..Profile::default()
    };
    let server = McpServer::start(profile).unwrap();
    let many = (1..=60).map(|number| tool(&format!("many{number}"), json!({})));
    server.set_tools(many.collect());
    let lab = Lab::new(Scenario::new().reply(Step::new(text("answered")).repeat()));
    let url = server.url("/mcp");
    lab.more(&format!(
        "mcp_discovery_timeout: 60\nmcp_servers:\n  far:\n    url: '{url}'\n"
    ));
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    let offered = || {
        let before = lab.model.requests().len();
        screen.send("go\r").unwrap();
        lab.model.wait_for_requests(before + 1, LONG).unwrap();
        lab.offered(before)
    };
    assert!(offered().contains(&"mcp__far__many1".to_owned()));
    server.set_tools(vec![tool("newcomer", json!({}))]);
    eventually(LONG, "the change is offered", || {
        let now = offered();
        let has = |name: &str| now.iter().any(|one| one == name);
        (has("mcp__far__newcomer") && !has("mcp__far__many1")).then_some(())
    })
    .unwrap();
    // Some tools were missing before, and the server was never away.
    let requests = lab.model.requests();
    let told = requests.last().unwrap().expect_json()["messages"].to_string();
    for (words, are_said) in [
        ("MCP server far lacks some of its tools", true),
        ("MCP server far has all of its tools again", true),
        ("is available again", false),
    ] {
        assert_eq!(told.contains(words), are_said, "{words}: {told}");
    }
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
    let log = lab.program.home.read("logs/agent.log").unwrap();
    let mut lines = log.lines().filter(|line| line.contains("WARN"));
    let told = lines.find(|line| line.contains("MCP server changed its tools"));
    let told = told.unwrap_or_else(|| panic!("{log}"));
    assert!(
        told.contains("newcomer") && told.contains("many1"),
        "{told}"
    );
}

// MCP-30, MCP-77
#[test]
fn a_reload_adds_removes_and_revives_servers_while_the_conversation_goes_on() {
    let lab = Lab::with_server(
        Scenario::new().reply(Step::new(text("answered")).repeat()),
        "",
    );
    // Its tools are remembered, and then it breaks.
    lab.mcp(&["test", "lab"]);
    std::fs::write(lab.state.join("broken"), "").unwrap();
    let has = |request: usize, name: &str| lab.offered(request).iter().any(|one| one == name);
    let starts = lab.lines("starts").len();
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 140, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    screen.send("one\r").unwrap();
    lab.model.wait_for_requests(1, LONG).unwrap();
    assert!(has(0, "mcp__lab__echo"), "known from before");
    let turn = || {
        let before = lab.model.requests().len();
        screen.send("again\r").unwrap();
        lab.model.wait_for_requests(before + 1, LONG).unwrap();
        before
    };
    eventually(LONG, "four attempts", || {
        (lab.lines("starts").len() >= starts + 4).then_some(())
    })
    .unwrap();
    eventually(LONG, "it is parked", || {
        let request = turn();
        (!has(request, "mcp__lab__echo") && has(request, "todo")).then_some(())
    })
    .unwrap();
    screen
        .wait_for_text("MCP server lab is unavailable", LONG)
        .unwrap();
    std::fs::remove_file(lab.state.join("broken")).unwrap();
    let server = McpServer::start(Profile::default()).unwrap();
    lab.more(&format!("  far:\n    url: '{}'\n", server.url("/mcp")));
    screen.send("/reload-mcp\r").unwrap();
    screen.wait_for_text("Reload?", LONG).unwrap();
    screen.send("y\r").unwrap();
    screen.wait_for_text("added far; kept lab", LONG).unwrap();
    eventually(LONG, "both are there", || {
        let request = turn();
        let all = ["mcp__lab__echo", "mcp__far__echo", "todo"];
        all.iter().all(|name| has(request, name)).then_some(())
    })
    .unwrap();
    // Another setting of one server: that one alone is connected anew.
    let settings = lab.program.home.read("config.yaml").unwrap();
    let url = server.url("/mcp");
    let other = format!("{url}'\n    tools: {{include: [echo]}}");
    let settings = settings.replace(&format!("{url}'"), &other);
    lab.program.home.write_config(&settings).unwrap();
    let starts = lab.lines("starts").len();
    screen.send("/reload-mcp now\r").unwrap();
    screen.wait_for_text("changed far; kept lab", LONG).unwrap();
    eventually(LONG, "the change is there", || {
        let request = turn();
        let told = lab.model.requests()[request].expect_json().to_string();
        assert!(has(request, "mcp__lab__echo"));
        (has(request, "mcp__far__echo")
            && !has(request, "mcp__far__read")
            && told.contains("MCP servers changed: far"))
        .then_some(())
    })
    .unwrap();
    assert_eq!(lab.lines("starts").len(), starts);
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
    lab.is_gone(Duration::from_secs(5));
}
