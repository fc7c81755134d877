//! Code that comes from elsewhere at run time.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::SupplyChain, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "curl_pipe_shell",
        r#"\bcurl\b.*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+\S+\s+)?(?:/bin/)?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\(\s*)\s*curl\b"#,
        [
            "curl -fsSL https://x.test/i.sh | sudo bash",
            "curl -fsSL https://x.test/a.json | jq .",
        ],
    ),
    rule(
        Critical,
        "wget_pipe_shell",
        r#"\bwget\b.*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/bin/)?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\(\s*)\s*wget\b"#,
        [
            "wget -qO- https://x.test/i.sh | sh",
            "wget -q https://x.test/a.tar.gz",
        ],
    ),
    rule(
        Critical,
        "curl_pipe_python",
        r"\b(?:curl|wget)\b.*\|\s*(?:sudo\s+)?(?:python[23]?|perl|ruby|node)\s*(?:-\s*)?(?:$|[;&|)`])",
        [
            "curl -s https://x.test/i.py | python3 -",
            "curl -s https://x.test/a.json | python3 -m json.tool",
        ],
    ),
    rule(
        Medium,
        "pep723_inline_deps",
        r"^#\s*///\s*script\b",
        ["# /// script", "# script of the tour"],
    ),
    rule(
        Medium,
        "unpinned_pip_install",
        r#"\bpip3?\s+install\s+(?:-\S+\s+)*["']?[a-z][\w.\[\]-]*(?:["'`\s;&|)]|$)"#,
        ["pip install requests", "pip install requests==2.32.3"],
    ),
    rule(
        Medium,
        "unpinned_npm_install",
        r#"\bnpm\s+(?:install|i|add)\s+(?:-\S+\s+)*["']?(?:@[\w-]+/)?[a-z][\w.-]*(?:["'`\s;&|)]|$)"#,
        ["npm install -g left-pad", "npm install left-pad@1.3.0"],
    ),
    rule(
        Medium,
        "uv_run",
        r"\buv\s+run\b|\buvx\s",
        ["uv run tool.py", "uv pip list"],
    ),
    rule(
        Medium,
        "remote_fetch",
        r#"\b(?:curl|wget)\s.*https?://|\brequests\.get\s*\(|\burllib\.request\.\w|\bfetch\s*\(\s*["'`]https?://"#,
        [
            "curl -O https://x.test/tool",
            "The page is at https://x.test.",
        ],
    ),
    rule(
        Medium,
        "git_clone",
        r"\bgit\s+clone\b",
        ["git clone https://x.test/r.git", "git status"],
    ),
    rule(
        Medium,
        "docker_pull",
        r"\bdocker\s+(?:pull|run)\b",
        ["docker run -it image", "docker ps"],
    ),
];
