//! What is wrong with a skill whatever its files say.

use super::report::Finding;
use super::rule::Severity;
use super::scan::{Content, Entry};
use super::text;
use super::waiver::{hash_of_all, hash_of_bytes};

/// More files than a skill needs.
pub const MOST_FILES: usize = 50;
/// More bytes than a skill needs, all files together.
pub const LARGEST_TOTAL: u64 = 1024 * 1024;
/// More bytes than one file of a skill needs.
pub const LARGEST_FILE: u64 = 256 * 1024;

/// Endings of programs and packages.
const BINARY: [&str; 12] = [
    "exe", "dll", "so", "dylib", "bin", "dat", "com", "msi", "dmg", "app", "deb", "rpm",
];
/// Endings of scripts, which may be started.
const SCRIPTS: [&str; 10] = [
    "sh", "bash", "zsh", "py", "rb", "pl", "js", "mjs", "ts", "php",
];
/// Endings of what is read by people and models.
const TEXTS: [&str; 19] = [
    "md", "markdown", "mdx", "txt", "rst", "json", "yaml", "yml", "toml", "cfg", "ini", "conf",
    "html", "css", "xml", "csv", "tex", "svg", "env",
];
/// How pictures, fonts, sound, films and printed pages begin, and from where on: nobody reads these as text.
const MEDIA: [(usize, &[u8]); 17] = [
    (0, b"\x89PNG\r\n\x1a\n"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF8"),
    (0, b"RIFF"),
    (0, b"\x00\x00\x01\x00"),
    (0, b"II*\x00"),
    (0, b"MM\x00*"),
    (0, b"%PDF-"),
    (0, b"\x00\x01\x00\x00"),
    (0, b"OTTO"),
    (0, b"ttcf"),
    (0, b"wOFF"),
    (0, b"wOF2"),
    (0, b"OggS"),
    (0, b"fLaC"),
    (0, b"ID3"),
    (4, b"ftyp"),
];
/// How programs begin, whatever they are called.
const PROGRAMS: [&[u8]; 6] = [
    b"\x7fELF",
    b"MZ\x90\x00",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];

/// Looks at names, sizes and kinds.
pub(super) fn look(entries: &[Entry<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let count = entries.len();
    if count > MOST_FILES {
        let what = format!("{count} files, more than {MOST_FILES}");
        let about = ("too_many_files", Severity::Medium);
        found.push(Finding::of_file(about, "", &what, hash_of_all(entries)));
    }
    let total: u64 = entries.iter().map(|entry| entry.content.size()).sum();
    if total > LARGEST_TOTAL {
        let what = format!("{total} bytes in all, more than {LARGEST_TOTAL}");
        let about = ("oversized_skill", Severity::High);
        found.push(Finding::of_file(about, "", &what, hash_of_all(entries)));
    }
    for entry in entries {
        found.extend(one(entry));
    }
    found
}

fn one(entry: &Entry<'_>) -> Vec<Finding> {
    let path = entry.path.as_str();
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let has = |endings: &[&str]| ending.as_deref().is_some_and(|own| endings.contains(&own));
    let mut found = Vec::new();
    let mut add = |id, severity, what: &str| {
        let judged = match &entry.content {
            Content::File { bytes, .. } => hash_of_bytes(bytes),
            Content::Link { .. } | Content::Unread { .. } => String::new(),
        };
        found.push(Finding::of_file((id, severity), path, what, judged));
    };
    match &entry.content {
        Content::Link { escapes: true } => {
            add(
                "symlink_escape",
                Severity::Critical,
                "a link that leads out of the skill",
            );
        }
        Content::Link { escapes: false } => {}
        Content::Unread { size } => {
            let what = format!("{size} bytes, too large to be looked at");
            add("unread_file", Severity::High, &what);
        }
        Content::File { bytes, executable } => {
            let size = entry.content.size();
            if let Some((id, severity, what)) = unreadable(bytes, &has) {
                add(id, severity, what);
            }
            if size > LARGEST_FILE {
                let what = format!("{size} bytes, more than {LARGEST_FILE}");
                add("oversized_file", Severity::Medium, &what);
            }
            if *executable && !has(&SCRIPTS) && !bytes.starts_with(b"#!") {
                add(
                    "unexpected_executable",
                    Severity::Medium,
                    "can be started, and is no script",
                );
            }
        }
    }
    found
}

/// What is wrong with a file that cannot be read by those who would be handed it.
fn unreadable(
    bytes: &[u8],
    has: &dyn Fn(&[&str]) -> bool,
) -> Option<(&'static str, Severity, &'static str)> {
    if has(&BINARY) || PROGRAMS.iter().any(|start| bytes.starts_with(start)) {
        let what = "a program, which nobody can read";
        return Some(("binary_file", Severity::Critical, what));
    }
    if text::read(bytes).legible {
        return None;
    }
    if has(&SCRIPTS) || has(&TEXTS) || bytes.starts_with(b"#!") {
        let what = "passes for a text or a script, and is none";
        return Some(("unreadable_text", Severity::Critical, what));
    }
    let what = "neither text nor a picture, a font, a sound or a page; nobody can read it";
    (!is_media(bytes)).then_some(("unreadable_file", Severity::High, what))
}

fn is_media(bytes: &[u8]) -> bool {
    let mut known = MEDIA.iter();
    known.any(|(from, start)| {
        bytes
            .get(*from..)
            .is_some_and(|rest| rest.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file<'b>(path: &str, bytes: &'b [u8], executable: bool) -> Entry<'b> {
        Entry {
            path: path.to_owned(),
            content: Content::File { bytes, executable },
        }
    }

    fn ids(entries: &[Entry<'_>]) -> Vec<(&'static str, Severity)> {
        let found = look(entries);
        found.iter().map(|one| (one.id, one.severity)).collect()
    }

    // LN-33
    #[test]
    fn each_fault_of_structure_is_found() {
        let large = vec![b'a'; 300 * 1024];
        let huge = vec![b'a'; 1100 * 1024];
        let link = |escapes| Entry {
            path: "l".to_owned(),
            content: Content::Link { escapes },
        };
        assert_eq!(ids(&[file("SKILL.md", b"x", false)]), []);
        assert_eq!(
            ids(&[file("tool.exe", b"x", false)]),
            [("binary_file", Severity::Critical)]
        );
        assert_eq!(
            ids(&[file("notes.txt", b"\x7fELF\x02", false)]),
            [("binary_file", Severity::Critical)]
        );
        let never = [("unreadable_text", Severity::Critical)];
        assert_eq!(ids(&[file("SKILL.md", b"a\n\0\nb", false)]), never);
        assert_eq!(ids(&[file("run", b"#!/bin/sh\n\0", true)]), never);
        assert_eq!(ids(&[file("a.py", b"\x89PNG\r\n\x1a\n\0", false)]), never);
        for odd in ["a.pyc", "table.xlsx", "run"] {
            let expected = [("unreadable_file", Severity::High)];
            assert_eq!(
                ids(&[file(odd, b"PK\x03\x04\0\0", false)]),
                expected,
                "{odd}"
            );
        }
        for (path, bytes) in [
            ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice()),
            ("a.ttf", b"\0\x01\0\0\0\x12"),
            ("a.mp4", b"\0\0\0\x18ftypmp42"),
            ("a.pdf", b"%PDF-1.7\n\0"),
        ] {
            assert_eq!(ids(&[file(path, bytes, false)]), [], "{path}");
        }
        assert_eq!(ids(&[link(true)]), [("symlink_escape", Severity::Critical)]);
        assert_eq!(ids(&[link(false)]), []);
        assert_eq!(
            ids(&[file("a.md", &large, false)]),
            [("oversized_file", Severity::Medium)]
        );
        assert_eq!(
            ids(&[file("a.md", &huge, false)]),
            [
                ("oversized_skill", Severity::High),
                ("oversized_file", Severity::Medium)
            ]
        );
        assert_eq!(
            ids(&[file("notes.md", b"x", true)]),
            [("unexpected_executable", Severity::Medium)]
        );
        assert_eq!(
            ids(&[file("run", b"#!/bin/sh\n", true), file("a.py", b"", true)]),
            []
        );
        let many: Vec<_> = (0..51)
            .map(|n| file(&format!("{n}.md"), b"", false))
            .collect();
        assert_eq!(ids(&many), [("too_many_files", Severity::Medium)]);
    }
}
