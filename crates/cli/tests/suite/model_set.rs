//! `hermes model set`: killed, and for a provider with several addresses.

use std::time::Instant;

use hermes_testkit::crash::{RandomKills, kill_at_random_times};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error};

use super::program::Program;

const KEY: &str = "sk-test-1234567890abcdef";

// PV-25
#[test]
fn a_kill_while_the_model_is_set_leaves_the_old_route_or_the_new_one() {
    let program = Program::new();
    let old = "model:\n  default: big\n  provider: custom\n  base_url: http://127.0.0.1:9/v1\n  api_key: own-key-1234567890\n";
    let new = "model:\n  default: deepseek-chat\n  provider: deepseek\n";
    program
        .home
        .write_env(&format!("DEEPSEEK_API_KEY={KEY}\n"))
        .unwrap();
    let set = program.command(&["model", "set", "deepseek-chat", "--provider", "deepseek"]);
    program.home.write_config(old).unwrap();
    let started = Instant::now();
    set.run().unwrap().ok();
    let plan = RandomKills {
        rounds: 40,
        latest: started.elapsed(),
        seed: 7,
    };
    program.home.write_config(old).unwrap();
    let mut seen = [0, 0];
    let ran = kill_at_random_times(&set, plan, |round, _| {
        let now = program.home.read("config.yaml").unwrap();
        assert!(now == old || now == new, "round {round}: {now}");
        seen[usize::from(now == new)] += 1;
        program.home.write_config(old).unwrap();
        Ok(())
    })
    .unwrap();
    assert!(ran.kills > 10, "{ran:?}");
    assert!(seen[0] > 0, "{seen:?}");
    // Whatever a kill left behind, the next change works.
    set.run().unwrap().ok();
    assert_eq!(program.home.read("config.yaml").unwrap(), new);
}

// PV-25
#[test]
fn the_address_that_a_key_belongs_to_is_found_once_and_kept() {
    let wrong = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let right = ModelServer::start(Scenario::echo()).unwrap();
    let program = Program::new();
    let [first, second, third, fourth] = [
        format!("{}/plain/v4", wrong.origin()),
        format!("{}/china/v4", wrong.origin()),
        format!("{}/coding/v4", right.origin()),
        format!("{}/never/v4", right.origin()),
    ];
    // The built-in profile, with its four addresses on loopback.
    let profile = format!(
        "id: zai\nname: Z.AI\nbase_url: {first}\nbases: ['{first}', '{second}', '{third}', '{fourth}']\n\
         base_url_env: [GLM_BASE_URL]\nhosts: ['127.0.0.1']\nkey_env: [GLM_API_KEY]\nprotocol: chat_completions\n"
    );
    program
        .home
        .write("plugins/model-providers/zai/profile.yaml", profile)
        .unwrap();
    program
        .home
        .write_env(&format!("GLM_API_KEY={KEY}\n"))
        .unwrap();
    let set = ["model", "set", "glm-5.2", "--provider", "zai"];
    let said = program.run(&set).ok().stdout;
    assert!(said.contains("/coding/v4"), "{said}");
    let posted = |server: &ModelServer| {
        let all = server.requests().into_iter();
        all.filter(|request| request.method == "POST").count()
    };
    let asked = || (posted(&wrong), posted(&right));
    assert_eq!(asked(), (2, 1));
    let kept = program.home.read("auth.json").unwrap();
    assert!(
        kept.contains("detected_endpoint") && !kept.contains(KEY),
        "{kept}"
    );

    program.run(&set).ok();
    assert_eq!(asked(), (2, 1), "it is known now");
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout.trim(), "hello");
    let all = right.requests().into_iter();
    assert!(
        all.map(|request| request.path)
            .all(|path| path.starts_with("/coding/v4/"))
    );
    let why = program.stdout(&["model", "--why"]);
    assert!(why.contains("found out for this key"), "{why}");

    // Another key may belong elsewhere, and an address that is set is not doubted.
    program
        .home
        .write_env("GLM_API_KEY=another-key-0123456789\n")
        .unwrap();
    let why = program.stdout(&["model", "--why"]);
    assert!(why.contains("/plain/v4"), "{why}");
    let address = format!("GLM_API_KEY=another-key-0123456789\nGLM_BASE_URL={third}\n");
    program.home.write_env(&address).unwrap();
    program.run(&set).ok();
    assert_eq!(asked(), (2, 2));
}
