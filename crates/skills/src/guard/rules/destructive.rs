//! Data that is destroyed.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Destructive, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "destructive_root_rm",
        r#"\brm\s+(?:-[\w-]+\s+)+["']?/(?:\*|["'\s;&|`)]|$)"#,
        ["rm -rf /", "rm -rf /tmp/build"],
    ),
    rule(
        Critical,
        "destructive_home_rm",
        r#"\brm\s+(?:-[\w-]+\s+)+["']?(?:~|\$\{?HOME\}?)/?(?:\*|["'\s;&|`)]|$)"#,
        [r#"rm -rf "$HOME""#, "rm -rf ~/project/build"],
    ),
    rule(
        Critical,
        "system_overwrite",
        r"(?:^|[^<0-9-])>{1,2}\s*/etc/\w|\btee\s+(?:-a\s+)?/etc/(?:passwd|shadow|sudoers|hosts|ld\.so\.preload)\b",
        ["echo x > /etc/hosts", "cat /etc/os-release > release.txt"],
    ),
    rule(
        Critical,
        "format_filesystem",
        r"\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*\S*(?:/dev/|\$)",
        [
            "mkfs.ext4 /dev/sda1",
            "The mkfs manual explains the options.",
        ],
    ),
    rule(
        Critical,
        "disk_overwrite",
        r"\bdd\b.*\bof=/dev/(?:sd|hd|nvme|vd|xvd|mmcblk|disk|rdisk)|>\s*/dev/(?:sd|hd|nvme|vd|mmcblk)",
        [
            "dd if=/dev/zero of=/dev/sda bs=1M",
            "dd if=/dev/zero of=disk.img bs=1M count=8",
        ],
    ),
    rule(
        Critical,
        "truncate_system",
        r"\btruncate\s+(?:-\S+\s+(?:\d+\s+)?)*/(?:etc|usr|bin|sbin|boot|lib|var|dev)\b|(?:^|[;&|]\s*):?\s*>\s*/(?:usr|bin|sbin|boot|lib)/",
        ["truncate -s 0 /var/log/auth.log", "truncate -s 0 build.log"],
    ),
    rule(
        High,
        "python_rmtree",
        r#"\brmtree\s*\(\s*(?:["'](?:/|~)|os\.path\.expanduser|Path\.home|pathlib\.Path\.home)"#,
        [
            r#"shutil.rmtree("/var/lib/app")"#,
            "shutil.rmtree(scratch, ignore_errors=True)",
        ],
    ),
    rule(
        Medium,
        "insecure_perms",
        r"\bchmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx|ugo\+rwx)\b",
        ["chmod -R 777 .", "chmod 755 run.sh"],
    ),
];
