//! What is tried, on what, and what must hold.

use std::sync::LazyLock;

use hermes_exec::strip_ansi;
use hermes_policy::{Isolation, Surroundings, Typed, Verdict, judge, judge_typed};
use hermes_secrets::{Redactor, Scope, Secret, SecretName};
use hermes_tools::texts;

use crate::disguises::{NEVER, disguises};

/// One thing to try.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) seeds: &'static [&'static str],
    /// What must hold for an input; the error says what does not.
    pub(crate) check: fn(&str) -> Result<(), String>,
}

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "commands",
        seeds: COMMANDS,
        check: commands,
    },
    Target {
        name: "disguises",
        seeds: COMMANDS,
        check: disguises,
    },
    Target {
        name: "typing",
        seeds: COMMANDS,
        check: typing,
    },
    Target {
        name: "rewriting",
        seeds: COMMANDS,
        check: rewriting,
    },
    Target {
        name: "patches",
        seeds: PATCHES,
        check: patches,
    },
    Target {
        name: "matching",
        seeds: TEXTS,
        check: matching,
    },
    Target {
        name: "escapes",
        seeds: ESCAPES,
        check: escapes,
    },
    Target {
        name: "secrets",
        seeds: SECRETS,
        check: secrets,
    },
];

pub(crate) const COMMANDS: &[&str] = &[
    "git status && ls -la | grep '^d' > out.txt 2>&1",
    "for f in *.rs; do echo \"$f: $(wc -l < \"$f\")\"; done",
    "sudo -u ada env A=1 timeout 5 bash -c 'rm -rf build; echo \"done\"'",
    "cat <<'EOF' | python3 -\nprint('hi')\nEOF",
    "x=$((1 + 2)); [[ $x == 3 ]] && { echo ${x:-none}; } || exit 1",
    "find . -name '*.tmp' -exec rm {} + ; xargs -0 -n1 sh -c 'echo $0' < list",
    "eval \"$(ssh-agent -s)\"; case $1 in a|b) echo x;; *) :;; esac",
    "if true; then while read -r l; do printf '%s\\n' \"$l\"; done < f; fi",
    "make && ./server --port 80 & sudo -u ada id; A=1 sudo tee x < y | cat",
    "echo `date` $'\\x41' \"a\\\"b\" 'c'\"'\"'d' \\\n  e",
];

const PATCHES: &[&str] = &[
    "*** Begin Patch\n*** Update File: a.rs\n@@ fn main() {\n     let x = 1;\n-    let y = 2;\n+    let y = 3;\n*** End Patch",
    "*** Begin Patch\n*** Add File: b.txt\n+one\n+two\n*** Delete File: c.txt\n*** End Patch",
    "*** Begin Patch\n*** Update File: a.rs\n*** Move to: d.rs\n@@\n fn main() {\n-    let x = 1;\n+    let x = 9;\n*** End of File\n*** End Patch",
    "@@ -1,3 +1,3 @@\n fn main() {\n-    let x = 1;\n+    let x = 2;\n     let y = 2;",
];

const TEXTS: &[&str] = &[
    "fn main() {\n    let x = 1;\n    let y = 2;\n}\n",
    "\tif a:\n\t\treturn  b\n\n  else:\n\t\tpass\r\n",
    "“quoted” — it’s … fine\u{a0}here\n",
    "a\\n\\tb \\\"c\\\"\n",
    "1\n2\n2\n2\n3\n",
];

const ESCAPES: &[&str] = &[
    "plain \u{1b}[1;31mred\u{1b}[0m and \u{1b}]0;title\u{7} more",
    "\u{1b}P1$r0m\u{1b}\\ \u{9b}5A \u{1b}(B \u{1b}[?25l\u{8}\u{8}x\r50%\r100%",
    "\u{1b}]8;;http://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\",
];

const SECRETS: &[&str] = &[
    "Authorization: Bearer tok_0123456789abcdefghijklmnop",
    "export API_KEY='correct-horse-battery-staple' # a comment",
    "{\"password\": \"correct-horse-battery-staple\", \"user\": \"ada\"}",
    "postgres://ada:correct-horse-battery-staple@db.example.org/main",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
];

pub(crate) fn around() -> Surroundings {
    Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/home/ada/project".to_owned(),
        own_pid: Some(4711),
        isolation: Isolation::None,
    }
}

/// Every text has a judgement, and what it points at lies inside the text.
fn commands(input: &str) -> Result<(), String> {
    let judgement = judge(input, &around());
    for finding in &judgement.findings {
        let span = finding.span;
        if input.get(span.start..span.end).is_none() {
            return Err(format!("{span:?} lies outside"));
        }
    }
    match (judgement.verdict, judgement.findings.is_empty()) {
        (Verdict::Allow, false) => Err("allowed although something was found".to_owned()),
        (Verdict::Ask | Verdict::Deny, true) => Err("not allowed, and nobody knows why".to_owned()),
        _ => Ok(()),
    }
}

/// A command that never runs is not typed into a shell either, whatever is typed after it or was begun before.
fn typing(input: &str) -> Result<(), String> {
    let never = NEVER[input.len() % NEVER.len()];
    let (begun, rest) = never.split_at(input.len() % never.len());
    let text = format!("{rest}\n{input}");
    let typed = Typed {
        command: "bash",
        before: begun,
        beginning_lost: false,
        text: &text,
    };
    let judgement = judge_typed(&typed, &around());
    for finding in &judgement.findings {
        if text.get(finding.span.start..finding.span.end).is_none() {
            return Err(format!("{:?} lies outside", finding.span));
        }
    }
    match judgement.verdict {
        Verdict::Allow => Err(format!("allowed: {typed:?}")),
        Verdict::Ask | Verdict::Deny => Ok(()),
    }
}

/// A command is changed only where it must be, the same way each time.
fn rewriting(input: &str) -> Result<(), String> {
    let detached = hermes_exec::texts::detached(input);
    let bare = |text: &str| -> String {
        text.chars()
            .filter(|c| !c.is_whitespace() && !"{};".contains(*c))
            .collect()
    };
    if bare(input) != bare(&detached) {
        return Err(format!("became {detached:?}"));
    }
    let (prepared, count) = hermes_exec::texts::prepared(input);
    const FED: &str = "sudo -k -S -p ''";
    if !input.contains(FED)
        && (prepared.matches(FED).count() != count || prepared.replace(FED, "sudo") != detached)
    {
        return Err(format!("{count} of sudo in {prepared:?}"));
    }
    let wrapped = hermes_exec::texts::wrapped(input);
    // The command may hold these words itself, so the first place at which it can be read back is the right one.
    let starts = wrapped.match_indices("eval -- ");
    let read_back = starts
        .map(|(at, found)| unquoted(&wrapped[at + found.len()..]))
        .any(|text| text.as_deref() == Some(input));
    let in_file = wrapped.ends_with("eval -- \"$__hermes_c\"\n");
    if !read_back && !in_file {
        return Err(format!("bash would run {wrapped:?}"));
    }
    // Neither of these may fail on any text.
    let _ = hermes_exec::guidance::foreground_refusal(input);
    let _ = hermes_exec::guidance::exit_code_note(input, 1);
    Ok(())
}

/// What a shell makes of single quotes and escaped ones up to the end of a line; nothing when there is more.
fn unquoted(line: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = line.strip_suffix('\n')?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("\\'") {
            text.push('\'');
            rest = after;
            continue;
        }
        let (inside, after) = rest.strip_prefix('\'')?.split_once('\'')?;
        text.push_str(inside);
        rest = after;
    }
    Some(text)
}

/// A patch is read or refused, and what it makes of a text is text.
fn patches(input: &str) -> Result<(), String> {
    for text in TEXTS {
        // Whether it fits is another matter.
        drop(texts::patched(text, input));
    }
    Ok(())
}

/// Replacing the only place of a text with something else changes just that place.
fn matching(input: &str) -> Result<(), String> {
    let middle = input.chars().count() / 2;
    let old: String = input.chars().skip(middle / 2).take(middle.max(1)).collect();
    for text in [input, TEXTS[input.len() % TEXTS.len()]] {
        let Ok(changed) = texts::replaced(text, &old, "«new»") else {
            continue;
        };
        // Line breaks of two kinds are compared as one, so more than the place may change there.
        if !text.contains('\r')
            && text.matches(&old).count() == 1
            && changed != text.replacen(&old, "«new»", 1)
        {
            return Err(format!("{old:?} in {text:?} became {changed:?}"));
        }
    }
    Ok(())
}

/// Nothing of an escape sequence is left, and doing it twice changes nothing.
fn escapes(input: &str) -> Result<(), String> {
    let once = strip_ansi(input);
    if once.contains('\u{1b}') || once.contains('\u{9b}') {
        return Err(format!("left: {once:?}"));
    }
    let twice = strip_ansi(&once);
    match twice == once {
        true => Ok(()),
        false => Err(format!("{once:?}, then {twice:?}")),
    }
}

static REDACTOR: LazyLock<Option<Redactor>> = LazyLock::new(|| {
    let name = SecretName::new("LAB_API_KEY").ok()?;
    let secret = Secret::new(name, "correct-horse-battery-staple".to_owned(), []).ok()?;
    Some(Redactor::new([secret]))
});

/// A known value never comes through.
fn secrets(input: &str) -> Result<(), String> {
    let redactor = REDACTOR.as_ref().ok_or("no redactor")?;
    for scope in [Scope::Log, Scope::Chat, Scope::Code, Scope::Known] {
        let masked = redactor.redact_in(scope, input);
        if masked.contains("correct-horse-battery-staple") {
            return Err(format!("{scope:?}: {masked:?}"));
        }
    }
    Ok(())
}
