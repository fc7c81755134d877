//! A model behind a certificate that no authority signed.

use std::time::Duration;

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
    assert!(
        refused.stderr.contains("certificate is not trusted"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("ssl_ca_cert"), "{}", refused.stderr);
    let missing = ask(", ssl_ca_cert: /nowhere/ca.pem");
    assert!(
        missing.stderr.contains("/nowhere/ca.pem"),
        "{}",
        missing.stderr
    );
    let trusted = ask(", ssl_verify: false").ok();
    assert_eq!(trusted.stdout, "Trusted.\n");
    server.kill().unwrap();
}
