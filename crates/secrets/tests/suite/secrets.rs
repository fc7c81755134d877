use hermes_secrets::{ChildName, Origin, Secret, SecretError, SecretName, mask};

fn name(text: &str) -> SecretName {
    SecretName::new(text).expect("a name")
}

fn secret(value: &str) -> Secret {
    let home = "https://api.example.com".parse().expect("a pattern");
    Secret::new(name("EXAMPLE_KEY"), value.to_owned(), [home]).expect("a secret")
}

#[test]
fn printing_never_shows_the_value() {
    let secret = secret("hunter2hunter2");
    assert_eq!(
        format!("{secret} {secret:?} {:?}", Some(&secret)),
        "[secret EXAMPLE_KEY] [secret EXAMPLE_KEY] Some([secret EXAMPLE_KEY])"
    );
}

#[test]
fn only_its_own_origin_sees_it() {
    let secret = secret("hunter2hunter2");
    let home: Origin = "https://api.example.com".parse().expect("an origin");
    let away: Origin = "https://evil.test".parse().expect("an origin");
    assert_eq!(secret.expose_for(&home), Ok("hunter2hunter2"));
    let refused = secret.expose_for(&away).expect_err("a refusal");
    assert_eq!(
        refused.to_string(),
        "secret EXAMPLE_KEY is not meant for https://evil.test"
    );
}

#[test]
fn a_child_sees_it_only_when_granted() {
    let github = ChildName::new("mcp:github");
    let granted = Secret::builder(name("GH"), "hunter2".into())
        .child(github.clone())
        .build()
        .expect("a secret");
    assert_eq!(granted.expose_to_child(&github), Ok("hunter2"));
    assert!(
        granted
            .expose_to_child(&ChildName::new("mcp:other"))
            .is_err()
    );
    assert!(secret("hunter2").expose_to_child(&github).is_err());
}

#[test]
fn storage_and_comparison_read_the_value() {
    let secret = secret("hunter2");
    assert_eq!(secret.expose_for_storage(".env"), "hunter2");
    assert!(secret.matches("hunter2"));
    assert!(!secret.matches("hunter3") && !secret.matches("hunter22") && !secret.matches(""));
}

#[test]
fn empty_values_and_odd_names_are_errors() {
    assert_eq!(
        Secret::new(name("X"), String::new(), []).expect_err("empty"),
        SecretError::Empty { name: name("X") }
    );
    for text in ["", "a b", "a]", "naïve", &"x".repeat(129)] {
        assert_eq!(SecretName::new(text), Err(SecretError::Name));
    }
}

#[test]
fn masks_show_both_ends_of_long_values_only() {
    assert_eq!(mask("sk-abcdefghijklmnop"), "sk-a…mnop");
    assert_eq!(mask("seventeen-chars!!"), "***");
    assert_eq!(mask(""), "***");
    assert_eq!(mask("ключключключключключ"), "ключ…ключ");
}
