//! Who asks GitHub for skills: an app with its signed statement, and the login of `gh`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::skills_lab::{Lab, skill};

/// Runs a line of shell in a directory; says whether it went well.
fn shell(directory: &Path, line: &str, arguments: &[&str]) -> bool {
    let all = ["-euc", line, "sh"].into_iter();
    let all = all.chain(arguments.iter().copied());
    let ran = Command::new("sh").args(all).current_dir(directory).output();
    ran.unwrap().status.success()
}

fn private() -> Lab {
    let lab = Lab::new();
    let files = [("SKILL.md", &*skill("hidden", "Text."))];
    lab.hubs.repository("me/private", &files);
    lab.hubs.protect("me/private", "ghs_of_the_app");
    lab
}

// LN-32
#[test]
fn an_app_signs_in_with_its_key_and_gets_a_token() {
    let lab = private();
    let home = lab.program.home.path();
    let keys =
        "openssl genrsa -out app.pem 2048 && openssl rsa -in app.pem -pubout -out public.pem";
    assert!(shell(&home, keys, &[]));
    let variables = |key: &str| {
        let key = home.join(key).display().to_string();
        let text = format!(
            "GITHUB_APP_ID=4711\nGITHUB_APP_INSTALLATION_ID=42\nGITHUB_APP_PRIVATE_KEY_PATH={key}\n"
        );
        lab.program.home.write_env(&text).unwrap();
    };
    variables("missing.pem");
    lab.nothing_came_of(&lab.install("me/private"), &["the file is not there"]);
    variables("public.pem");
    lab.nothing_came_of(&lab.install("me/private"), &["no private key"]);
    assert_eq!(lab.hubs.requests("/access_tokens"), 0);

    variables("app.pem");
    lab.install("me/private").ok();
    assert!(lab.text("hidden/SKILL.md").is_some());
    let seen = lab.hubs.seen();
    let asked = |about: &str| {
        let found = seen.iter().filter(|one| one.line.contains(about));
        found
            .filter_map(|one| one.authorization.clone())
            .collect::<Vec<String>>()
    };
    let statements = asked("POST /gh/app/installations/42/access_tokens");
    assert_eq!(statements.len(), 1, "one token for all requests");
    let statement = statements[0].strip_prefix("Bearer ").unwrap();
    let is_signed = "printf %s \"${1%.*}\" > said\n\
        signature=$(printf %s \"${1##*.}\" | tr -- '-_' '+/')\n\
        while [ $((${#signature} % 4)) -ne 0 ]; do signature=$signature=; done\n\
        printf %s \"$signature\" | openssl base64 -d -A > signature\n\
        openssl dgst -sha256 -verify public.pem -signature signature said";
    assert!(shell(&home, is_signed, &[statement]), "{statement}");
    let last = asked("/gh/repos/me/private").pop().unwrap();
    assert_eq!(last, "Bearer ghs_of_the_app");
}

/// A `gh` that is signed in, and notes how it was called.
fn with_gh(lab: &Lab) -> String {
    let bin = lab.program.home.user_home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let note = lab.program.home.path().join("called");
    let script = format!(
        "#!/bin/sh\n{{ echo \"$@\"; env; }} >> {}\necho gho_of_the_person\n",
        note.display()
    );
    let program = bin.join("gh");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

// LN-32
#[test]
fn the_login_of_gh_is_for_github_itself_and_learns_no_secrets() {
    let lab = private();
    let path = with_gh(&lab);
    // Another address than GitHub's own never gets it.
    let elsewhere = lab.command(&["install", "me/private", "-y"]);
    let elsewhere = elsewhere.env("PATH", &path).run().unwrap();
    lab.nothing_came_of(&elsewhere, &["not there"]);
    assert!(lab.program.home.read("called").is_err());
    assert!(
        lab.hubs
            .seen()
            .iter()
            .all(|one| one.authorization.is_none())
    );

    let at_github = |env: &str| {
        lab.program.home.write_env(env).unwrap();
        let command = lab.command(&["inspect", "me/private"]).env("PATH", &path);
        // Nobody answers there.
        let command = command
            .env("HERMES_SKILLS_GITHUB_URL", "https://api.github.com")
            .env("HTTPS_PROXY", "http://127.0.0.1:1");
        command.run().unwrap().code(1)
    };
    let failed = at_github("OTHER_API_KEY=not-for-gh\n");
    assert!(!failed.stderr.contains("gho_of_the_person"));
    let called = lab.program.home.read("called").unwrap();
    assert!(called.starts_with("auth token\n"), "{called}");
    assert!(!called.contains("not-for-gh"), "{called}");
    fs::remove_file(lab.program.home.path().join("called")).unwrap();
    // A token of the environment comes first.
    at_github("GITHUB_TOKEN=mine-comes-first\n");
    assert!(lab.program.home.read("called").is_err());
}
