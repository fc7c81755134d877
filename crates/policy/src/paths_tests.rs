use super::*;

fn rules() -> FileRules {
    FileRules {
        home: PathBuf::from("/home/ada"),
        product_home: PathBuf::from("/home/ada/.hermes/profiles/work"),
        profiles: vec![
            PathBuf::from("/home/ada/.hermes"),
            PathBuf::from("/home/ada/.hermes/profiles/work"),
            PathBuf::from("/home/ada/.hermes/profiles/play"),
        ],
        mirrors: vec![PathBuf::from("/var/sandbox/home")],
        safe_roots: Vec::new(),
        linked: None,
    }
}

fn read(path: &str) -> Result<(), PathRefusal> {
    let names = Names {
        real: Path::new(path),
        hops: &[],
    };
    may_read(names, &rules())
}

fn write(path: &str, cross: CrossProfile) -> Result<(), PathRefusal> {
    let names = Names {
        real: Path::new(path),
        hops: &[],
    };
    may_write(names, &rules(), cross)
}

#[test]
fn devices_and_secrets_are_not_read() {
    for path in [
        "/dev/zero",
        "/dev/tty",
        "/dev/fd/1",
        "/proc/self/fd/0",
        "/proc/77/environ",
        "/proc/1/task/2/mem",
        "/proc/self/maps",
    ] {
        assert!(matches!(read(path), Err(PathRefusal::Device(_))), "{path}");
    }
    for path in [
        "/srv/app/.env",
        "/srv/app/.env.production",
        "/srv/.envrc",
        "/home/ada/.hermes/auth.json",
        "/home/ada/.hermes/profiles/play/auth.json",
        "/home/ada/.hermes/profiles/work/.anthropic_oauth.json",
        "/home/ada/.hermes/mcp-tokens/x.json",
        "/home/ada/.hermes/skills/.hub/x",
        // Keys in the settings of another profile are known as secrets only there.
        "/home/ada/.hermes/config.yaml",
        "/home/ada/.hermes/profiles/play/config.yaml",
        "/srv/x/../app/.env",
    ] {
        assert!(matches!(read(path), Err(PathRefusal::Secret(_))), "{path}");
    }
    for path in [
        "/srv/app/.env.example",
        "/dev/null",
        "/proc/cpuinfo",
        "/proc/self/status",
        "/home/ada/.hermes/profiles/work/config.yaml",
        "/srv/config.yaml",
        "/srv/auth.json",
        "/home/ada/.hermes/skills/x/SKILL.md",
    ] {
        assert_eq!(read(path), Ok(()), "{path}");
    }
}

// EX-47
#[test]
fn each_kind_of_guarded_path_is_not_written() {
    use PathRefusal as No;
    let refused = |path: &str| write(path, CrossProfile::Allow).unwrap_err();
    for path in [
        "/etc/hosts",
        "/etc/sudoers.d/x",
        "/boot/grub/grub.cfg",
        "/usr/lib/systemd/system/x.service",
        "/private/etc/hosts",
    ] {
        assert!(matches!(refused(path), No::System(_)), "{path}");
    }
    for path in ["/var/run/docker.sock", "/run/user/1000/podman/podman.sock"] {
        assert!(matches!(refused(path), No::EngineSocket(_)), "{path}");
    }
    for path in [
        "/home/ada/.ssh/authorized_keys",
        "/home/ada/.ssh/config",
        "/home/ada/.aws/credentials",
        "/home/ada/.gnupg/x",
        "/home/ada/.kube/config",
        "/home/ada/.docker/config.json",
        "/home/ada/.azure/x",
        "/home/ada/.config/gh/hosts.yml",
        "/home/ada/.config/gcloud/x",
        "/home/ada/.netrc",
        "/home/ada/.pgpass",
        "/home/ada/.npmrc",
        "/home/ada/.pypirc",
        "/home/ada/.git-credentials",
    ] {
        assert!(matches!(refused(path), No::Credential(_)), "{path}");
    }
    assert!(matches!(
        refused("/home/ada/.hermes/profiles/work/config.yaml"),
        No::Configuration(_)
    ));
    for path in [
        "/home/ada/.hermes/.env",
        "/home/ada/.hermes/state.db",
        "/home/ada/.hermes/profiles/work/hermes.db-wal",
        "/home/ada/.hermes/sessions/x.jsonl",
        "/home/ada/.hermes/mcp-tokens/x",
        "/home/ada/.hermes/profiles/work/pairing/x",
        "/home/ada/.hermes/auth.json",
    ] {
        assert!(matches!(refused(path), No::State(_)), "{path}");
    }
    for path in [
        "/home/ada/project/src/main.rs",
        "/tmp/x",
        "/home/ada/.hermes/profiles/work/skills/x/SKILL.md",
        "/srv/etc/hosts",
        "/home/ada/project/.npmrc",
        "/home/ada/project/config.yaml",
        "/private/var/folders/ab/x",
    ] {
        assert_eq!(write(path, CrossProfile::Allow), Ok(()), "{path}");
    }
}

// EX-47
#[test]
fn another_profile_and_a_mirror_need_to_be_asked_for() {
    for path in [
        "/home/ada/.hermes/skills/x/SKILL.md",
        "/home/ada/.hermes/profiles/play/cron/jobs.json",
        "/home/ada/.hermes/memories/USER.md",
    ] {
        assert!(
            matches!(
                write(path, CrossProfile::Refuse),
                Err(PathRefusal::OtherProfile(_))
            ),
            "{path}"
        );
        assert_eq!(write(path, CrossProfile::Allow), Ok(()), "{path}");
    }
    assert!(matches!(
        write("/var/sandbox/home/.hermes/x", CrossProfile::Refuse),
        Err(PathRefusal::Mirror(_))
    ));
    assert_eq!(
        write(
            "/home/ada/.hermes/profiles/work/memories/USER.md",
            CrossProfile::Refuse
        ),
        Ok(())
    );
}

// EX-47
#[test]
fn a_link_on_the_way_is_judged_too() {
    let hops = [
        PathBuf::from("/srv/link"),
        PathBuf::from("/home/ada/.ssh/config"),
    ];
    let names = Names {
        real: Path::new("/srv/real"),
        hops: &hops,
    };
    assert!(matches!(
        may_write(names, &rules(), CrossProfile::Refuse),
        Err(PathRefusal::Credential(_))
    ));
    let hops = [PathBuf::from("/srv/zero"), PathBuf::from("/dev/zero")];
    let names = Names {
        real: Path::new("/srv/real"),
        hops: &hops,
    };
    assert!(matches!(
        may_read(names, &rules()),
        Err(PathRefusal::Device(_))
    ));
}

// EX-47
#[test]
fn safe_roots_shut_everything_else_out() {
    let rules = FileRules {
        safe_roots: vec![PathBuf::from("/srv/a"), PathBuf::from("/srv/b")],
        ..rules()
    };
    let at = |path: &'static str| {
        let names = Names {
            real: Path::new(path),
            hops: &[],
        };
        may_write(names, &rules, CrossProfile::Refuse)
    };
    assert_eq!(at("/srv/a/x"), Ok(()));
    assert!(matches!(
        at("/srv/ab/x"),
        Err(PathRefusal::OutsideSafeRoots(_))
    ));
    assert!(matches!(at("/etc/hosts"), Err(PathRefusal::System(_))));
}

// EX-37, EX-47: where a home is a link, its files are guarded under both names.
#[test]
fn rules_hold_where_links_lead() {
    let mut rules = rules();
    rules.linked = Some(Box::new(FileRules {
        product_home: PathBuf::from("/data/hermes"),
        profiles: vec![PathBuf::from("/data/hermes")],
        ..FileRules::default()
    }));
    for path in ["/data/hermes/auth.json", "/home/ada/.hermes/auth.json"] {
        let names = Names {
            real: Path::new(path),
            hops: &[],
        };
        assert!(may_read(names, &rules).is_err(), "{path}");
    }
    let names = Names {
        real: Path::new("/data/hermes/config.yaml"),
        hops: &[],
    };
    assert!(may_write(names, &rules, CrossProfile::Allow).is_err());
}
