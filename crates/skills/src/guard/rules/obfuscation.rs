//! Code that hides what it does.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Low, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Obfuscation, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "echo_pipe_exec",
        r"\b(?:echo|printf)\s+.*\|\s*(?:sudo\s+)?(?:/bin/)?(?:(?:ba|z|da|k)?sh\b|(?:python[23]?|perl|ruby|node)\s*(?:-\s*)?(?:$|[;&|)`]))",
        [
            "echo cm0gLXJmIC8= | base64 -d | sh",
            r#"echo '{"a": 1}' | python3 -m json.tool"#,
        ],
    ),
    rule(
        High,
        "base64_decode_pipe",
        r"\bbase64\s+(?:-d|-D|--decode)\b.*\|",
        [
            "base64 -d payload.txt | tee run.sh",
            "base64 -d picture.b64 > picture.png",
        ],
    ),
    rule(
        High,
        "eval_string",
        r#"(?:^|[^.\w])eval\s*\(\s*(?:["'`]|atob|base64|bytes|compile|input|request|urllib|codecs)"#,
        [
            r#"eval("__import__('os')")"#,
            "The eval set has 40 questions.",
        ],
    ),
    rule(
        High,
        "exec_string",
        r#"(?:^|[^.\w])exec\s*\(\s*(?:["'`]|compile|base64|bytes|request|urllib|codecs|zlib|marshal)"#,
        [
            "exec(base64.b64decode(blob))",
            r#"const found = /a(b)/.exec("ab")"#,
        ],
    ),
    rule(
        High,
        "python_compile_exec",
        r#"\bcompile\s*\(.*,\s*["'](?:exec|eval|single)["']"#,
        [
            "code = compile(text, '<s>', 'exec')",
            "pattern = re.compile(r'a+')",
        ],
    ),
    rule(
        High,
        "python_getattr_builtins",
        r"\bgetattr\s*\(\s*(?:__builtins__|builtins|__import__)",
        [
            "getattr(__builtins__, 'ev' + 'al')",
            "getattr(settings, 'name', None)",
        ],
    ),
    rule(
        High,
        "python_import_os",
        r#"__import__\s*\(\s*["'](?:os|subprocess|sys|socket|ctypes|pty|shutil)["']"#,
        ["__import__('os').system('id')", "import os"],
    ),
    rule(
        High,
        "chr_building",
        r"(?:\bchr\s*\(\s*(?:0x)?[\da-f]+\s*\)\s*[+.]\s*){2,}",
        [
            "x = chr(114) + chr(109) + chr(32)",
            "letter = chr(97 + index)",
        ],
    ),
    rule(
        Medium,
        "hex_encoded_string",
        r"(?:\\x[0-9a-f]{2}){6,}",
        [r"\x63\x75\x72\x6c\x20\x68", r"reset = '\x1b[0m'"],
    ),
    rule(
        Medium,
        "python_codecs_decode",
        r"\bcodecs\.decode\s*\(",
        ["codecs.decode('phey', 'rot13')", "text.decode('utf-8')"],
    ),
    rule(
        Medium,
        "js_char_code",
        r"\bString\.fromCharCode\s*\(",
        ["String.fromCharCode(99, 117, 114)", "text.charCodeAt(0)"],
    ),
    rule(
        Medium,
        "js_base64",
        r"\b(?:atob|btoa)\s*\(",
        ["run(atob(payload))", "The atoms bond at low heat."],
    ),
    rule(
        Medium,
        "unicode_escape_chain",
        r"(?:\\u\{?[0-9a-f]{4}\}?){4,}",
        [r"\u0063\u0075\u0072\u006c", r"bullet = '\u2022'"],
    ),
    rule(
        Low,
        "string_reversal",
        r"\[::-1\]",
        ["cmd = 'hs | lruc'[::-1]", "last = names[-1]"],
    ),
];
