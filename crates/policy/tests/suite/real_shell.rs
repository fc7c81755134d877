//! What we take a command for is what a real bash makes of it.

use std::process::{Command, Stdio};

use hermes_policy::{Isolation, Surroundings, judge};
use proptest::prelude::*;

fn around() -> Surroundings {
    Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/".to_owned(),
        own_pid: None,
        isolation: Isolation::None,
    }
}

/// What the program `mark` was given, a line for each call, as bash sees it. Nothing else can be found by it.
fn by_bash(command: &str) -> Vec<String> {
    let script = format!(
        "mark() {{ local IFS=' '; printf '%s\\n' \"mark $*\" >&9; }}\nexport -f mark\n{command}\n"
    );
    let child = Command::new("bash")
        .args([
            "--noprofile",
            "--norc",
            "-c",
            "exec 9>&1 >/dev/null 2>/dev/null; eval \"$1\"",
            "bash",
            &script,
        ])
        .env_clear()
        .env("HOME", "/home/ada")
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    text.lines().map(str::to_owned).collect()
}

/// The same as we see it.
fn by_us(command: &str) -> Vec<String> {
    let judgement = judge(command, &around());
    let calls = judgement.commands.into_iter();
    calls
        .filter(|line| line == "mark" || line.starts_with("mark "))
        .map(|line| {
            if line == "mark" {
                "mark ".to_owned()
            } else {
                line
            }
        })
        .collect()
}

/// Every call a real shell makes must be among those we see.
#[track_caller]
fn check(command: &str) {
    let seen = by_us(command);
    for call in by_bash(command) {
        assert!(
            seen.contains(&call),
            "bash runs {call:?}, we see {seen:?} in:\n{command}"
        );
    }
}

/// Ways to call the same programs.
const DISGUISES: &[&str] = &[
    "mark a b",
    "m\\ark a",
    "'ma'\"rk\" a",
    "$'\\x6dark' a",
    "mark $'a\\tb\\101\\u00e9'",
    "mark${IFS}a${IFS}b",
    "{mark,a,b}",
    "mark {a,b}{c,d} x{1..3}y",
    "x=mark; $x a",
    "x='mark a b'; $x",
    "x='mark a'; declare y=$x; $y",
    "x='mark a'; export y=$x z=b; $y $z",
    "f() { local y=$x; $y; }; x='mark a'; f",
    "x='mark a'; declare y=$x\\ {; $y",
    "declare y={mark,'mark b'}; $y",
    "x='mark a'; y='m[$($x)]'; [[ $y -eq 0 ]]",
    "x='m[$(mark a)]'; declare -a y='([x]=1)'",
    "x='m[$(mark a)]'; echo ${!x}",
    "compgen -W '$(mark a)'",
    "HOME=/x; mark ~/y",
    "x='mark a'; eval \"$x\"",
    "x=(mark a 'b c'); \"${x[@]}\"",
    "$(echo mark) a",
    "`echo mark` a",
    "$(printf '%s' mark) a",
    "${nope:-mark} a",
    "mark ${HOME:0:3} ${HOME#/home} ${HOME%da} ${HOME/home/x}",
    "mark \"$(echo 'a  b')\" $(echo 'a  b')",
    "echo 'mark a' | bash",
    "bash <<< 'mark a'",
    "bash <<E\nmark a\nE",
    "cat <<E | bash\nmark a\nE",
    "echo bWFyayBhCg== | base64 -d | bash",
    "echo 'a kram' | rev | bash",
    "echo znex n | tr a-z n-za-m | bash",
    "bash -c 'mark \"$1\"' x a",
    "bash -c 'bash -c \"mark a\"'",
    "env bash -c 'mark a'",
    "timeout 5 bash -c 'mark a'",
    "nice -n 1 bash -c 'mark a'",
    "f() { mark \"$1\"; }; f a",
    "for i in a b; do mark $i; done",
    "if true; then mark a; fi",
    "case a in a) mark a;; esac",
    "(mark a)",
    "{ mark a; }",
    "! mark a",
    "true && mark a || mark b",
    "echo $(mark a)",
    "cat <(mark a)",
    "x=$(mark a)",
    "[[ -n $(mark a) ]]",
    "(( x = $(mark a; echo 1) ))",
    "cat <<E\n$(mark a)\nE",
    "cat <<'E' <<F\nx\nE\n$(mark a)\nF\nmark b",
    "cat <<E > /dev/null; mark a\ntext\nE",
    "mark \\\n a",
    "mark a # b\nmark c",
    "set -- mark a; \"$@\"",
    "echo a | xargs -n1 bash -c 'mark \"$0\"'",
    "source /dev/stdin <<< 'mark a'",
    ". <(echo mark a)",
    "mark ~ ~/x '~'",
    "a=1 b=2 mark c",
    "mark \"a\\\"b\" 'c\"d' e\\ f",
    "mark \"\" ''",
    "x=a; x+=b; mark $x",
    "coproc mark a; wait",
    "time mark a",
    "while mark a; do break; done",
    "trap 'mark a' EXIT",
    "<<E bash\nmark a\nE",
    "mark $((1+1)) | true; mark z",
    "x=abc; mark ${x:1:1} ${x^^} ${x//b/z}",
    "eval \"$(echo mark a)\"",
    "function g { mark a; }; g",
    "mark 'a\nb'",
    "y=x; x=a; mark ${!y}",
    "mark a{b,c}'{d,e}'",
    "mark a;mark b&wait",
    "mark \"${HOME}/x\" $HOME/y",
    "2>&1 mark a",
    "mark a >/dev/null 2>&1",
    "mark $'it\\'s'",
    "mark \"`echo a`\"",
    "x='a b'; mark \"$x\" $x",
    "x=mark; false && x=echo; $x a",
    "x=mark; true || x=echo; $x a",
    "x=mark; if false; then x=echo; fi; $x a",
    "x=echo; if true; then x=mark; else x=cat; fi; $x a",
    "x=mark; while false; do x=echo; done; $x a",
    "x=mark; for i in 1; do break; x=echo; done; $x a",
    "x=echo; for i in 1 2; do $x a; x=mark; done",
    "x=mark; case x in y) x=echo;; esac; $x a",
    "case x in x) x=mark;& y) y=a;; *) x=echo;; esac; $x $y",
    "x=mark; x=echo true; $x a",
    "x=mark; x=echo $x a",
    "x=mark; echo y | x=echo; $x a",
    "x=mark; { x=echo; } & $x a; wait",
    "x=mark; (x=echo); $x a",
    "x=mark; trap 'x=echo' USR1; $x a",
    "trap 'x=mark' DEBUG; x=echo; $x a",
    "f() { x=mark; }; x=echo; f; $x a",
    "f() { local x=echo; }; x=mark; f; $x a",
    "f() { for i in 1; do x=mark; return; done; x=echo; }; f; $x a",
    "f() { mark \"$@\"; }; false && f() { :; }; f a",
    "x=echo; unset x; ${x:-mark} a",
    "x=; ${x:+echo} mark a",
    "x=; : ${x:=mark}; $x a",
    "x=echo; printf -v x %s mark; $x a",
    "set mark a; \"$@\"",
    "set -f; set mark a; $*",
    "set -- echo mark a; shift; \"$@\"",
    "set -- x mark a; \"${@:2}\"",
    "set -- x mark a; \"${@:2:1}\" b",
    "set -- 1 2 3 4 5 6 7 8 9 mark; ${10} a",
    "set -- mark; for c; do $c a; done",
    "IFS=; set -- ma rk; \"$*\" a",
    "x=(echo mark); \"${x[@]:1}\" a",
    "x=(echo); x+=(mark); ${x[1]} a",
    "x=(mark); x[1]=echo; ${x[0]} a",
    "x=(echo); x[0]=mark; $x a",
    "declare -a x=(mark a); \"${x[@]}\"",
    "for c in a b c d e f g h i j k l m n o p q mark; do $c z; done",
    "for c in {1..20} mark; do $c z; done",
    "a[$(mark a)]=1",
    "echo ${a[$(mark a)]}",
    "x=(y); echo \"${#x[$(mark a; echo 0)]}\"",
    "case x in $(mark a)) ;; esac",
    "x='a[$(mark a)]'; (( x > 1 ))",
    "declare -i n; n='a[$(mark a)]'",
    "let 'a[$(mark a; echo 1)]=1'",
    "[[ 'a[$(mark a)]' -eq 0 ]]",
    "printf -v 'a[$(mark a)]' x",
    "x='$(mark a)'; echo \"${x@P}\"",
    "PS4='$(mark a)'; set -x; true",
    "cat <<'E\r'\nE\r\nmark a",
    "cat <<E\nE\r\necho '\nE\nmark a\ncat <<F\n'\nF",
    "echo ${!}; mark a; echo }",
    "d=$(mktemp -d) && cd \"$d\" && echo 'mark a' > x.sh && bash x.sh; rm -r \"$d\"",
    "printf 'echo\\nmark\\n' | xargs -I% bash -c '% a'",
    "printf 'echo\\nmark\\n' | xargs -n1 bash -c '$0 a'",
    "$(false && echo echo; echo mark) a",
    "$(nope 2>/dev/null || echo mark) a",
];

// EX-54
#[test]
fn disguises_come_out_as_bash_runs_them() {
    for &command in DISGUISES {
        // What bash prints across lines or computes is left out of the comparison.
        if command.contains("$((") || command.contains("'a\nb'") {
            judge(command, &around());
            continue;
        }
        assert!(
            !by_bash(command).is_empty(),
            "bash runs nothing in {command}"
        );
        check(command);
    }
}

/// Pieces of words with every kind of quote.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9/._-]{1,4}",
        "[a-z ]{0,4}".prop_map(|text| format!("'{text}'")),
        "[a-z ]{0,4}".prop_map(|text| format!("\"{text}\"")),
        "[a-z$ ;|'\"]".prop_map(|text| format!("\\{text}")),
        "[a-z]{1,3}".prop_map(|text| format!("$'{text}\\x41'")),
        Just("\"$v\"".to_owned()),
        Just("${v}".to_owned()),
        Just("${none:-d}".to_owned()),
        Just("$(echo o)".to_owned()),
        Just("`echo p`".to_owned()),
        Just("{x,y}".to_owned()),
        Just("\"$(printf 'q r')\"".to_owned()),
    ]
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::collection::vec(piece(), 1..4).prop_map(|pieces| pieces.concat());
    prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.min(150),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    // EX-54
    #[test]
    fn words_expand_as_in_bash(words in words()) {
        check(&format!("v='s t'; mark {words}"));
    }
}
