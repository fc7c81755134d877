use hermes_config::ModalMode;

use super::*;
use crate::{Growing, WardenProgram};
use hermes_core::SystemClock;

fn around() -> Surroundings {
    let variables = [
        ("HOME", "/root"),
        ("PATH", "/a:/b"),
        ("SSH_AUTH_SOCK", "/agent"),
        ("OPENAI_API_KEY", "secret"),
        ("TOKEN", "wanted"),
    ];
    Surroundings {
        home: PathBuf::from(concat!("/root", "/.hermes")),
        launched_in: PathBuf::from("/srv/project"),
        sockets: PathBuf::from("/tmp/s"),
        environment: variables.into_iter().collect(),
        user: (1, 2),
        task: "default".to_owned(),
        profile: "main".to_owned(),
        offers: Growing::default(),
        clock: Arc::new(SystemClock),
        local: LocalOptions {
            warden: WardenProgram {
                program: PathBuf::from("hermes"),
                arguments: Vec::new(),
                grace: Duration::ZERO,
            },
            scratch: PathBuf::from("/tmp"),
            confiner: None,
        },
        network: Network {
            client: Box::new(|| {
                let settings = hermes_http::ClientSettings::default();
                hermes_http::ClientBuilder::new(settings, hermes_http::AddressPolicy::Any)
                    .build()
                    .map_err(|error| error.to_string())
            }),
            tether: TetherProgram {
                program: PathBuf::from("hermes"),
                arguments: Vec::new(),
                environment: Vec::new(),
            },
        },
    }
}

fn settings(backend: Choice) -> Terminal {
    Terminal {
        backend,
        ..Terminal::default()
    }
}

// EX-20, EX-30: a directory of this machine is not looked for in a container; another machine may well have it.
#[test]
fn shells_elsewhere_start_where_the_settings_say_unless_that_is_here() {
    let start = |backend, cwd: &str| {
        let settings = Terminal {
            cwd: cwd.to_owned(),
            ..settings(backend)
        };
        let here = [Path::new("/srv/project"), Path::new("/data/.hermes")];
        directory_there(&settings, &here).display().to_string()
    };
    for container in [
        Choice::Docker,
        Choice::Singularity,
        Choice::Modal,
        Choice::Daytona,
    ] {
        for ours in ["/home/someone/proj", "/srv/project/sub", "sub", "."] {
            assert_eq!(start(container, ours), "~", "{ours}");
        }
        assert_eq!(start(container, "/workspace"), "/workspace");
    }
    assert_eq!(
        start(Choice::Ssh, "/home/someone/proj"),
        "/home/someone/proj"
    );
    assert_eq!(start(Choice::Ssh, "auto"), "~");
}

// EX-20: an engine without root is found where it puts its socket.
#[test]
fn the_first_socket_of_an_engine_that_is_there_is_used_unless_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let podman = folder.path().join("podman/podman.sock");
    std::fs::create_dir_all(podman.parent().unwrap()).unwrap();
    let _engine = std::os::unix::net::UnixListener::bind(&podman).unwrap();
    let runtime = folder.path().display().to_string();
    let runtime = ("XDG_RUNTIME_DIR", runtime.as_str());
    let environment: Environment = [runtime].into_iter().collect();
    if !Path::new(DOCKER_SOCKET).exists() {
        let address = format!("unix://{}", podman.display());
        assert_eq!(engine(&environment), address);
        assert_eq!(
            engine(&Environment::default()),
            format!("unix://{DOCKER_SOCKET}")
        );
    }
    let named = ("DOCKER_HOST", "unix:///named");
    let environment: Environment = [runtime, named].into_iter().collect();
    assert_eq!(engine(&environment), "unix:///named");
}

// EX-30
#[test]
fn every_choice_is_that_backend_or_an_error_and_never_this_machine() {
    let resolve = |backend| BackendConfig::resolve(&settings(backend), around());
    assert!(matches!(
        resolve(Choice::Local),
        Ok(BackendConfig::Local(_))
    ));
    assert!(matches!(
        resolve(Choice::Docker),
        Ok(BackendConfig::Docker(_))
    ));
    assert!(matches!(
        resolve(Choice::Singularity),
        Ok(BackendConfig::Singularity(_))
    ));
    assert!(matches!(resolve(Choice::Ssh), Ok(BackendConfig::Ssh(_))));
    // Without a key there is no sandbox, and nothing else either.
    for backend in [Choice::Modal, Choice::Daytona] {
        assert!(matches!(
            resolve(backend),
            Err(ExecError::Unavailable { .. })
        ));
    }
}

// EX-28
#[test]
fn keys_and_addresses_of_clouds_come_from_variables() {
    let resolve = |settings: &Terminal, variables: &[(&str, &str)]| {
        let mut around = around();
        let variables = variables.iter().copied();
        let environment = around.environment.iter().chain(variables).collect();
        around.environment = environment;
        BackendConfig::resolve(settings, around)
    };
    let daytona = settings(Choice::Daytona);
    let key = ("DAYTONA_API_KEY", "key");
    let all = [
        key,
        ("DAYTONA_TARGET", "eu"),
        ("DAYTONA_ORGANIZATION_ID", " "),
    ];
    let Ok(BackendConfig::Daytona(config)) = resolve(&daytona, &all) else {
        panic!()
    };
    assert_eq!(config.target.as_deref(), Some("eu"));
    assert_eq!(config.organisation, None);
    assert!(resolve(&daytona, &[key, ("DAYTONA_API_URL", "not a url")]).is_err());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("modal.toml");
    std::fs::write(&file, "[me]\ntoken_id = 'ak'\ntoken_secret = 'as'\n").unwrap();
    let path = file.to_str().unwrap();
    let modal = settings(Choice::Modal);
    let token = [("MODAL_TOKEN_ID", "ak"), ("MODAL_TOKEN_SECRET", "as")];
    for variables in [&token[..], &[("MODAL_CONFIG_PATH", path)]] {
        let resolved = resolve(&modal, variables);
        assert!(matches!(resolved, Ok(BackendConfig::Modal(_))));
    }
    assert!(resolve(&modal, &token[..1]).is_err());
}

// EX-28
#[test]
fn sandboxes_of_modal_run_on_the_account_the_settings_say() {
    let resolve = |modal: &Terminal, variables: &[(&str, &str)]| {
        let mut around = around();
        let variables = variables.iter().copied();
        let environment = around.environment.iter().chain(variables).collect();
        around.environment = environment;
        match BackendConfig::resolve(modal, around) {
            Ok(BackendConfig::Modal(_)) => "direct".to_owned(),
            Ok(BackendConfig::ManagedModal(_)) => "managed".to_owned(),
            Ok(_) => "elsewhere".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let gateway = ("TOOL_GATEWAY_USER_TOKEN", "user");
    let own = [("MODAL_TOKEN_ID", "ak"), ("MODAL_TOKEN_SECRET", "as")];
    let both = [gateway, own[0], own[1]];
    let mut modal = settings(Choice::Modal);
    assert_eq!(resolve(&modal, &own), "direct");
    assert_eq!(resolve(&modal, &both), "managed");
    modal.modal_mode = ModalMode::Direct;
    assert_eq!(resolve(&modal, &both), "direct");
    modal.modal_mode = ModalMode::Managed;
    assert!(resolve(&modal, &own).contains("Set TOOL_GATEWAY_USER_TOKEN"));
    assert_eq!(resolve(&modal, &both), "managed");
    let address = ("MODAL_GATEWAY_URL", "not a url");
    assert!(resolve(&modal, &[gateway, address]).contains("MODAL_GATEWAY_URL"));
    // A gateway is somebody else's.
    modal.credential_files = vec!["token.json".to_owned()];
    assert!(resolve(&modal, &both).contains("credential files"));
}

#[test]
fn a_container_gets_what_the_settings_say_and_no_directory_of_this_machine() {
    let mut settings = settings(Choice::Docker);
    settings.docker_forward_env = vec!["TOKEN".to_owned(), "ABSENT".to_owned()];
    settings.docker_mount_cwd_to_workspace = true;
    let cases = [
        (".", "/root"),
        ("/srv/project/sub", "/root"),
        ("/home/me", "/root"),
        ("/workspace", "/workspace"),
        (concat!("/root", "/work"), concat!("/root", "/work")),
    ];
    for (given, expected) in cases {
        settings.cwd = given.to_owned();
        let config = container(&settings, around());
        assert_eq!(config.directory, expected, "{given}");
    }
    let config = container(&settings, around());
    assert_eq!(
        config.forwarded,
        [("TOKEN".to_owned(), "wanted".to_owned())]
    );
    assert_eq!(config.workspace, Some(PathBuf::from("/srv/project")));
    assert_eq!(
        config.sandboxes,
        Path::new(concat!("/root", "/.hermes/sandboxes"))
    );
    assert_eq!(config.engine, engine(&Environment::default()));
}

#[test]
fn programs_that_carry_commands_elsewhere_see_no_keys() {
    let mut settings = settings(Choice::Ssh);
    settings.ssh_key = "~/.ssh/other".to_owned();
    let config = machine(&settings, around());
    let names: Vec<_> = config
        .carriers
        .environment
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["HOME", "PATH", "SSH_AUTH_SOCK"]);
    assert_eq!(
        config.key,
        Some(PathBuf::from(concat!("/root", "/.ssh/other")))
    );
    let config = instance(&settings, around());
    let first = [
        "/a/apptainer",
        "/b/apptainer",
        "/a/singularity",
        "/b/singularity",
    ];
    assert_eq!(config.programs, first.map(PathBuf::from));
}
