//! Tells the linker how to lay out the program.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The functions that usual starts go through, as `scripts/order` found them.
const ORDER: &str = "start.order";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed=HERMES_KEEP_NAMES");
    if is_native() && glibc().is_some_and(|version| version >= (2, 36)) {
        // The usual table of addresses that are put right at the start is a twentieth of the program and is
        // read in full every time; packed it is a hundred times smaller. Loaders before glibc 2.36 cannot
        // read it.
        link("-Wl,-z,pack-relative-relocs");
    }
    if variable("PROFILE") != "release" || !links_with_lld() {
        return;
    }
    // The kernel maps sixteen pages around each one that is touched. With what a start touches side by side,
    // a question takes half the memory.
    let script = Path::new(&variable("OUT_DIR")).join("start.ld");
    let names = std::fs::read_to_string(ORDER).unwrap_or_default();
    match std::fs::write(&script, side_by_side(&names)) {
        Ok(()) => link(&format!("-Wl,-T,{}", script.display())),
        Err(error) => println!("cargo::warning={}: {error}", script.display()),
    }
    if !variable("HERMES_KEEP_NAMES").is_empty() {
        // Of the two wishes to strip the linker hears, the last one counts.
        link("-Wl,--strip-debug");
    }
}

/// A script for the linker. The functions come first as they are named; then, for another compiler or other
/// versions of libraries, all that are named like them but for what these change in a name.
fn side_by_side(names: &str) -> String {
    let mut patterns = Vec::new();
    let mut alike = BTreeSet::new();
    for name in names.lines() {
        match split(name) {
            Name::Hashed(path) => {
                patterns.push(format!("{name}*"));
                alike.insert(format!("{path}*"));
            }
            Name::Mangled => patterns.push(format!("{name}*")),
            Name::Plain => patterns.push(name.to_owned()),
        }
    }
    patterns.extend(alike);
    let mut script = "SECTIONS\n{\n  .text.start :\n  {\n".to_owned();
    for pattern in patterns {
        // Writing to a string does not fail.
        let _ = writeln!(script, "    *(.text.{pattern} .text.unlikely.{pattern})");
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    script
}

/// How a function is named in the program. A number behind the name of a Rust function counts its copies.
enum Name<'a> {
    /// By its path, then a hash of its types, its crate and the compiler.
    Hashed(&'a str),
    /// In the standard library, which is compiled already.
    Mangled,
    /// In C.
    Plain,
}

fn split(name: &str) -> Name<'_> {
    match name.rfind("17h") {
        Some(hash) if name.starts_with("_ZN") => Name::Hashed(&name[..hash]),
        _ if name.starts_with("_R") => Name::Mangled,
        _ => Name::Plain,
    }
}

fn link(argument: &str) {
    println!("cargo::rustc-link-arg-bins={argument}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells build scripts everything this way"
)]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether the program will run where it is built.
fn is_native() -> bool {
    variable("HOST") == variable("TARGET") && variable("CARGO_CFG_TARGET_ENV") == "gnu"
}

/// Whether the linker is the one that comes with the compiler, and nobody chose another.
fn links_with_lld() -> bool {
    let target = variable("TARGET");
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let replaced = !variable("RUSTC_LINKER").is_empty() || flags.contains("link");
    if target != "x86_64-unknown-linux-gnu" || replaced {
        return false;
    }
    let root = said(Command::new(variable("RUSTC")).args(["--print", "sysroot"]));
    root.is_some_and(|root| {
        let tools = PathBuf::from(root.trim()).join("lib/rustlib").join(target);
        tools.join("bin/gcc-ld/ld.lld").exists()
    })
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let text = said(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn said(command: &mut Command) -> Option<String> {
    String::from_utf8(command.output().ok()?.stdout).ok()
}
