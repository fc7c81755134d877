//! Package-managed installations and the administrator's settings. CL-9.

use std::fs;

use hermes_config::{
    IgnoredFile, KeyPath, Layer, ManagedScope, Owner, SetError, Settings, UnknownKey,
};

use super::support::TempHome;

fn with_scope(config: &str, env: &str) -> TempHome {
    let home = TempHome::with_config("display: {skin: mine}\n");
    let directory = home.outside().join("managed");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("config.yaml"), config).unwrap();
    fs::write(directory.join(".env"), env).unwrap();
    home
}

// CL-9
#[test]
fn the_owner_is_named_and_nothing_is_written() {
    let home = TempHome::new();
    let owner =
        |value: &str| Owner::of(&home.home, &home.environment(&[("HERMES_MANAGED", value)]));
    assert_eq!(owner("true"), Owner::Nix);
    assert_eq!(owner("brew"), Owner::Homebrew);
    assert_eq!(owner("Guix"), Owner::Other("Guix".into()));
    assert_eq!(Owner::of(&home.home, &home.environment(&[])), Owner::User);
    fs::write(home.home.managed_marker(), "").unwrap();
    assert_eq!(Owner::of(&home.home, &home.environment(&[])), Owner::Nix);

    let settings = Settings {
        home: &home.home,
        owner: &Owner::Homebrew,
        managed: &ManagedScope::default(),
    };
    for change in [
        settings.set("display.skin", "x", UnknownKey::Refuse),
        settings.set("OPENAI_API_KEY", "x", UnknownKey::Refuse),
        settings.unset("display.skin"),
    ] {
        let error = change.unwrap_err();
        assert!(matches!(error, SetError::Owned { .. }));
        assert_eq!(error.hint(), "brew upgrade hermes-agent");
    }
    assert!(!home.home.config_file().exists() && !home.home.env_file().exists());
}

// CL-9
#[test]
fn a_fixed_setting_wins_and_cannot_be_changed() {
    let home = with_scope(
        "display: {skin: fixed}\nmodel: acme/fixed\n",
        "OPENAI_API_KEY=fixed\n",
    )
    .env("OPENAI_API_KEY=mine\n");
    let loaded = home.load_with(&[("HERMES_INFERENCE_MODEL", "env/model")]);
    assert_eq!(loaded.config.display.skin, "fixed");
    assert_eq!(loaded.config.model.default, "acme/fixed");
    assert_eq!(loaded.secrets.expose("OPENAI_API_KEY"), Some("fixed"));
    let skin = loaded.tree.at(&KeyPath::of(["display", "skin"])).unwrap();
    assert_eq!(skin.origin.layer, Layer::Managed);

    let settings = Settings {
        home: &home.home,
        owner: &Owner::User,
        managed: &loaded.managed,
    };
    for key in ["display.skin", "display", "model.default", "OPENAI_API_KEY"] {
        let error = settings.set(key, "{}", UnknownKey::Refuse).unwrap_err();
        assert!(matches!(error, SetError::Pinned { .. }), "{key}: {error}");
        assert!(
            matches!(settings.unset(key), Err(SetError::Pinned { .. })),
            "{key}"
        );
    }
    assert!(
        settings
            .set("display.compact", "on", UnknownKey::Refuse)
            .is_ok()
    );
    let keys: Vec<_> = loaded
        .managed
        .keys()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(keys, ["display.skin", "model"]);
}

// CL-9
#[test]
fn a_broken_managed_file_is_ignored_loudly() {
    let home = with_scope("display: [\n", "");
    let loaded = home.load();
    assert_eq!(loaded.config.display.skin, "mine");
    let [IgnoredFile::Unparsable { path, .. }] = loaded.ignored.as_slice() else {
        panic!("{:?}", loaded.ignored);
    };
    assert!(path.ends_with("managed/config.yaml"));
}
