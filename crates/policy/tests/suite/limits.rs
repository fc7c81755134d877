//! Size, depth and nonsense.

use std::time::Duration;

use hermes_policy::{Isolation, Judgement, Surroundings, Verdict, judge};
use proptest::prelude::*;

fn around() -> Surroundings {
    Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/home/ada/project".to_owned(),
        own_pid: Some(4711),
        isolation: Isolation::None,
    }
}

/// The entry for fuzzers: any text has a judgement whose places lie inside it.
fn judged(text: &str) -> Judgement {
    let judgement = judge(text, &around());
    for finding in &judgement.findings {
        let span = finding.span;
        assert!(
            text.get(span.start..span.end).is_some(),
            "{span:?} in {text:?}"
        );
    }
    judgement
}

/// Tests are built with little optimisation; optimised, every shape takes well under a second.
const GENEROUS: Duration = Duration::from_secs(8);

/// The time this thread has computed, whatever else the machine does.
fn computed() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = text.split(' ').next().unwrap().parse().unwrap();
    Duration::from_nanos(nanoseconds)
}

// EX-54
#[test]
fn what_is_no_command_at_all_is_asked_about() {
    for text in [
        "A=((",
        "A=((x",
        "env A=(( timeout 5",
        "a=(b (c",
        "for x in ((",
        "case ((",
        "f() (((",
    ] {
        assert_ne!(judged(text).verdict, Verdict::Allow, "{text}");
    }
}

// EX-54
#[test]
fn a_megabyte_is_judged_in_linear_time() {
    let whole = |unit: &str| unit.repeat(1_000_000 / unit.len());
    // Shapes nobody writes get less, so that the test ends soon on a slow machine.
    let repeated = |unit: &str| unit.repeat(300_000 / unit.len());
    let shapes = [
        ("commands", whole("git status -s; ")),
        ("words", format!("echo {}", whole("word "))),
        ("parentheses", repeated("(")),
        ("arithmetic", repeated("((")),
        ("failing arithmetic", repeated("((") + &repeated(") ")),
        ("substitutions", repeated("$(")),
        ("flat substitutions", format!("echo {}", repeated("$(a) "))),
        ("quotes", repeated("\"") + "\""),
        ("here-documents", repeated("<<a ")),
        (
            "a here-document",
            format!("cat <<EOF\n{}\nEOF\n", whole("some line $x\n")),
        ),
        (
            "python",
            format!("python3 -c '{}'", whole("os.system(\"ls\")\n")),
        ),
        ("braces", format!("echo {}", repeated("{a,b}"))),
        ("open braces", repeated("{")),
        ("pipes", repeated("a|")),
        ("functions", repeated("f(){ f; f; };")),
        ("backticks", format!("echo {}", repeated("`a` "))),
        ("nonsense", repeated(")}]<<&&||;;")),
        ("doubling", format!("a=xx;{}", repeated("a=$a$a;"))),
        (
            "nested shells",
            format!("sh -c '{}'", repeated("sh -c ls;")),
        ),
        ("loops", repeated("for a in 1 2 3 4 5 6 7 8; do ")),
        ("globs", format!("rm -rf {}", repeated("/*"))),
        ("assignments", repeated("a=b ")),
        ("cases", repeated("case x in a) ")),
    ];
    for (name, text) in shapes {
        let start = computed();
        judged(&text);
        let took = computed() - start;
        eprintln!("{name}: {took:?}");
        assert!(took < GENEROUS, "{name}: {took:?}");
    }
}

#[test]
fn a_danger_at_the_end_of_a_long_command_is_seen() {
    let long = format!("{}rm -rf /", "echo word; ".repeat(20_000));
    assert_eq!(judged(&long).verdict, Verdict::Deny);
    let line = format!("echo {} && rm -rf /", "word ".repeat(50_000));
    assert_eq!(judged(&line).verdict, Verdict::Deny);
    let deep = format!("{}rm -rf /{}", "( ".repeat(400), " )".repeat(400));
    assert_ne!(judged(&deep).verdict, Verdict::Allow);
    assert_ne!(judged(&"x".repeat(5_000_000)).verdict, Verdict::Allow);
}

/// Programs and prefixes that start a program. `C` is the command.
const STARTERS: [&str; 8] = [
    "sudo C",
    "env A=b C",
    "nice -n 3 C",
    "timeout 9 C",
    "nohup C",
    "A=1 C",
    "command C",
    "C >x 2>&1",
];

/// Ways of writing any command in another one. `Q` is the command in single quotes, `B` as backticks want it.
const HOLDERS: [&str; 26] = [
    "C &",
    "true && C",
    "false || C",
    "ls; C",
    "( C )",
    "{ C; }",
    "if true; then C; fi",
    "for i in 1; do C; done",
    "while :; do C; done",
    "case a in a) C;; esac",
    "$( C )",
    "`B`",
    "echo \"$( C )\"",
    "sh -c Q",
    "bash -lc Q",
    "eval Q",
    "echo Q | sh",
    "bash <<< Q",
    "bash <<'E'\nC\nE",
    "cat <<E | sh\nC\nE",
    "f() { C; }; f",
    "trap Q EXIT",
    "x=Q; eval \"$x\"",
    "ssh host Q",
    "ls | C",
    "python3 -c \"import os; os.system(Q)\"",
];

const HARD: [&str; 8] = [
    "rm -rf /",
    "rm -rf /etc",
    "mkfs.ext4 /dev/sda",
    "dd if=x of=/dev/sda",
    "reboot",
    "kill -9 -1",
    "shutdown -h now",
    "find / -delete",
];

fn wrap(command: &str, wrapper: &str) -> String {
    let quoted = format!("'{}'", command.replace('\'', "'\\''"));
    let mut text = String::new();
    for c in wrapper.chars() {
        match c {
            'C' => text.push_str(command),
            'Q' => text.push_str(&quoted),
            'B' => text.push_str(&command.replace('\\', "\\\\").replace('`', "\\`")),
            other => text.push(other),
        }
    }
    text
}

/// Text that is likely to mean something to a shell.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z/.-]{1,6}",
        3 => prop::sample::select(vec![
            " ", "\n", ";", "|", "&", "&&", "(", ")", "{", "}", "'", "\"", "`", "$(", "${", "$((", "<<E\n", "E\n", "<(", ">", "<", "\\",
            "$x", "$'", "[[", "]]", "if ", "then ", "fi", "for ", "do ", "done", "case ", "in ", "esac", "f()", "=", "#", "*", "rm -rf /", "é", "\u{10fffd}",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // EX-54
    #[test]
    fn any_text_has_a_judgement(text in shellish()) {
        judged(&text);
    }

    // EX-54
    #[test]
    fn what_is_forbidden_stays_so_in_any_wrapping(
        command in prop::sample::select(HARD.to_vec()),
        starters in prop::collection::vec(prop::sample::select(STARTERS.to_vec()), 0..3),
        holders in prop::collection::vec(prop::sample::select(HOLDERS.to_vec()), 0..4),
    ) {
        let wrappers = starters.iter().chain(&holders);
        let text = wrappers.fold(command.to_owned(), |text, wrapper| wrap(&text, wrapper));
        prop_assert_ne!(judged(&text).verdict, Verdict::Allow, "{}", text);
    }

    // EX-54
    #[test]
    fn one_layer_of_wrapping_changes_nothing(
        command in prop::sample::select(HARD.to_vec()),
        wrapper in prop::sample::select([STARTERS.as_slice(), HOLDERS.as_slice()].concat()),
    ) {
        let text = wrap(command, wrapper);
        prop_assert_eq!(judged(&text).verdict, Verdict::Deny, "{}", text);
    }
}
