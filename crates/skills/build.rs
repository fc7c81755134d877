//! Packs the skills that come with the program into one compressed file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=bundled");
    let root = Path::new("bundled");
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut packed = Vec::new();
    for file in &files {
        let below = file.strip_prefix(root).unwrap_or(file);
        let name = below.to_string_lossy();
        // What lies beside the categories is about them and belongs to none.
        if below.components().count() < 2 {
            continue;
        }
        for part in [name.as_bytes(), &fs::read(file)?] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            packed.extend_from_slice(&length.to_le_bytes());
            packed.extend_from_slice(part);
        }
    }
    // Without any skill there is nothing to tell apart.
    let id = match packed.is_empty() {
        true => String::new(),
        false => format!("{:016x}", fingerprint(&packed)),
    };
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&packed)?;
    fs::write(out().join("bundled.bin"), encoder.finish()?)?;
    println!("cargo::rustc-env=HERMES_BUNDLED_ID={id}");
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells build scripts everything this way"
)]
fn out() -> PathBuf {
    PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default())
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a: tells one set of skills from another.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
