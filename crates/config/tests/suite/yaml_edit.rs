//! Editing a file key by key. CL-7.

use std::collections::BTreeSet;

use hermes_config::{Document, EditError, KeyPath, Layer, Map, Node, Value, parse};
use proptest::prelude::*;

fn path(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

fn value(text: &str) -> Value {
    parse(text, Layer::File).unwrap().value
}

#[track_caller]
fn check_set(before: &str, key: &str, new: &str, after: &str) {
    let mut document = Document::new(before).unwrap();
    document.set(&path(key), &value(new)).unwrap();
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
fn a_scalar_changes_in_place_and_keeps_its_comment() {
    check_set(
        "# top\nzeta: 1 # note\nalpha:\n    nested: yes\n",
        "zeta",
        "2",
        "# top\nzeta: 2 # note\nalpha:\n    nested: yes\n",
    );
    check_set("a: 'x'   # c\n", "a", "z", "a: z   # c\n");
    check_set(
        "a: \"multi\n  line\" # c\nb: 1\n",
        "a",
        "5",
        "a: 5 # c\nb: 1\n",
    );
    check_set("a:   1\n", "a", "two words", "a:   two words\n");
}

// CL-7
#[test]
fn a_new_key_goes_behind_the_last_one_of_its_section() {
    check_set(
        "a:\n    x: 1\n    # end of a\n\nb: 2\n",
        "a.z",
        "on",
        "a:\n    x: 1\n    z: true\n    # end of a\n\nb: 2\n",
    );
    check_set("a: 1", "b.c.d", "x", "a: 1\nb:\n  c:\n    d: x\n");
    check_set(
        "# only a comment\n",
        "a.b",
        "1",
        "# only a comment\na:\n  b: 1\n",
    );
    check_set("", "a", "[1, 2]", "a:\n- 1\n- 2\n");
}

// CL-7
#[test]
fn the_indentation_of_the_file_is_kept() {
    check_set("a:\n    x: 1\n", "b.c", "1", "a:\n    x: 1\nb:\n    c: 1\n");
    check_set("l:\n  - x\n", "l.0", "z", "l:\n  - z\n");
}

// CL-7
#[test]
fn an_empty_section_gets_its_first_key() {
    check_set("a: # note\nb: 1\n", "a.x", "1", "a: # note\n  x: 1\nb: 1\n");
    check_set("a: null # note\n", "a.x", "1", "a: # note\n  x: 1\n");
    check_set("a: {} # note\n", "a.x", "1", "a: # note\n  x: 1\n");
    check_set("a: ~", "a.x", "1", "a:\n  x: 1");
    check_set("{}\n", "a.b.c", "1", "{a: {b: {c: 1}}}\n");
}

// CL-7
#[test]
fn flow_collections_are_edited_in_place() {
    check_set("a: {x: 1} # c\n", "a.z", "2", "a: {x: 1, z: 2} # c\n");
    check_set("a: {x: 1,}\n", "a.z", "2", "a: {x: 1, z: 2,}\n");
    check_set("a: {x: }\n", "a.x.z", "2", "a: {x: {z: 2} }\n");
    check_set("a: [1, {b: 2}]\n", "a.1.b", "three", "a: [1, {b: three}]\n");
    check_remove("a: {x: 1, z: 2}\n", "a.x", "a: {z: 2}\n");
    check_remove("a: {x: 1, z: 2,}\n", "a.z", "a: {x: 1,}\n");
    check_remove("a: {x: 1,}\n", "a.x", "a: {}\n");
    check_remove("a: [1, 2, 3]\n", "a.1", "a: [1, 3]\n");
    check_remove("a: [1]\n", "a.0", "a: []\n");
}

// CL-7
#[test]
fn a_new_item_goes_behind_the_last_one_of_its_list() {
    check_set("a: [1] # c\n", "a.1", "{b: 2}", "a: [1, {b: 2}] # c\n");
    check_set("a: []\n", "a.0", "1", "a: [1]\n");
    check_set(
        "l:\n  # one\n  - x # x\n  # end\nb: 1\n",
        "l.1",
        "{k: v, m: w}",
        "l:\n  # one\n  - x # x\n  - k: v\n    m: w\n  # end\nb: 1\n",
    );
    check_set(
        "l:\n- a: 1 # a\n  b: 2 # b\n\nb: 1",
        "l.1",
        "{a: 3}",
        "l:\n- a: 1 # a\n  b: 2 # b\n- a: 3\n\nb: 1",
    );
    check_set("l:\n- x", "l.1", "z", "l:\n- x\n- z\n");
    let mut document = Document::new("l:\n- x\n").unwrap();
    for beyond in ["l.2", "l.1.a"] {
        let error = document.set(&path(beyond), &value("z")).unwrap_err();
        assert!(matches!(error, EditError::NoSuchItem { .. }), "{error}");
    }
}

// CL-7
#[test]
fn a_block_gives_way_to_a_scalar_and_back() {
    check_set(
        "a: # why\n  - 1\n  # in\n  - 2\n\n# after\nb: 1\n",
        "a",
        "x",
        "a: x # why\n\n# after\nb: 1\n",
    );
    check_set(
        "a: x # why\nb: 1\n",
        "a",
        "[1, {k: v}]",
        "a: # why\n- 1\n- k: v\nb: 1\n",
    );
    check_set(
        "a: |- # why\n  one\n  two\n\nb: 1\n",
        "a",
        "x",
        "a: x # why\n\nb: 1\n",
    );
    check_set("a:\n  b: 1\n  c: 2", "a", "1", "a: 1");
}

// CL-7
#[test]
fn list_items_and_their_keys_are_edited() {
    let list = "l:\n  - a: 1\n    b: 2\n  - |-\n    text\n  -\n  - - x\n    - y\n";
    check_set(
        list,
        "l.0.c",
        "3",
        "l:\n  - a: 1\n    b: 2\n    c: 3\n  - |-\n    text\n  -\n  - - x\n    - y\n",
    );
    check_remove(
        list,
        "l.0.a",
        "l:\n  - b: 2\n  - |-\n    text\n  -\n  - - x\n    - y\n",
    );
    check_remove(
        list,
        "l.1",
        "l:\n  - a: 1\n    b: 2\n  -\n  - - x\n    - y\n",
    );
    check_remove(
        list,
        "l.2",
        "l:\n  - a: 1\n    b: 2\n  - |-\n    text\n  - - x\n    - y\n",
    );
    check_remove("l:\n  - x # c\nb: 1\n", "l.0", "l: []\nb: 1\n");
    check_remove("l:\n- a: 1\n- b: 2\n", "l.0.a", "l:\n- {}\n- b: 2\n");
}

// CL-7
#[test]
fn windows_line_ends_and_a_byte_order_mark_survive() {
    check_set(
        "\u{feff}a: 1\r\nb:\r\n  c: |\r\n    t\r\nd: é\r\n",
        "b.e",
        "x",
        "\u{feff}a: 1\r\nb:\r\n  c: |\r\n    t\r\n  e: x\r\nd: é\r\n",
    );
    check_remove("\u{feff}a: 1\r\nb: 2\r\n", "a", "\u{feff}b: 2\r\n");
}

// CL-7
#[test]
fn text_that_looks_like_something_else_is_quoted() {
    for text in [
        "off",
        "yes",
        "12",
        "1.5",
        "null",
        "~",
        "",
        " pad ",
        "a: b",
        "a #b",
        "- x",
        "*x",
        "&x",
        "!x",
        "{a}",
        "[a]",
        "2024-01-01",
        "12:30",
        "y",
        "=",
        "<<",
        "\u{7}",
        "tab\there",
        "one\ntwo",
        "猫",
        "\u{feff}x",
        "\u{85}",
        "@x",
        "`x`",
        "%x",
        "'x'",
        "\"x\"",
        "x:",
        "?",
        "? x",
        "---",
        "...",
        "#",
        "a\\b",
        "-",
        "0o17",
        "1e3",
        "\u{2028}",
    ] {
        let wanted = Value::Text(text.to_owned());
        for before in ["a: 1\n", "a: {b: 1}\n", "a: [x, y]\n"] {
            let mut document = Document::new(before).unwrap();
            let key = match before {
                "a: 1\n" => "a",
                "a: {b: 1}\n" => "a.b",
                _ => "a.1",
            };
            document.set(&path(key), &wanted).unwrap();
            assert_eq!(
                document.value().unwrap().at(&path(key)).unwrap().value,
                wanted
            );
        }
    }
}

#[track_caller]
fn check_refused(before: &str, key: &str, new: &str) {
    let mut document = Document::new(before).unwrap();
    let error = document.set(&path(key), &value(new)).unwrap_err();
    assert!(!error.hint().is_empty());
    assert_eq!(document.text(), before);
}

// CL-7
#[test]
fn an_edit_that_would_touch_other_keys_is_refused() {
    check_refused("a: &x 1\nb: *x\n", "a", "2");
    check_refused("a: &x {k: 1}\nb: *x\n", "b.k", "2");
    check_refused("a: hello\n", "a.b", "1");
    check_refused("a: [1]\n", "a.3", "1");
    check_refused("? a\n: 1\n", "a", "2");
}

// CL-7
#[test]
fn a_merged_key_can_be_overridden_but_not_removed() {
    let text = "base: &b\n  x: 1\none:\n  <<: *b\n  z: 2\n";
    check_set(
        text,
        "one.x",
        "5",
        "base: &b\n  x: 1\none:\n  <<: *b\n  z: 2\n  x: 5\n",
    );
    let mut document = Document::new(text).unwrap();
    assert!(matches!(
        document.remove(&path("one.x")),
        Err(EditError::Merged { .. })
    ));
    assert_eq!(document.text(), text);
}

// CL-7
#[test]
fn a_file_that_is_not_a_map_is_refused() {
    for (text, line) in [("- a\n", 1), ("\n# c\nnull\n", 3), ("5", 1)] {
        assert!(matches!(
            Document::new(text),
            Err(EditError::NotAMap { line: at, .. }) if at == line
        ));
    }
    assert!(matches!(Document::new("a: [\n"), Err(EditError::Parse(_))));
}

/// One line of a generated file and the path of the node that owns it.
type Line = (String, Vec<String>);

#[derive(Debug, Clone)]
enum Doc {
    Scalar(&'static str),
    BlockText,
    Flow(&'static str),
    List(Vec<Doc>),
    Map(Vec<Doc>),
}

fn any_doc() -> impl Strategy<Value = Doc> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "1",
            "off",
            "text",
            "'single # q'",
            "\"double \\n\"",
            "null",
            "",
            "0.5",
            "a b c",
            "~",
            "http://h.example.test:80/x#y",
        ])
        .prop_map(Doc::Scalar),
        Just(Doc::BlockText),
        prop::sample::select(vec!["{}", "[]", "{a: 1, b: [x, y]}", "[1, {a: b}, 'q,']"])
            .prop_map(Doc::Flow),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Doc::List),
            prop::collection::vec(inner, 1..4).prop_map(Doc::Map),
        ]
    })
}

struct Render {
    lines: Vec<Line>,
    step: usize,
    comments: bool,
}

impl Render {
    fn push(&mut self, text: String, owner: &[String]) {
        self.lines.push((text, owner.to_vec()));
    }

    /// Renders `doc` behind `head` (`key:` or `-`), which stands at `indent`.
    fn entry(&mut self, head: String, doc: &Doc, indent: usize, owner: &[String]) {
        let number = self.lines.len();
        let note = if self.comments {
            format!(" # note {number}")
        } else {
            String::new()
        };
        match doc {
            Doc::Scalar(text) | Doc::Flow(text) => {
                let space = if text.is_empty() { "" } else { " " };
                self.push(format!("{head}{space}{text}{note}"), owner);
            }
            Doc::BlockText => {
                self.push(format!("{head} |-{note}"), owner);
                let pad = " ".repeat(indent + self.step);
                let number = self.lines.len();
                self.push(format!("{pad}first # not a comment {number}"), owner);
                self.push(String::new(), owner);
                self.push(format!("{pad}  second {number}"), owner);
            }
            Doc::List(_) | Doc::Map(_) => {
                self.push(format!("{head}{note}"), owner);
                self.body(doc, indent + self.step, owner);
            }
        }
    }

    fn body(&mut self, doc: &Doc, indent: usize, owner: &[String]) {
        let pad = " ".repeat(indent);
        let (children, is_map) = match doc {
            Doc::Map(children) => (children, true),
            Doc::List(children) => (children, false),
            _ => return,
        };
        for (index, child) in children.iter().enumerate() {
            let (name, head) = if is_map {
                (format!("k{index}"), format!("{pad}k{index}:"))
            } else {
                (index.to_string(), format!("{pad}-"))
            };
            if self.comments && index % 2 == 1 {
                let mut comment = owner.to_vec();
                comment.push("#".to_owned());
                let number = self.lines.len();
                self.push(String::new(), &comment);
                self.push(format!("{pad}# about {name} {number}"), &comment);
            }
            let mut owner = owner.to_vec();
            owner.push(name);
            self.entry(head, child, indent, &owner);
        }
    }
}

/// A node with a name and one that stands for it, at the end of a file.
fn with_alias(lines: &mut Vec<Line>) {
    for (key, text) in [
        ("anchored", "anchored: &x"),
        ("anchored", "  inner: [1]"),
        ("alias", "alias: *x # same"),
        ("merged", "merged:"),
        ("merged", "  <<: *x"),
    ] {
        lines.push((text.to_owned(), vec![key.to_owned()]));
    }
}

fn key_path(segments: &[String]) -> KeyPath {
    segments
        .iter()
        .fold(KeyPath::root(), |path, segment| path.child(segment))
}

/// Every line the edit changed belongs to the edited path or to a line it stands on.
fn changed_lines_belong_to(before: &[Line], after: &str, newline: &str, target: &[String]) {
    let after: Vec<_> = after
        .split(newline)
        .filter(|line| !line.is_empty())
        .collect();
    let before: Vec<_> = before.iter().filter(|line| !line.0.is_empty()).collect();
    let distinct: BTreeSet<_> = before.iter().map(|line| &line.0).collect();
    if distinct.len() < before.len() {
        // Which of two equal lines was taken cannot be told.
        return;
    }
    let head = before
        .iter()
        .zip(&after)
        .take_while(|(old, new)| old.0 == **new)
        .count();
    let tail = before[head..]
        .iter()
        .rev()
        .zip(after[head..].iter().rev())
        .take_while(|(old, new)| old.0 == **new)
        .count();
    for (text, owner) in before[head..before.len() - tail].iter().copied() {
        let inside = owner.starts_with(target) || target.starts_with(owner);
        assert!(
            inside,
            "{text:?} of {owner:?} changed while editing {target:?}"
        );
    }
}

fn all_paths(node: &Node, at: Vec<String>, paths: &mut Vec<Vec<String>>) {
    let children: Vec<(String, &Node)> = match &node.value {
        Value::Map(map) => map
            .iter()
            .map(|(key, node)| (key.to_owned(), node))
            .collect(),
        Value::List(items) => items
            .iter()
            .enumerate()
            .map(|(index, node)| (index.to_string(), node))
            .collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let mut path = at.clone();
        path.push(name);
        paths.push(path.clone());
        all_paths(child, path, paths);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        any::<String>().prop_map(Value::Text),
        "[a-z :#,'\"{}\\[\\]-]{0,8}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone().prop_map(Node::from), 0..3).prop_map(Value::List),
            prop::collection::vec(("[a-z.]{1,4}", inner.prop_map(Node::from)), 0..3)
                .prop_map(|entries| Value::Map(Map::from_iter(entries))),
        ]
    })
}

fn same(a: &Value, b: &Value) -> bool {
    // Not-a-number and empty sections compare by what they are written as.
    a.to_json() == b.to_json()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    // CL-7
    #[test]
    fn edits_mean_what_was_asked_and_touch_nothing_else(
        doc in prop::collection::vec(any_doc(), 1..5).prop_map(Doc::Map),
        step in 1_usize..5,
        comments in any::<bool>(),
        crlf in any::<bool>(),
        aliases in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        below in prop::collection::vec("[a-z]{1,3}", 0..3),
        new in any_value(),
    ) {
        let mut render = Render { lines: Vec::new(), step, comments };
        render.body(&doc, 0, &[]);
        if aliases {
            with_alias(&mut render.lines);
        }
        let newline = if crlf { "\r\n" } else { "\n" };
        let text: String = render.lines.iter().map(|line| format!("{}{newline}", line.0)).collect();
        let before = parse(&text, Layer::File).unwrap();

        let mut paths = Vec::new();
        all_paths(&before, Vec::new(), &mut paths);
        let mut target = pick.get(&paths).clone();
        target.extend(below);

        let mut document = Document::new(text.clone()).unwrap();
        match document.set(&key_path(&target), &new) {
            Ok(()) => {
                let got = document.value().unwrap();
                let mut wanted = before.clone();
                wanted.set(&key_path(&target), new.clone().into()).unwrap();
                prop_assert!(same(&got.value, &wanted.value), "{}", document.text());
                changed_lines_belong_to(&render.lines, document.text(), newline, &target);
            }
            Err(error) => {
                prop_assert_eq!(document.text(), &text);
                let expected = matches!(
                    error,
                    EditError::InsideScalar { .. } | EditError::NoSuchItem { .. }
                ) || ["anchored", "alias", "merged"].contains(&target[0].as_str());
                prop_assert!(expected, "{error} for {target:?} in\n{text}");
            }
        }
    }

    // CL-7
    #[test]
    fn removals_take_one_key_and_nothing_else(
        doc in prop::collection::vec(any_doc(), 1..5).prop_map(Doc::Map),
        step in 1_usize..5,
        comments in any::<bool>(),
        crlf in any::<bool>(),
        aliases in any::<bool>(),
        pick in any::<prop::sample::Index>(),
    ) {
        let mut render = Render { lines: Vec::new(), step, comments };
        render.body(&doc, 0, &[]);
        if aliases {
            with_alias(&mut render.lines);
        }
        let newline = if crlf { "\r\n" } else { "\n" };
        let text: String = render.lines.iter().map(|line| format!("{}{newline}", line.0)).collect();
        let before = parse(&text, Layer::File).unwrap();
        let mut paths = Vec::new();
        all_paths(&before, Vec::new(), &mut paths);
        let target = pick.get(&paths).clone();

        let mut document = Document::new(text.clone()).unwrap();
        let removed = document.remove(&key_path(&target));
        if ["anchored", "alias", "merged"].contains(&target[0].as_str()) && removed.is_err() {
            prop_assert_eq!(document.text(), &text);
            return Ok(());
        }
        prop_assert!(matches!(removed, Ok(true)), "{removed:?} for {target:?} in\n{text}");
        changed_lines_belong_to(&render.lines, document.text(), newline, &target);
        let is_item = target.last().unwrap().parse::<usize>().is_ok();
        let after = document.value().unwrap();
        prop_assert!(is_item || after.at(&key_path(&target)).is_none());
    }

    // CL-7
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>(), yaml in "[-a:# \\n\\[\\]{},&*!|>'\"?%~0-9\\t]{0,60}") {
        for text in [text, yaml] {
            let parsed = parse(&text, Layer::File);
            if let Ok(mut document) = Document::new(text.clone()) {
                prop_assert!(parsed.is_ok());
                if document.set(&path("a.b"), &Value::Int(1)).is_err() {
                    prop_assert_eq!(document.text(), &text);
                }
                let _ = document.remove(&path("a"));
            }
        }
    }

    // CL-6
    #[test]
    fn whatever_is_written_reads_back(value in any_value()) {
        let text = hermes_config::to_yaml(&value);
        let got = parse(&text, Layer::File).unwrap();
        prop_assert!(same(&got.value, &value), "{text}");
    }
}
