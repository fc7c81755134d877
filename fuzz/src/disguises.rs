//! Commands that never run, inside whatever else runs commands.

use hermes_policy::{Verdict, judge};

use crate::targets::{COMMANDS, around};

/// Commands that never run.
pub(crate) const NEVER: &[&str] = &[
    "rm -rf /",
    "rm -rf --no-preserve-root /",
    "mkfs.ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda",
    "shutdown -h now",
    "kill -9 -1",
];

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
    "git submodule --quiet foreach '@'",
    "git -C d submodule -q foreach --recursive '@'",
    "git -c filter.x.clean='@' add f",
    "git -c interactive.diffFilter='@' add -p",
    "git config diff.x.textconv '@'",
    "git grep -O'@' f",
    "git clone -u '@' a b",
    "git push --exec='@' a",
    "x='@' git --config-env=core.pager=x log",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='@' git log",
    "GIT_PAGER='@'; export GIT_PAGER; git log",
    "x='@'; export y=$x; eval \"$y\"",
    "history -s '@'; fc -s",
    "compgen -W '$( @ )'",
    "declare -a x='($( @ ))'",
    "declare -A x='([$( @ )]=1)'",
    "x='a[$( @ )]'; echo ${!x}",
    "x='a[$( @ )]'; a=([x]=1)",
    "x='a[$( @ )]'; [[ $x -eq 0 ]]",
    "declare -n zq='a[$( @ )]'; echo $zq",
    "make CC='@'",
    "npm pkg set scripts.x='@'",
    "cargo run --config 'target.x.runner=\"@\"'",
    "RUSTC_WRAPPER='@' cargo build",
    "go test -exec '@'",
    "python3 -m pdb -c '!import os; os.system(\"@\")' x",
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
pub(crate) fn disguises(input: &str) -> Result<(), String> {
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
