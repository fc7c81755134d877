//! Packing and unpacking.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hermes_config::{
    ArchiveError, Contents, LARGEST_ARCHIVE_FILE, MemberFault, Note, ProfileError, ProfileName,
    Renamed,
};
use tar::{Builder, EntryType, Header};

use super::super::support::{json, recorded};
use super::{CANARY, Root, furnish, lines, listing, mode, name, put};

fn unpacked(archive: &Path) -> (BTreeSet<String>, Vec<u8>) {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(archive).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let mut archive = tar::Archive::new(bytes.as_slice());
    let names = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let end = if entry.header().entry_type().is_dir() {
            "/"
        } else {
            ""
        };
        format!("{}{end}", name.trim_end_matches('/'))
    });
    (names.collect(), bytes)
}

// CL-11
#[test]
fn the_export_of_the_root_holds_what_the_reference_packs() {
    let root = Root::new();
    furnish(&root.path(), "source_home.txt");
    let target = root.directory.path().join("default.tar.gz");
    root.profiles
        .export(&ProfileName::default(), &target)
        .unwrap();
    assert_eq!(unpacked(&target).0, lines("export_default.txt"));
    assert_eq!(mode(&target), 0o600);
}

// CL-11
#[test]
fn the_export_of_a_profile_leaves_out_more_than_the_reference() {
    let root = Root::new();
    let all = root.path().join("profiles/all");
    furnish(&all, "export_source.txt");
    let target = root.directory.path().join("all.tar.gz");
    let exported = root.profiles.export(&name("all"), &target).unwrap();
    // The recorded archive has these, and must not have them.
    let private = [
        ".anthropic_oauth.json",
        ".hermes_history",
        ".update_check",
        "cache/",
        "errors.log",
        "image_cache/",
        "kanban.db",
        "logs/",
        "models_dev_cache.json",
        "pairing/",
        "response_store.db",
        "state.db",
        "state.db-wal",
        "whatsapp/session/",
        "x.db",
    ];
    let mut expected = lines("export_all.txt");
    expected.retain(|line| {
        let inside = line.strip_prefix("all/").unwrap();
        !private
            .iter()
            .any(|name| inside == *name || (name.ends_with('/') && inside.starts_with(name)))
    });
    let (names, first) = unpacked(&target);
    assert_eq!(names, expected);
    assert!(
        exported
            .notes
            .iter()
            .any(|note| matches!(note, Note::LinkLeftOut { .. }))
    );
    root.profiles.export(&name("all"), &target).unwrap();
    assert_eq!(
        unpacked(&target).1,
        first,
        "the same profile gives the same archive"
    );
}

const SECRETS: [&str; 45] = [
    ".env",
    ".ENV",
    ".env.local",
    ".op.env",
    "prod.env",
    "auth.json",
    "auth.lock",
    "Auth.json",
    ".anthropic_oauth.json",
    "google_token.json",
    "google_client_secret.json",
    "mcp-tokens/notion.json",
    "pairing/telegram.json",
    "platforms/pairing/discord.json",
    "whatsapp/session/creds.json",
    "platforms/whatsapp/session/keys/app-state.json",
    "state.db",
    "state.db-wal",
    "state.db-shm",
    "hermes.db",
    "hermes.db-journal",
    "state.db.bak",
    "data.sqlite3",
    "blobs/ab/cdef",
    "logs/agent.log",
    "gateway.log.1",
    "cache/web/page.html",
    "image_cache/i.png",
    "sandboxes/s/root/file",
    "backups/b.zip",
    "checkpoints/c/f",
    "state-snapshots/s/f",
    "gateway.pid",
    "gateway.lock",
    "config.yaml.bak.1",
    "config.yaml.corrupt.1.bak",
    "sessions/request_dump_1.json",
    "home/.ssh/id_ed25519",
    "home/.aws/credentials",
    "workspace/.ssh/config",
    "workspace/deploy.pem",
    "workspace/.git/config",
    "shell-hooks-allowlist.json",
    ".hermes_history",
    ".netrc",
];

// CL-11
#[test]
fn no_secret_is_exported_from_anywhere() {
    let root = Root::new();
    let (home, _) = root.create("work", Contents::Fresh);
    for secret in SECRETS {
        put(&home.join(secret), CANARY);
        put(&home.join("skills/deep/er").join(secret), CANARY);
    }
    put(
        &home.join("config.yaml"),
        format!(
            "# mine\nmodel:\n  default: acme/one\n  api_key: {CANARY}\nproviders:\n  acme:\n    \
             key_env: ACME_KEY\n    api_key: ${{ACME_KEY}}\n    base_url: https://u:{CANARY}@h.example.test\n\
             mcp_servers:\n  a:\n    env:\n      A_TOKEN: {CANARY}\n      A_MODE: fast\n    headers:\n      \
             Authorization: Bearer {CANARY}\n"
        ),
    );
    symlink(home.join(".env"), home.join("skills/link")).unwrap();
    put(&home.join("skills/backups/SKILL.md"), "about backups");
    put(&home.join("skills/mine/uv.lock"), "locked");
    let target = root.directory.path().join("out");
    fs::create_dir(&target).unwrap();
    let exported = root.profiles.export(&name("work"), &target).unwrap();
    assert_eq!(exported.path, target.join("work.tar.gz"));
    let (names, bytes) = unpacked(&exported.path);
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains(CANARY), "{names:#?}");
    for kept in [
        "work/skills/backups/SKILL.md",
        "work/skills/mine/uv.lock",
        "work/SOUL.md",
    ] {
        assert!(names.contains(kept), "{kept}");
    }
    for kept in ["# mine", "default: acme/one", "${ACME_KEY}", "A_MODE: fast"] {
        assert!(text.contains(kept), "{kept}");
    }
}

#[test]
fn an_export_never_replaces_something_else() {
    let root = Root::new();
    root.create("work", Contents::Fresh);
    let target = root.directory.path().join("thesis.txt");
    put(&target, "years of work");
    let result = root.profiles.export(&name("work"), &target);
    assert!(matches!(result, Err(ProfileError::NotAnArchive { .. })));
    assert_eq!(fs::read_to_string(&target).unwrap(), "years of work");
}

/// A member of an archive: its name, its kind, what it links to.
struct Member<'a>(&'a str, EntryType, &'a str);

fn archive(path: &Path, members: &[Member<'_>]) {
    let mut builder = Builder::new(GzEncoder::new(
        File::create(path).unwrap(),
        Compression::fast(),
    ));
    for Member(name, kind, target) in members {
        let content: &[u8] = if kind.is_file() { b"x: 1\n" } else { b"" };
        builder
            .append(&header(name, *kind, target, content.len() as u64), content)
            .unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap();
}

/// A header with the name exactly as given: the library would refuse or mend some of them.
fn header(name: &str, kind: EntryType, target: &str, size: u64) -> Header {
    let mut header = Header::new_gnu();
    let gnu = header.as_gnu_mut().unwrap();
    gnu.name[..name.len()].copy_from_slice(name.as_bytes());
    gnu.linkname[..target.len()].copy_from_slice(target.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header
}

// CL-11
#[test]
fn imports_are_judged_like_the_reference_does() {
    let cases = json(&recorded("profile/import_cases.json"));
    for case in cases.as_array().unwrap() {
        let label = case["case"].as_str().unwrap();
        let root = Root::new();
        root.create("plain", Contents::Fresh);
        let path = root.directory.path().join("a.tar.gz");
        let members: Vec<_> = case["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| {
                let kind = match member["type"].as_str().unwrap() {
                    "dir" => EntryType::Directory,
                    "f" => EntryType::Regular,
                    "sym" => EntryType::Symlink,
                    "hard" => EntryType::Link,
                    "fifo" => EntryType::Fifo,
                    other => panic!("{other}"),
                };
                let target = member["target"].as_str().unwrap_or_default();
                Member(member["name"].as_str().unwrap(), kind, target)
            })
            .collect();
        archive(&path, &members);
        let renamed = case["name_flag"]
            .as_str()
            .map_or(Renamed::AsPacked, |text| Renamed::To(name(text)));
        let result = root.profiles.import(&path, &renamed);
        let accepted = case["accepted"].as_bool().unwrap();
        assert_eq!(result.is_ok(), accepted, "{label}: {result:?}");
        match result {
            Ok(imported) => {
                let profile = imported.home.profile().to_string();
                root.holds_only(&[profile.as_str(), "plain"]);
            }
            Err(_) => root.holds_only(&["plain"]),
        }
        let outside = listing(root.directory.path());
        assert!(!outside.iter().any(|path| path.contains("evil")), "{label}");
    }
}

// CL-11
#[test]
fn imports_refuse_what_the_reference_did_not_think_of() {
    use EntryType as T;
    for (label, members, expected) in [
        (
            "twice",
            &[Member("a/x", T::Regular, ""), Member("a/x", T::Regular, "")][..],
            MemberFault::Twice,
        ),
        (
            "twice in other words",
            &[
                Member("a/x", T::Regular, ""),
                Member("a/./x", T::Regular, ""),
            ],
            MemberFault::Twice,
        ),
        (
            "below a file",
            &[
                Member("a/x", T::Regular, ""),
                Member("a/x/y", T::Regular, ""),
            ],
            MemberFault::Twice,
        ),
        (
            "device",
            &[Member("a/x", T::Char, "")],
            MemberFault::Special,
        ),
        (
            "block device",
            &[Member("a/x", T::Block, "")],
            MemberFault::Special,
        ),
        (
            "sparse",
            &[Member("a/x", T::GNUSparse, "")],
            MemberFault::Special,
        ),
        (
            "drive",
            &[Member("C:/x", T::Regular, "")],
            MemberFault::Drive,
        ),
        (
            "backslash",
            &[Member("a\\b", T::Regular, "")],
            MemberFault::Backslash,
        ),
        (
            "control",
            &[Member("a/\u{1b}[2J", T::Regular, "")],
            MemberFault::Unreadable,
        ),
    ] {
        let root = Root::new();
        let path = root.directory.path().join("a.tar.gz");
        archive(&path, members);
        let result = root.profiles.import(&path, &Renamed::To(name("new")));
        match result {
            Err(ProfileError::Archive(ArchiveError::Member { fault, .. })) => {
                assert_eq!(fault, expected, "{label}");
            }
            other => panic!("{label}: {other:?}"),
        }
        root.holds_only(&[]);
    }
}

/// Headers can promise more than there is.
#[test]
fn imports_refuse_bombs_and_broken_archives() {
    let check = |label: &str,
                 entries: &[(Header, Vec<u8>)],
                 expected: fn(&ArchiveError) -> bool| {
        let root = Root::new();
        let path = root.directory.path().join("a.tar.gz");
        let file = File::create(&path).unwrap();
        let mut gzip = GzEncoder::new(file, Compression::fast());
        for (header, content) in entries {
            use std::io::Write;
            gzip.write_all(header.as_bytes()).unwrap();
            gzip.write_all(content).unwrap();
            let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
            gzip.write_all(&padding).unwrap();
        }
        gzip.finish().unwrap();
        match root.profiles.import(&path, &Renamed::AsPacked) {
            Err(ProfileError::Archive(error)) => assert!(expected(&error), "{label}: {error:?}"),
            other => panic!("{label}: {other:?}"),
        }
        root.holds_only(&[]);
    };
    let regular = |name: &str, size| header(name, EntryType::Regular, "", size);
    let fault = |error: &ArchiveError| matches!(error, ArchiveError::Member { .. });
    let damaged = |error: &ArchiveError| matches!(error, ArchiveError::Damaged { .. });
    check(
        "large file",
        &[(regular("a/x", LARGEST_ARCHIVE_FILE + 1), vec![])],
        fault,
    );
    check("cut off", &[(regular("a/x", 4096), vec![1; 512])], damaged);
    check(
        "no archive",
        &[(Header::new_gnu(), b"hello".to_vec())],
        |error| {
            matches!(
                error,
                ArchiveError::Damaged { .. } | ArchiveError::Roots { .. }
            )
        },
    );
    let long = header("././@LongLink", EntryType::GNULongName, "", 1 << 30);
    check("long name", &[(long, vec![])], fault);
    let resized = b"21 size=999999999999\n".to_vec();
    let size = resized.len() as u64;
    let pax = header("x", EntryType::XHeader, "", size);
    check(
        "two sizes",
        &[(pax, resized), (regular("a/x", 0), vec![])],
        fault,
    );
    let escape = b"18 path=a/../../e\n".to_vec();
    let size = escape.len() as u64;
    let pax = header("x", EntryType::XHeader, "", size);
    check(
        "path in a header",
        &[(pax, escape), (regular("a/x", 0), vec![])],
        fault,
    );
    let deep = "d/".repeat(100).into_bytes();
    let size = deep.len() as u64;
    let long = header("././@LongLink", EntryType::GNULongName, "", size);
    check(
        "deep name",
        &[(long, deep), (regular("a/x", 0), vec![])],
        fault,
    );
    let name = b"/etc/absolute\0".to_vec();
    let size = name.len() as u64;
    let long = header("././@LongLink", EntryType::GNULongName, "", size);
    check(
        "long absolute name",
        &[(long, name), (regular("a/x", 0), vec![])],
        fault,
    );
}

// CL-11
#[test]
fn an_export_comes_back_as_it_was() {
    let root = Root::new();
    let (home, _) = root.create("work", Contents::Fresh);
    let long = format!("skills/mine/{}/{}.md", "n".repeat(90), "é".repeat(60));
    put(&home.join(&long), "long");
    put(&home.join("scripts/run.sh"), "#!/bin/sh\n");
    fs::set_permissions(
        home.join("scripts/run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let target = root.directory.path().join("work.tar.gz");
    root.profiles.export(&name("work"), &target).unwrap();
    let imported = root
        .profiles
        .import(&target, &Renamed::To(name("copy")))
        .unwrap();
    let copy = imported.home.path();
    assert_eq!(fs::read_to_string(copy.join(long)).unwrap(), "long");
    assert_eq!(mode(&copy.join("scripts/run.sh")), 0o700);
    assert_eq!(mode(&copy.join(".env")), 0o600);
    assert_eq!(mode(copy), 0o700);
}

#[test]
fn an_import_brings_no_consent_of_others() {
    use EntryType as T;
    let root = Root::new();
    let path = root.directory.path().join("a.tar.gz");
    archive(
        &path,
        &[
            Member("a/config.yaml", T::Regular, ""),
            Member("a/shell-hooks-allowlist.json", T::Regular, ""),
            Member("a/pairing/telegram.json", T::Regular, ""),
            Member("a/gateway.pid", T::Regular, ""),
        ],
    );
    let imported = root.profiles.import(&path, &Renamed::AsPacked).unwrap();
    assert_eq!((imported.files, imported.notes.len()), (1, 3));
    let files = listing(imported.home.path());
    assert!(
        !files
            .iter()
            .any(|path| path.contains("pairing") || path.contains("allowlist"))
    );
}

// CL-11
#[test]
fn files_of_secrets_are_never_programs() {
    let root = Root::new();
    let file = root.directory.path().join("work.tar.gz");
    let mut builder = Builder::new(GzEncoder::new(
        File::create(&file).unwrap(),
        Compression::fast(),
    ));
    for member in ["work/.env", "work/auth.json", "work/scripts/run"] {
        let mut header = header(member, EntryType::Regular, "", 4);
        header.set_mode(0o777);
        header.set_cksum();
        builder.append(&header, &b"A=1\n"[..]).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap();
    let imported = root.profiles.import(&file, &Renamed::AsPacked).unwrap();
    let home = imported.home.path();
    assert_eq!(mode(&home.join(".env")), 0o600);
    assert_eq!(mode(&home.join("auth.json")), 0o600);
    assert_eq!(mode(&home.join("scripts/run")), 0o700);

    fs::set_permissions(home.join(".env"), fs::Permissions::from_mode(0o755)).unwrap();
    let (copy, _) = root.create("copy", Contents::SettingsOf(name("work")));
    assert_eq!(mode(&copy.join(".env")), 0o600);
}
