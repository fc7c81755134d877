use super::*;
use crate::Theme;

fn entry(name: &str, aliases: &[&str], arguments: &[&str], asks: bool) -> CommandEntry {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    CommandEntry {
        name: name.into(),
        aliases: owned(aliases),
        hint: String::new(),
        about: format!("about {name}"),
        arguments: owned(arguments),
        asks,
    }
}

fn complete() -> Complete {
    let mut complete = Complete::default();
    complete.set_commands(vec![
        entry("new", &["reset"], &[], false),
        entry("model", &[], &[], true),
        entry("memory", &[], &["pending", "approve", "reject"], false),
    ]);
    complete
}

fn labels(complete: &Complete) -> Vec<String> {
    let lines = complete.view(60, &Theme::plain());
    let text = lines.iter().map(|line| line.to_string());
    text.map(|line| {
        line.trim_start_matches(['›', ' '])
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    })
    .collect()
}

// CL-17
#[test]
fn commands_are_offered_while_their_name_is_written() {
    let mut complete = complete();
    assert!(
        complete.refresh("/m", 2, false).is_some(),
        "skills are asked for"
    );
    assert_eq!(labels(&complete), ["/model", "/memory"]);
    complete.refresh("/mem", 4, false);
    assert_eq!(labels(&complete), ["/memory"]);
    let accepted = complete.accept();
    assert_eq!(
        accepted,
        Some(Accepted {
            range: 0..4,
            value: "/memory ".into()
        })
    );
    complete.refresh("/res", 4, false);
    assert_eq!(labels(&complete), ["/reset"], "other names are found too");
    complete.refresh("/", 1, false);
    assert_eq!(
        labels(&complete),
        ["/new", "/model", "/memory"],
        "each once"
    );
    complete.refresh("/zzz", 4, false);
    assert!(!complete.is_open());
}

#[test]
fn arguments_are_known_or_asked_for() {
    let mut complete = complete();
    assert_eq!(complete.refresh("/memory ", 8, false), None);
    assert_eq!(labels(&complete), ["pending", "approve", "reject"]);
    let request = complete.refresh("/model ", 7, false).unwrap();
    assert_eq!(
        request.subject,
        Subject::Argument {
            command: "model".into(),
            given: 0
        }
    );
    assert!(!complete.is_open());
    assert!(complete.supply(
        request.id,
        vec![Candidate::new("big", "1M"), Candidate::new("small", "")]
    ));
    assert_eq!(labels(&complete), ["big", "small"]);
    // CL-22: what is said about an argument finds it, behind those that begin like it.
    let request = complete.refresh("/model ma", 9, false).unwrap();
    let told = vec![
        Candidate::new("20260101", "Marching orders"),
        Candidate::new("main", ""),
        Candidate::new("other", "m and a"),
    ];
    complete.supply(request.id, told);
    assert_eq!(labels(&complete), ["main", "20260101"]);
}

// CL-17
#[test]
fn an_answer_that_comes_too_late_is_dropped() {
    let mut complete = complete();
    let first = complete.refresh("./a", 3, false).unwrap();
    let second = complete.refresh("./ab", 4, false).unwrap();
    assert!(!complete.supply(first.id, vec![Candidate::new("./a.txt", "")]));
    assert!(!complete.is_open());
    assert!(complete.supply(second.id, vec![Candidate::new("./ab.txt", "")]));
    assert!(complete.is_open());
    let third = complete.refresh("./abc", 5, false).unwrap();
    complete.reset();
    assert!(!complete.supply(third.id, vec![Candidate::new("./abc", "")]));
    // Nobody is asked about what follows, and the skills that were on their way are no offer for it.
    let skills = complete.refresh("/memory", 7, false).unwrap();
    assert_eq!(complete.refresh("/memory pe", 10, false), None);
    assert!(!complete.supply(skills.id, vec![Candidate::new("/spike", "")]));
    assert_eq!(labels(&complete), ["pending", "approve"]);
}

#[test]
fn old_answers_are_narrowed_until_the_new_one_is_there() {
    let mut complete = complete();
    let request = complete.refresh("./", 2, false).unwrap();
    complete.supply(
        request.id,
        vec![Candidate::new("./src/", ""), Candidate::new("./notes", "")],
    );
    complete.refresh("./s", 3, false);
    assert_eq!(labels(&complete), ["./src/", "./notes"]);
    complete.refresh("./sr", 4, false);
    assert_eq!(labels(&complete), ["./src/"]);
    assert_eq!(
        complete.accept().map(|accepted| accepted.value).as_deref(),
        Some("./src/")
    );
}

#[test]
fn arrows_go_round_and_escape_closes_for_this_word() {
    let mut complete = complete();
    complete.refresh("/", 1, false);
    assert!(!complete.is_chosen());
    complete.up();
    assert!(complete.is_chosen());
    assert_eq!(
        complete
            .clone()
            .accept()
            .map(|accepted| accepted.value)
            .as_deref(),
        Some("/memory ")
    );
    complete.down();
    complete.close();
    complete.refresh("/m", 2, false);
    assert!(!complete.is_open());
    complete.refresh("/m", 2, true);
    assert!(complete.is_open());
    complete.close();
    complete.refresh("", 0, false);
    complete.refresh("/n", 2, false);
    assert!(complete.is_open());
}

#[test]
fn references_are_offered_with_what_others_know() {
    let mut complete = complete();
    let request = complete.refresh("see @", 5, false).unwrap();
    assert_eq!(request.subject, Subject::Reference);
    assert_eq!(labels(&complete).len(), REFERENCES.len());
    complete.supply(request.id, vec![Candidate::new("@file:src/main.rs", "")]);
    assert_eq!(labels(&complete).len(), REFERENCES.len() + 1);
    complete.refresh("see @di", 7, false);
    assert_eq!(
        complete.accept().map(|accepted| accepted.value).as_deref(),
        Some("@diff ")
    );
}

#[test]
fn at_most_eight_rows_are_shown_and_none_is_too_wide() {
    let mut complete = complete();
    let request = complete.refresh("./", 2, false).unwrap();
    let many =
        (0..30).map(|number| Candidate::new(format!("./{number}"), "what it is, at some length"));
    complete.supply(request.id, many.collect());
    for _ in 0..12 {
        complete.down();
    }
    for width in 1..90 {
        let lines = complete.view(width, &Theme::plain());
        assert_eq!(lines.len(), MOST_ROWS);
        assert!(
            lines.iter().all(|line| line.width() <= width),
            "{width}: {lines:?}"
        );
    }
    assert!(labels(&complete).contains(&"./12".to_owned()));
}
