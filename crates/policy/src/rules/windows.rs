//! Commands of Windows shells.

use super::{Looks, Rule, Severity};
use crate::shell::Invocation;

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "windows-delete",
        severity: Severity::Ask,
        reason: "deletes files through a Windows shell",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "cmd" => words(one)
                .any(|word| matches!(word.as_str(), "del" | "erase" | "rd" | "rmdir" | "format")),
            "powershell" | "pwsh" => words(one).any(|word| {
                matches!(
                    word.as_str(),
                    "remove-item"
                        | "ri"
                        | "rm"
                        | "del"
                        | "rd"
                        | "rmdir"
                        | "erase"
                        | "clear-content"
                        | "format-volume"
                        | "clear-disk"
                )
            }),
            "remove-item" | "format-volume" | "clear-disk" => true,
            "diskpart" => true,
            _ => false,
        }),
        catches: &[
            "cmd /c del x",
            "pwsh Remove-Item x",
            "powershell -Command \"Remove-Item -Recurse x\"",
            "cmd.exe /c rd /s /q x",
        ],
        passes: &["cmd /c dir", "pwsh -Command Get-Item x", "pwsh script.ps1"],
    },
    Rule {
        category: "powershell-encoded",
        severity: Severity::Ask,
        reason: "runs an encoded PowerShell text",
        looks: Looks::Program(|one, _| {
            one.is(&["powershell", "pwsh"])
                && one.arguments().iter().any(|field| {
                    let text = field.text.to_ascii_lowercase();
                    let name = text.trim_start_matches(['-', '/']);
                    text.len() > 1
                        && text.starts_with(['-', '/'])
                        && name.starts_with('e')
                        && ("encodedcommand".starts_with(name) || name == "ec" || name == "enc")
                })
        }),
        catches: &[
            "pwsh -enc x",
            "powershell -EncodedCommand x",
            "powershell.exe -e x",
            "pwsh -ec x",
        ],
        passes: &["pwsh -ExecutionPolicy Bypass a.ps1", "pwsh -File a.ps1"],
    },
    Rule {
        category: "remote-code",
        severity: Severity::Ask,
        reason: "runs what comes over the network",
        looks: Looks::Program(|one, _| {
            let runs = |word: &String| matches!(word.as_str(), "iex" | "invoke-expression");
            let fetches = |word: &String| {
                word.contains("downloadstring")
                    || matches!(
                        word.as_str(),
                        "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod"
                    )
            };
            one.is(&["powershell", "pwsh"])
                && words(one).any(|word| runs(&word))
                && words(one).any(|word| fetches(&word))
        }),
        catches: &[
            "powershell -c \"irm https://x | iex\"",
            "pwsh -c \"iex (iwr u)\"",
        ],
        passes: &["pwsh -c \"irm https://x\""],
    },
];

/// Words of all arguments, in small letters.
fn words(one: &Invocation) -> impl Iterator<Item = String> {
    let all = one
        .arguments()
        .iter()
        .map(|field| field.text.to_ascii_lowercase());
    let split = all.flat_map(|text| {
        let words = text.split(|c: char| {
            c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '{' | '}' | '"' | '\'')
        });
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    split.filter(|word| !word.is_empty())
}
