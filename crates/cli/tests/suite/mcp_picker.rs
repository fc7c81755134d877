//! Choosing servers at a terminal, and what else makes life with them easier.

use std::os::unix::fs::PermissionsExt as _;

use hermes_testkit::authorization_server::AuthorizationServer;
use hermes_testkit::eventually;
use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::mcp_lab::{LONG, Lab, fixture, served};

fn settings(lab: &Lab) -> String {
    lab.program.home.read("config.yaml").unwrap()
}

// MCP-78
#[test]
fn servers_and_their_tools_are_picked_at_a_terminal() {
    let lab = Lab::with_server(Scenario::new(), "");
    // `hermes mcp` alone is the same.
    for command in [&["mcp", "picker"][..], &["mcp"]] {
        let screen = Terminal::spawn(&lab.program.command(command), 120, 40).unwrap();
        screen
            .wait_for_text("1  lab (on, tools: all)", LONG)
            .unwrap();
        screen.wait_for_text("install linear", LONG).unwrap();
        screen.send("\r").unwrap();
        assert_eq!(screen.wait_exit(LONG).unwrap().code, 0);
    }
    let screen = Terminal::spawn(&lab.program.command(&["mcp", "picker"]), 120, 40).unwrap();
    screen.wait_for_text("Which one?", LONG).unwrap();
    screen.send("nobody\r").unwrap();
    screen.wait_for_text("There is no nobody.", LONG).unwrap();
    screen.send("lab\r").unwrap();
    screen.wait_for_text("1  choose its tools", LONG).unwrap();
    screen.send("1\r").unwrap();
    screen.wait_for_text("1  [x] echo", LONG).unwrap();
    screen.wait_for_text("Enter leaves them", LONG).unwrap();
    // Enter alone changes nothing.
    let before = settings(&lab);
    screen.send("\r").unwrap();
    screen
        .wait_for_text("everything stays as it is", LONG)
        .unwrap();
    screen.wait_exit(LONG).unwrap();
    assert_eq!(settings(&lab), before);
    let configure = lab.program.command(&["mcp", "configure", "lab"]);
    let screen = Terminal::spawn(&configure, 120, 40).unwrap();
    screen.wait_for_text("2  [x] wait", LONG).unwrap();
    screen.wait_for_text("Enter leaves them", LONG).unwrap();
    screen.send("echo, 2\r").unwrap();
    screen
        .wait_for_text("2 of 9 tools are offered", LONG)
        .unwrap();
    screen.wait_exit(LONG).unwrap();
    let screen = Terminal::spawn(&lab.program.command(&["mcp", "picker"]), 120, 40).unwrap();
    screen.wait_for_text("tools: 2 chosen", LONG).unwrap();
    screen.send("1\r").unwrap();
    screen.wait_for_text("switch it off", LONG).unwrap();
    screen.send("2\r").unwrap();
    screen.wait_for_text("lab is switched off", LONG).unwrap();
    screen.wait_exit(LONG).unwrap();
    let enabled = || {
        let (_, listed) = lab.mcp(&["list", "--json"]);
        listed[0]["servers"][0]["enabled"].clone()
    };
    assert_eq!(enabled(), json!(false));
    let picked = |deed: &str, words: &str| {
        let screen = Terminal::spawn(&lab.program.command(&["mcp", "picker"]), 120, 40).unwrap();
        screen.wait_for_text("Which one?", LONG).unwrap();
        screen.send("lab\r").unwrap();
        screen.wait_for_text("What about lab?", LONG).unwrap();
        screen.send(&format!("{deed}\r")).unwrap();
        screen.wait_for_text(words, LONG).unwrap();
        screen.wait_exit(LONG).unwrap().code
    };
    assert_eq!(picked("2", "lab is switched on"), 0);
    assert_eq!(enabled(), json!(true));
    assert_eq!(picked("3", "echo"), 0);
    let before = settings(&lab);
    assert_eq!(picked("9", "nothing was changed"), 2);
    assert_eq!(settings(&lab), before);
    assert_eq!(picked("4", "lab"), 0);
    assert!(!settings(&lab).contains("  lab:"), "{}", settings(&lab));
}

// MCP-66, MCP-78
#[test]
fn somebody_signs_in_from_the_picker() {
    let server = AuthorizationServer::start().unwrap();
    let lab = Lab::new(Scenario::new());
    lab.more(&format!(
        "mcp_servers:\n  far:\n    url: '{}'\n    auth: oauth\n    skip_preflight: true\n",
        server.resource()
    ));
    let browser = lab.program.home.path().join("browser.py");
    let seen = lab.state.join("seen");
    let visit = format!(
        "import os, sys, urllib.request\nopen('{}', 'w').write(repr(dict(os.environ)))\n\
         urllib.request.urlopen(sys.argv[1]).read()\n",
        seen.display()
    );
    std::fs::write(&browser, visit).unwrap();
    let picker = lab
        .program
        .command(&["mcp", "picker"])
        .env("FAR_API_KEY", "canary-of-the-person")
        .env("BROWSER", format!("python3 {} %s", browser.display()));
    let screen = Terminal::spawn(&picker, 120, 40).unwrap();
    screen.wait_for_text("Which one?", LONG).unwrap();
    screen.send("far\r").unwrap();
    screen.wait_for_text("4  sign in", LONG).unwrap();
    screen.wait_for_text("What about far?", LONG).unwrap();
    screen.send("4\r").unwrap();
    screen.wait_for_text("signed in", LONG).unwrap();
    assert_eq!(screen.wait_exit(LONG).unwrap().code, 0);
    assert_eq!(
        lab.program.home.mode("mcp-tokens/far.json").unwrap() & 0o777,
        0o600
    );
    assert_eq!(server.stats().visits.len(), 1);
    let (_, listed) = lab.mcp(&["list", "--json"]);
    assert_eq!(listed[0]["servers"][0]["auth"], "signed in");
    // The browser is the person's, keys are not its business.
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("PATH") && !seen.contains("canary"), "{seen}");
}

// MCP-61: what a variable held is not on the page, its name is.
#[test]
fn the_page_of_servers_names_variables_in_the_place_of_their_values() {
    let lab = Lab::new(Scenario::new());
    let place = "/nowhere/canary-4711";
    let environment = format!("FAR_PROGRAM={place}\n");
    lab.program.home.write(".env", environment).unwrap();
    lab.more("mcp_servers:\n  far:\n    command: '${FAR_PROGRAM}'\n");
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 200, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    eventually(LONG, "the problem is told", || {
        screen.send("/mcp\r").unwrap();
        screen
            .wait_for_text("${FAR_PROGRAM}", std::time::Duration::from_secs(2))
            .ok()
    })
    .unwrap();
    let shown = screen.screen().text();
    assert!(!shown.contains("canary-4711"), "{shown}");
    // What is wrong is said in words.
    assert!(shown.contains("it could not be connected: \""), "{shown}");
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
}

// MCP-78
#[test]
fn without_a_terminal_the_picker_lists_what_could_be_picked() {
    let lab = Lab::with_server(Scenario::new(), "");
    for command in [&["mcp", "picker"][..], &["mcp"]] {
        let listed = lab.program.run(command).ok().stdout;
        assert!(
            listed.contains("lab") && listed.contains("stdio"),
            "{listed}"
        );
        let catalog = listed.find("unreal-engine");
        assert!(catalog > listed.find("lab"), "{listed}");
    }
}

// MCP-78
#[test]
fn a_preset_fills_in_the_program() {
    let lab = Lab::new(Scenario::new());
    let bin = lab.state.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("codex");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >'{state}/given'\nMCP_STATE='{state}' exec python3 '{}'\n",
        fixture().display(),
        state = lab.state.display(),
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let add = |more: &[&str]| {
        let all: Vec<&str> = ["mcp", "add", "helper"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let command = lab.program.command(&all).env("PATH", &path);
        command.timeout(LONG).run().unwrap()
    };
    assert_eq!(add(&["--preset", "nothing"]).code, Some(2));
    assert_eq!(
        add(&["--preset", "codex", "--url", "http://x.test"]).code,
        Some(2)
    );
    assert_eq!(add(&["--env", "A=b"]).code, Some(2), "nothing to start");
    add(&["--preset", "codex"]).ok();
    assert_eq!(lab.lines("given"), ["mcp-server"]);
    let written = settings(&lab);
    assert!(
        written.contains("command: codex") && written.contains("mcp-server"),
        "{written}"
    );
}

// MCP-79
#[test]
fn serve_says_on_standard_error_what_is_asked_when_told_to() {
    let lab = Lab::new(Scenario::new());
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "conversations_list", "arguments": {},
    }});
    let asked = [hello, ready, call].map(|line| line.to_string());
    let quiet = served(&lab.program, "", &asked, 2).ok();
    assert!(
        quiet.stdout.contains("conversations") && quiet.stderr.is_empty(),
        "{}",
        quiet.report()
    );
    let loud = served(&lab.program, "-v", &asked, 2).ok();
    assert!(
        loud.stderr.contains("conversations_list"),
        "{}",
        loud.report()
    );
    let mut lines = loud.stdout.lines();
    assert!(lines.all(|line| line.starts_with('{')), "{}", loud.report());
}

// MCP-83
#[test]
fn a_list_that_is_cut_is_told_to_people_and_to_the_model() {
    let scenario = Scenario::new().reply(Step::new(text("done")).repeat());
    let lab = Lab::new(scenario);
    let entry = lab.entry("lab", "").replace("noise grandchild", "heavy");
    lab.more(&format!("mcp_discovery_timeout: 60\nmcp_servers:\n{entry}"));
    let (code, status) = lab.mcp(&["status", "--json"]);
    let row = &status[0]["servers"][0];
    let warning = row["warning"].as_str().unwrap_or_default();
    assert_eq!((code, &row["tools"]), (0, &json!(3)), "{row}");
    assert!(warning.contains("mcp_servers.lab.tools.include"), "{row}");
    let shown = lab.program.command(&["mcp", "status"]).timeout(LONG).run();
    assert!(shown.unwrap().stdout.contains("only the first 3 are there"));
    let tested = lab
        .program
        .command(&["mcp", "test", "lab"])
        .timeout(LONG)
        .run();
    assert!(tested.unwrap().stdout.contains("Some are missing: "));
    let asked = lab
        .program
        .command(&["chat", "-q", "hello"])
        .timeout(LONG)
        .run();
    asked.unwrap().ok();
    let request = lab.model.requests()[0].expect_json().to_string();
    assert!(
        request.contains("MCP server lab lacks some of its tools"),
        "{request}"
    );
    // What the advice says helps, and can be said although the list does not show the tool.
    assert_eq!(lab.mcp(&["configure", "lab", "--only", "write"]).0, 0);
    let (_, status) = lab.mcp(&["status", "--json"]);
    let row = &status[0]["servers"][0];
    assert_eq!(
        (&row["tools"], &row["warning"]),
        (&json!(1), &json!(null)),
        "{row}"
    );
    // What was named so is not forgotten when another one is.
    assert_eq!(lab.mcp(&["configure", "lab", "--enable", "echo"]).0, 0);
    let (_, listed) = lab.mcp(&["test", "lab", "--json"]);
    assert_eq!(listed[0]["tools"].as_array().unwrap().len(), 2);
}

// MCP-77
#[test]
fn changed_settings_of_servers_are_applied_by_themselves_unless_that_is_switched_off() {
    let scenario = Scenario::new().reply(Step::new(text("answered")).repeat());
    let lab = Lab::with_server(scenario, "");
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 140, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    // Whether these two are offered with the next message.
    let offers = || {
        let before = lab.model.requests().len();
        screen.send("go\r").unwrap();
        lab.model.wait_for_requests(before + 1, LONG).unwrap();
        let offered = lab.offered(before);
        ["mcp__lab__write", "mcp__lab__wait"].map(|name| offered.iter().any(|one| one == name))
    };
    let until = |wanted: [bool; 2]| {
        eventually(LONG, "the change is there", || {
            (offers() == wanted).then_some(())
        })
        .unwrap();
    };
    assert_eq!(offers(), [true, true]);
    let plain = settings(&lab);
    lab.more("    tools: {include: [write, echo]}\n");
    until([true, false]);
    screen.wait_for_text("changed lab", LONG).unwrap();

    // Now there is only a hint.
    let settings_now = format!("mcp: {{auto_reload_on_config_change: false}}\n{plain}");
    lab.program.home.write_config(&settings_now).unwrap();
    assert_eq!(offers(), [true, false]);
    screen
        .wait_for_text("/reload-mcp applies them", LONG)
        .unwrap();
    assert_eq!(offers(), [true, false]);
    // Without a question, from now on.
    screen.send("/reload-mcp always\r").unwrap();
    until([true, true]);
    let written = settings(&lab);
    assert!(written.contains("mcp_reload_confirm: false"), "{written}");
    screen.send("/mcp\r").unwrap();
    screen.wait_for_text("NEXT TRY", LONG).unwrap();
    screen.wait_for_text("connected", LONG).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
}

// MCP-77
#[test]
fn changed_settings_of_servers_are_applied_while_nobody_writes_anything() {
    let lab = Lab::with_server(Scenario::new(), "");
    let screen = Terminal::spawn(&lab.program.command(&["chat", "--plain"]), 140, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LONG).unwrap();
    eventually(LONG, "the server runs", || {
        (!lab.lines("starts").is_empty()).then_some(())
    })
    .unwrap();
    lab.more("    enabled: false\n");
    lab.is_gone(LONG);
    screen.wait_for_text("changed lab", LONG).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
}
