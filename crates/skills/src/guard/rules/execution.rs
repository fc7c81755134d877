//! Other programs that are started.

use super::super::rule::{Category, Rule, Severity};
use Severity::{High, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Execution, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        High,
        "python_os_system",
        r"\bos\.system\s*\(",
        [
            "os.system(command)",
            "The os, system and kernel are listed.",
        ],
    ),
    rule(
        High,
        "python_os_popen",
        r"\bos\.popen\s*\(",
        ["os.popen('ls').read()", "os.path.join(a, b)"],
    ),
    rule(
        High,
        "node_child_process",
        r"\bchild_process\b|\b(?:execSync|spawnSync|execFileSync)\s*\(",
        [
            "const { exec } = require('child_process')",
            "The child of the process ends first.",
        ],
    ),
    rule(
        High,
        "java_runtime_exec",
        r"\bRuntime\.getRuntime\s*\(\s*\)\s*\.exec\b",
        [
            "Runtime.getRuntime().exec(command);",
            "Runtime.getRuntime().availableProcessors();",
        ],
    ),
    rule(
        Medium,
        "python_subprocess",
        r"\bsubprocess\.(?:run|call|Popen|check_output|check_call|getoutput)\s*\(",
        [
            "subprocess.run(['ls'])",
            "A subprocess inherits the directory.",
        ],
    ),
    rule(
        Medium,
        "backtick_subshell",
        r"`[^`]*\$\([^)]+\)[^`]*`",
        ["`echo $(whoami)`", "Set the `name` field."],
    ),
];
