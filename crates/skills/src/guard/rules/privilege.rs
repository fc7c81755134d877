//! Rights that are taken.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Low};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(
        Category::PrivilegeEscalation,
        severity,
        id,
        pattern,
        examples,
    )
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "setuid_setgid",
        r"\bset(?:e|re|res)?[ug]id\s*\(|\bcap_set[ug]id\b",
        ["os.setuid(0)", "A setuid program runs as its owner."],
    ),
    rule(
        Critical,
        "nopasswd_sudo",
        r"\bNOPASSWD\b",
        ["me ALL=(ALL) NOPASSWD: ALL", "No password is stored."],
    ),
    rule(
        Critical,
        "suid_bit",
        r"\bchmod\s+(?:-\w+\s+)*(?:[ugoa]*\+[rwx]*s\b|0?[2-7][0-7]{3}\b)",
        ["chmod u+s /tmp/sh", "chmod 0755 run.sh"],
    ),
    rule(
        High,
        "sudo_usage",
        r"\bsudo\s+(?:-\w+\s+)*(?:apt|apt-get|yum|dnf|pacman|zypper|snap|brew|systemctl|service|rm|mv|cp|chmod|chown|tee|bash|sh|su|mount|umount|dd|mkdir|sed|ln|install|pip3?|npm|docker|kill\w*|user(?:add|mod|del)|iptables|ufw|modprobe|sysctl|launchctl|make|python3?|cat|nano|vim?|\./|/)",
        ["sudo apt install jq", "Works without sudo rights."],
    ),
    rule(
        Low,
        "allowed_tools_field",
        r"^allowed-tools\s*:",
        ["allowed-tools: Bash Read", "The allowed tools are listed."],
    ),
];
