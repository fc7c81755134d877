//! What root's commands see of other users.

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};

use super::chat::with_model;
use super::hands::{results_in, terminal};
use super::screen::LIMIT;

/// Another user, beside those this machine has, for as long as the program runs.
const WITH_BOB: &str = r#"
    mount -t tmpfs none "$LAYER" && mkdir "$LAYER/upper" "$LAYER/work" &&
    mount -t overlay overlay -o "lowerdir=/home,upperdir=$LAYER/upper,workdir=$LAYER/work" /home &&
    mkdir -p /home/bob/.ssh /home/bob/notes && echo CREDENTIAL > /home/bob/.ssh/id_bob &&
    echo a note > /home/bob/notes/plan && exec "$HERMES" --yolo -z go
"#;

const TRICKS: &str = r"
    cat /home/bob/.ssh/id_bob; cd /home/bob/.ssh && cat id_bob
    cat /proc/self/root/home/bob/.ssh/id_bob; cp -r /home/bob copied; cat copied/.ssh/id_bob
    ln /home/bob/.ssh/id_bob hard; cat hard; cat /home/bob/notes/plan
";

// EX-68
#[test]
fn keys_of_other_users_are_not_read_by_root() {
    let (name, arguments) = terminal(TRICKS);
    let scenario = Scenario::new().reply(tool_call(name, arguments));
    let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
    let program = with_model(&server.base_url());
    let layer = tempfile::tempdir().unwrap();
    let shell = program
        .home
        .command("unshare")
        .args(["-rm", "/bin/sh", "-c", WITH_BOB])
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .env("LAYER", layer.path());
    let output = shell.timeout(LIMIT * 2).run().unwrap().ok();
    assert_eq!(output.stdout, "done\n", "{}", output.stderr);
    let requests = server.requests();
    let results = results_in(requests.last().unwrap().expect_json());
    let printed = results[0]["output"].as_str().unwrap();
    assert!(!printed.contains("CREDENTIAL"), "{printed}");
    assert!(printed.contains("a note"), "{printed}");
}
