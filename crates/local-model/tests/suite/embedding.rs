//! What texts mean, with a small file whose words mean what is said here.

use std::fs;
use std::path::PathBuf;

use hermes_local_model::{Embedder, LocalError};
use hermes_testkit::gguf::write_meanings;
use tokio_util::sync::CancellationToken;

fn model(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("meanings.gguf");
    write_meanings(&path, &[&["car", "vehicle"], &["roof", "shingles"]]).unwrap();
    path
}

fn likeness(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[test]
fn texts_that_mean_the_same_point_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Embedder::load(&model(&folder)).unwrap();
    let of = |text: &str| embedder.embed(text, &CancellationToken::new()).unwrap();
    let car = of("my car");
    assert!((likeness(&car, &car) - 1.0).abs() < 1e-5, "of length one");
    assert!((likeness(&car, &of("the vehicle!")) - 1.0).abs() < 1e-4);
    assert!(likeness(&car, &of("a roof")).abs() < 1e-4);
    let both = likeness(&car, &of("a car under a roof"));
    assert!((both - 0.5f32.sqrt()).abs() < 1e-3, "{both}");
    // An earlier text leaves nothing behind, and a text of several passes is read to its end.
    assert_eq!(of("my car"), car);
    let long = format!("{}roof", "x".repeat(300));
    assert!((likeness(&of(&long), &of("roof")) - 1.0).abs() < 1e-3);
}

#[test]
fn what_means_nothing_has_no_direction_and_the_end_of_a_long_text_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Embedder::load(&model(&folder)).unwrap();
    let of = |text: &str| embedder.embed(text, &CancellationToken::new()).unwrap();
    assert_eq!(of("qwertz"), Vec::<f32>::new());
    assert_eq!(of(""), Vec::<f32>::new());
    assert_eq!(of(&format!("{}car", "x".repeat(600))), Vec::<f32>::new());
}

#[test]
fn it_stops_when_it_is_told_to_and_goes_on_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Embedder::load(&model(&folder)).unwrap();
    let stopped = CancellationToken::new();
    stopped.cancel();
    let error = embedder.embed("car", &stopped).unwrap_err();
    assert!(matches!(error, LocalError::Cancelled), "{error}");
    let vector = embedder.embed("car", &CancellationToken::new()).unwrap();
    assert_eq!(vector.len(), 32);
}

#[test]
fn files_it_cannot_use_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(&folder);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let error = Embedder::load(&path).unwrap_err();
    assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
    // Vectors of the first token, which other kinds of models have.
    let key = b"llama.pooling_type\x04\0\0\0";
    let place = whole
        .windows(key.len())
        .position(|part| part == key)
        .unwrap()
        + key.len();
    let mut other = whole;
    other[place] = 2;
    fs::write(&path, &other).unwrap();
    let error = Embedder::load(&path).unwrap_err();
    assert!(matches!(error, LocalError::Unsupported { .. }), "{error}");
}
