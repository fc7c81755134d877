//! Rewriting model files.

use std::fs;

use hermes_local_model::{LocalError, requantize};

use super::fixture::model;

#[test]
fn a_file_in_the_right_form_keeps_its_weights() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("again.gguf");
    let mut shares = Vec::new();
    requantize(&model(), &target, |share| {
        shares.push(share);
        true
    })
    .unwrap();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0));
    assert!(fs::read(&target).unwrap() == fs::read(model()).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn stopping_or_failing_leaves_the_target_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("model.gguf");
    fs::write(&target, "before").unwrap();
    let stopped = requantize(&model(), &target, |share| share < 0.5);
    assert!(matches!(stopped, Err(LocalError::Cancelled)));
    let source = folder.path().join("source.gguf");
    fs::write(&source, "no model").unwrap();
    assert!(matches!(
        requantize(&source, &target, |_| true),
        Err(LocalError::NotGguf(_))
    ));
    assert_eq!(fs::read_to_string(&target).unwrap(), "before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let nowhere = folder.path().join("absent").join("model.gguf");
    assert!(matches!(
        requantize(&model(), &nowhere, |_| true),
        Err(LocalError::File { .. })
    ));
}
