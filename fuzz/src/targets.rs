//! What is tried, on what, and what must hold.

use std::sync::LazyLock;

use hermes_exec::strip_ansi;
use hermes_policy::{Isolation, Surroundings, Typed, Verdict, judge, judge_typed};
use hermes_secrets::{Redactor, Scope, Secret, SecretName};
use hermes_tools::texts;

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

const COMMANDS: &[&str] = &[
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

/// Commands that never run.
const NEVER: &[&str] = &[
    "rm -rf /",
    "rm -rf --no-preserve-root /",
    "mkfs.ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda",
    "shutdown -h now",
    "kill -9 -1",
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

fn around() -> Surroundings {
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

/// Ways to run something inside something else; the mark is where it goes.
const WAYS: &[&str] = &[
    "( @ )",
    "{ @; }",
    "for i in 1 2; do @; done",
    "while true; do @; break; done",
    "until @; do :; done",
    "if @; then :; fi",
    "if true; then :; else @; fi",
    "case x in x) @;; esac",
    "f() { @; }; f",
    "function g { @; }\ng",
    "echo \"$( @ )\"",
    "x=$( @ )",
    "cat <( @ )",
    "true && @",
    "false || @",
    "! @",
    "@ | cat",
    "cat f | { @; }",
    "@ > out.txt",
    "A=1 @",
    "sudo @",
    "env B=2 nice @",
    "perf stat @",
    "rr record @",
    "direnv exec . @",
    "watchexec @",
    "xterm -e @",
    "gdb --args @",
    "sh <<'E'\n@\nE\n",
    "cat <<'E' | bash\n@\nE\n",
    "bash -s <<E\n@\nE\n",
    "cat > zq.sh <<'E'\n@\nE\nbash zq.sh",
    "tee zq.sh <<'E' > /dev/null\n@\nE\n. ./zq.sh",
    "a[$( @ )]=1",
    "echo ${a[$( @ )]}",
    "case x in $( @ )) :;; esac",
    "for i in a b c d e f g h i j k l m n o p q r; do @; done",
    "f() { @; }; false && f() { :; }; f",
    "set @; $*",
    "set -- x @; shift; $*",
    "a=(x @); ${a[*]:1}",
];

/// Ways that hold it in single quotes.
const QUOTED_WAYS: &[&str] = &[
    "bash -c '@'",
    "eval '@'",
    "trap '@' EXIT",
    "alias q='@'\nq",
    "echo x | xargs sh -c '@'",
    "printf '%s' '@' | sh",
    "x='@'; false && x=:; eval \"$x\"",
    "x='@'; if false; then x=:; fi; eval \"$x\"",
    "x='@'; case a in b) x=:;; esac; eval \"$x\"",
    "x='@'; x=: true; eval \"$x\"",
    "x='@'; x=: | true; eval \"$x\"",
    "x=:; y='@'; while read -r z; do eval \"$x\"; x=$y; done < f",
    "f() { x='@'; }; x=:; f; eval \"$x\"",
    "x=:; printf -v x %s '@'; eval \"$x\"",
    "x=:; read -r x <<< '@'; eval \"$x\"",
    "for i in {1..20} '@'; do eval \"$i\"; done",
    "printf 'ls\\n%s\\n' '@' | xargs -I% sh -c %",
    "parallel ::: ls '@'",
    "x='a[$( @ )]'; echo $((x))",
    "declare -i n; n='a[$( @ )]'",
    "PS4='$( @ )'; set -x",
    "echo '@' > zq.sh; bash zq.sh",
    "printf '%s\\n' '@' | tee zq.sh; sh zq.sh",
    "mapfile -C '@' -c 1 x < f",
    "readarray -tC '@' x < f",
    "compgen -C '@' x",
    "split --filter='@' f",
    "rsync -e '@' a b",
    "nodemon --exec '@' x",
    "hyperfine '@'",
    "cargo watch -s '@'",
    "gdb -ex 'shell @'",
    "lldb -o 'platform shell @'",
    "ansible all -a '@'",
    "make -f <( echo 'a: ; @' )",
    "gmake --file=<( echo 'a: ; @' )",
    "awk -f <( echo 'BEGIN { system(\"@\") }' )",
    "sed -f <( echo '1e @' ) f",
    "vim -S <( echo '!@' ) f",
    "gdb -x <( echo 'shell @' )",
    "sqlite3 -init <( echo '.shell @' ) f",
    "psql -f <( echo '\\! @' )",
    "ssh -F <( echo 'ProxyCommand @' ) h",
    "tmux source-file <( echo 'run-shell \"@\"' )",
    "cp <( echo '@' ) zq; sh zq",
    "echo '@' > zq; cp zq zr; sh zr",
    "echo 'shell @' > zq; gdb -x zq",
    "echo '\\! @' > zq; psql -f zq",
    "echo 'ProxyCommand @' > zq; ssh -F zq h",
    "printf 'a:\\n\\t%s\\n' '@' > justfile; just",
    "echo 'x = !@' > zq; git -c include.path=zq x",
    "echo 'system(\"@\");' > zq.c; gcc zq.c -o zq && ./zq",
];

/// Ways a program that nobody knows may be told what to start; `%` is its name.
const UNKNOWN_WAYS: &[&str] = &[
    "% @",
    "% -- @",
    "% -n 3 @",
    "% --user ada --keep @",
    "% --user=ada -- @",
    "% run @",
    "% exec . @",
    "% A=1 @",
    "% '1 day ago' @",
    "/opt/tools/bin/% @",
    "./% @",
    "bash %.sh @",
    "python3 %.py @",
    "sudo -n % @",
    "% sudo @",
    "% timeout 5 @",
];

/// The same with the command in single quotes.
const UNKNOWN_QUOTED_WAYS: &[&str] = &[
    "% -c '@'",
    "% -lc '@'",
    "% -e '@'",
    "% --command '@'",
    "% --exec='@'",
    "% enable x '@'",
    "% sh -c '@'",
    "% <<< '@'",
    "% 'first; @'",
    "% -f <( echo '@' )",
    "% --file=<( echo '@' )",
    "echo '@' > zq.txt; % zq.txt",
    "echo '@' > zq.txt; % run",
];

/// A name that no table holds.
fn unknown_name(mut number: usize) -> String {
    let mut name = "zq".to_owned();
    for _ in 0..1 + number % 5 {
        name.push(char::from(
            b'a' + u8::try_from(number % 26).unwrap_or_default(),
        ));
        number /= 26;
    }
    name
}

/// A command that never runs is not allowed before, behind or inside anything else, however deep.
fn disguises(input: &str) -> Result<(), String> {
    let mut number = input.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut pick = |most: usize| {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(number >> 33).unwrap_or_default() % most
    };
    let mut hidden = NEVER[pick(NEVER.len())].to_owned();
    for _ in 0..pick(4) {
        if pick(3) == 0 {
            let name = unknown_name(pick(1 << 24));
            let plain = UNKNOWN_WAYS.len() * usize::from(is_plain(&hidden));
            let way = pick(plain + UNKNOWN_QUOTED_WAYS.len());
            hidden = match UNKNOWN_WAYS.get(way).filter(|_| plain > 0) {
                Some(way) => way.replace('%', &name).replace('@', &hidden),
                None => UNKNOWN_QUOTED_WAYS[way - plain]
                    .replace('%', &name)
                    .replace('@', &hidden.replace('\'', "'\\''")),
            };
            continue;
        }
        let way = pick(WAYS.len() + QUOTED_WAYS.len());
        hidden = match WAYS.get(way) {
            // One here-document inside another needs another end.
            Some(way) if way.contains("<<") && hidden.contains("<<") => continue,
            // Where a here-document is expanded, variables are read too early.
            Some(way) if way.contains("<<E") && hidden.contains('$') => continue,
            // Only what stands on one line is an argument of a wrapper.
            Some(way) if is_wrapper(way) && !is_plain(&hidden) => continue,
            Some(way) => way.replace('@', &hidden),
            None => {
                let way = QUOTED_WAYS[way - WAYS.len()];
                // Quotes of its own end at another one, and variables inside them are read too early.
                let quoted = way.contains("\"@\"");
                if quoted && hidden.contains(['"', '\\', '\n', '$', '`']) {
                    continue;
                }
                // What takes one line leaves the others.
                if (way.contains("read -r x") || way.contains("xargs -I")) && hidden.contains('\n')
                {
                    continue;
                }
                way.replace('@', &hidden.replace('\'', "'\\''"))
            }
        };
    }
    // What stands before it must be whole, or it could be a part of that.
    let before = match pick(2) {
        0 => String::new(),
        _ => format!("{}\n", COMMANDS[pick(COMMANDS.len())]),
    };
    let whole = format!("{before}{hidden}\n{input}");
    match judge(&whole, &around()).verdict {
        Verdict::Allow => Err(format!("allowed: {whole:?}")),
        Verdict::Ask | Verdict::Deny => Ok(()),
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

fn is_wrapper(way: &str) -> bool {
    const WRAPPERS: [&str; 13] = [
        "set @; $*",
        "set -- x @; shift; $*",
        "a=(x @); ${a[*]:1}",
        "A=1 @",
        "sudo @",
        "env B=2 nice @",
        "@ > out.txt",
        "perf stat @",
        "rr record @",
        "direnv exec . @",
        "watchexec @",
        "xterm -e @",
        "gdb --args @",
    ];
    WRAPPERS.contains(&way)
}

fn is_plain(command: &str) -> bool {
    NEVER.contains(&command)
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
