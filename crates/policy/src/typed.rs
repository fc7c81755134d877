//! What is typed into a program that runs already: a shell runs it as if it were a command of its own.

use std::collections::HashSet;

use crate::judge::{Finding, Judgement, Surroundings, judge};
use crate::rules::{Severity, hidden};
use crate::shell::Span;

/// The category of a text that a shell or interpreter reads, whatever the text says.
const READ_AS_COMMANDS: &str = "heredoc-command";
/// The category of characters that cannot be seen. Many programs are told what to do by such keys.
const UNSEEN: &str = "hidden-characters";
/// Categories of what could not be looked at as a whole.
const NOT_SEEN: [&str; 2] = ["unreadable", "too-complex"];

/// A text on its way into a program.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'t> {
    /// The command that started the program.
    pub command: &'t str,
    /// What was typed into it before.
    pub before: &'t str,
    /// Whether the beginning of the line that is being typed is missing in that.
    pub beginning_lost: bool,
    /// What is typed now.
    pub text: &'t str,
}

impl Typed<'_> {
    /// The text, from the beginning of the line that it goes on in.
    pub fn line(&self) -> String {
        format!("{}{}", begun(self.before), self.text)
    }

    /// Whether the program takes what it reads for commands or code.
    pub fn is_read_as_commands(&self, around: &Surroundings) -> bool {
        reads_commands(self.command, around)
    }
}

/// Judges a text by what the program would do with it. That the command itself runs was decided before.
pub fn judge_typed(typed: &Typed<'_>, around: &Surroundings) -> Judgement {
    let whole = format!("{}{}", typed.before, typed.text);
    let mut found = grown(typed.command, typed.before, typed.text, around);
    let (before, after) = (edited(typed.before), edited(&whole));
    // A terminal takes back what was typed; a pipe does not. Which of them it is makes no difference here.
    if after != whole {
        let more = match after.strip_prefix(before.as_str()) {
            Some(text) => grown(typed.command, &before, text, around),
            None => grown(typed.command, "", &after, around),
        };
        found = Fed {
            findings: [found.findings, more.findings].concat(),
            commands: [found.commands, more.commands].concat(),
            perhaps: [found.perhaps, more.perhaps].concat(),
            brings_password: found.brings_password || more.brings_password,
        };
    }
    let span = Span {
        start: 0,
        end: typed.text.len(),
    };
    if reads_commands(typed.command, around) {
        let unclear = unclear(typed).into_iter();
        found
            .findings
            .extend(unclear.map(|(category, reason)| Finding {
                category: category.to_owned(),
                severity: Severity::Ask,
                reason: reason.to_owned(),
                span,
            }));
    }
    let findings = found.findings.into_iter();
    let findings = findings.map(|finding| Finding { span, ..finding });
    Judgement {
        commands: found.commands,
        perhaps: found.perhaps,
        brings_password: found.brings_password,
        ..Judgement::of(findings.collect(), around.isolation)
    }
}

/// Why nobody can tell what a text comes to, whatever it says.
fn unclear(typed: &Typed<'_>) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let others = typed.text.chars().filter(|key| !is_followed(*key));
    if hidden(&others.collect::<String>()).is_some() {
        found.push((UNSEEN, "holds keys or characters that cannot be seen"));
    }
    if completes(typed.before, typed.text) {
        found.push((UNSEEN, "holds a tab, which has the program complete words"));
    }
    if typed.beginning_lost {
        found.push((
            NOT_SEEN[0],
            "goes on in a line whose beginning is not known",
        ));
    }
    found
}

/// Whether a tab stands behind anything in its line. In front of everything else it is an indentation.
fn completes(before: &str, text: &str) -> bool {
    const LINE_ENDS: [char; 2] = ['\n', '\r'];
    let begun = before.rsplit(LINE_ENDS).next().unwrap_or_default();
    let mut indented = begun.chars().all(|key| key == ' ' || key == '\t');
    text.chars().any(|key| {
        let completes = key == '\t' && !indented;
        indented = LINE_ENDS.contains(&key) || indented && (key == ' ' || key == '\t');
        completes
    })
}

/// What a text comes to in the program that reads it.
struct Fed {
    findings: Vec<Finding>,
    /// What would run.
    commands: Vec<String>,
    /// What programs we do not know may start.
    perhaps: Vec<String>,
    brings_password: bool,
}

/// What is found in a text, also because of what stands before it.
fn grown(command: &str, before: &str, text: &str, around: &Surroundings) -> Fed {
    let begun = begun(before);
    let mut found = fed(command, &format!("{begun}{text}"), around);
    if before.len() > begun.len() {
        let known = fed(command, before, around).findings;
        let known: HashSet<&str> = known.iter().map(|one| one.category.as_str()).collect();
        let all = fed(command, &format!("{before}{text}"), around);
        // What never runs was not let through before, so it is new wherever it stands.
        let is_new = |one: &Finding| {
            one.severity == Severity::Hard || !known.contains(one.category.as_str())
        };
        let new = all.findings.into_iter().filter(is_new);
        found.findings.extend(new);
    }
    found
}

/// The last line, which goes on.
fn begun(before: &str) -> &str {
    before.rsplit('\n').next().unwrap_or_default()
}

/// What is found in a text that a command reads, beyond what is found in the command alone.
fn fed(command: &str, text: &str, around: &Surroundings) -> Fed {
    const OPEN: &str = "{ ";
    let mut end = "HERMES_TYPED_END".to_owned();
    while text.contains(&end) || command.contains(&end) {
        end.push('_');
    }
    let whole = format!("{OPEN}{command}\n}} <<'{end}'\n{text}\n{end}\n");
    let alone = judge(command, around);
    let decided = |found: &Finding| {
        alone.findings.iter().any(|known| {
            let (start, stop) = (known.span.start + OPEN.len(), known.span.end + OPEN.len());
            let same_place = found.span == Span { start, end: stop };
            let category = known.category.as_str();
            category == found.category && (same_place || NOT_SEEN.contains(&category))
        })
    };
    let judged = judge(&whole, around);
    let findings = judged.findings.into_iter();
    Fed {
        findings: findings
            .filter(|found| ![READ_AS_COMMANDS, UNSEEN].contains(&found.category.as_str()))
            .filter(|found| !decided(found))
            .collect(),
        commands: judged.commands,
        perhaps: judged.perhaps,
        brings_password: judged.brings_password && !alone.brings_password,
    }
}

/// Whether a program takes what it reads for commands or code.
fn reads_commands(command: &str, around: &Surroundings) -> bool {
    let whole = format!("{{ {command}\n}} <<'E'\n:\nE\n");
    let found = judge(&whole, around);
    found.categories.iter().any(|one| one == READ_AS_COMMANDS)
}

/// A text as a terminal hands it on: keys that take something back have done so.
fn edited(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where the line begins that is being typed; nothing before it can be taken back.
    let mut line = 0;
    for key in text.chars() {
        match key {
            '\u{8}' | '\u{7f}' if out.len() > line => drop(out.pop()),
            '\u{8}' | '\u{7f}' => {}
            // The whole line is gone: by its key, or because the program was interrupted.
            '\u{15}' | '\u{3}' | '\u{1a}' | '\u{1c}' => out.truncate(line),
            '\u{17}' => {
                let kept = out.get(line..).unwrap_or_default().trim_end();
                let kept = kept.rfind([' ', '\t']).map_or(0, |at| at + 1);
                out.truncate(line + kept);
            }
            '\r' | '\n' => {
                out.push('\n');
                line = out.len();
            }
            // The end of input.
            '\u{4}' => {}
            other => out.push(other),
        }
    }
    out
}

/// Keys whose effect is followed, unlike that of others, such as swapping letters.
fn is_followed(key: char) -> bool {
    matches!(
        key,
        '\u{3}' | '\u{4}' | '\u{8}' | '\u{15}' | '\u{17}' | '\u{1a}' | '\u{1c}' | '\u{7f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::judge::tests::around;

    fn typed(command: &str, before: &str, text: &str) -> Judgement {
        let typed = Typed {
            command,
            before,
            beginning_lost: false,
            text,
        };
        judge_typed(&typed, &around())
    }

    // EX-52, EX-58: a program that completes words runs others than were typed.
    #[test]
    fn a_tab_behind_a_word_is_a_key_nobody_can_follow() {
        for (command, before, text, verdict) in [
            ("bash", "", "cat no\t\n", Verdict::Ask),
            ("bash", "cat no", "\t\n", Verdict::Ask),
            ("bash", "ls\n", "\tcat notes\n", Verdict::Allow),
            ("bash", "ls\r", "cat\tnotes\n", Verdict::Ask),
            ("bash", "", "ls\n\t\t\techo hi\n", Verdict::Allow),
            (
                "python3 -i",
                "if 1:\n",
                "\tprint(1)\n \tprint(2)\n",
                Verdict::Allow,
            ),
            ("cat", "a", "\tb\n", Verdict::Allow),
        ] {
            let found = typed(command, before, text);
            let seen = (found.verdict, found.categories.concat());
            let category = match verdict {
                Verdict::Ask => UNSEEN,
                Verdict::Allow | Verdict::Deny => "",
            };
            let expected = (verdict, category.to_owned());
            assert_eq!(seen, expected, "{command:?} {before:?} {text:?}");
        }
    }

    // EX-52, EX-58
    #[test]
    fn a_line_whose_beginning_is_not_known_is_asked_about() {
        let lost = |command, text| {
            let typed = Typed {
                command,
                before: "   ",
                beginning_lost: true,
                text,
            };
            judge_typed(&typed, &around())
        };
        assert_eq!(lost("bash", "/\n").categories, ["unreadable"]);
        assert_eq!(lost("cat", "/\n").verdict, Verdict::Allow);
        assert_eq!(lost("bash", "; rm -rf /\n").verdict, Verdict::Deny);
    }

    // EX-52, EX-58
    #[test]
    fn what_is_typed_into_a_shell_is_judged_like_a_command() {
        for (command, before, text, verdict) in [
            ("bash", "", "ls -l\n", Verdict::Allow),
            ("bash", "", "rm -rf /\n", Verdict::Deny),
            ("bash", "", "rm -r docs\n", Verdict::Ask),
            ("cd x && exec bash -i", "", "rm -rf /\n", Verdict::Deny),
            ("sh; echo done", "", "rm -rf /\n", Verdict::Deny),
            ("sudo -s", "", "rm -rf /\n", Verdict::Deny),
            ("su -", "", "rm -rf /\n", Verdict::Deny),
            ("env A=1 zsh", "", "mkfs.ext4 /dev/sda1\n", Verdict::Deny),
            // In pieces, and with what was said before.
            ("bash", "rm -r", "f /\n", Verdict::Deny),
            ("bash", "x=/\n", "rm -rf $x\n", Verdict::Deny),
            ("bash", "f() {\nrm -rf /\n", "}\nf\n", Verdict::Deny),
            // As a terminal reads it, and as a pipe does.
            ("bash", "", "rm -rf /x\u{7f}\n", Verdict::Deny),
            ("bash", "", "rm -rf / \u{15}echo hi\n", Verdict::Deny),
            ("bash", "", "echo hi\u{14}\n", Verdict::Ask),
            ("bash", "sleep 9\n", "\u{3}", Verdict::Allow),
            (
                "python3",
                "",
                "import os; os.system('rm -rf /')\n",
                Verdict::Deny,
            ),
            ("python3 -i", "", "print(1)\n", Verdict::Allow),
            // A program that runs nothing of it.
            ("cat", "", "rm -rf /\n", Verdict::Allow),
            ("vim notes.txt", "", "i\u{1b}:w\n", Verdict::Allow),
        ] {
            let found = typed(command, before, text);
            assert_eq!(
                found.verdict, verdict,
                "{command:?} {before:?} {text:?}: {:?}",
                found.findings
            );
        }
    }

    // EX-58
    #[test]
    fn what_was_decided_is_not_found_again_and_what_is_new_is() {
        // The command itself runs because somebody allowed it.
        assert_eq!(typed("rm -r old; bash", "", "ls\n").verdict, Verdict::Allow);
        let again = typed("rm -r old; bash", "", "rm -r docs\n");
        assert_eq!(again.categories, ["recursive-delete"]);
        // So does what was typed before; the next of its kind is another one.
        assert_eq!(typed("bash", "rm -r a\n", "ls\n").verdict, Verdict::Allow);
        let again = typed("bash", "rm -r a\n", "rm -r b\n");
        assert_eq!(again.categories, ["recursive-delete"]);
    }

    // EX-52, EX-58
    #[test]
    fn patterns_see_what_would_run() {
        let found = typed("bash", "", "cd x && /usr/bin/git push origin\n");
        assert!(
            found.commands.contains(&"git push origin".to_owned()),
            "{:?}",
            found.commands
        );
        assert!(typed("bash", "", "echo x | sudo -S ls\n").brings_password);
    }

    #[test]
    fn a_terminal_takes_back_what_its_keys_say() {
        for (text, expected) in [
            ("ab\u{7f}c\n\u{8}d", "ac\nd"),
            ("one two \u{17}three", "one three"),
            ("gone\u{15}kept\r", "kept\n"),
            ("a\nwrong\u{3}b\u{4}", "a\nb"),
        ] {
            assert_eq!(edited(text), expected, "{text:?}");
        }
    }
}
