//! The temporary home.

use std::fs;

use hermes_testkit::TempHome;

#[test]
fn writes_reads_and_protects_files() {
    let home = TempHome::new().unwrap();
    home.write_config("model: scripted\n").unwrap();
    home.write_env("KEY=1\n").unwrap();
    home.write("skills/a/SKILL.md", "# a").unwrap();
    assert_eq!(home.read("config.yaml").unwrap(), "model: scripted\n");
    assert_eq!(home.mode(".env").unwrap(), 0o600);
    let paths: Vec<String> = home.tree().unwrap().into_keys().collect();
    assert_eq!(
        paths,
        [
            ".env",
            "config.yaml",
            "skills",
            "skills/a",
            "skills/a/SKILL.md"
        ]
    );
    let error = home.read("missing").unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn tree_hash_changes_with_content_and_mode_only() {
    let home = TempHome::new().unwrap();
    home.write_env("KEY=1\n").unwrap();
    let before = home.tree_hash().unwrap();
    home.write_env("KEY=1\n").unwrap();
    assert_eq!(home.tree_hash().unwrap(), before);
    home.write_env("KEY=2\n").unwrap();
    assert_ne!(home.tree_hash().unwrap(), before);
    home.write_env("KEY=1\n").unwrap();
    let path = home.path().join(".env");
    let mut open = fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut open, 0o644);
    fs::set_permissions(&path, open).unwrap();
    assert_ne!(home.tree_hash().unwrap(), before);
}

#[test]
fn scrubs_its_paths() {
    let home = TempHome::new().unwrap();
    let text = format!(
        "{} {}",
        home.path().display(),
        home.workspace().join("x").display()
    );
    assert_eq!(home.scrub(&text), "[HOME]/.hermes [WORK]/x");
}
