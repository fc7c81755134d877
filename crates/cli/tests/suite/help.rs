//! The command line itself: help, version, wrong words, flags anywhere.

use std::collections::BTreeMap;

use super::program::{Program, reference};

// CL-1
#[test]
fn version_help_and_paths_are_instant_and_small() {
    let program = Program::new();
    for arguments in [&["--version"][..], &["--help"], &["config", "path"]] {
        // The best of several: the machine may be busy, the program must not be. A run that ends too
        // soon to be looked at counts with the memory of the process it was started from.
        let runs: Vec<_> = (0..10).map(|_| program.run(arguments).ok()).collect();
        let wall = runs.iter().map(|output| output.wall).min().unwrap();
        let memory = runs.iter().map(|output| output.max_rss_kib).min().unwrap();
        assert!(wall.as_millis() <= 30, "{arguments:?} took {wall:?}");
        // Without optimisation; the budget of what is shipped stands in `bench`.
        assert!(memory <= 18 * 1024, "{arguments:?} used {memory} KiB");
    }
}

#[test]
fn version_is_one_line() {
    let program = Program::new();
    assert_eq!(
        program.stdout(&["--version"]),
        concat!("hermes ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert_eq!(program.stdout(&["-V"]), program.stdout(&["--version"]));
}

#[test]
fn help_shows_commands_in_groups() {
    let help = Program::new().stdout(&["--help"]);
    for group in ["Conversations:", "Settings:"] {
        assert!(help.contains(group), "{help}");
    }
    assert_eq!(
        Program::new().stdout(&[]),
        help,
        "no command shows the same overview"
    );
}

#[test]
fn a_slip_of_the_keyboard_gets_a_suggestion() {
    let program = Program::new();
    let output = program.run(&["sesions", "list"]).code(2);
    assert!(output.stderr.contains("sessions"), "{}", output.stderr);
    let output = program.run(&["sessions", "list", "--limt", "3"]).code(2);
    assert!(output.stderr.contains("--limit"), "{}", output.stderr);
}

// CL-2
#[test]
fn the_profile_flag_may_stand_anywhere() {
    let program = Program::new();
    program
        .home
        .write("profiles/work/config.yaml", "display: {skin: mono}\n")
        .unwrap();
    for arguments in [
        &["-p", "work", "config", "get", "display.skin"][..],
        &["config", "-p", "work", "get", "display.skin"],
        &["config", "get", "display.skin", "--profile", "work"],
        &["config", "get", "--profile=work", "display.skin"],
    ] {
        assert_eq!(program.stdout(arguments), "mono\n", "{arguments:?}");
    }
}

// CL-2
#[test]
fn every_flag_of_the_reference_for_these_commands_is_known() {
    let program = Program::new();
    let listing = std::fs::read_to_string(reference("cli/help_all.txt")).unwrap();
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    for line in listing.lines() {
        let mut words = line.split_whitespace().peekable();
        let mut path = Vec::new();
        while let Some(word) = words.next_if(|word| !word.starts_with(['-', '<'])) {
            path.push(word);
        }
        let ours = [
            "config",
            "profile",
            "sessions",
            "backup",
            "import",
            "completion",
            "logs",
            "status",
            "insights",
            "dump",
        ];
        // The session browser is a full-screen picker; it comes with the terminal UI.
        if path.len() < 2 || !ours.contains(&path[1]) || path == ["hermes", "sessions", "browse"] {
            continue;
        }
        let help = helps.entry(path.join(" ")).or_insert_with(|| {
            let arguments: Vec<_> = path[1..].iter().copied().chain(["--help"]).collect();
            program.run(&arguments).ok().stdout
        });
        for flag in words.filter(|word| word.starts_with('-')) {
            let long = flag
                .split('/')
                .next_back()
                .unwrap()
                .split('=')
                .next()
                .unwrap();
            // Sharing is refused with a reason, so its flags are not advertised.
            if ["--upload", "--public", "--no-redact"].contains(&long) {
                continue;
            }
            assert!(
                help.contains(long),
                "{} lacks {flag}:\n{help}",
                path.join(" ")
            );
        }
    }
    assert!(
        helps.len() > 30,
        "only {} commands were compared",
        helps.len()
    );
}
