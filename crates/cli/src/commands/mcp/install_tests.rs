use std::process::Command;

use hermes_config::Environment;
use hermes_testkit::SYSTEM_PATH;

use super::*;
use crate::commands::mcp::catalog::Described;

fn manifest(rest: &str) -> Manifest {
    let text = format!(
        "manifest_version: 1\nname: own\ndescription: d\nsource: https://h.example.test\n{rest}"
    );
    match Described::read(&text).unwrap() {
        Described::Known(manifest) => *manifest,
        Described::Newer(newer) => panic!("{newer:?}"),
    }
}

/// A repository with two commits, and the first of them.
fn repository(folder: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.test"])
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", SYSTEM_PATH)
            .env("HOME", folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    let commit = |words: &str| {
        std::fs::write(folder.join("version"), words).unwrap();
        git(&["add", "version"]);
        git(&["commit", "--quiet", "-m", words]);
        git(&["rev-parse", "HEAD"])
    };
    let first = commit("first");
    commit("second");
    first
}

/// Settings of an empty home.
fn loaded(home: &Path) -> Loaded {
    let home = home.display().to_string();
    let variables = [
        ("HERMES_HOME", home.as_str()),
        ("HOME", home.as_str()),
        ("PATH", SYSTEM_PATH),
        ("OWN_SECRET", "canary"),
    ];
    let environment: Environment = variables.into_iter().collect();
    let (context, _) = Context::new(environment, Vec::new());
    context.settings().unwrap()
}

// MCP-97
#[test]
fn a_description_says_which_version_with_which_rights_in_which_folder() {
    let fetched = manifest(
        "transport:\n  type: stdio\n  command: npx\n  args: ['-y', own-server, --verbose]\n  \
         env: {DATA: '${INSTALL_DIR}/data'}\n  version: 1.2.3\n",
    );
    let made = entry(&fetched, Path::new("/folder"), &BTreeMap::new());
    assert_eq!(made.args, ["-y", "own-server@1.2.3", "--verbose"]);
    assert_eq!(made.env["DATA"], "/folder/data");
    let signed = manifest(
        "transport: {type: http, url: 'https://h.example.test/mcp'}\n\
         auth: {type: oauth, provider: example, scopes: [read, write]}\n",
    );
    let made = entry(&signed, Path::new("/folder"), &BTreeMap::new());
    assert_eq!(made.oauth.unwrap().scope, "read write");
    assert_eq!(signed.auth.provider.as_deref(), Some("example"));
}

// MCP-97
#[test]
fn a_program_is_fetched_at_its_commit_and_made_ready_or_not_kept_at_all() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("source");
    std::fs::create_dir(&source).unwrap();
    let first = repository(&source);
    let loaded = loaded(&place.path().join("home"));
    let folder = place.path().join("installs/own");
    let fetched = |reference: &str, last: &str| {
        let text = format!(
            "transport: {{type: stdio, command: '${{INSTALL_DIR}}/run', env: {{OWN: one}}}}\n\
             install:\n  type: git\n  url: '{}'\n{reference}  bootstrap:\n  \
             - 'printf %s \"$OWN${{OWN_SECRET:-}}\" > made'\n  - '{last}'\n",
            source.display()
        );
        let manifest = manifest(&text);
        let entry = entry(&manifest, &folder, &BTreeMap::new());
        let mut output = Output::kept();
        let ended = fetch(&manifest, &folder, &entry, &loaded, &mut output);
        (ended.map_err(|complaint| complaint.cause()), output.text())
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();

    let (ended, said) = fetched("", "exit 3");
    let why = ended.unwrap_err();
    assert!(why.contains("exit 3") && why.contains("3"), "{why}");
    assert!(said.contains("Running: exit 3"), "{said}");
    assert!(!folder.exists(), "half of a program");

    assert_eq!(fetched("", "true").0, Ok(()));
    assert_eq!(read("version"), "second");
    assert_eq!(
        read("made"),
        "one",
        "it knows its own variables, and no secrets"
    );
    std::fs::remove_dir_all(&folder).unwrap();

    for reference in [first.as_str(), "main"] {
        let at = format!("  ref: {reference}\n");
        assert_eq!(fetched(&at, "true").0, Ok(()), "{reference}");
        let expected = if reference == "main" {
            "second"
        } else {
            "first"
        };
        assert_eq!(read("version"), expected);
        // What is there stays, and is told when it is not what is wanted.
        let newer = "f".repeat(40);
        let (ended, said) = fetched(&format!("  ref: {newer}\n"), "exit 3");
        assert_eq!(ended, Ok(()));
        assert!(said.contains(&newer) && said.contains("remove"), "{said}");
        assert_eq!(fetched(&at, "true").1, "", "{reference}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
    let (ended, _) = fetched("  ref: nowhere\n", "true");
    assert!(ended.is_err() && !folder.exists(), "{ended:?}");
    let left = std::fs::read_dir(place.path().join("installs")).unwrap();
    assert_eq!(left.count(), 0, "nothing is left beside it");
}
