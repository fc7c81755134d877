//! Programs that print credentials: `credential_process` of AWS profiles, and Azure's `az`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use hermes_llm::resolve::{CloudMachine, Credential, ResolveError, resolve};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use tempfile::TempDir;

use super::{Bench, calls, last_bearer};
use crate::suite::profiles::Setup;

/// A folder of programs, and where they write what they were called with.
struct Programs {
    folder: TempDir,
}

impl Programs {
    /// One program; every run appends its arguments to a file, one run on a line.
    fn new(name: &str, body: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name);
        let runs = folder.path().join("runs");
        let script = format!(
            "#!/bin/sh\nprintf '<%s>' \"$@\" >> '{0}'; echo >> '{0}'\n{body}\n",
            runs.display()
        );
        std::fs::write(&file, script).expect("a program");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn runs(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join("runs")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn server() -> ModelServer {
    ModelServer::start(Scenario::new().reply(Step::new(text("fine")).repeat())).expect("a server")
}

/// Bedrock with a profile whose credentials this command line prints.
fn bedrock(server: &ModelServer, programs: &Programs, line: &str) -> Bench {
    let folder = programs.path().display().to_string();
    let config = programs.path().join("config");
    std::fs::write(&config, format!("[default]\ncredential_process = {line}\n")).expect("a file");
    let setup = Setup::new(
        "model: {provider: bedrock, default: 'amazon.nova-pro-v1:0'}",
        &[
            ("AWS_CONFIG_FILE", &config.display().to_string()),
            ("HOME", &folder),
            ("PATH", &folder),
            ("BEDROCK_BASE_URL", &server.origin()),
            ("AWS_REGION", "eu-west-1"),
        ],
    );
    Bench::new(setup.resolve())
}

fn azure(server: &ModelServer, path: &Path, more: &[(&str, &str)]) -> Setup {
    let (path, base) = (
        path.display().to_string(),
        format!("{}/openai/v1", server.origin()),
    );
    let mut variables = vec![
        ("PATH", path.as_str()),
        ("AZURE_FOUNDRY_BASE_URL", base.as_str()),
    ];
    variables.extend_from_slice(more);
    let config = "model: {provider: azure-foundry, default: gpt-4.1, auth_mode: entra_id}";
    Setup::new(config, &variables)
}

// PV-1, PV-10
#[tokio::test]
async fn a_profile_names_a_program_whose_key_pair_is_used_until_it_ends() {
    let server = server();
    let programs = Programs::new(
        "give keys",
        "echo '{\"Version\": 1, \"AccessKeyId\": \"ASIAPRINTED\", \"SecretAccessKey\": \"printed/secret\",'\n\
         echo '\"SessionToken\": \"printed-token\", \"Expiration\": \"2026-01-01T01:00:00Z\"}'",
    );
    let line = format!(
        "\"{}/give keys\" --for 'two words' plain",
        programs.path().display()
    );
    let bench = bedrock(&server, &programs, &line);
    bench.ask().await;
    bench.ask().await;
    assert_eq!(programs.runs(), ["<--for><two words><plain>"]);
    let call = calls(&server).pop().expect("a call");
    let signed = call.header("authorization").unwrap_or_default();
    assert!(signed.contains("Credential=ASIAPRINTED/"), "{signed}");
    assert_eq!(call.header("x-amz-security-token"), Some("printed-token"));
    // Five minutes before the pair ends the program is asked for the next one.
    bench.lab.clock.advance(Duration::from_secs(3_400));
    bench.ask().await;
    assert_eq!(programs.runs().len(), 2);
}

// PV-1
#[tokio::test]
async fn a_program_that_prints_no_key_pair_is_named_with_the_reason() {
    let server = server();
    let pair = "\"AccessKeyId\": \"A\", \"SecretAccessKey\": \"leaked-secret\"";
    for (body, why) in [
        (
            "echo 'the vault is shut' >&2; exit 3".to_owned(),
            "the vault is shut",
        ),
        ("exit 3".to_owned(), "exit status: 3"),
        (format!("echo '{{\"Version\": 2, {pair}}}'"), "other than 1"),
        (format!("echo '{{{pair}, oops'"), "no key pair of AWS"),
        (
            format!("echo '{{\"Version\": 1, {pair}, \"Expiration\": \"2025-12-31T23:00:00Z\"}}'"),
            "has ended",
        ),
        (
            "head -c 300000 /dev/zero".to_owned(),
            "more than a credential",
        ),
    ] {
        let programs = Programs::new("give", &format!("PATH=/usr/bin:/bin\n{body}"));
        let said = bedrock(&server, &programs, "give").refusal().await;
        let file = programs.path().join("give").display().to_string();
        assert!(said.contains(why) && said.contains(&file), "{why}: {said}");
        assert!(!said.contains("leaked-secret"), "{said}");
    }
    let programs = Programs::new("give", "");
    let said = bedrock(&server, &programs, "/nowhere/give").refusal().await;
    assert!(
        said.contains("/nowhere/give") && said.contains("cannot be run"),
        "{said}"
    );
    assert!(calls(&server).is_empty());
}

// PV-1
#[tokio::test]
async fn a_program_may_complain_at_length_and_still_print_a_key_pair() {
    let server = server();
    // Four times what a pipe holds, before anything is printed: whoever stops listening ends the program.
    let programs = Programs::new(
        "give",
        "PATH=/usr/bin:/bin\nset -e\nhead -c 262144 /dev/zero | tr '\\0' x >&2\n\
         echo '{\"Version\": 1, \"AccessKeyId\": \"ASIACHATTY\", \"SecretAccessKey\": \"s\"}'",
    );
    let bench = bedrock(&server, &programs, "give");
    bench.ask().await;
    let call = calls(&server).pop().expect("a call");
    let signed = call.header("authorization").unwrap_or_default();
    assert!(signed.contains("Credential=ASIACHATTY/"), "{signed}");
}

// PV-3
#[tokio::test]
async fn a_program_gets_no_key_of_another_provider() {
    let server = server();
    let programs = Programs::new(
        "give",
        "export -p > \"$HOME/seen\"\n\
         echo '{\"Version\": 1, \"AccessKeyId\": \"ASIA1\", \"SecretAccessKey\": \"s\"}'",
    );
    let home = programs.path().display().to_string();
    let config = programs.path().join("config");
    std::fs::write(&config, "[default]\ncredential_process = give\n").expect("a file");
    let variables = [
        ("AWS_CONFIG_FILE", config.display().to_string()),
        ("HOME", home.clone()),
        ("PATH", home),
        ("BEDROCK_BASE_URL", server.origin()),
        ("OPENAI_API_KEY", "canary-openai".to_owned()),
        ("HF_TOKEN", "canary-hf".to_owned()),
        ("TELEGRAM_BOT_TOKEN", "canary-telegram".to_owned()),
        ("GROQ_API_KEY", "canary-of-a-host".to_owned()),
        ("LAB_PASS", "canary-of-an-endpoint".to_owned()),
        // Not Hermes's: a program may need it to do what it is there for.
        ("VAULT_TOKEN", "wanted-vault".to_owned()),
        ("AWS_VAULT_FILE_PASSPHRASE", "wanted-own".to_owned()),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let setup = Setup::new(
        "model: {provider: bedrock, default: 'amazon.nova-pro-v1:0'}\n\
         providers: {lab: {base_url: 'https://lab.test/v1', key_env: LAB_PASS}}",
        &variables,
    );
    let resolved = setup.resolve();
    assert!(!format!("{resolved:?}").contains("wanted-own"));
    Bench::new(resolved).ask().await;
    let seen = std::fs::read_to_string(programs.path().join("seen")).expect("variables");
    assert!(!seen.contains("canary"), "{seen}");
    assert!(
        seen.contains("wanted-vault") && seen.contains("wanted-own"),
        "{seen}"
    );
}

// PV-1: time stands still and jumps to the next deadline when nothing else can happen.
#[tokio::test(start_paused = true)]
async fn a_program_that_never_ends_is_given_up() {
    let server = server();
    let programs = Programs::new("give", "PATH=/usr/bin:/bin\nexec sleep 600");
    let said = bedrock(&server, &programs, "give").refusal().await;
    assert!(said.contains("within 60 s"), "{said}");
}

/// Waits until a program has written the number of a process it started.
async fn started(file: &Path) -> i32 {
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(id) = text.strip_suffix('\n') {
            return id.parse().expect("a number");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn ended(process: i32) {
    for _ in 0..1_000 {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // One that nobody has asked about yet is over too.
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("process {process} goes on");
}

const WAITING: &str = "PATH=/usr/bin:/bin\nsleep 600 &\necho $! > \"$HOME/child\"\nwait";

// PV-1: nobody waits for what would not be used, and what the program has started ends with it.
#[tokio::test]
async fn closing_ends_a_program_at_once_with_everything_it_has_started() {
    let server = server();
    let programs = Programs::new("give", WAITING);
    let bench = bedrock(&server, &programs, "give");
    let keys = bench.lab.caller.keys.clone();
    let closing = async {
        let child = started(&programs.path().join("child")).await;
        let began = std::time::Instant::now();
        keys.close().await;
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "it was waited for"
        );
        child
    };
    let (said, child) = tokio::join!(bench.refusal(), closing);
    assert!(said.contains("the program is ending"), "{said}");
    ended(child).await;
}

// PV-1
#[tokio::test]
async fn whoever_signed_in_with_az_needs_nothing_else() {
    let server = server();
    let az = Programs::new(
        "az",
        "echo '{\"accessToken\": \"az-token-1\", \"expiresOn\": \"2026-01-01 02:00:00.000000\", \"expires_on\": 1767229200}'",
    );
    let bench = Bench::new(azure(&server, az.path(), &[]).resolve());
    bench.ask().await;
    bench.ask().await;
    assert_eq!(last_bearer(&server), "Bearer az-token-1");
    assert_eq!(
        az.runs(),
        ["<account><get-access-token><--resource><https://ai.azure.com><--output><json>"]
    );
    // 1767229200 is an hour after the test's clock began.
    bench.lab.clock.advance(Duration::from_secs(3_400));
    bench.ask().await;
    assert_eq!(az.runs().len(), 2);
}

// PV-1
#[tokio::test]
async fn az_is_asked_only_where_nothing_better_is_known_and_says_how_to_sign_in() {
    let server = server();
    let az = Programs::new("az", "echo 'ERROR: no account is signed in.' >&2; exit 1");
    let said = Bench::new(azure(&server, az.path(), &[]).resolve())
        .refusal()
        .await;
    assert!(said.contains("no account is signed in"), "{said}");
    assert!(said.contains("run `az login`"), "{said}");

    let label = |setup: &Setup, machine: Option<CloudMachine>| {
        let mut request = setup.request();
        request.machine = machine;
        match resolve(&request).map(|resolved| resolved.key) {
            Ok(Credential::Minted(mint)) => mint.label().to_owned(),
            Ok(other) => panic!("nothing is made: {other:?}"),
            Err(error) => panic!("{error}"),
        }
    };
    let plain = azure(&server, az.path(), &[]);
    assert_eq!(label(&plain, None), "entra:sign-in of az");
    assert_eq!(
        label(&plain, Some(CloudMachine::Azure)),
        "entra:managed identity"
    );
    // These are asked first, and az after them.
    let chosen = azure(&server, az.path(), &[("AZURE_CLIENT_ID", "c-1")]);
    assert_eq!(label(&chosen, None), "entra:managed identity c-1");
    let empty = tempfile::tempdir().expect("a folder");
    let without = azure(&server, empty.path(), &[]);
    assert_eq!(label(&without, None), "entra:managed identity");
}

// PV-1
#[tokio::test]
async fn az_is_asked_where_the_machine_turns_out_to_have_no_identity() {
    let server = server();
    // Nobody listens there: port 1 is taken by no server.
    let named = [
        ("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1"),
        ("AZURE_CLIENT_ID", "c-1"),
    ];
    let az = Programs::new("az", "echo '{\"accessToken\": \"az-token-1\"}'");
    Bench::new(azure(&server, az.path(), &named).resolve())
        .ask()
        .await;
    assert_eq!(last_bearer(&server), "Bearer az-token-1");
    let signed_out = Programs::new("az", "exit 1");
    let said = Bench::new(azure(&server, signed_out.path(), &named).resolve())
        .refusal()
        .await;
    assert!(
        said.contains("the sign-in of az") && said.contains("run `az login`"),
        "{said}"
    );
}

// PV-1
#[tokio::test]
async fn a_machine_without_an_identity_says_what_was_looked_for_and_what_to_do() {
    let server = server();
    let empty = tempfile::tempdir().expect("a folder");
    // Nobody listens there: port 1 is taken by no server.
    let nobody = ("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:1");
    let said = Bench::new(azure(&server, empty.path(), &[nobody]).resolve())
        .refusal()
        .await;
    assert!(said.contains("identity service of this machine"), "{said}");
    assert!(
        said.contains("az login") && said.contains("AZURE_CLIENT_SECRET"),
        "{said}"
    );
    let far = ("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://evil.test");
    let error = resolve(&azure(&server, empty.path(), &[far]).request()).expect_err("far away");
    assert!(matches!(error, ResolveError::BadAddress { .. }), "{error}");
}
