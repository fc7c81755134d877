//! How MCP servers are reached: programs in the places package managers use, addresses through a proxy, logins one
//! after the other.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hermes_testkit::authorization_server::AuthorizationServer;
use hermes_testkit::mcp_server::{McpServer, Profile};
use hermes_testkit::model_server::Scenario;

use super::mcp_lab::{LONG, Lab, fixture};

fn program(path: &Path, script: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

// MCP-46
#[test]
fn programs_of_node_are_found_where_they_are_installed_and_find_their_neighbours() {
    let lab = Lab::new(Scenario::new());
    let empty = lab.state.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    lab.more(&format!(
        "mcp_servers:\n  own:\n    command: npx\n    args: ['-y', own]\n    env: {{MCP_STATE: '{}'}}\n",
        lab.state.display()
    ));
    let home = lab.program.home.path();
    let user = lab.program.home.user_home().join(".local/bin/npx");
    // The later one counts only while the first is not there.
    for place in [user, home.join("node/bin/npx")] {
        let script = format!(
            "echo \"$0 $PATH\" >> '{}/paths'\nexec /usr/bin/python3 '{}'",
            lab.state.display(),
            fixture().display()
        );
        program(&place, &script);
        let command = lab.program.command(&["mcp", "test", "own"]);
        let command = command
            .env("PATH", &empty)
            .env("OSV_ENDPOINT", "http://127.0.0.1:1/");
        command.timeout(LONG).run().unwrap().ok();
        let paths = lab.lines("paths");
        let folder = place.parent().unwrap().display();
        let expected = format!("{} {folder}:{}", place.display(), empty.display());
        assert_eq!(paths.last(), Some(&expected));
    }
}

// MCP-73
#[test]
fn servers_behind_a_proxy_are_reached_on_both_transports() {
    // It takes requests for other hosts for its own, which is all that a proxy of this test has to do.
    let server = McpServer::start(Profile::default()).unwrap();
    let lab = Lab::new(Scenario::new());
    lab.more(
        "mcp_servers:\n  far:\n    url: 'http://far.invalid/mcp'\n  \
         old:\n    url: 'http://far.invalid/sse'\n    transport: sse\n",
    );
    for name in ["far", "old"] {
        let test = || lab.program.command(&["mcp", "test", name]).timeout(LONG);
        let proxied = test().env("http_proxy", server.url("")).run().unwrap().ok();
        assert!(proxied.stdout.contains("echo"), "{}", proxied.stdout);
        assert_eq!(test().run().unwrap().code, Some(1), "there is no such host");
        let around = test()
            .env("http_proxy", server.url(""))
            .env("NO_PROXY", "far.invalid");
        assert_eq!(around.run().unwrap().code, Some(1), "not through the proxy");
    }
}

// MCP-61
#[test]
fn what_a_program_tells_of_the_proxy_has_no_password_in_it() {
    let lab = Lab::with_server(Scenario::new(), "");
    let settings = lab.program.home.read("config.yaml").unwrap();
    let settings = settings.replace("noise grandchild", "proxy");
    lab.program.home.write_config(&settings).unwrap();
    let test = || lab.program.command(&["mcp", "test", "lab"]).timeout(LONG);
    for name in ["HTTPS_PROXY", "http_proxy"] {
        let password = format!("sesame-of-{name}");
        let proxy = format!("http://ada:{password}@127.0.0.1:1");
        // Nobody is reached through it, so that no client is ever made for it.
        test().env(name, &proxy).run().unwrap().ok();
        let log = lab.program.home.read("logs/mcp-stderr.log").unwrap();
        assert!(log.contains(&format!("{name} has the password")), "{log}");
        assert!(!log.contains(&password), "{log}");
    }
    // What cannot be used is said all the same.
    let bundle = lab.state.join("bundle.pem");
    std::fs::write(&bundle, "no certificate").unwrap();
    let output = test().env("HERMES_CA_BUNDLE", &bundle).run().unwrap();
    assert_ne!(output.code, Some(0));
    assert!(output.stderr.contains("CA bundle"), "{}", output.stderr);
}

// MCP-78
#[test]
fn all_logins_are_renewed_one_after_the_other_and_one_that_fails_stops_no_other() {
    let servers: Vec<AuthorizationServer> = (0..3)
        .map(|_| AuthorizationServer::start().unwrap())
        .collect();
    servers[1].switch(|switches| switches.denies = true);
    let lab = Lab::new(Scenario::new());
    let entries: String = ["one", "three", "two"]
        .iter()
        .zip(&servers)
        .map(|(name, server)| {
            format!(
                "  {name}:\n    url: '{}'\n    auth: oauth\n",
                server.resource()
            )
        })
        .collect();
    lab.more(&format!(
        "mcp_servers:\n{entries}  plain:\n    url: 'http://127.0.0.1:1/mcp'\n  \
         off:\n    url: 'http://127.0.0.1:1/mcp'\n    auth: oauth\n    enabled: false\n"
    ));
    let browser = lab.program.home.path().join("browser.py");
    let visits = lab.state.join("visits");
    let script = format!(
        "import sys, urllib.request\nopen('{}', 'a').write(sys.argv[1] + '\\n')\n\
         urllib.request.urlopen(sys.argv[1]).read()\n",
        visits.display()
    );
    std::fs::write(&browser, script).unwrap();
    let command = lab.program.command(&["mcp", "reauth", "--all"]);
    let command = command.env("BROWSER", format!("python3 {} %s", browser.display()));
    let output = command.timeout(LONG).run().unwrap();
    assert_eq!(output.code, Some(1), "{output:?}");
    let signed: Vec<&str> = output.stdout.lines().collect();
    assert!(
        matches!(signed.as_slice(), [one, two] if one.starts_with("one: signed in") && two.starts_with("two: signed in")),
        "{signed:?}"
    );
    assert!(
        output.stderr.contains("not signed in to three"),
        "{}",
        output.stderr
    );
    // In the order of the settings, each once.
    let visited = lab.lines("visits");
    assert_eq!(visited.len(), 3, "{visited:?}");
    for (address, server) in visited.iter().zip(&servers) {
        assert!(address.starts_with(&server.base()), "{visited:?}");
    }
    assert!(lab.program.home.mode("mcp-tokens/two.json").is_ok());
    assert!(lab.program.home.mode("mcp-tokens/three.json").is_err());
}
