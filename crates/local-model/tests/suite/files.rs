//! Files that are no model, or not one for this engine.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_local_model::{Engine, LoadOptions, LocalError};

use super::fixture::model;

fn refused(path: &Path) -> LocalError {
    Engine::load(path, LoadOptions::default()).unwrap_err()
}

fn written(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("model.gguf");
    fs::write(&path, bytes).unwrap();
    path
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let place = bytes
        .windows(from.len())
        .position(|window| window == from)
        .unwrap();
    let mut bytes = bytes.to_vec();
    bytes[place..place + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn what_is_not_a_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        refused(&folder.path().join("absent.gguf")),
        LocalError::File { .. }
    ));
    assert!(matches!(refused(folder.path()), LocalError::File { .. }));
    for bytes in [&b""[..], b"GG", b"hello, this is text", &[0; 4096]] {
        let error = refused(&written(&folder, bytes));
        assert!(matches!(error, LocalError::NotGguf(_)), "{error}");
        assert!(
            error
                .to_string()
                .ends_with("model.gguf is not a GGUF model file")
        );
    }
}

#[test]
fn a_file_cut_short_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(model()).unwrap();
    for length in [
        4,
        8,
        20,
        100,
        5_000,
        1_000_000,
        whole.len() / 2,
        whole.len() - 64,
    ] {
        let error = refused(&written(&folder, &whole[..length]));
        assert!(
            matches!(error, LocalError::Damaged { .. }),
            "{length}: {error}"
        );
        assert_eq!(error.to_string().lines().count(), 1);
    }
}

#[test]
fn another_architecture_or_vocabulary_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(model()).unwrap();
    let other = replaced(
        &whole,
        b"\x05\0\0\0\0\0\0\0llama",
        b"\x05\0\0\0\0\0\0\0mamba",
    );
    let error = refused(&written(&folder, &other)).to_string();
    let expected = "its architecture is `mamba`, the built-in engine knows llama, qwen2, qwen3";
    assert!(error.ends_with(expected), "{error}");
    let other = replaced(&whole, b"\x04\0\0\0\0\0\0\0gpt2", b"\x04\0\0\0\0\0\0\0bert");
    let error = refused(&written(&folder, &other)).to_string();
    assert!(error.contains("`bert`"), "{error}");
}

#[test]
fn a_damaged_header_never_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    // The header alone, so that nothing loads: every outcome must be an error in words.
    let header = fs::read(model()).unwrap()[..4_000].to_vec();
    for place in 0..600 {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = header.clone();
            bytes[place] = value;
            assert_eq!(
                refused(&written(&folder, &bytes))
                    .to_string()
                    .lines()
                    .count(),
                1
            );
        }
    }
}
