//! A model behind a certificate that no authority signed.

use std::time::Duration;

use super::chat::one_message;
use super::program::Program;

/// Answers every question over TLS; prints its port first.
const SERVER: &str = r#"
import http.server, json, ssl, sys
class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Trusted."}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Model)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/server.pem", sys.argv[1] + "/server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

// PV-31
#[test]
fn a_certificate_is_checked_unless_the_endpoint_says_otherwise() {
    let program = Program::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/fixtures");
    let server = program
        .home
        .command("/usr/bin/python3")
        .args(["-c", SERVER, fixtures])
        .spawn()
        .unwrap();
    let port = server.next_line(Duration::from_secs(10)).unwrap().unwrap();
    let ask = |verify: &str| {
        let config = format!(
            "agent: {{api_max_retries: 1}}\nmodel: {{provider: 'custom:lab', default: m}}\ncustom_providers:\n  \
             - {{name: lab, base_url: 'https://127.0.0.1:{port}/v1', model: m{verify}}}\n"
        );
        program.home.write_config(&config).unwrap();
        program.run(&["-z", "hello"])
    };
    let refused = ask("");
    assert_eq!(refused.code, Some(2), "{}", refused.report());
    one_message(
        &refused,
        &["custom:lab/m", "certificate is not trusted", "ssl_ca_cert"],
    );
    let missing = ask(", ssl_ca_cert: /nowhere/ca.pem");
    assert!(
        missing.stderr.contains("/nowhere/ca.pem"),
        "{}",
        missing.stderr
    );
    // A file without a certificate is named with what names it.
    let empty = program.home.workspace().join("empty.pem");
    std::fs::write(&empty, "no certificate\n").unwrap();
    let empty = empty.display().to_string();
    for setting in ["ssl_ca_cert", "ssl_verify"] {
        let output = ask(&format!(", {setting}: '{empty}'")).code(2);
        let said = format!("{setting}: {empty}: the CA bundle holds no usable certificate");
        one_message(&output, &[&said, "certificates of authorities (PEM)"]);
    }
    for variable in ["HERMES_CA_BUNDLE", "SSL_CERT_FILE"] {
        let command = program.command(&["-z", "hello"]).env(variable, &empty);
        let output = command.run().unwrap().code(2);
        one_message(
            &output,
            &[&format!("{variable}: {empty}: "), "mend or unset"],
        );
    }
    let trusted = ask(", ssl_verify: false").ok();
    assert_eq!(trusted.stdout, "Trusted.\n");
    server.kill().unwrap();
}

// PV-31: a certificate is for a name.
#[test]
fn an_endpoint_keeps_the_name_of_this_machine() {
    let program = Program::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/fixtures");
    let server = program
        .home
        .command("/usr/bin/python3")
        .args(["-c", SERVER, fixtures])
        .spawn()
        .unwrap();
    let port = server.next_line(Duration::from_secs(10)).unwrap().unwrap();
    let ask = |trust: &str| {
        let config = format!(
            "agent: {{api_max_retries: 1}}\nmodel: {{provider: 'custom:lab', default: m}}\n\
             providers: {{lab: {{base_url: 'https://localhost:{port}/v1', model: m, {trust}}}}}\n"
        );
        program.home.write_config(&config).unwrap();
        program.run(&["-z", "hello"])
    };
    assert_eq!(ask("ssl_verify: false").ok().stdout, "Trusted.\n");
    // The fixture is a certificate for another name.
    let refused = ask(&format!("ssl_ca_cert: '{fixtures}/ca.pem'")).code(2);
    let words = [
        "not for localhost, only for vendor.test",
        "write the address",
    ];
    one_message(&refused, &words);
    server.kill().unwrap();
}

/// A proxy that leads every tunnel to one port of this machine, and prints where tunnels were asked to.
const PROXY: &str = r#"
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def pipe(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(4096)
    print(head.split(b"\r\n")[0].decode(), flush=True)
    server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    threading.Thread(target=pipe, args=(client, server), daemon=True).start()
    pipe(server, client)
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
"#;

// PV-31
#[test]
fn an_endpoint_behind_a_proxy_with_an_authority_of_its_own_is_reached() {
    let program = Program::new();
    let limit = Duration::from_secs(10);
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/fixtures");
    let python = |arguments: [&str; 3]| {
        let command = program.home.command("/usr/bin/python3").args(arguments);
        command.spawn().unwrap()
    };
    let server = python(["-c", SERVER, fixtures]);
    let port = server.next_line(limit).unwrap().unwrap();
    let proxy = python(["-c", PROXY, &port]);
    let through = proxy.next_line(limit).unwrap().unwrap();
    let ask_beside = |authority: &str, direct: &str, beside: &str| {
        let config = format!(
            "agent: {{api_max_retries: 1}}\nmodel: {{provider: 'custom:lab', default: m, context_length: 100000}}\n\
             custom_providers:\n  - {{name: lab, base_url: 'https://vendor.test/v1', model: m, key_env: LAB_KEY{authority}}}\n{beside}"
        );
        program.home.write_config(&config).unwrap();
        let command = program.command(&["-z", "hello"]);
        command
            .env("LAB_KEY", "lab-key-1234567890")
            .env("HTTPS_PROXY", format!("http://127.0.0.1:{through}"))
            .env("NO_PROXY", direct)
            .run()
            .unwrap()
    };
    let ask = |authority: &str, direct: &str| ask_beside(authority, direct, "");
    let own = format!(", ssl_ca_cert: '{fixtures}/ca.pem'");
    assert_eq!(ask(&own, "other.test").ok().stdout, "Trusted.\n");
    let asked = proxy.next_line(limit).unwrap().unwrap();
    assert_eq!(asked, "CONNECT vendor.test:443 HTTP/1.1");
    // Without the authority the same server is a stranger, and without the proxy nobody knows it.
    let stranger = ask("", "other.test");
    assert!(
        stranger.stderr.contains("not trusted"),
        "{}",
        stranger.report()
    );
    assert_ne!(ask(&own, "vendor.test").code, Some(0));
    // What others say of their servers is nothing about this one, be it at another port of the same machine.
    for trust in [own.as_str(), ", ssl_verify: false"] {
        for server in ["vendor.test:8443", "other.test"] {
            let beside =
                format!("  - {{name: beside, base_url: 'https://{server}/v1', model: m{trust}}}\n");
            let stranger = ask_beside("", "other.test", &beside);
            assert!(
                stranger.stderr.contains("not trusted"),
                "{beside}: {}",
                stranger.report()
            );
        }
    }
    // A provider whose address is its own brings its trust along too.
    let moved = "providers: {deepseek: {ssl_verify: false}}\nmodel: {provider: deepseek, default: deepseek-chat, \
                 context_length: 100000}\nagent: {api_max_retries: 1}\n";
    program.home.write_config(moved).unwrap();
    let command = program.command(&["-z", "hello"]);
    let command = command.env("DEEPSEEK_API_KEY", "key-0123456789");
    let command = command.env("HTTPS_PROXY", format!("http://127.0.0.1:{through}"));
    assert_eq!(command.run().unwrap().ok().stdout, "Trusted.\n");
    proxy.kill().unwrap();
    server.kill().unwrap();
}
