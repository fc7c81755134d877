//! Reading dependency sections out of TOML files.
//!
//! Manifests here keep each dependency on one entry `name.workspace = true` or `name = { … }`, so
//! a line reader is enough; what it cannot read it reports.

/// `key = value` entries of one section of a TOML file; values that span lines are joined.
pub(super) struct Entry {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
}

/// All entries of a file, in order.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut depth = 0;
    for line in text
        .lines()
        .map(without_comment)
        .filter(|line| !line.is_empty())
    {
        if depth > 0 {
            if let Some(last) = entries.last_mut() {
                last.value.push(' ');
                last.value.push_str(line);
            }
        } else if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
            continue;
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            entries.push(Entry {
                section: section.clone(),
                key,
                value,
            });
        }
        depth += line.matches(['[', '{']).count();
        depth -= line.matches([']', '}']).count();
    }
    entries
}

/// The quoted strings inside a value.
pub(super) fn strings(value: &str) -> Vec<String> {
    value
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Comments begin at a `#` that stands outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (position, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => return line[..position].trim(),
            _ => {}
        }
    }
    line.trim()
}

#[test]
fn reads_sections_and_values_over_several_lines() {
    let text = "[a]\nx.workspace = true # why\n[b]\ny = [\n  \"1#\",\n  \"2\",\n]\nz = 3\n";
    let read: Vec<(String, String, String)> = entries(text)
        .into_iter()
        .map(|entry| (entry.section, entry.key, entry.value))
        .collect();
    let expected = [
        ("a", "x.workspace", "true"),
        ("b", "y", "[ \"1#\", \"2\", ]"),
        ("b", "z", "3"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(read, expected);
    assert_eq!(strings("[ \"1#\", \"2\", ]"), ["1#", "2"]);
}
