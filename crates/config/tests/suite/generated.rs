//! The schema and the reference page that are checked in.

use std::fs;
use std::path::Path;

#[test]
fn the_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&hermes_config::json_schema()).unwrap();
    check("config.schema.json", &format!("{schema}\n"));
}

#[test]
fn the_reference_page_is_up_to_date() {
    check("configuration.md", &hermes_config::reference_page());
}

#[expect(
    clippy::disallowed_methods,
    reason = "the switch that rewrites the file is for the person running the test"
)]
fn check(name: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, made).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    // Not `assert_eq`, which would print both files in full.
    assert!(
        stored == made,
        "docs/{name} is stale: run this test with UPDATE_DOCS=1"
    );
}
