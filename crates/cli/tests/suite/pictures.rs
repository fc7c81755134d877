//! The pictures of the documents, drawn with the program under test.

use std::path::Path;
use std::process::Command;

use hermes_testkit::pictures::{Picture, Scene, draw};

fn drawn(scene: Scene) -> Picture {
    draw(Path::new(env!("CARGO_BIN_EXE_hermes")), scene).unwrap()
}

/// The words of a drawing, in order, without a blank.
fn words(svg: &str) -> String {
    let texts = svg
        .split("</text>")
        .filter_map(|part| part.rsplit_once('>'));
    let all: String = texts.map(|(_, text)| text).collect();
    let all = all
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    all.split_whitespace().collect()
}

#[test]
fn a_picture_shows_what_is_on_the_screen_and_is_drawn_the_same_again() {
    let picture = drawn(Scene::Conversation);
    for shown in ["Water the beans", "every other day", "~/garden"] {
        assert!(picture.text.contains(shown), "{}", picture.text);
    }
    let changed = picture.text.matches("Beans: water every").count();
    assert_eq!(changed, 2, "the diff of the edit:\n{}", picture.text);
    let expected: String = picture.text.split_whitespace().collect();
    assert_eq!(words(&picture.svg), expected);
    assert!(!picture.svg.contains('\u{1b}'));
    assert!(!picture.svg.contains("hermes-test-"), "{}", picture.text);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("picture.svg");
    std::fs::write(&file, &picture.svg).unwrap();
    let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
    let parsed = Command::new("python3")
        .args(["-c", parse])
        .arg(&file)
        .output();
    let parsed = parsed.unwrap();
    assert!(
        parsed.status.success(),
        "{}",
        String::from_utf8_lossy(&parsed.stderr)
    );
    assert_eq!(drawn(Scene::Conversation), picture);
}

#[test]
fn a_panel_waits_in_its_picture() {
    let picture = drawn(Scene::Approval);
    assert!(picture.text.contains("rm -r old-plans"), "{}", picture.text);
    assert!(picture.text.contains("Allow once"), "{}", picture.text);
}

#[test]
fn every_scene_comes_to_its_end_and_shows_what_it_is_for() {
    for scene in Scene::ALL {
        let shown: &[&str] = match scene {
            // Those have tests of their own.
            Scene::Conversation | Scene::Approval => continue,
            Scene::Light => &["Water the beans", "every other day"],
            Scene::Help => &["/help", "Esc closes"],
            Scene::Full => &["+ new session", "Water the beans", "every other day"],
            Scene::Banner => &["╭─ ⚕ Hermes", "~/garden", "Tools", "read_file"],
        };
        let picture = drawn(scene);
        let name = scene.name();
        for words in shown {
            assert!(picture.text.contains(words), "{name}: {}", picture.text);
        }
        assert!(!picture.svg.contains("hermes-test-"), "{}", picture.text);
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures.md");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&format!("pictures/{name}.svg")), "{name}");
    }
}

#[test]
fn a_start_is_drawn_the_same_again_whatever_tip_there_is() {
    let picture = drawn(Scene::Banner);
    assert!(!picture.text.contains("Tip: "), "{}", picture.text);
    assert_eq!(drawn(Scene::Banner), picture);
}
