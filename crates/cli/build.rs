//! Tells the linker how to write the table of addresses that are put right when the program starts.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if is_native() && glibc().is_some_and(|version| version >= (2, 36)) {
        // The usual table is a twentieth of the program and is read in full at every start; packed it is a
        // hundred times smaller. Loaders before glibc 2.36 cannot read it.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the program will run where it is built.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells build scripts everything this way"
)]
fn is_native() -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    variable("HOST") == variable("TARGET") && variable("CARGO_CFG_TARGET_ENV") == "gnu"
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
