//! Commands on file and what must come of them.

use hermes_policy::{Isolation, Surroundings, Verdict, catalogue, judge};

fn around() -> Surroundings {
    Surroundings {
        home: "/home/ada".to_owned(),
        product_home: "/home/ada/.hermes".to_owned(),
        cwd: "/home/ada/project".to_owned(),
        own_pid: Some(4711),
        isolation: Isolation::None,
    }
}

struct Entry {
    verdict: Verdict,
    category: &'static str,
    command: String,
}

fn entries(text: &'static str) -> Vec<Entry> {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("# ") && !line.is_empty());
    let entry = |line: &'static str| {
        let mut parts = line.splitn(3, '\t');
        let verdict = match parts.next() {
            Some("allow") => Verdict::Allow,
            Some("ask") => Verdict::Ask,
            Some("deny") => Verdict::Deny,
            other => panic!("{other:?} in {line}"),
        };
        Entry {
            verdict,
            category: parts.next().unwrap(),
            command: parts.next().unwrap().replace('␤', "\n").replace('␍', "\r"),
        }
    };
    lines.map(entry).collect()
}

/// The share of benign commands that may be asked about, in hundredths.
const MOST_ASKED: usize = 2;

// EX-53, EX-54
#[test]
fn every_dangerous_command_is_caught_with_its_category() {
    let all = entries(include_str!("../corpus/dangerous.txt"));
    assert!(all.len() >= 350, "{}", all.len());
    let known: Vec<&str> = catalogue().iter().map(|rule| rule.category).collect();
    let mut wrong = Vec::new();
    for entry in &all {
        let found = judge(&entry.command, &around());
        let named = found
            .categories
            .iter()
            .any(|category| category == entry.category);
        assert!(
            known.contains(&entry.category) || entry.category == "other-machine",
            "{}",
            entry.category
        );
        if found.verdict < entry.verdict || !named {
            let got = found.categories.join(",");
            wrong.push(format!(
                "{} {} <- {:?} [{got}]",
                entry.category, entry.command, found.verdict
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}

// EX-53
#[test]
fn everyday_commands_run_unasked() {
    let all = entries(include_str!("../corpus/benign.txt"));
    assert!(all.len() >= 250, "{}", all.len());
    let mut asked = Vec::new();
    for entry in &all {
        let found = judge(&entry.command, &around());
        assert_ne!(found.verdict, Verdict::Deny, "{}", entry.command);
        if found.verdict != entry.verdict {
            asked.push(format!(
                "{} [{}]",
                entry.command,
                found.categories.join(",")
            ));
        }
    }
    let most = all.len() * MOST_ASKED / 100;
    assert!(
        asked.len() <= most,
        "{} of {}:\n{}",
        asked.len(),
        all.len(),
        asked.join("\n")
    );
}

// EX-53, EX-54
#[test]
fn commands_the_rules_were_not_made_for_are_judged_as_well() {
    let all = entries(include_str!("../corpus/unseen.txt"));
    let (mut missed, mut asked, mut benign) = (Vec::new(), Vec::new(), 0);
    for entry in &all {
        let found = judge(&entry.command, &around());
        let got = format!("{} [{}]", entry.command, found.categories.join(","));
        if entry.verdict == Verdict::Allow {
            benign += 1;
            asked.extend((found.verdict != Verdict::Allow).then_some(got));
        } else {
            let named = found
                .categories
                .iter()
                .any(|category| category == entry.category);
            missed.extend((found.verdict < entry.verdict || !named).then_some(got));
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {}:\n{}",
        missed.len(),
        all.len() - benign,
        missed.join("\n")
    );
    let most = benign * MOST_ASKED / 100;
    assert!(
        asked.len() <= most,
        "{} of {benign}:\n{}",
        asked.len(),
        asked.join("\n")
    );
}
