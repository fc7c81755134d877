//! What is the same in every language: product names, identifiers, paths, code and tool output.

use super::dice::Dice;
use super::lexicon::Ranked;

pub(super) const PRODUCTS: [&str; 32] = [
    "Docker",
    "Python",
    "Linux",
    "Git",
    "Rust",
    "Postgres",
    "Redis",
    "Kubernetes",
    "Nginx",
    "Firefox",
    "Excel",
    "Telegram",
    "Slack",
    "Jira",
    "Ansible",
    "Terraform",
    "Grafana",
    "Kafka",
    "RabbitMQ",
    "SQLite",
    "Ubuntu",
    "Debian",
    "Android",
    "Photoshop",
    "Blender",
    "Jenkins",
    "Traefik",
    "Podman",
    "Caddy",
    "Vault",
    "Figma",
    "Notion",
];
const ENDINGS: [&str; 8] = ["rs", "py", "ts", "go", "toml", "yaml", "md", "sql"];
const FOLDERS: [&str; 8] = [
    "src", "tests", "docs", "lib", "crates", "scripts", "config", "assets",
];
const STATES: [&str; 6] = [
    "Running",
    "Pending",
    "Completed",
    "CrashLoopBackOff",
    "Terminating",
    "Unknown",
];
const LEVELS: [&str; 4] = ["INFO", "WARN", "ERROR", "DEBUG"];

/// Writes technical text with the words of programs, which are English.
pub(super) struct Technical<'a> {
    pub(super) nouns: &'a Ranked,
    pub(super) verbs: &'a Ranked,
}

impl Technical<'_> {
    pub(super) fn identifier(&self, dice: &Dice) -> String {
        let (verb, first, second) = (
            self.verbs.draw(dice),
            self.nouns.draw(dice),
            self.nouns.draw(dice),
        );
        match dice.below(7) {
            0 => format!("{verb}_{first}"),
            1 => format!("{verb}_{first}_{second}"),
            2 => format!("{first}-{second}"),
            3 => format!("{verb}{}", capitalized(first)),
            4 => format!("v{}.{}.{}", dice.below(9), dice.below(40), dice.below(60)),
            5 => format!("E{:04}", dice.below(10_000)),
            _ => hex(dice, 8),
        }
    }

    pub(super) fn path(&self, dice: &Dice) -> String {
        let (folder, ending) = (dice.pick(&FOLDERS), dice.pick(&ENDINGS));
        let (first, second) = (self.nouns.draw(dice), self.nouns.draw(dice));
        if dice.chance(40) {
            format!("{folder}/{first}.{ending}")
        } else {
            format!("{folder}/{first}/{second}.{ending}")
        }
    }

    /// A few lines of program text.
    pub(super) fn code(&self, dice: &Dice) -> String {
        let (name, other, noun) = (
            self.identifier(dice),
            self.identifier(dice),
            self.nouns.draw(dice),
        );
        match dice.below(4) {
            0 => format!(
                "```rust\nlet {noun} = {name}({});\nassert!({noun}.is_ok());\n```",
                dice.below(500)
            ),
            1 => format!(
                "```python\ndef {}_{noun}(x):\n    return {other}(x) + {}\n```",
                self.verbs.draw(dice),
                dice.below(99)
            ),
            2 => format!(
                "```sh\ndocker run --rm -p {}:80 {noun}:{} {name}\n```",
                dice.between(1024, 9999),
                dice.below(20)
            ),
            _ => format!("`{name}` → `{other}`"),
        }
    }

    /// What a command printed.
    pub(super) fn output(&self, dice: &Dice) -> String {
        let rows = dice.between(1, 7);
        let shape = dice.below(5);
        let mut out = String::new();
        for row in 0..rows {
            if row > 0 {
                out.push('\n');
            }
            out.push_str(&self.row(dice, shape));
        }
        out
    }

    fn row(&self, dice: &Dice, shape: usize) -> String {
        match shape {
            0 => format!(
                "-rw-r--r-- 1 root root {:>6} Mar {:>2} {:02}:{:02} {}",
                dice.below(900_000),
                dice.between(1, 28),
                dice.below(24),
                dice.below(60),
                self.path(dice)
            ),
            1 => format!(
                "2026-{:02}-{:02}T{:02}:{:02}:{:02}Z {} {} {}={}",
                dice.between(1, 12),
                dice.between(1, 28),
                dice.below(24),
                dice.below(60),
                dice.below(60),
                dice.pick(&LEVELS),
                self.identifier(dice),
                self.nouns.draw(dice),
                dice.below(10_000)
            ),
            2 => format!(
                "{}-{}   {}/1   {}   {}   {}d",
                self.nouns.draw(dice),
                hex(dice, 5),
                dice.below(2),
                dice.pick(&STATES),
                dice.below(30),
                dice.below(400)
            ),
            3 => format!(
                "test {}::{} ... ok ({} ms)",
                self.nouns.draw(dice),
                self.identifier(dice),
                dice.below(3000)
            ),
            _ => format!(
                "{{\"{}\": {}, \"{}\": \"{}\"}}",
                self.nouns.draw(dice),
                dice.below(1000),
                self.nouns.draw(dice),
                self.identifier(dice)
            ),
        }
    }
}

pub(super) fn hex(dice: &Dice, digits: usize) -> String {
    (0..digits)
        .map(|_| char::from_digit(u32::try_from(dice.below(16)).unwrap_or(0), 16).unwrap_or('0'))
        .collect()
}

pub(super) fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
