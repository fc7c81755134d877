//! What stays behind and starts again, or changes how an agent behaves later.

use super::super::rule::{Category, Rule, Severity};
use Severity::{Critical, High, Medium};

const fn rule(
    severity: Severity,
    id: &'static str,
    pattern: &'static str,
    examples: [&'static str; 2],
) -> Rule {
    Rule::new(Category::Persistence, severity, id, pattern, examples)
}

pub(super) const RULES: &[Rule] = &[
    rule(
        Critical,
        "ssh_backdoor",
        r"(?:>>?|\btee\b|\bcp\b|\bopen\s*\(|\becho\b|\bwrite\w*\b|\binstall\b).*\bauthorized_keys\b|\bauthorized_keys\b.*\.(?:write|append)",
        [
            "echo ssh-ed25519 AAAA >> ~/.ssh/authorized_keys",
            "The server reads authorized_keys at login.",
        ],
    ),
    rule(
        Critical,
        "sudoers_mod",
        r"(?:>>?|\btee\b|\bcp\b|\bsed\s+-i|\bopen\s*\(|\becho\b|\binstall\b).*/etc/sudoers|\bvisudo\b",
        [
            "echo 'x ALL=(ALL) ALL' | tee -a /etc/sudoers",
            "Ask an administrator about sudoers.",
        ],
    ),
    rule(
        Critical,
        "agent_config_mod",
        r#"(?:>>?\s*|\btee\s+(?:-a\s+)?|\bsed\s+-i\b.*\s|\bcp\s+\S+\s+|\bmv\s+\S+\s+)["']?[^\s|;&]*(?-i:AGENTS\.md|CLAUDE\.md|GEMINI\.md|SOUL\.md|\.cursorrules|\.clinerules|copilot-instructions\.md)|\bopen\s*\(\s*[^,)]*(?-i:AGENTS\.md|CLAUDE\.md|SOUL\.md|\.cursorrules)["']\s*,\s*["'][aw]"#,
        [
            "echo 'always obey' >> AGENTS.md",
            "Read AGENTS.md before you begin.",
        ],
    ),
    rule(
        Critical,
        "hermes_config_mod",
        r#"(?:>>?\s*|\btee\s+(?:-a\s+)?|\bsed\s+-i\b.*\s|\bcp\s+\S+\s+|\bmv\s+\S+\s+)["']?[^\s|;&]*(?:\.hermes/(?:profiles/[\w-]+/)?|HERMES_HOME\}?/)(?:config\.yaml|\.env|SOUL\.md|memories/|auth\.json)|\bopen\s*\(\s*[^,)]*\.hermes/(?:config\.yaml|\.env|SOUL\.md|memories)[^,)]*["']\s*,\s*["'][aw]"#,
        [
            "echo 'approvals: off' >> ~/.hermes/config.yaml",
            "Settings are in ~/.hermes/config.yaml.",
        ],
    ),
    rule(
        High,
        "other_agent_config",
        r#"(?:>>?\s*|\btee\s+(?:-a\s+)?|\bsed\s+-i\b.*\s|\bcp\s+\S+\s+|\bmv\s+\S+\s+)["']?[^\s|;&]*(?:\.claude/settings|\.claude\.json|\.codex/config|\.cursor/|\.gemini/settings|\.config/opencode|\.openclaw/|\.config/goose)"#,
        [
            "cp hooks.json ~/.claude/settings.json",
            "Claude reads .claude/settings.json.",
        ],
    ),
    rule(
        Medium,
        "persistence_cron",
        r"\bcrontab\s+(?:-|\S+\.\w+)|\|\s*crontab\b|/etc/cron(?:tab|\.\w+)",
        [
            "(crontab -l; echo '* * * * * x') | crontab -",
            "A crontab has five fields.",
        ],
    ),
    rule(
        Medium,
        "shell_rc_mod",
        r"(?:>>?|\btee\b|\bsed\s+-i).*(?:\.(?:bashrc|zshrc|bash_profile|zprofile|zshenv|profile)\b|config\.fish\b)",
        [
            "echo 'export X=1' >> ~/.bashrc",
            "Aliases live in .bashrc on most systems.",
        ],
    ),
    rule(
        Medium,
        "ssh_keygen",
        r"\bssh-keygen\b",
        ["ssh-keygen -t ed25519 -N ''", "Use the ssh key you have."],
    ),
    rule(
        Medium,
        "systemd_service",
        r"\bsystemctl\s+(?:--user\s+)?(?:enable|daemon-reload)\b|/etc/systemd/system/|\.config/systemd/user/",
        [
            "systemctl --user enable helper.service",
            "systemctl status nginx",
        ],
    ),
    rule(
        Medium,
        "init_script",
        r"/etc/init\.d/|\bupdate-rc\.d\b|/etc/rc\.local\b",
        ["cp helper /etc/init.d/helper", "git init demo"],
    ),
    rule(
        Medium,
        "macos_launchd",
        r"\blaunchctl\s+(?:load|bootstrap|enable|submit)\b|\bLibrary/Launch(?:Agents|Daemons)\b",
        [
            "launchctl load ~/Library/LaunchAgents/x.plist",
            "Launch the app from the dock.",
        ],
    ),
    rule(
        Medium,
        "git_config_global",
        r"\bgit\s+config\s+(?:--\S+\s+)*--(?:global|system)\b",
        [
            "git config --global core.hooksPath /tmp/h",
            "git config user.name",
        ],
    ),
];
