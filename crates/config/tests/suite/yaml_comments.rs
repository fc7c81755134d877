//! Comments outlive every edit of the keys around them. CL-7.

use hermes_config::{Document, EditError, KeyPath, Layer, Node, ParseCause, Value, parse};
use proptest::prelude::*;

fn path(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

#[track_caller]
fn check_set(before: &str, key: &str, after: &str) {
    let mut document = Document::new(before).unwrap();
    document.set(&path(key), &Value::Int(7)).unwrap();
    assert_eq!(document.text(), after);
}

#[track_caller]
fn check_remove(before: &str, key: &str, after: &str) {
    let mut document = Document::new(before).unwrap();
    assert!(document.remove(&path(key)).unwrap());
    assert_eq!(document.text(), after);
}

// CL-7
#[test]
fn a_comment_behind_a_block_scalar_stays() {
    for head in [
        "|", "|-", "|+", ">", ">-", ">+", "|2", "|2+", ">1-", "|+ # why",
    ] {
        let note = head
            .split_once(" #")
            .map_or(String::new(), |(_, note)| format!(" #{note}"));
        for blank in ["", "\n", "\n\n"] {
            // Blank lines behind `+` are part of the value; others are not.
            let kept = if head.contains('+') { "" } else { blank };
            for (comment, next) in [
                ("  # two\n", "  b: 1\n"),
                (" # one\n  # two\n", "  b: 1\nc: 2\n"),
                ("# none\n", "c: 2\n"),
                ("# none\n", ""),
                ("  # no newline", ""),
            ] {
                let value = format!("s:\n  k: {head}\n    x\n     y\n{blank}");
                let before = format!("{value}{comment}{next}");
                check_set(
                    &before,
                    "s.k",
                    &format!("s:\n  k: 7{note}\n{kept}{comment}{next}"),
                );
                check_remove(&before, "s.k", &format!("s:\n{kept}{comment}{next}"));
            }
        }
    }
}

// CL-7
#[test]
fn a_block_scalar_without_content_takes_no_other_line() {
    check_set("k: |\n# c\nb: 1\n", "k", "k: 7\n# c\nb: 1\n");
    check_set(
        "s:\n  k: >-\n  # c\n  b: 1\n",
        "s.k",
        "s:\n  k: 7\n  # c\n  b: 1\n",
    );
    check_remove("s:\n  k: |-\n  # c\n  b: 1\n", "s.k", "s:\n  # c\n  b: 1\n");
    check_set(
        "l:\n- |- # why\n  x\n# c\n- b\n",
        "l.0",
        "l:\n- 7 # why\n# c\n- b\n",
    );
}

// CL-7
#[test]
fn items_of_lists_are_removed_in_every_notation() {
    check_remove("d:\n- a # a\n# b\n- b\n", "d.0", "d:\n# b\n- b\n");
    check_remove(
        "s:\n  d:\n  - a\n  - b # b\n  - c\n",
        "s.d.2",
        "s:\n  d:\n  - a\n  - b # b\n",
    );
    check_remove(
        "d: # why\n# a\n- a\n# end\nx: 1\n",
        "d.0",
        "d: [] # why\n# a\n# end\nx: 1\n",
    );
    check_remove("d:\n  - # empty\n  - b\n", "d.0", "d:\n  - b\n");
    check_remove("d:\n-\n- b\n", "d.0", "d:\n- b\n");
    check_remove(
        "l:\n- a: 1 # own\n  # about b\n  b: 2\n",
        "l.0.a",
        "l:\n- # about b\n  b: 2\n",
    );
}

// CL-7
#[test]
fn comments_in_brackets_stay() {
    let before = "d: {\n  a: 1, # a\n  # about b\n  b: 2, # b\n  c: 3 # c\n}\n";
    for key in ["d.a", "d.b", "d.c"] {
        let mut document = Document::new(before).unwrap();
        assert!(document.remove(&path(key)).unwrap());
        for comment in ["# a\n", "# about b\n", "# b\n", "# c\n"] {
            assert!(document.text().contains(comment), "{}", document.text());
        }
    }
}

// CL-7
#[test]
fn a_doubled_key_is_removed_both_times() {
    check_remove(
        "d:\n  a: 1\n  # c\n  b: 2\n  a: 3\n",
        "d.a",
        "d:\n  # c\n  b: 2\n",
    );
    check_remove("a: 1\nb: 2\na: 3\na: 4\n", "a", "b: 2\n");
}

// CL-7
#[test]
fn every_refusal_has_its_own_reason() {
    let set = |text: &str, key: &str| {
        let mut document = Document::new(text).unwrap();
        let error = document.set(&path(key), &Value::Int(7)).unwrap_err();
        assert_eq!(document.text(), text);
        error
    };
    let shared = set("a: &x 1\nb: *x\n", "a");
    assert!(matches!(shared, EditError::Shared { .. }), "{shared}");
    let alias = set("a: &x {k: 1}\nb: *x\n", "b.k");
    assert!(matches!(alias, EditError::Alias { .. }), "{alias}");
    let long = set("? a\n: 1\n", "a");
    assert!(
        matches!(long, EditError::LongNotation { line: 1, .. }),
        "{long}"
    );
    let deep = set("a: 1\n", &["p"; 70].join("."));
    assert!(matches!(deep, EditError::TooDeep { parts: 70 }), "{deep}");
    let hints: std::collections::BTreeSet<_> = [shared, alias, long, deep]
        .iter()
        .map(EditError::hint)
        .collect();
    assert_eq!(hints.len(), 4);
}

// CL-7
#[test]
fn every_limit_of_a_file_has_its_own_reason() {
    let flat: String = (0..60_000)
        .map(|number| format!("k{number}: 1\n"))
        .collect();
    let cause = |text: &str| parse(text, Layer::File).unwrap_err().cause;
    assert_eq!(cause(&flat), ParseCause::TooMany);
    assert_eq!(
        cause(&format!("{}{}", "[".repeat(70), "]".repeat(70))),
        ParseCause::TooDeep
    );
    let mut bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..7 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    assert_eq!(cause(&bomb), ParseCause::TooMuchRepeated);
}

#[derive(Debug, Clone)]
enum Part {
    Scalar(&'static str),
    /// A block scalar with this head.
    Block(&'static str),
    List(Vec<Part>),
    Map(Vec<Part>),
}

fn any_part() -> impl Strategy<Value = Part> {
    let heads = vec!["|", "|-", "|+", ">", ">-", ">+", "|2", "|2+", "|+2", ">2-"];
    let scalars = vec![
        "1", "text", "'q # q'", "\"a\\n\"", "~", "{a: 1}", "[1, 2]", "a#b",
    ];
    let leaf = prop_oneof![
        prop::sample::select(scalars).prop_map(Part::Scalar),
        prop::sample::select(heads).prop_map(Part::Block),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Part::List),
            prop::collection::vec(inner, 1..4).prop_map(Part::Map),
        ]
    })
}

/// Writes a file in which every line is different, and knows which entry owns each of them.
struct Writer {
    lines: Vec<(String, Vec<String>)>,
    /// How deep a list stands below its key.
    list_step: usize,
    noise: Vec<u8>,
}

impl Writer {
    fn line(&mut self, text: String, owner: &[String]) {
        self.lines.push((text, owner.to_vec()));
    }

    fn next_noise(&mut self) -> u8 {
        let noise = self.noise[self.lines.len() % self.noise.len()];
        noise.wrapping_add(self.lines.len() as u8)
    }

    /// Comments that belong to nobody, at the indentation of the section or left of it.
    fn comments(&mut self, indent: usize, owner: &[String]) {
        let noise = self.next_noise();
        if noise & 1 == 1 {
            let mut nobody = owner.to_vec();
            nobody.push("#".to_owned());
            let number = self.lines.len();
            let pad = if noise & 2 == 2 { indent } else { indent / 2 };
            self.line(format!("{:pad$}# comment {number}", ""), &nobody);
        }
    }

    fn entry(&mut self, head: &str, indent: usize, part: &Part, owner: &[String]) {
        let number = self.lines.len();
        match part {
            Part::Scalar(text) => self.line(format!("{head} {text} # beside {number}"), owner),
            Part::Block(mark) => {
                self.line(format!("{head} {mark} # head {number}"), owner);
                let pad = " ".repeat(indent + 2);
                self.line(format!("{pad}first {number} # no comment"), owner);
                self.line(format!("{pad}  # no comment {number}"), owner);
                for _ in 0..self.next_noise() % 3 {
                    self.line(String::new(), owner);
                }
            }
            Part::Map(parts) => {
                self.line(format!("{head} # map {number}"), owner);
                self.body(parts, indent + 2, Some(()), owner);
            }
            Part::List(parts) => {
                self.line(format!("{head} # list {number}"), owner);
                let step = if head.ends_with('-') {
                    2
                } else {
                    self.list_step
                };
                self.body(parts, indent + step, None, owner);
            }
        }
    }

    fn body(&mut self, parts: &[Part], indent: usize, map: Option<()>, owner: &[String]) {
        for (index, part) in parts.iter().enumerate() {
            let number = self.lines.len();
            // A comment in front of the first entry of a value belongs to that value.
            self.comments(indent, owner);
            let (name, head) = match map {
                Some(()) => (format!("k{number}"), format!("{:indent$}k{number}:", "")),
                None => (index.to_string(), format!("{:indent$}-", "")),
            };
            let mut inner = owner.to_vec();
            inner.push(name);
            self.entry(&head, indent, part, &inner);
        }
        self.comments(indent, owner);
    }
}

fn paths(node: &Node, at: &[String], found: &mut Vec<Vec<String>>) {
    let mut visit = |name: String, child: &Node| {
        let mut path = at.to_vec();
        path.push(name);
        found.push(path.clone());
        paths(child, &path, found);
    };
    match &node.value {
        Value::Map(map) => map
            .iter()
            .for_each(|(key, child)| visit(key.to_owned(), child)),
        Value::List(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, child)| visit(index.to_string(), child)),
        _ => {}
    }
}

/// Every line that neither belongs to the target nor is one it stands on must still be there, in order.
fn others_stay(
    lines: &[(String, Vec<String>)],
    after: &str,
    target: &[String],
) -> Result<(), String> {
    let mut rest = after.lines();
    for (text, owner) in lines {
        if owner.starts_with(target) || text.is_empty() {
            continue;
        }
        // A list that loses its only item has `[]` behind its key.
        let emptied = text.replacen(": #", ": [] #", 1);
        let dashed = text.replacen("- #", "- [] #", 1);
        if !rest.any(|line| line == text || line == emptied || line == dashed) {
            return Err(format!("{text:?} of {owner:?} is gone"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    // CL-7
    #[test]
    fn one_edit_leaves_every_other_line(
        parts in prop::collection::vec(any_part(), 1..5),
        list_step in prop::sample::select(vec![0_usize, 2]),
        noise in prop::collection::vec(any::<u8>(), 8),
        newline_at_end in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        removes in any::<bool>(),
    ) {
        let mut writer = Writer { lines: Vec::new(), list_step, noise };
        writer.body(&parts, 0, Some(()), &[]);
        let lines: Vec<_> = writer.lines.iter().map(|line| line.0.as_str()).collect();
        let mut text = lines.join("\n");
        if newline_at_end {
            text.push('\n');
        }
        let node = parse(&text, Layer::File).unwrap();
        let mut all = Vec::new();
        paths(&node, &[], &mut all);
        // Inside brackets the line belongs to the entry around them.
        all.retain(|path| writer.lines.iter().any(|line| line.1 == *path));
        let target = pick.get(&all).clone();
        let key = target.iter().fold(KeyPath::root(), |path, name| path.child(name));

        let mut document = Document::new(text.clone()).unwrap();
        let outcome = if removes {
            document.remove(&key).map(drop)
        } else {
            document.set(&key, &Value::Int(-7))
        };
        prop_assert!(outcome.is_ok(), "{:?} for {target:?} in\n{text}", outcome);
        let stayed = others_stay(&writer.lines, document.text(), &target);
        prop_assert!(stayed.is_ok(), "{stayed:?} for {target:?}\n{text}\n---\n{}", document.text());
        if !removes {
            // The comment on the line of the key is about the key, not about its value.
            let head = writer.lines.iter().find(|line| line.1 == target).unwrap();
            let comment = head.0.rsplit_once(" # ").unwrap().1;
            prop_assert!(document.text().contains(comment), "{comment}\n{text}\n---\n{}", document.text());
        }
    }
}
