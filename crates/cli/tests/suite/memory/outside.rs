//! Files that somebody edits by hand.

use std::fs;

use serde_json::json;

use super::{Lab, add, keys, remove};

// LN-8
#[test]
fn an_edit_from_outside_is_copied_and_nothing_is_written() {
    let lab = Lab::new("");
    lab.one(add("The build runs with make."));
    let edited = "The build runs with make.\n§\n\n## By hand\n- one\n- two\n";
    lab.write("MEMORY.md", edited);
    for call in [
        add("Tests run with nextest."),
        remove("make"),
        json!({"target": "memory", "operations": [{"action": "add", "content": "x"}]}),
    ] {
        let told = lab.one(call);
        assert_eq!(
            keys(&told),
            ["success", "error", "drift_backup", "remediation"]
        );
        let backup = told["drift_backup"].as_str().unwrap();
        assert!(backup.contains("MEMORY.md.bak."), "{backup}");
        assert_eq!(fs::read_to_string(backup).unwrap(), edited);
        assert_eq!(lab.file("MEMORY.md"), edited);
    }
    let status = lab.program.run(&["memory", "status"]).ok().stdout;
    assert!(
        status.contains("edited outside") && status.contains("hermes memory tidy memory"),
        "{status}"
    );
    let refused = lab.program.run(&["memory", "add", "x"]).code(1);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    lab.program.run(&["memory", "tidy"]).ok();
    let taken = "The build runs with make.\n§\n## By hand\n- one\n- two";
    assert_eq!(lab.file("MEMORY.md"), taken);
    assert_eq!(lab.one(add("Tests run with nextest."))["success"], true);
    assert_eq!(
        lab.file("MEMORY.md"),
        format!("{taken}\n§\nTests run with nextest.")
    );
}

// LN-8
#[test]
fn an_edit_that_keeps_to_the_form_is_taken_in() {
    let lab = Lab::new("");
    lab.one(add("The build runs with make."));
    lab.write("MEMORY.md", "By hand.\n§\nThe build runs with make.");
    assert_eq!(lab.one(remove("make"))["success"], true);
    assert_eq!(lab.file("MEMORY.md"), "By hand.");
}

// LN-8: editors end the last line of a file by themselves.
#[test]
fn a_file_that_was_saved_in_an_editor_is_written_to_as_before() {
    let lab = Lab::new("");
    lab.write("MEMORY.md", "The build runs with make.\n");
    lab.program.run(&["memory", "add", "By hand."]).ok();
    lab.write("MEMORY.md", "The build runs with make.\n§\nBy hand.\n");
    assert_eq!(lab.one(add("Tests run with nextest."))["success"], true);
    assert_eq!(
        lab.file("MEMORY.md"),
        "The build runs with make.\n§\nBy hand.\n§\nTests run with nextest."
    );
}
