//! The binary under test in a home of its own.

use std::path::{Path, PathBuf};

use hermes_testkit::{HermeticCommand, Output, TempHome};

/// A home and the program.
pub(crate) struct Program {
    pub(crate) home: TempHome,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self {
            home: TempHome::new().unwrap(),
        }
    }

    /// A home the reference has used: its database is there.
    pub(crate) fn after_the_reference() -> Self {
        let program = Self::new();
        let database = std::fs::read(reference("state/v22.db")).unwrap();
        program.home.write("state.db", database).unwrap();
        program
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> HermeticCommand {
        self.home
            .hermes(env!("CARGO_BIN_EXE_hermes"))
            .args(arguments)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).run().unwrap()
    }

    /// What a successful run prints, temporary paths replaced.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        self.home.scrub(&self.run(arguments).ok().stdout)
    }

    /// Runs a shell line with `$HERMES` set to the program.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let command = self.home.command("/bin/sh").args(["-c", line]);
        command
            .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
            .run()
            .unwrap()
    }
}

/// A golden file recorded from the reference.
pub(crate) fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/reference")
        .join(name)
}
