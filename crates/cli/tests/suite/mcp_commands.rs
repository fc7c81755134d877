//! `hermes mcp …` and its exit codes.

use std::time::{Duration, Instant};

use hermes_testkit::authorization_server::AuthorizationServer;
use hermes_testkit::mcp_server::{McpServer, Profile};
use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::mcp_lab::{LONG, Lab, fixture};

fn lab() -> Lab {
    Lab::with_server(
        Scenario::new().reply(Step::new(text("from the model")).repeat()),
        "",
    )
}

// MCP-78
#[test]
fn a_server_is_added_tested_called_configured_and_removed() {
    let lab = Lab::new(Scenario::new());
    let program = fixture().display().to_string();
    let state = format!("MCP_STATE={}", lab.state.display());
    let add = [
        "add",
        "own",
        "--command",
        "python3",
        "--env",
        &state,
        "--args",
        &program,
    ];
    assert_eq!(lab.mcp(&add).0, 0);
    assert_eq!(lab.mcp(&add).0, 2, "it is there already");
    let (code, listed) = lab.mcp(&["list", "--json"]);
    let row = &listed[0]["servers"][0];
    assert_eq!(
        (code, &row["name"], &row["toolset"]),
        (0, &json!("own"), &json!("mcp-own"))
    );
    let (code, tested) = lab.mcp(&["test", "own", "--json"]);
    assert_eq!((code, tested[0]["tools"].as_array().unwrap().len()), (0, 9));
    let (code, called) = lab.mcp(&[
        "call",
        "own",
        "echo",
        "--args",
        r#"{"text":"hi"}"#,
        "--repeat",
        "2",
    ]);
    assert_eq!((code, called.len()), (0, 2));
    assert_eq!(called[1]["answer"], json!({ "result": "hi" }));
    let (code, failed) = lab.mcp(&["call", "own", "fail"]);
    assert_eq!((code, &failed[0]["ok"]), (1, &json!(false)));
    assert_eq!(lab.mcp(&["call", "own", "ecko"]).0, 2);
    assert_eq!(lab.mcp(&["configure", "own"]).0, 2, "nobody can be asked");
    assert_eq!(
        lab.mcp(&["configure", "own", "--only", "echo", "wait"]).0,
        0
    );
    assert_eq!(lab.mcp(&["configure", "own", "--disable", "wait"]).0, 0);
    assert_eq!(lab.mcp(&["configure", "own", "--enable", "wat"]).0, 2);
    let settings = lab.program.home.read("config.yaml").unwrap();
    assert!(
        settings.contains("echo") && !settings.contains("wait"),
        "{settings}"
    );
    let (_, tested) = lab.mcp(&["test", "own", "--json"]);
    assert_eq!(tested[0]["tools"].as_array().unwrap().len(), 1);
    assert_eq!(lab.mcp(&["configure", "own", "--all"]).0, 0);
    assert!(
        !lab.program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("include")
    );
    let unknown = lab.program.run(&["tools", "disable", "own:ecko"]).code(2);
    assert!(
        unknown.stderr.contains("did you mean echo?"),
        "{}",
        unknown.stderr
    );
    let (code, status) = lab.mcp(&["status", "--json"]);
    assert_eq!(
        (code, &status[0]["servers"][0]["status"]),
        (0, &json!("connected"))
    );
    assert_eq!(lab.mcp(&["rm", "own"]).0, 0);
    assert_eq!(lab.mcp(&["rm", "own"]).0, 1);
    assert_eq!(lab.mcp(&["test", "own"]).0, 1);
    assert!(
        !lab.program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("own")
    );
}

// MCP-78
#[test]
fn a_server_at_an_address_gets_its_token_from_the_file_of_secrets() {
    let profile = Profile {
        token: Some("a-token-nobody-guesses".to_owned()),
        ..Profile::default()
    };
    let server = McpServer::start(profile).unwrap();
    let lab = Lab::new(Scenario::new());
    let url = server.url("/mcp");
    let add = ["mcp", "add", "far-one", "--url", &url, "--auth", "header"];
    let command = lab
        .program
        .command(&add)
        .stdin("Bearer a-token-nobody-guesses\n");
    let output = command.timeout(LONG).run().unwrap().ok();
    assert!(!output.stdout.contains("nobody-guesses") && !output.stderr.contains("nobody-guesses"));
    let settings = lab.program.home.read("config.yaml").unwrap();
    assert!(
        settings.contains("Bearer ${MCP_FAR_ONE_API_KEY}"),
        "{settings}"
    );
    assert!(!settings.contains("nobody-guesses"));
    assert!(
        lab.program
            .home
            .read(".env")
            .unwrap()
            .contains("MCP_FAR_ONE_API_KEY")
    );
    let (code, listed) = lab.mcp(&["call", "far-one", "list_resources"]);
    assert_eq!(code, 0, "{listed:?}");
    assert!(listed[0]["answer"]["resources"].is_array(), "{listed:?}");
    assert_eq!(lab.mcp(&["remove", "far-one"]).0, 0);
    assert!(
        !lab.program
            .home
            .read(".env")
            .unwrap()
            .contains("MCP_FAR_ONE_API_KEY")
    );
    // One that is not there is not saved, unless the user insists.
    let gone = ["add", "gone", "--url", "http://127.0.0.1:1/mcp"];
    assert_eq!(lab.mcp(&gone).0, 1);
    assert!(
        !lab.program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("gone")
    );
    let insisting: Vec<&str> = gone.iter().chain(&["--yes"]).copied().collect();
    assert_eq!(lab.mcp(&insisting).0, 1);
    assert!(
        lab.program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("enabled: false")
    );
}

// MCP-63
#[test]
fn a_suspicious_entry_is_neither_saved_nor_started() {
    let lab = Lab::new(Scenario::new().reply(text("done")));
    let marker = lab.state.join("marker");
    let line = format!("touch {}; curl http://127.0.0.1:1/x", marker.display());
    let add = [
        "add",
        "bad",
        "--yes",
        "--command",
        "bash",
        "--args",
        "-c",
        &line,
    ];
    assert_eq!(lab.mcp(&add).0, 1);
    assert!(
        !lab.program
            .home
            .read("config.yaml")
            .unwrap()
            .contains("bad:")
    );
    lab.more(&format!(
        "mcp_servers:\n  bad:\n    command: bash\n    args: ['-c', '{line}']\n"
    ));
    let output = lab
        .program
        .command(&["-z", "go"])
        .timeout(LONG)
        .run()
        .unwrap()
        .ok();
    assert!(output.stderr.contains("suspicious"), "{}", output.stderr);
    assert_eq!(lab.mcp(&["test", "bad"]).0, 1);
    assert!(!marker.exists());
}

// MCP-66, MCP-70
#[test]
fn a_login_with_a_browser_is_kept_and_without_one_the_answer_is_quick() {
    let server = AuthorizationServer::start().unwrap();
    let lab = Lab::new(Scenario::new());
    lab.more(&format!(
        "mcp_servers:\n  far:\n    url: '{}'\n    auth: oauth\n    skip_preflight: true\n",
        server.resource()
    ));
    let started = Instant::now();
    let (code, called) = lab.mcp(&["call", "far", "anything"]);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(
        (code, &called[0]["answer"]["needs_reauth"]),
        (1, &json!(true)),
        "{called:?}"
    );
    let seconds = called[0]["seconds"].as_f64().unwrap();
    assert!(
        seconds < 2.0,
        "{seconds} s besides the start of the program"
    );
    assert_eq!(server.stats().authorizations, 0, "nobody was asked");
    let browser = lab.program.home.path().join("browser.py");
    let visit = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n";
    std::fs::write(&browser, visit).unwrap();
    let login = lab
        .program
        .command(&["mcp", "login", "far"])
        .env("BROWSER", format!("python3 {} %s", browser.display()));
    let output = login.timeout(LONG).run().unwrap().ok();
    assert!(output.stdout.contains("signed in"), "{}", output.stdout);
    assert_eq!(
        lab.program.home.mode("mcp-tokens/far.json").unwrap() & 0o777,
        0o600
    );
    let visits = server.stats().visits;
    assert!(
        visits[0].iter().any(|(key, _)| key == "code_challenge"),
        "{visits:?}"
    );
    let (_, listed) = lab.mcp(&["list", "--json"]);
    assert_eq!(listed[0]["servers"][0]["auth"], "signed in");
    // Once more, for this one server: a new token takes the place of the old one.
    let before = lab.program.home.read("mcp-tokens/far.json").unwrap();
    let again = lab
        .program
        .command(&["mcp", "reauth", "far"])
        .env("BROWSER", format!("python3 {} %s", browser.display()));
    again.timeout(LONG).run().unwrap().ok();
    let after = lab.program.home.read("mcp-tokens/far.json").unwrap();
    assert_ne!(before, after);
    assert_eq!(server.stats().visits.len(), visits.len() + 1);
    assert_eq!(lab.mcp(&["reauth", "nobody"]).0, 1);
    assert_eq!(lab.mcp(&["remove", "far"]).0, 0);
    assert!(lab.program.home.mode("mcp-tokens/far.json").is_err());
    assert_eq!(lab.mcp(&["login", "far"]).0, 1);
    assert_eq!(lab.mcp(&["reauth", "--all"]).0, 0);
}

// MCP-74
#[test]
fn a_server_asks_the_model_within_its_limits() {
    let lab = lab();
    lab.more("    sampling: {max_tokens_cap: 50, max_rpm: 2}\n");
    let (code, asked) = lab.mcp(&["call", "lab", "sample", "--repeat", "3"]);
    assert_eq!(code, 0, "{asked:?}");
    let answer = |number: usize| asked[number]["answer"]["result"].as_str().unwrap();
    assert!(
        answer(0).contains("from the model") && answer(0).contains("endTurn"),
        "{asked:?}"
    );
    assert!(answer(2).contains("more than 2"), "{asked:?}");
    let requests = lab.model.requests();
    assert_eq!(requests.len(), 2);
    let body = requests[0].expect_json();
    assert!(
        body.to_string().contains("a question for a model"),
        "{body}"
    );
    assert_eq!(
        body["max_tokens"]
            .as_u64()
            .or(body["max_completion_tokens"].as_u64()),
        Some(50)
    );
}

// MCP-75
#[test]
fn a_question_of_a_server_is_accepted_filled_in_or_declined() {
    let lab = lab();
    for (how, expected) in [
        ("defaults", r#""name": "nobody""#),
        (r#"{"name":"Ada"}"#, r#""name": "Ada""#),
        ("decline", r#""action": "decline""#),
    ] {
        let (code, asked) = lab.mcp(&["call", "lab", "ask", "--elicit", how]);
        let answer = asked[0]["answer"]["result"].as_str().unwrap_or_default();
        assert!(code == 0 && answer.contains(expected), "{how}: {asked:?}");
    }
    assert_eq!(lab.mcp(&["call", "lab", "ask", "--elicit", "perhaps"]).0, 2);
    // Nobody is there to ask.
    let (code, asked) = lab.mcp(&["call", "lab", "ask"]);
    let answer = asked[0]["answer"]["result"].as_str().unwrap_or_default();
    assert!(code == 0 && answer.contains("decline"), "{asked:?}");
}

// MCP-75
#[test]
fn a_question_of_a_server_is_put_to_whoever_sits_at_the_terminal() {
    let lab = lab();
    let command = lab.program.command(&["mcp", "call", "lab", "ask"]);
    let screen = Terminal::spawn(&command, 120, 40).unwrap();
    screen.wait_for_text("MCP server lab", LONG).unwrap();
    screen.send("Ada\r").unwrap();
    screen.wait_exit(LONG).unwrap();
    screen.wait_for_text("Ada\\\"", LONG).unwrap();
}

// MCP-78
#[test]
fn servers_of_the_catalog_are_installed_by_name() {
    let lab = Lab::new(Scenario::new());
    let (code, listed) = lab.mcp(&["catalog", "--json"]);
    assert_eq!(
        (code, listed[0]["servers"].as_array().unwrap().len()),
        (0, 4)
    );
    assert_eq!(lab.mcp(&["install", "official/linear"]).0, 0);
    assert_eq!(lab.mcp(&["install", "nothing"]).0, 1);
    let settings = lab.program.home.read("config.yaml").unwrap();
    assert!(settings.contains("https://mcp.linear.app/mcp") && settings.contains("auth: oauth"));
    let (_, listed) = lab.mcp(&["list", "--json"]);
    assert_eq!(listed[0]["servers"][0]["auth"], "needs login");
}
