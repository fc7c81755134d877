//! The order of decisions, over all layers.

use std::collections::BTreeSet;

use hermes_core::{Answer, AnsweredBy, Reach};
use hermes_policy::{
    Approvals, Audience, Because, Isolation, Review, Standing, Step, Surroundings, Unattended,
    Verdict, decide, decide_leaving, denial, judge, to_remember, uncovered,
};

const HARMLESS: &str = "ls -la";
const DANGEROUS: &str = "rm -rf build";
const HARD: &str = "rm -rf /";
const PASSWORD: &str = "echo pw | sudo -S id";

fn around(isolation: Isolation) -> Surroundings {
    Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/home/ada/project".to_owned(),
        own_pid: None,
        isolation,
    }
}

static NONE: BTreeSet<String> = BTreeSet::new();

fn standing(command: &str) -> Standing<'_> {
    Standing {
        command,
        mode: Approvals::Manual,
        yolo: false,
        audience: Audience::Person,
        deny: &[],
        allow: &[],
        granted: &NONE,
        sudo_password: false,
        review: Review::Open,
    }
}

/// A step in one word.
fn word(step: &Step) -> &'static str {
    match step {
        Step::Run { because } => match because {
            Because::Harmless => "harmless",
            Because::Isolated => "isolated",
            Because::Yolo => "yolo",
            Because::ModeOff => "off",
            Because::Listed(_) => "listed",
            Because::Granted => "granted",
            Because::Unattended => "unattended",
            Because::Reviewed => "reviewed",
        },
        Step::Review => "review",
        Step::Ask { .. } => "ask",
        Step::Refuse { by, .. } => match by {
            AnsweredBy::Rule(_) => "rule",
            AnsweredBy::Runtime => "runtime",
            AnsweredBy::Stopped => "stopped",
            AnsweredBy::Person(_) => "person",
            AnsweredBy::Program(_) => "program",
        },
    }
}

/// What must happen, written as the order reads, not as the code does.
fn expected(command: &str, isolation: Isolation, standing: &Standing<'_>) -> &'static str {
    if isolation == Isolation::Full {
        let quiet = judge(command, &around(isolation)).verdict == Verdict::Allow;
        return if quiet { "harmless" } else { "isolated" };
    }
    if command == HARD
        || command == PASSWORD && !standing.sudo_password
        || !standing.deny.is_empty()
    {
        return "rule";
    }
    if command == HARMLESS {
        return "harmless";
    }
    if standing.yolo {
        return "yolo";
    }
    if standing.mode == Approvals::Off {
        return "off";
    }
    if command == DANGEROUS && standing.allow.iter().any(|entry| entry == command) {
        return "listed";
    }
    let granted = standing.granted.contains("recursive-delete")
        || standing
            .allow
            .iter()
            .any(|entry| entry == "recursive-delete");
    if command == DANGEROUS && granted {
        return "granted";
    }
    match (standing.audience, standing.mode, standing.review) {
        (Audience::Person, Approvals::Smart, Review::Open) => "review",
        (Audience::Person, Approvals::Smart, Review::Approved) => "reviewed",
        (Audience::Person, _, _) => "ask",
        (
            Audience::Cron(Unattended::Deny)
            | Audience::Headless(Unattended::Deny)
            | Audience::Parent(Unattended::Deny),
            _,
            _,
        ) => "runtime",
        _ => "unattended",
    }
}

/// What must happen when it would leave the sandbox: no mode, list or model has a say.
fn leaving_expected(command: &str, standing: &Standing<'_>) -> &'static str {
    let forbidden = command == HARD
        || command == PASSWORD && !standing.sudo_password
        || !standing.deny.is_empty();
    let granted = command == HARMLESS
        || command == DANGEROUS && standing.granted.contains("recursive-delete");
    match standing.audience {
        _ if forbidden => "rule",
        _ if granted => "granted",
        Audience::Person => "ask",
        Audience::Cron(_) | Audience::Headless(_) | Audience::Parent(_) => "runtime",
    }
}

// EX-52, EX-55, EX-68
#[test]
fn every_layer_keeps_its_place() {
    let deny_lists: [&[&str]; 2] = [&[], &["*"]];
    let allow_lists: [&[&str]; 3] = [&[], &[DANGEROUS], &["recursive-delete"]];
    let grants = [
        BTreeSet::new(),
        BTreeSet::from(["recursive-delete".to_owned()]),
    ];
    let audiences = [
        Audience::Person,
        Audience::Cron(Unattended::Deny),
        Audience::Cron(Unattended::Approve),
        Audience::Headless(Unattended::Deny),
        Audience::Headless(Unattended::Approve),
        Audience::Parent(Unattended::Deny),
        Audience::Parent(Unattended::Approve),
    ];
    let owned = |list: &[&str]| {
        list.iter()
            .map(|entry| (*entry).to_owned())
            .collect::<Vec<_>>()
    };
    let mut cases = 0;
    for command in [HARMLESS, DANGEROUS, HARD, PASSWORD] {
        for isolation in [Isolation::None, Isolation::Mounts, Isolation::Full] {
            let judgement = judge(command, &around(isolation));
            for (deny, allow) in deny_lists.iter().flat_map(|deny| {
                allow_lists
                    .iter()
                    .map(move |allow| (owned(deny), owned(allow)))
            }) {
                for granted in &grants {
                    for audience in audiences {
                        for mode in [Approvals::Manual, Approvals::Smart, Approvals::Off] {
                            for review in [
                                Review::Open,
                                Review::Approved,
                                Review::Denied,
                                Review::Escalated,
                            ] {
                                for (yolo, sudo_password) in
                                    [(false, false), (true, false), (false, true), (true, true)]
                                {
                                    let standing = Standing {
                                        command,
                                        mode,
                                        yolo,
                                        audience,
                                        deny: &deny,
                                        allow: &allow,
                                        granted,
                                        sudo_password,
                                        review,
                                    };
                                    let step = decide(&judgement, &standing);
                                    assert_eq!(
                                        word(&step),
                                        expected(command, isolation, &standing),
                                        "{standing:?} {isolation:?}"
                                    );
                                    let leaving =
                                        decide_leaving(&judgement, &standing, Reach::Once);
                                    assert_eq!(
                                        word(&leaving),
                                        leaving_expected(command, &standing),
                                        "{standing:?} {isolation:?}"
                                    );
                                    cases += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(cases > 40_000, "{cases}");
}

// EX-55
#[test]
fn with_nobody_there_the_runtime_refuses_and_says_so() {
    let judgement = judge(DANGEROUS, &around(Isolation::None));
    let standing = Standing {
        audience: Audience::Headless(Unattended::Deny),
        ..standing(DANGEROUS)
    };
    let Step::Refuse { by, text } = decide(&judgement, &standing) else {
        panic!("it was not refused");
    };
    assert_eq!(by, AnsweredBy::Runtime);
    assert!(
        text.contains("No person refused it") && text.contains("approvals.headless_mode"),
        "{text}"
    );
}

// EX-54
#[test]
fn a_grant_covers_its_category_only() {
    let command = "rm -rf x; curl u | sh";
    let judgement = judge(command, &around(Isolation::None));
    let granted = BTreeSet::from(["recursive-delete".to_owned()]);
    let standing = Standing {
        granted: &granted,
        ..standing(command)
    };
    let Step::Ask { findings, reach } = decide(&judgement, &standing) else {
        panic!("it was not asked about");
    };
    let left: Vec<&str> = findings
        .iter()
        .map(|finding| finding.category.as_str())
        .collect();
    assert_eq!((left, reach), (vec!["remote-code"], Reach::Always));
    assert_eq!(uncovered(&judgement, &standing), findings);
    let remembered = to_remember(&findings, &Answer::AllowAlways, reach);
    assert_eq!(remembered, BTreeSet::from(["remote-code".to_owned()]));
    assert!(to_remember(&findings, &Answer::AllowOnce, reach).is_empty());
    assert!(to_remember(&findings, &Answer::AllowAlways, Reach::Session).is_empty());
}

#[test]
fn some_answers_cannot_last() {
    let reach = |command: &str, review, mode| {
        let judgement = judge(command, &around(Isolation::None));
        let standing = Standing {
            review,
            mode,
            ..standing(command)
        };
        match decide(&judgement, &standing) {
            Step::Ask { reach, .. } => reach,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        reach(DANGEROUS, Review::Open, Approvals::Manual),
        Reach::Always
    );
    assert_eq!(
        reach(DANGEROUS, Review::Escalated, Approvals::Smart),
        Reach::Always
    );
    assert_eq!(
        reach(DANGEROUS, Review::Denied, Approvals::Smart),
        Reach::Once
    );
    assert_eq!(
        reach("eval \"$X\"", Review::Open, Approvals::Manual),
        Reach::Session
    );
}

// EX-52
#[test]
fn deny_patterns_see_through_wrappers_and_paths() {
    let deny = ["git push*".to_owned(), "npm publish".to_owned()];
    for (command, refused) in [
        ("git push origin main", true),
        ("GIT PUSH", true),
        ("/usr/bin/git push", true),
        ("cd x && git -C y push --tags", true),
        ("sudo timeout 5 npm publish", true),
        ("sh -c 'npm publish'", true),
        ("g=git; $g push", true),
        ("doppler run -- git push", true),
        ("op run --env-file x -- git push origin main", true),
        ("launch git push", true),
        ("bash ./x.sh git push", true),
        ("script -qc 'git push' x", true),
        ("su ada --command='git push'", true),
        ("git pull", false),
        ("echo git push", false),
        ("doppler run -- git pull", false),
        ("gh issue create --title 'git push fails'", false),
    ] {
        let judgement = judge(command, &around(Isolation::None));
        let standing = Standing {
            deny: &deny,
            yolo: true,
            ..standing(command)
        };
        let is_refused = matches!(decide(&judgement, &standing), Step::Refuse { .. });
        assert_eq!(is_refused, refused, "{command}");
    }
}

// EX-52
#[test]
fn an_allowed_pattern_covers_one_program_and_nothing_behind_it() {
    let allow = [
        "rm -rf build*".to_owned(),
        "git *".to_owned(),
        "bash -lc ls".to_owned(),
    ];
    for (command, listed) in [
        ("rm -rf build", true),
        ("rm -rf build/x", true),
        ("git reset --hard", true),
        ("bash -lc ls", true),
        ("rm -rf build; rm -rf src", false),
        ("rm -rf build && curl u | sh", false),
        ("rm -rf build > /etc/x", false),
        ("rm -rf build $(rm -rf src)", false),
        ("git -c alias.x='!rm -rf src' x", false),
        ("rm -rf build\nrm -rf src", false),
    ] {
        let judgement = judge(command, &around(Isolation::None));
        let standing = Standing {
            allow: &allow,
            ..standing(command)
        };
        assert_eq!(
            word(&decide(&judgement, &standing)) == "listed",
            listed,
            "{command}"
        );
    }
}

#[test]
fn the_model_is_told_who_refused() {
    let by_person = denial(&AnsweredBy::Person("Ada".to_owned()), Some("use a copy"));
    assert!(
        by_person.starts_with("Ada refused the command, saying: use a copy."),
        "{by_person}"
    );
    let by_program = denial(&AnsweredBy::Program("robot".to_owned()), None);
    assert!(by_program.starts_with("A program"), "{by_program}");
    assert!(by_program.contains("(robot)"), "{by_program}");
    assert!(denial(&AnsweredBy::Runtime, None).starts_with("Nobody answered in time"));
    assert!(denial(&AnsweredBy::Stopped, None).starts_with("The call was stopped before"));
    assert_eq!(Approvals::named("nonsense"), Approvals::Manual);
    assert_eq!(Approvals::named("false"), Approvals::Off);
}
