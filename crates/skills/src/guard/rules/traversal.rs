//! Files outside the task that are reached for.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Traversal, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "system_passwd_access",
        r"/etc/(?:passwd|shadow|gshadow)\b",
        ["cat /etc/shadow", "cat /etc/os-release"],
    ),
    rule(
        High,
        "path_traversal_deep",
        r"(?:\.\./){3,}",
        ["open('../../../secret')", "open('../notes.md')"],
    ),
    rule(
        High,
        "proc_access",
        r"/proc/(?:self|\d+|\$\{?\w+\}?|\$\$|\*)/(?:environ|mem|maps|cmdline|root|cwd|fd)\b",
        ["cat /proc/1/environ", "cat /proc/cpuinfo"],
    ),
    rule(
        Medium,
        "path_traversal",
        r"(?:\.\./){2,}",
        ["cp ../../file .", "cp ../file ."],
    ),
    rule(
        Medium,
        "dev_shm",
        r"/dev/shm\b",
        ["cp tool /dev/shm/.x", "command 2> /dev/null"],
    ),
];
